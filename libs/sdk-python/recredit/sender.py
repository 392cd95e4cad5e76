"""Brings the batches of a spool to the platform, oldest first, one request at a time.

An answer that got lost is asked for again with the same sequence and bytes, which the log recognises: exactly once
follows.
"""

from __future__ import annotations

import math
import random
import threading
import time
from typing import Final

from .backoff import Backoff, wait_seconds
from .platform_client import PlatformClient, Stored
from .problem import Outcome, Problem
from .producer import Registration
from .spool import SealedFile, Spool

__all__ = ["Sender"]

_BLOCKED: Final = 60.0
"""Whoever waits for a person to repair a key asks this seldom, in seconds."""


class Sender:
    """One request per ``step``, which one thread calls. The counters may be read from any."""

    def __init__(
        self,
        client: PlatformClient,
        spool: Spool,
        registration: Registration,
        producer: str,
        epoch: int,
        backoff: Backoff,
        seal_after: float = math.inf,
    ) -> None:
        self.sent = 0
        """acknowledged events; ``duplicates`` of them were in the log before"""
        self.duplicates = 0
        self.refused = 0
        """events that the platform refused for their content, set aside in the spool"""
        self.position: int | None = None
        self.problem: Problem | None = None
        """why the last request failed; None after one that succeeded"""
        self.refusal: Problem | None = None
        """why the last batch was set aside"""
        self.stuck = False
        """No further request can help: somebody must look at ``problem``."""
        self.times_blocked = 0
        self.flushing = 0
        self.changed = threading.Condition()
        self.spool = spool
        self.registration = registration
        self._client = client
        self._producer = producer
        self._epoch = epoch
        self._backoff = backoff
        self._seal_after = seal_after
        self._failures = 0
        self._not_before = 0.0
        self._obeying = False

    def step(self) -> float | None:
        """Makes the next request, where one is due.

        :returns: seconds until there may be another one; None: when something is recorded
        """
        if self.stuck:
            return None
        left = self._not_before - time.monotonic()
        if left > 0:
            return left
        self._obeying = False
        try:
            run = self.registration.run
            if run is None:
                self._register()
                return 0.0
            wait = self._seal_if_old()
            self.spool.sync_sealed()
            file = self.spool.next()
            if file is None:
                return wait
            self._deliver(file, run)
            return 0.0
        except Exception as error:  # a spool that cannot be read; a training run goes on
            self._give_up(Problem(None, "spool.failed", str(error) or type(error).__name__))
            return None

    def hurry(self) -> None:
        """Cuts a wait short, unless the server asked for it."""
        if not self._obeying:
            self._not_before = 0.0

    def is_done(self) -> bool:
        return self.spool.unsent == 0 and self.registration.run is not None

    def wait_until_done(self, deadline: float, patience: float = math.inf) -> None:
        """Returns when all is sent, when no request can help any more, or when the time (``time.monotonic``) is over.

        :param patience: seconds to wait for the next acknowledgement
        """
        blocked, settled = self.times_blocked, self.settled
        patient_until = time.monotonic() + patience
        with self.changed:
            while not (self.is_done() or self.stuck or self.times_blocked != blocked):
                if self.settled != settled:
                    settled, patient_until = self.settled, time.monotonic() + patience
                left = min(deadline, patient_until) - time.monotonic()
                if left <= 0:
                    return
                self.changed.wait(min(left, threading.TIMEOUT_MAX))

    def wait_until_created(self, deadline: float) -> str | None:
        blocked = self.times_blocked
        with self.changed:
            while self.registration.run is None and not self.stuck and self.times_blocked == blocked:
                left = deadline - time.monotonic()
                if left <= 0:
                    break
                self.changed.wait(min(left, threading.TIMEOUT_MAX))
        return self.registration.run

    @property
    def settled(self) -> int:
        return self.sent + self.refused

    def _seal_if_old(self) -> float | None:
        since = self.spool.open_since
        if since is None or self.spool.sealed:
            return None
        left = self._seal_after - (time.monotonic() - since)
        if left > 0 and not self.flushing:
            return left if left < math.inf else None
        self.spool.seal()
        return None

    def _register(self) -> None:
        outcome = self.registration.create()
        if outcome.kind == "done":
            self._succeeded()
        elif outcome.kind in ("refused", "conflict"):
            self._give_up(outcome.problem)
        else:
            self._pause(outcome)

    def _deliver(self, file: SealedFile, run: str) -> None:
        lines = self.spool.read(file)
        outcome = self._client.append(run, self._producer, self._epoch, self.spool.next_sequence, lines)
        if outcome.kind == "done":
            self._acknowledge(file, outcome.value)
        elif outcome.kind == "refused" and outcome.problem:
            self.spool.set_aside(file, outcome.problem.as_json())
            self.refused += file.events
            self.refusal = outcome.problem
            self._succeeded()
        elif outcome.kind == "conflict":
            self._resolve(outcome)
        else:
            self._pause(outcome)

    def _acknowledge(self, file: SealedFile, stored: Stored) -> None:
        self.spool.acknowledge(file)
        self.sent += file.events
        if stored.duplicate:
            self.duplicates += file.events
        self.position = max(self.position or 0, stored.first_position + stored.event_count)
        self._succeeded()

    def _resolve(self, outcome: Outcome) -> None:
        """The log disagrees about what comes next. Where what it lacks is still here, this heals."""
        problem = outcome.problem
        expected = problem.details.get("expected") if problem else None
        if problem and problem.code == "sequence.unexpected" and isinstance(expected, int):
            if expected < self.spool.next_sequence:
                events = self.spool.rewind_to(expected)
                if events is not None:
                    self.sent -= events
                    self._pause(Outcome("again", problem=problem))
                    return
        self._give_up(problem)

    def _pause(self, outcome: Outcome) -> None:
        self._failures += 1
        is_blocked = outcome.kind == "blocked"
        wait = _BLOCKED if is_blocked else wait_seconds(self._failures, outcome.after, random.random(), self._backoff)
        with self.changed:
            self.problem = outcome.problem
            self.times_blocked += is_blocked
            self._obeying = outcome.after is not None
            self._not_before = time.monotonic() + wait
            self.changed.notify_all()

    def _succeeded(self) -> None:
        with self.changed:
            self._failures = 0
            self.problem = None
            self.changed.notify_all()

    def _give_up(self, problem: Problem | None) -> None:
        with self.changed:
            self.problem = problem
            self.stuck = True
            self.changed.notify_all()
