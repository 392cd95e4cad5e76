"""A run as its trainer sees it."""

from __future__ import annotations

import atexit
import functools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final

from .delivery import Delivery
from .encode_event import encode_event, now
from .json_text import ABSENT, Unsendable
from .producer import ProducerFile, leave_producer
from .receipt import ACCEPTED, Receipt, refusal
from .run_report import RunReport
from .sketch import Sketch
from .spool import Spool
from .spool_lock import SpoolLock
from .trajectory import Encode, Parent, Trajectory

__all__ = ["FLUSH_SECONDS", "Run", "RunParts"]

FLUSH_SECONDS: Final = 10.0
_RENEW: Final = 30.0
"""So often the lock on the spool is renewed and looked at, in seconds; far below the lease."""
_GRACE: Final = 0.5
"""What a request under way may still take when the time is over, in seconds."""
_MAX_REASONS: Final = 20
_TRAINER: Final = "trainer"


@dataclass(frozen=True)
class RunParts:
    """What a run is made of; ``start_run`` puts it together, and again in a forked child."""

    file: ProducerFile
    spool: Spool
    lock: SpoolLock
    delivery: Delivery | None
    """None: recorded without a server, to be sent later"""


class Run:
    """Every call records to disk and returns at once, with what became of it.

    Nothing here raises or waits, whatever the server does. Only ``flush``, ``created``, ``end`` and ``close`` wait, for
    as long as they say. Any thread may call it; a forked child goes on under a producer of its own. As a context
    manager it ends when the block does: ``completed``, or ``failed`` where the block raises.
    """

    def __init__(self, open_parts: Callable[[], RunParts]) -> None:
        self._open_parts = open_parts
        self._start(open_parts())
        _RUNS.add(self)

    def _start(self, parts: RunParts | None) -> None:
        self._parts = parts
        self._mutex = threading.RLock()
        self._accepted = 0
        self._dropped = 0
        self._back_pressure = 0
        self._reasons: dict[str, None] = {}
        self._renewed = time.monotonic()
        self._closed: RunReport | None = None
        self._closing = False
        if parts and parts.delivery:
            parts.delivery.start()

    @property
    def project(self) -> str:
        return self._now().file.project

    @property
    def name(self) -> str:
        return self._now().file.name

    @property
    def id(self) -> str | None:
        """None until the server has created it."""
        parts = self._now()
        return parts.delivery.sender.registration.run if parts.delivery else parts.file.run

    def trajectory(
        self, *, group: str, training_step: int, id: str | None = None, parent: Parent | None = None
    ) -> Trajectory:
        """A rollout begins.

        :param group: the rollouts of one prompt or task within one training step
        :param training_step: of the policy that acts
        :param id: default: a new UUID
        :param parent: the trajectory it branches off, and the last turn that both share (-1: only the prompt)
        """
        return Trajectory(self._write, group, training_step, id, parent)

    def training_step(self, training_step: int, metrics: Mapping[str, Any] | None = None) -> Receipt:
        """One optimizer iteration ended, with what was measured: a number, or None, by name."""
        return self.append({"type": "trainingStep.recorded", "trainingStep": training_step, "metrics": metrics or {}})

    def record(self, trajectory: Mapping[str, Any] | None = None, **fields: Any) -> Receipt:
        """A whole rollout at once.

        :param trajectory: ``id``, ``group``, ``training_step``, ``turns``, ``outcome_reward``, ``success``, ``signals``,
            ``parent``; a turn has ``state``, ``action``, ``reward``, ``signals``, ``tokens``
        :param fields: the same as keywords
        """
        return self._write(lambda: encode_event({**protocol_names({**(trajectory or {}), **fields}), **_RECORDED}, now()))

    def annotate(
        self,
        trajectory: str,
        annotator: str,
        *,
        signals: Mapping[str, Any] | None = None,
        turns: Iterable[Mapping[str, Any]] | Mapping[int, Mapping[str, Any]] | None = None,
        **fields: Any,
    ) -> Receipt:
        """Signals that arrive later than their trajectory: a label, a judge's score.

        :param signals: of the trajectory
        :param turns: signals by the index of their turn; or a list of ``turn``, ``signals`` and ``rationale``
        :param fields: ``schema``, ``attempt``, ``status`` (``ok`` or ``failed``), ``failure_reason``
        """
        said = {"trajectory": trajectory, "annotator": annotator, **protocol_names(fields)}
        listed = turns if turns is None or isinstance(turns, Mapping) else list(turns)
        return self.append({"type": "annotation.recorded", **said, "signals": signals, "turns": listed})

    def log_advantages(self, advantages: Mapping[str, Any], *, annotator: str = _TRAINER) -> Receipt:
        """The advantages that the trainer computed after the rollouts were recorded, for the audit.

        Those known when a turn is recorded are better logged there, as the signal ``loggedAdvantage`` of the turn or
        of its tokens.

        :param advantages: by id of the trajectory a number, where all of its turns have the same, or [turns], where
            None says nothing of a turn
        :returns: the first refusal, if any
        """
        first = ACCEPTED
        try:
            items = list(advantages.items())
        except Exception as error:
            return self._refuse(refusal("invalid", f"log_advantages: expected numbers by trajectory, found {error}"))
        for trajectory, values in items:
            receipt = self._write(functools.partial(_advantages, trajectory, values, annotator))
            if first:
                first = receipt
        return first

    def checkpoint(self, training_step: int, sketch: Any, *, projection: Any = None) -> Receipt:
        """The parameters after a training step, as a sketch of them.

        :param sketch: ``recredit.sketch(model.state_dict())``, or the numbers of a random projection of your own
        :param projection: how those were made: only sketches that were made alike are compared
        """
        tensors: Any = ABSENT
        if isinstance(sketch, Sketch):
            sketch, tensors, projection = sketch.values, sketch.tensors, projection or sketch.projection
        said = {"sketch": sketch, "tensors": tensors, "projection": ABSENT if projection is None else projection}
        return self.append({"type": "checkpoint.recorded", "trainingStep": training_step, **said})

    def rewind(self, to_training_step: int) -> Receipt:
        """The trainer resumed from its checkpoint after this training step; what came later is superseded."""
        return self.append({"type": "run.rewound", "toTrainingStep": to_training_step})

    def append(self, event: Mapping[str, Any]) -> Receipt:
        """An event of the protocol as it is, in its spelling. ``at`` is now where it says nothing else."""
        return self._write(lambda: encode_event(event, now()))

    def created(self, deadline: float = FLUSH_SECONDS) -> str | None:
        """The run's id, as soon as the server has created it; None when that did not happen in so many seconds."""
        delivery = self._now().delivery
        return delivery.sender.wait_until_created(time.monotonic() + deadline) if delivery else None

    def flush(self, deadline: float = FLUSH_SECONDS) -> RunReport:
        """Waits until all that is recorded so far is acknowledged, or so many seconds are over."""
        delivery = self._now().delivery
        if delivery and not self._closed:
            delivery.flush(time.monotonic() + deadline)
        return self.report()

    def end(self, state: str = "completed", reason: str | None = None, deadline: float = FLUSH_SECONDS) -> RunReport:
        """Ends the run: records that, flushes, and says what is still unsent. What is unsent stays in the spool.

        :param state: ``completed``, ``failed`` or ``stopped``
        :param deadline: seconds to wait for what is unsent
        """
        if not self._closing:
            self.append({"type": "run.ended", "state": state, "reason": reason})
        return self.close(deadline)

    def close(self, deadline: float = FLUSH_SECONDS) -> RunReport:
        """Leaves the run without ending it: other processes, or this one later, go on with it."""
        with self._mutex:
            is_first, self._closing = not self._closing, True
        if not is_first:
            return self._closed or self.report()
        _RUNS.discard(self)
        if self._parts is None:  # a forked child that recorded nothing
            return self.report()
        self._closed = self._leave(self._parts, deadline)
        return self._closed

    def report(self) -> RunReport:
        if self._closed:
            return self._closed
        parts = self._parts or self._now()
        sender = parts.delivery.sender if parts.delivery else None
        return RunReport(
            run=self.id,
            project=parts.file.project,
            name=parts.file.name,
            producer=parts.file.producer,
            spool=str(parts.spool.folder),
            accepted=self._accepted,
            sent=sender.sent if sender else 0,
            duplicates=sender.duplicates if sender else 0,
            unsent=parts.spool.unsent,
            refused=sender.refused if sender else 0,
            dropped=self._dropped,
            back_pressure=self._back_pressure,
            position=sender.position if sender else None,
            problem=(sender.problem or sender.refusal) if sender else None,
            reasons=tuple(self._reasons),
        )

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.end()
        elif issubclass(kind, Exception):
            self.end("failed", reason=f"{kind.__name__}: {error}"[:1000])
        else:
            self.end("stopped", reason=kind.__name__)

    def _now(self) -> RunParts:
        """The parts of this process; after a fork they are made anew when they are needed first."""
        parts = self._parts
        if parts is None:
            with self._mutex:
                if self._parts is None:
                    parts = self._open_parts()
                    self._start(parts)
                    _at_exit_of_child(self)
                parts = self._parts
        assert parts is not None
        return parts

    def _write(self, encode: Encode) -> Receipt:
        """The event is made in here, so that whatever a trainer's objects raise stays in here."""
        if self._closing:
            return self._refuse(refusal("ended", "the run has ended"))
        try:
            line, turn = encode()
        except Unsendable as error:
            return self._refuse(refusal("invalid", str(error)))
        except Exception as error:
            return self._refuse(refusal("invalid", f"it cannot be read: {type(error).__name__}: {error}"[:1000]))
        try:
            parts = self._parts or self._now()
            if time.monotonic() - self._renewed > _RENEW:
                if not parts.lock.renew():
                    return self._refuse(refusal("spool-failed", f"another process took over {parts.spool.folder}"))
                self._renewed = time.monotonic()
            receipt = parts.spool.append(line, turn)
        except Exception as error:
            return self._refuse(refusal("spool-failed", str(error)))
        if not receipt.accepted:
            return self._refuse(receipt)
        with self._mutex:
            self._accepted += 1
        if parts.delivery:
            parts.delivery.recorded()
        return receipt

    def _refuse(self, receipt: Receipt) -> Receipt:
        with self._mutex:
            if receipt.reason == "back-pressure":
                self._back_pressure += 1
            else:
                self._dropped += 1
            if len(self._reasons) < _MAX_REASONS and receipt.detail:
                self._reasons.setdefault(receipt.detail)
        return receipt

    def _leave(self, parts: RunParts, deadline: float) -> RunReport:
        def leave() -> None:
            try:
                leave_producer(parts.spool.folder, parts.spool, parts.lock)
            except OSError:
                pass  # nothing is lost by a folder that could not be tidied: it is taken up when this process ends

        if parts.delivery:
            parts.delivery.flush(time.monotonic() + deadline)
            parts.spool.seal()
            report = self.report()
            parts.delivery.stop(leave, _GRACE)
            return report
        parts.spool.seal()
        report = self.report()
        leave()
        return report

    def _after_fork(self) -> None:
        """The child shares nothing with its parent's producer: two writers of one sequence would contradict each other."""
        parts, was_closing = self._parts, self._closing
        self._start(None)
        self._closing = was_closing
        if parts:
            parts.spool.abandon()


_RECORDED: Final = {"type": "trajectory.recorded"}
_NAMES: Final = {
    "training_step": "trainingStep",
    "outcome_reward": "outcomeReward",
    "failure_reason": "failureReason",
}


def protocol_names(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields in the protocol's spelling."""
    return {_NAMES.get(name, name): value for name, value in fields.items()}


def _advantages(trajectory: Any, values: Any, annotator: str) -> tuple[bytes, Any]:
    values = _listed(values)
    signals: Any = ABSENT
    turns: Any = ABSENT
    if isinstance(values, list):
        said = [(turn, _listed(value)) for turn, value in enumerate(values)]
        for turn, value in said:
            if isinstance(value, list):
                per_token = "one advantage per turn; those of tokens belong into the turn's tokens, as loggedAdvantage"
                raise Unsendable(per_token, "a list", f"/{trajectory}/{turn}")
        turns = [{"turn": turn, "signals": {"loggedAdvantage": value}} for turn, value in said if value is not None]
    else:
        signals = {"loggedAdvantage": values}
    event = {"type": "annotation.recorded", "trajectory": trajectory, "annotator": annotator}
    return encode_event({**event, "signals": signals, "turns": turns}, now())


def _listed(values: Any) -> Any:
    from .arrays import as_plain

    plain = as_plain(values)
    return list(plain) if isinstance(plain, tuple) else plain


_RUNS: Final[set[Run]] = set()
"""All that are not closed: they are flushed when the process ends, and begin anew in a forked child."""


def _leave_at_exit(runs: Iterable[Run]) -> None:
    for run in list(runs):
        if run._parts is None:
            continue
        report = run.close()
        if report.accepted or report.dropped or report.back_pressure:
            print(f"recredit: {report}", file=sys.stderr, flush=True)


def _at_exit_of_child(run: Run) -> None:
    """Processes of multiprocessing end without atexit; their own finalizers run."""
    util = sys.modules.get("multiprocessing.util")
    process = sys.modules.get("multiprocessing.process")
    if util and process and process.parent_process() is not None:
        util.Finalize(None, _leave_at_exit, args=([run],), exitpriority=0)


def _after_fork_in_child() -> None:
    for run in list(_RUNS):
        run._after_fork()


atexit.register(lambda: _leave_at_exit(_RUNS))
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
