"""Records what verl's trainers have in their hands when they have computed the advantages of a batch.

A module that verl imports in its processes (``VERL_USE_EXTERNAL_MODULES=recorded_verl``)::

    # recorded_verl.py
    import recredit
    from recredit.integrations.verl import watch
    from verl.trainer.ppo.v1 import PPOTrainerSync

    watch(PPOTrainerSync, lambda: recredit.start_run(project="math", name="grpo-7b"))

The trainer of version 0 (``trainer.use_v1=False``) has a function instead: ``ray_trainer.compute_advantage =
recorded(ray_trainer.compute_advantage, run, tokenizer)``. Tested with verl 0.9.1: its trainer's advantage step over its
own queue, and its function over its own DataProto; its rollouts need a GPU.
"""

from __future__ import annotations

import functools
import importlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..run import Run
from .chat import digest_of, since
from .guarded import guarded
from .opened import Opened, RunOrStart

__all__ = ["record_batch", "recorded", "watch"]

_COLUMNS = {
    "old_log_probs": "logprob",
    "rollout_log_probs": "rolloutLogprob",
    "ref_log_prob": "refLogprob",
    "entropys": "entropy",
    "values": "value",
    "token_level_rewards": "reward",
    "advantages": "loggedAdvantage",
}
_REWARDS = ("token_level_scores", "rm_scores", "token_level_rewards")
_QUEUED = ("responses", "prompts", "response_mask", "uid", "raw_prompt", "data_source", "rm_scores", *_COLUMNS)


def watch(trainer: Any, run: RunOrStart, tokenizer: Any = None) -> None:
    """Records every batch of a trainer of verl's version 1 (``trainer.use_v1``, the default) when it has its advantages.

    A session of the agent loop is a trajectory, and each of its outputs a turn. The training step is the trainer's
    ``global_steps``.

    :param trainer: the class (``PPOTrainerSync``), or one of it
    :param tokenizer: with ``decode``; default: the trainer's
    :raises TypeError: for a trainer that has no such step
    """
    compute = getattr(trainer, "_compute_advantage", None)
    if not callable(compute):
        raise TypeError(f"a trainer of verl's version 1 was expected, {trainer!r} has no _compute_advantage")
    opened = Opened(run)

    def record(that: Any, batch: Any) -> None:
        words = tokenizer or getattr(that, "tokenizer", None)
        _record_sessions(opened(), batch, training_step=that.global_steps, tokenizer=words)

    @functools.wraps(compute)
    def computed(*args: Any, **kwargs: Any) -> Any:
        answer = compute(*args, **kwargs)
        that, *rest = args if isinstance(trainer, type) else (trainer, *args)
        guarded(record)(that, kwargs["batch"] if "batch" in kwargs else rest[0])
        return answer

    trainer._compute_advantage = computed


def recorded(compute_advantage: Callable[..., Any], run: RunOrStart, tokenizer: Any = None) -> Callable[..., Any]:
    """verl's ``compute_advantage``, which also records the batch that it returns.

    The training step is the batch's ``meta_info["global_steps"]``, where it says so, else the number of the call.

    :param tokenizer: with ``decode``; None: texts are recorded as far as the batch has them
    """
    calls = 0
    opened = Opened(run)

    @functools.wraps(compute_advantage)
    def computed(data: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        answer = compute_advantage(data, *args, **kwargs)
        batch = data if answer is None else answer
        step = (getattr(batch, "meta_info", None) or {}).get("global_steps", calls)
        calls += 1
        guarded(lambda: record_batch(opened(), batch, training_step=step, tokenizer=tokenizer))()
        return answer

    return computed


def record_batch(run: Run, data: Any, *, training_step: int, tokenizer: Any = None) -> int:
    """Records every rollout of a batch: one turn each, whose tokens are the response without its padding.

    In a response of several turns the column ``mask`` is 1 where the policy wrote and 0 where a tool or user did. The
    outcome is the sum of the token-level scores, the group the prompt's ``uid``.

    :param data: ``batch`` with ``responses`` [rollouts, tokens] and whatever of ``response_mask``, ``attention_mask``,
        ``old_log_probs``, ``rollout_log_probs``, ``ref_log_prob``, ``entropys``, ``values``, ``token_level_scores``,
        ``token_level_rewards`` and ``advantages`` is there; ``non_tensor_batch`` with ``uid``, ``raw_prompt``
    :raises KeyError: for a batch without ``responses``
    :returns: how many rollouts
    """
    rows = _Rows(data.batch, data.non_tensor_batch, tokenizer)
    for i in range(len(rows.responses)):
        _record(run, rows, [i], str(uuid.uuid4()), training_step)
    return len(rows.responses)


def _record_sessions(run: Run, batch: Any, *, training_step: int, tokenizer: Any) -> None:
    """:param batch: keys ``{uid}_{session}_{output}`` of rows in verl's queue; rows that fill it up are left out"""
    queue = importlib.import_module("transfer_queue")
    data = queue.kv_batch_get(keys=batch.keys, partition_id=batch.partition_id, select_fields=list(_QUEUED))
    rows = _Rows(data, data, tokenizer)
    tags = batch.tags or [{}] * len(batch.keys)
    sessions: dict[str, list[tuple[int, int]]] = {}
    for i, (key, tag) in enumerate(zip(batch.keys, tags)):
        if not tag.get("is_padding"):
            session, _, output = key.rpartition("_")
            sessions.setdefault(session, []).append((int(output), i))
    for session, outputs in sessions.items():
        _record(run, rows, [i for _, i in sorted(outputs)], session, training_step)


def _record(run: Run, rows: _Rows, turns: Sequence[int], id: str, training_step: int) -> None:
    """:param turns: the rows of one trajectory, in order; the last one has its outcome"""
    trajectory = run.trajectory(group=rows.group(turns[0]), training_step=int(training_step), id=id)
    for turn, i in enumerate(turns):
        trajectory.turn(**rows.turn(i, is_first=turn == 0))
    trajectory.end(**rows.outcome(turns[-1]))


class _Rows:
    """A batch, row by row: padded, with a mask of what is attended to, or nested, every row of its own length."""

    def __init__(self, tensors: Mapping[str, Any], others: Mapping[str, Any], tokenizer: Any) -> None:
        """:raises KeyError: where there are no ``responses``"""
        self.responses = tensors["responses"]
        self._tensors = tensors
        self._others = others
        self._tokenizer = tokenizer
        self._names = set(tensors.keys())
        self._other_names = set(others.keys())

    def group(self, i: int) -> str:
        uid = self._said("uid", i)
        return str(uid) if uid is not None else f"prompt-{digest_of(self._prompt(i, is_first=True))}"

    def turn(self, i: int, is_first: bool) -> dict[str, Any]:
        kept = self._kept(i)
        ids = _column(self.responses, i, kept)
        tokens: dict[str, Any] = {"tokenId": ids}
        for name, column in _COLUMNS.items():
            if name in self._names:
                tokens[column] = _column(self._tensors[name], i, kept)
        if "response_mask" in self._names:
            tokens["mask"] = [int(value) for value in _column(self._tensors["response_mask"], i, kept)]
        action = self._tokenizer.decode(ids) if self._tokenizer else None
        return {"state": self._prompt(i, is_first), "action": action, "tokens": tokens}

    def outcome(self, i: int) -> dict[str, Any]:
        source = self._said("data_source", i)
        said: dict[str, Any] = {} if source is None else {"signals": {"dataset": str(source)}}
        rewards = next((name for name in _REWARDS if name in self._names), None)
        return said if rewards is None else {**said, "outcome_reward": float(sum(_plain(self._tensors[rewards][i])))}

    def _kept(self, i: int) -> list[bool]:
        """Which of the response's places hold tokens: those that are attended to, else those of the mask, else all."""
        length = len(self.responses[i])
        if getattr(self.responses, "is_nested", False):
            return [True] * length
        if "attention_mask" in self._names:
            return [bool(value) for value in _plain(self._tensors["attention_mask"][i])[-length:]]
        if "response_mask" in self._names:
            return [bool(value) for value in _plain(self._tensors["response_mask"][i])]
        return [True] * length

    def _prompt(self, i: int, is_first: bool) -> Any:
        """What was asked; further on in a trajectory the tokens that the policy was given say it, where they can be read."""
        raw = self._said("raw_prompt", i)
        can_decode = self._tokenizer is not None and "prompts" in self._names
        if raw is not None and (is_first or not can_decode):
            return raw if isinstance(raw, str) else since([dict(message) for message in raw])
        if not can_decode:
            return None
        ids = _plain(self._tensors["prompts"][i])
        if "attention_mask" in self._names:
            ids = [token for token, is_told in zip(ids, _plain(self._tensors["attention_mask"][i])) if is_told]
        return self._tokenizer.decode(ids)

    def _said(self, name: str, i: int) -> Any:
        return self._others[name][i] if name in self._other_names else None


def _column(tensor: Any, i: int, kept: list[bool]) -> list[Any]:
    return [value for value, keep in zip(_plain(tensor[i]), kept, strict=True) if keep]


def _plain(row: Any) -> list[Any]:
    for step in ("detach", "float", "cpu"):
        if step != "float" or "bfloat16" in str(getattr(row, "dtype", "")):
            row = getattr(row, step, lambda same=row: same)()
    return list(row.tolist() if hasattr(row, "tolist") else row)
