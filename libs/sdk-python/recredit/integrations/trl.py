"""Records what TRL's GRPOTrainer does::

    trainer = GRPOTrainer(...)
    run = recredit.start_run(project="math", name="grpo-tiny")
    recredit.integrations.trl.watch(trainer, run)
    trainer.train()
    run.end()

Of every completion: its prompt, its group, its rewards, the advantage that TRL computed (``loggedAdvantage``), and per
token its id, the log-probability (nats) of the policy that is optimized and that policy's entropy (nats). Tested with
TRL 1.16; what ``watch`` needs of a trainer it looks for, and says what is missing.
"""

from __future__ import annotations

import functools
import math
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..run import Run
from .chat import digest_of
from .guarded import guarded

try:
    from transformers import TrainerCallback
except ImportError:  # the tests have stand-ins, and a reward function needs none
    TrainerCallback = object

__all__ = ["RecreditCallback", "logged_reward", "watch"]

_NEEDED = ("_generate_and_score_completions", "_calculate_rewards", "_compute_loss", "_get_per_token_logps_and_entropies")
_ROW = "recredit_row"


class RecreditCallback(TrainerCallback):  # type: ignore[misc]
    """The metrics of each training step, and the return to a checkpoint. ``watch`` adds one by itself."""

    def __init__(self, run: Run, on_end: Callable[[], None] | None = None) -> None:
        self._run = run
        self._on_end = on_end

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.global_step > 0 and _is_main(state):
            self._run.rewind(state.global_step - 1)

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        metrics = {name: float(value) for name, value in (logs or {}).items() if isinstance(value, (int, float))}
        finite = {name: value for name, value in metrics.items() if not math.isinf(value)}
        if finite and _is_main(state):
            self._run.training_step(max(state.global_step - 1, 0), finite)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._on_end:
            self._on_end()


def watch(trainer: Any, run: Run) -> RecreditCallback:
    """Records every rollout of a GRPOTrainer from now on, in each process those it made; evaluations are left out.

    :raises TypeError: for a trainer that lacks what is listened to, with its name
    :returns: the callback that was added to it
    """
    missing = [name for name in _NEEDED if not callable(getattr(trainer, name, None))]
    if missing:
        raise TypeError(f"a GRPOTrainer was expected, {type(trainer).__name__} has no {', '.join(missing)}")
    watcher = _Watcher(trainer, run)
    callback = RecreditCallback(run, watcher.flush)
    trainer.add_callback(callback)
    return callback


def logged_reward(reward_func: Callable[..., Sequence[float | None]], run: Run, num_generations: int) -> Callable[..., Any]:
    """A reward function for TRL that also records what it judged, with nothing but TRL's public interface.

    For trainers that ``watch`` does not know. It sees neither advantages nor log-probabilities; where there are several
    reward functions, wrap one that is their sum. Completions come in blocks of one prompt.

    :param reward_func: as TRL calls it: ``prompts``, ``completions`` and the data set's columns, each [completions]
    :param num_generations: completions of one prompt
    """

    @functools.wraps(reward_func)
    def judged(prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> Any:
        rewards = reward_func(prompts=prompts, completions=completions, **columns)
        step = getattr(columns.get("trainer_state"), "global_step", 0)
        _record_judged(run, prompts, completions, columns.get("completion_ids"), rewards, num_generations, step)
        return rewards

    return judged


@guarded
def _record_judged(
    run: Run, prompts: Sequence[Any], completions: Sequence[Any], ids: Any, rewards: Any, size: int, step: int
) -> None:
    groups = _Groups()
    for i, (prompt, completion) in enumerate(zip(prompts, completions)):
        trajectory = run.trajectory(group=groups.name(step, prompt, i // size), training_step=step)
        trajectory.turn(state=_text(prompt), action=_text(completion), tokens={"tokenId": list(ids[i])} if ids else None)
        trajectory.end(outcome_reward=_reward(rewards[i]))


class _Groups:
    """Names of groups: their prompt. One prompt that comes in two blocks of a step is two groups."""

    def __init__(self) -> None:
        self._step = -1
        self._blocks: dict[str, list[Any]] = {}

    def name(self, step: int, prompt: Any, block: Any) -> str:
        if step != self._step:
            self._step, self._blocks = step, {}
        name = f"prompt-{digest_of(prompt)}"
        blocks = self._blocks.setdefault(name, [])
        if block not in blocks:
            blocks.append(block)
        place = blocks.index(block)
        return name if place == 0 else f"{name}-{place + 1}"


class _Watcher:
    """Listens at the four places of a trainer where a rollout, its rewards, its advantage and its tokens are known.

    A rollout waits for the first loss over it, where TRL computes log-probabilities and entropies. Its row number
    travels with the batch, as TRL shuffles and splits it in between.
    """

    def __init__(self, trainer: Any, run: Run) -> None:
        self._trainer = trainer
        self._run = run
        self._groups = _Groups()
        self._rewards: Any = None
        self._generations = 0
        self._seen: tuple[Any, Any] | None = None
        self._waiting: dict[int, dict[str, Any]] = {}
        self._rows = 0
        self._listen("_calculate_rewards", self._rewarded)
        self._listen("_generate_and_score_completions", self._generated)
        self._listen("_get_per_token_logps_and_entropies", self._computed)
        self._listen("_compute_loss", self._lost)

    def flush(self) -> None:
        """Records what waits for a loss that did not come."""
        for row in list(self._waiting):
            self._record(row)

    def _listen(self, name: str, hear: Callable[..., None]) -> None:
        method = getattr(self._trainer, name)
        heard = guarded(hear)

        @functools.wraps(method)
        def listened(*args: Any, **kwargs: Any) -> Any:
            answer = method(*args, **kwargs)
            heard(answer, *args, **kwargs)
            return answer

        setattr(self._trainer, name, listened)

    def _rewarded(self, rewards: Any, inputs: Any, prompts: Any, completions: Any, *_: Any, **__: Any) -> None:
        """:param rewards: [all processes' completions, reward functions]"""
        self._rewards = (rewards.detach().float().cpu(), prompts, completions)

    def _generated(self, output: dict[str, Any], *_: Any, **__: Any) -> None:
        self._seen = None  # what was computed while generating is of other rows than the next loss's
        if not self._trainer.model.training or self._rewards is None:
            return
        rewards, prompts, completions = self._rewards
        self._rewards = None
        self.flush()
        first = self._trainer.accelerator.process_index * len(prompts)
        step = self._trainer.state.global_step
        names, weights = self._trainer.reward_func_names, self._trainer.reward_weights.tolist()
        mask = output["completion_mask"].bool()
        self._generations += 1
        rows = []
        for i, (prompt, completion) in enumerate(zip(prompts, completions)):
            block = (self._generations, (first + i) // self._trainer.num_generations)
            said = rewards[first + i].tolist()
            kept = mask[i].cpu()
            self._waiting[self._rows] = {
                "group": self._groups.name(step, prompt, block),
                "step": step,
                "prompt": prompt,
                "completion": completion,
                "rewards": dict(zip(names, said)),
                "reward": _weighted(said, weights),
                "advantage": output["advantages"][i].detach().float().cpu(),
                "kept": kept,
                "tokens": _columns(output, i, kept),
            }
            rows.append(self._rows)
            self._rows += 1
        output[_ROW] = output["completion_ids"].new_tensor(rows)

    def _computed(self, answer: Any, *_: Any, **__: Any) -> None:
        self._seen = (answer[0], answer[1])

    def _lost(self, _answer: Any, _model: Any, inputs: Mapping[str, Any], *_: Any, **__: Any) -> None:
        if _ROW not in inputs or self._seen is None:
            return
        (logprobs, entropies), self._seen = self._seen, None
        for i, row in enumerate(inputs[_ROW].tolist()):
            if row not in self._waiting:
                continue  # a further iteration over the same rollouts
            rollout = self._waiting[row]
            tokens, kept = rollout["tokens"], rollout["kept"]
            tokens.setdefault("logprob", _row(logprobs, i, kept))
            if entropies is not None:
                tokens.setdefault("entropy", _row(entropies, i, kept))
            self._record(row)

    def _record(self, row: int) -> None:
        rollout = self._waiting.pop(row)
        advantage = rollout["advantage"]
        tokens = rollout["tokens"]
        signals = {}
        if advantage.ndim == 0:
            signals = {"loggedAdvantage": advantage.item()}
        else:
            tokens["loggedAdvantage"] = advantage[rollout["kept"]]
        trajectory = self._run.trajectory(group=rollout["group"], training_step=rollout["step"], id=str(uuid.uuid4()))
        state, action = _text(rollout["prompt"]), _text(rollout["completion"])
        trajectory.turn(state=state, action=action, signals=signals, tokens=tokens)
        parts = {f"reward.{name}"[:128]: _reward(value) for name, value in rollout["rewards"].items()}
        trajectory.end(outcome_reward=rollout["reward"], signals=parts)


def _columns(output: Mapping[str, Any], i: int, kept: Any) -> dict[str, Any]:
    """What is known of the tokens of a completion before any loss; each column [tokens]."""
    columns = {"tokenId": output["completion_ids"][i].cpu()[kept].tolist()}
    named = {"logprob": "old_per_token_logps", "rolloutLogprob": "sampling_per_token_logps", "refLogprob": "ref_per_token_logps"}
    for column, name in named.items():
        if output.get(name) is not None:
            columns[column] = _row(output[name], i, kept)
    if output.get("tool_mask") is not None:
        columns["mask"] = output["tool_mask"][i].cpu()[kept].tolist()
    return columns


def _row(values: Any, i: int, kept: Any) -> Any:
    """:returns: float32 [tokens]; padding is left out"""
    return values[i].detach().float().cpu()[kept]


def _weighted(rewards: Sequence[float], weights: Sequence[float]) -> float | None:
    """The sum that TRL ranks by: functions that say nothing of a completion (NaN) are left out of it."""
    said = [reward * weight for reward, weight in zip(rewards, weights) if not math.isnan(reward)]
    return sum(said) if said else None


def _reward(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


def _text(said: Any) -> Any:
    """A prompt or completion: text, or chat messages, as they are."""
    return said if isinstance(said, (str, list, tuple)) else str(said)


def _is_main(state: Any) -> bool:
    return bool(getattr(state, "is_world_process_zero", True))
