"""Chat messages as states and actions, spelled as the platform's importers spell them, so that equal ones are equal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["action_of", "digest_of", "since", "spoken"]


def spoken(message: Mapping[str, Any]) -> str:
    """A message as a state: with its role, so that a tool and a person who say the same are two states."""
    return f"{message.get('role', 'user')}:{_content(message)}"


def action_of(message: Mapping[str, Any]) -> str:
    """An answer as an action: its calls with their arguments sorted, or else what it says."""
    calls = [call.get("function", call) for call in message.get("tool_calls") or []]
    if not calls:
        return f"respond:{_content(message)}"
    return "\n".join(f"{call.get('name', '')}{_sorted(call.get('arguments'))}" for call in calls)


def since(messages: Iterable[Mapping[str, Any]]) -> str:
    """What was said after the agent's last answer, as a state; a system prompt is none."""
    heard: list[str] = []
    for message in messages:
        role = message.get("role")
        if role == "assistant":
            heard = []
        elif role not in ("system", "developer"):
            heard.append(spoken(message))
    return "\n".join(heard)


def digest_of(value: Any, length: int = 12) -> str:
    """A short name of a JSON value, the same wherever the value is met."""
    return hashlib.sha256(_json(value).encode("utf-8", "surrogatepass")).hexdigest()[:length]


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        texts = [part if isinstance(part, str) else part.get("text") for part in content if isinstance(part, (str, dict))]
        if len(texts) == len(content) and all(isinstance(text, str) for text in texts):
            return "\n".join(text for text in texts if isinstance(text, str))
    return _json(content)


def _sorted(arguments: Any) -> str:
    """Arguments come as JSON text or as a value; what a model wrote wrongly stays as it wrote it."""
    if not isinstance(arguments, str):
        return _json({} if arguments is None else arguments)
    try:
        return _json(json.loads(arguments))
    except (ValueError, RecursionError):
        return arguments


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
