"""Records the rollouts of Agent Lightning where its runners end them::

    trainer = agentlightning.Trainer(..., hooks=RolloutHook(run))

The turns are those that Agent Lightning trains on, as its own adapter makes them of a rollout's spans. Tested with
agentlightning 0.3.0: its runner, store, tracers and emitters.

``Forwarder`` takes the events that its development version writes instead (microsoft/agent-lightning@c632d8d,
``{"event_type", "rollout_id", "attempt_id", "timestamp", "data"}``), as the importer `agent-lightning` does, under the
same ids, groups and spellings; no release has them.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..run import Run
from ..trajectory import Trajectory
from .chat import action_of, digest_of, since, spoken
from .guarded import guarded, warn_of
from .opened import Opened, RunOrStart

try:
    from agentlightning import Hook
except ImportError:  # events can be forwarded without it
    Hook = object

__all__ = ["Forwarder", "RolloutHook"]


class RolloutHook(Hook):  # type: ignore[misc]
    """A trajectory of each attempt at a rollout, whose outcome is its last reward; validation is left out.

    Rollouts of equal inputs are a group. An attempt that failed is recorded as far as it came.
    """

    def __init__(
        self, run: RunOrStart, *, training_step: Callable[[Any], int] | None = None, adapter: Any = None
    ) -> None:
        """
        :param run: or a function that starts it, where runners are processes that are not forked
        :param training_step: of a rollout; default: how many resources the store had before those that it was given,
            as each update of the policy adds some
        :param adapter: what the trainer makes triplets of spans with; default: ``TracerTraceToTriplet()``
        """
        super().__init__()
        self._opened = Opened(run)
        self._step_of = training_step
        self._adapter = adapter
        self._steps: dict[str | None, int] = {}

    async def on_rollout_end(self, *, agent: Any, runner: Any, rollout: Any, spans: Any) -> None:
        if rollout.mode in ("val", "test"):
            return
        try:
            # The spans that come with the call lack the reward that the agent returned, which the store has; the store
            # of another process may not have the spans yet that were exported to it.
            store = runner.get_store()
            stored = await store.query_spans(rollout.rollout_id, rollout.attempt.attempt_id)
            known = {span.span_id: span for span in [*spans, *stored]}
            step = self._step_of(rollout) if self._step_of else await self._known_step(store, rollout.resources_id)
            self._record(rollout, sorted(known.values(), key=lambda span: span.start_time or 0), step)
        except Exception as error:
            warn_of("rollout", error)

    async def _known_step(self, store: Any, resources_id: str | None) -> int:
        if resources_id not in self._steps:
            resources = [each.resources_id for each in await store.query_resources(sort_by="create_time")]
            self._steps[resources_id] = resources.index(resources_id) if resources_id in resources else 0
        return self._steps[resources_id]

    def _record(self, rollout: Any, spans: Sequence[Any], step: int) -> None:
        lightning = importlib.import_module("agentlightning")
        adapter = self._adapter or lightning.TracerTraceToTriplet()
        task = rollout.input
        if isinstance(task, Mapping):  # the verl algorithm numbers its samples anew in every step
            task = {name: value for name, value in task.items() if name != "data_id"}
        trajectory = self._opened().trajectory(
            group=f"task-{digest_of(task)}",
            training_step=step,
            id=_id_of(rollout.rollout_id, rollout.attempt.attempt_id),
        )
        calls = _calls_by_answer(spans)
        for triplet in adapter.adapt(spans) if spans else []:
            trajectory.turn(**_turn_of(triplet, calls.get(triplet.metadata.get("response_id"), [])))
        reward = lightning.find_final_reward(spans)
        trajectory.end(**_outcome(reward, reward is not None))


def _calls_by_answer(spans: Sequence[Any]) -> dict[str, list[dict[str, Any]]]:
    """The tools that each answer calls, by the answer's id: AgentOps makes spans of them, below the one of their answer."""
    answers = {span.span_id: span.attributes.get("gen_ai.response.id") for span in spans}
    calls: dict[str, list[dict[str, Any]]] = {}
    for span in spans:
        answer, name = answers.get(span.parent_id), span.attributes.get("tool.name")
        if isinstance(answer, str) and name is not None:
            calls.setdefault(answer, []).append({"name": name, "arguments": span.attributes.get("tool.parameters")})
    return calls


def _turn_of(triplet: Any, calls: list[dict[str, Any]]) -> dict[str, Any]:
    """A triplet of Agent Lightning: what the model was told, what it answered, their tokens and the reward after it.

    :param calls: of the answer, where it does not hold them itself
    """
    told, answers = triplet.prompt.get("raw_content"), triplet.response.get("raw_content")
    answer = answers[0] if isinstance(answers, list) and answers else None
    if isinstance(answer, Mapping) and calls:
        answer = {"tool_calls": calls, **answer}
    signals = {
        "policy": (triplet.metadata.get("request") or {}).get("model"),
        "agent": None if triplet.metadata.get("agent_name") == "*" else triplet.metadata.get("agent_name"),
    }
    reward = {} if triplet.reward is None else {"reward": triplet.reward}
    ids = triplet.response.get("token_ids")
    return {
        **reward,
        "state": since(told) if isinstance(told, list) else None,
        "action": action_of(answer) if isinstance(answer, Mapping) else None,
        "signals": {name: value for name, value in signals.items() if value is not None},
        "tokens": _columns(ids, triplet.response.get("logprobs")) or ({"tokenId": ids} if ids else None),
    }


def _columns(ids: Sequence[int] | None, logprobs: Sequence[Mapping[str, Any]] | None) -> dict[str, Any] | None:
    """:returns: None where no log-probability is known; ids that are not of the same tokens are left out"""
    said = [token["logprob"] for token in logprobs or []]
    if not said:
        return None
    return {"rolloutLogprob": said, **({"tokenId": ids} if len(ids or []) == len(said) else {})}


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
            if not isinstance(step, int) or isinstance(step, bool) or step < 0:
                step = 0
            trajectory = self._run.trajectory(group=f"prompt-{digest_of(said)}", training_step=step, id=name)
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
            "tokens": _columns(choices[0].get("token_ids"), (choices[0].get("logprobs") or {}).get("content")),
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
        attempt.trajectory.end(**_outcome(attempt.reward, attempt.was_rewarded))


def _outcome(reward: float | None, is_said: bool) -> dict[str, Any]:
    """A reward of 1 or 0 says whether the task was solved, a graded one does not."""
    solved = {"success": reward == 1} if reward in (0, 1) else {}
    return {**({"outcome_reward": reward} if is_said else {}), **solved}


def _id_of(rollout_id: str, attempt_id: str | None) -> str:
    return f"{rollout_id}-{attempt_id}" if attempt_id else str(rollout_id)
