"""Records what verl's trainer has in its hands when it has computed the advantages of a batch::

    import verl.trainer.ppo.ray_trainer as ray_trainer
    from recredit.integrations.verl import recorded

    ray_trainer.compute_advantage = recorded(ray_trainer.compute_advantage, run, tokenizer)

A batch is a DataProto or anything like it: ``batch`` holds tensors by name, ``non_tensor_batch`` arrays by name. Nothing
of verl is imported. Tested with stand-ins of that shape, not with verl itself, which needs a GPU.
"""

from __future__ import annotations

import functools
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from ..run import Run
from .chat import digest_of, since
from .guarded import guarded

__all__ = ["record_batch", "recorded"]

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


def recorded(compute_advantage: Callable[..., Any], run: Run, tokenizer: Any = None) -> Callable[..., Any]:
    """verl's ``compute_advantage``, which also records the batch that it returns.

    The training step is the batch's ``meta_info["global_steps"]``, where it says so, else the number of the call.

    :param tokenizer: with ``decode``; None: texts are recorded as far as the batch has them
    """
    calls = 0

    @functools.wraps(compute_advantage)
    def computed(data: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        answer = compute_advantage(data, *args, **kwargs)
        batch = data if answer is None else answer
        step = (getattr(batch, "meta_info", None) or {}).get("global_steps", calls)
        calls += 1
        guarded(record_batch)(run, batch, training_step=step, tokenizer=tokenizer)
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
    tensors, others = data.batch, data.non_tensor_batch
    responses = tensors["responses"]
    names = set(tensors.keys())
    rewards = next((name for name in _REWARDS if name in names), None)
    for i in range(len(responses)):
        length = len(responses[i])
        kept = _kept(tensors, names, i, length)
        ids = _column(responses, i, kept)
        tokens: dict[str, Any] = {"tokenId": ids}
        for name, column in _COLUMNS.items():
            if name in names:
                tokens[column] = _column(tensors[name], i, kept)
        if "response_mask" in names:
            tokens["mask"] = [int(value) for value in _column(tensors["response_mask"], i, kept)]
        prompt = _prompt(tensors, others, names, i, tokenizer)
        group = _said(others, "uid", i)
        trajectory = run.trajectory(
            group=str(group) if group is not None else f"prompt-{digest_of(prompt)}",
            training_step=int(training_step),
            id=str(uuid.uuid4()),
        )
        trajectory.turn(state=prompt, action=tokenizer.decode(ids) if tokenizer else None, tokens=tokens)
        outcome = {} if rewards is None else {"outcome_reward": float(sum(_plain(tensors[rewards][i])))}
        source = _said(others, "data_source", i)
        trajectory.end(**outcome, signals=None if source is None else {"dataset": str(source)})
    return len(responses)


def _kept(tensors: Mapping[str, Any], names: set[str], i: int, length: int) -> list[bool]:
    """Which of the response's places hold tokens: those that are attended to, else those of the mask, else all."""
    if "attention_mask" in names:
        return [bool(value) for value in _plain(tensors["attention_mask"][i])[-length:]]
    if "response_mask" in names:
        return [bool(value) for value in _plain(tensors["response_mask"][i])]
    return [True] * length


def _column(tensor: Any, i: int, kept: list[bool]) -> list[Any]:
    return [value for value, keep in zip(_plain(tensor[i]), kept, strict=True) if keep]


def _prompt(tensors: Mapping[str, Any], others: Mapping[str, Any], names: set[str], i: int, tokenizer: Any) -> Any:
    raw = _said(others, "raw_prompt", i)
    if raw is not None:
        return raw if isinstance(raw, str) else since([dict(message) for message in raw])
    if tokenizer is None or "prompts" not in names:
        return None
    ids = _plain(tensors["prompts"][i])
    if "attention_mask" in names:
        ids = [token for token, is_told in zip(ids, _plain(tensors["attention_mask"][i])) if is_told]
    return tokenizer.decode(ids)


def _said(others: Mapping[str, Any], name: str, i: int) -> Any:
    return others[name][i] if name in others else None


def _plain(row: Any) -> list[Any]:
    for step in ("detach", "float", "cpu"):
        if step != "float" or "bfloat16" in str(getattr(row, "dtype", "")):
            row = getattr(row, step, lambda same=row: same)()
    return list(row.tolist() if hasattr(row, "tolist") else row)
