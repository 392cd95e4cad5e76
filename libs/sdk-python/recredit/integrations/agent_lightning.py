"""Forwards the events of Agent Lightning while they happen::

    forward = Forwarder(run)
    for event in events:      # {"event_type", "rollout_id", "attempt_id", "timestamp", "data"}
        forward(event)
    forward.close()

Each ``model_request`` of an attempt is a turn and each ``reward`` belongs to the turn before it, as in the importer
`agent-lightning`, under the same ids, groups and spellings. Tested with events of the shape of
microsoft/agent-lightning@c632d8d, not with the package.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ..run import Run
from ..trajectory import Trajectory
from .chat import action_of, digest_of, since, spoken
from .guarded import guarded

__all__ = ["Forwarder"]


class _Attempt:
    """One attempt at a rollout. Its last turn waits for the rewards that follow it."""

    def __init__(self, trajectory: Trajectory) -> None:
        self.trajectory = trajectory
        self.waiting: dict[str, Any] | None = None
        self.reward: float | None = None
        self.was_rewarded = False


class Forwarder:
    """Called with each event, in order. Never raises; ``skipped`` counts by reason what was no turn and no reward."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._attempts: dict[str, _Attempt] = {}
        self.skipped: Counter[str] = Counter()

    def __call__(self, event: Mapping[str, Any]) -> None:
        guarded(self._take)(event)

    def end(self, rollout_id: str, attempt_id: str | None = None) -> None:
        """The attempt is over: its outcome is its last reward."""
        guarded(self._end)(_id_of(rollout_id, attempt_id))

    def close(self) -> None:
        """All attempts are over."""
        for name in list(self._attempts):
            guarded(self._end)(name)

    def __enter__(self) -> Forwarder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take(self, event: Mapping[str, Any]) -> None:
        kind, data = event["event_type"], event["data"]
        name = _id_of(event["rollout_id"], event.get("attempt_id"))
        if kind == "model_request":
            self._requested(name, data)
        elif kind != "reward":
            self.skipped[f"events of type {kind} are no turn and no reward"] += 1
        elif name in self._attempts and "value" in data:
            self._rewarded(self._attempts[name], data["value"])
        else:
            self.skipped["a reward without a value, or before any model_request"] += 1

    def _requested(self, name: str, data: Mapping[str, Any]) -> None:
        choices = (data.get("response") or {}).get("choices") or [{}]
        answer = choices[0].get("message")
        if not answer:
            self.skipped["a model_request without an answer"] += 1
            return
        messages = (data.get("request") or {}).get("messages") or []
        if name not in self._attempts:
            said = [spoken(message) for message in messages if message.get("role") != "system"]
            step = data.get("model_version")
            is_step = isinstance(step, int) and not isinstance(step, bool) and step >= 0
            group = f"prompt-{digest_of(said)}"
            trajectory = self._run.trajectory(group=group, training_step=step if is_step else 0, id=name)
            self._attempts[name] = _Attempt(trajectory)
        attempt = self._attempts[name]
        self._record_turn(attempt)
        signals = {
            "policy": data.get("model"),
            "modelVersion": data.get("model_version"),
            "latencyMs": data.get("latency_ms"),
            "ended": data.get("finish_reason"),
        }
        attempt.waiting = {
            "state": since(messages),
            "action": action_of(answer),
            "signals": {signal: value for signal, value in signals.items() if value is not None},
            "tokens": _tokens(choices[0]),
        }

    def _rewarded(self, attempt: _Attempt, value: float | None) -> None:
        attempt.reward, attempt.was_rewarded = value, True
        if attempt.waiting is not None and value is not None:
            attempt.waiting["reward"] = attempt.waiting.get("reward", 0) + value

    def _record_turn(self, attempt: _Attempt) -> None:
        if attempt.waiting is not None:
            attempt.trajectory.turn(**attempt.waiting)
            attempt.waiting = None

    def _end(self, name: str) -> None:
        attempt = self._attempts.pop(name)
        self._record_turn(attempt)
        success = {1: True, 0: False}.get(attempt.reward) if attempt.reward is not None else None
        solved = {} if success is None else {"success": success}
        outcome = {"outcome_reward": attempt.reward} if attempt.was_rewarded else {}
        attempt.trajectory.end(**outcome, **solved)


def _tokens(choice: Mapping[str, Any]) -> dict[str, Any] | None:
    logprobs = [token["logprob"] for token in (choice.get("logprobs") or {}).get("content") or []]
    ids = choice.get("token_ids") or []
    if not logprobs:
        return None
    return {"rolloutLogprob": logprobs, **({"tokenId": ids} if len(ids) == len(logprobs) else {})}


def _id_of(rollout_id: str, attempt_id: str | None) -> str:
    return f"{rollout_id}-{attempt_id}" if attempt_id else str(rollout_id)
