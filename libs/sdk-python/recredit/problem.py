"""Answers of the platform, sorted by what helps against them."""

from __future__ import annotations

import email.utils
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["Outcome", "Problem", "RecreditError", "no_answer", "outcome_of", "problem_of"]


@dataclass(frozen=True)
class Problem:
    """Why something was not done: the platform's answer, or what stood in for one."""

    status: int | None
    """HTTP status; None: no answer came"""
    code: str
    """the platform's code, such as ``producer.fenced``, or ``no.answer``"""
    detail: str
    details: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {"status": self.status, "code": self.code, "detail": self.detail, "details": dict(self.details)}


class RecreditError(Exception):
    """The platform refused a question, or did not answer. ``code`` is what a program should look at."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"{problem.code}: {problem.detail}")
        self.problem = problem
        self.code = problem.code
        self.status = problem.status
        self.details = problem.details


@dataclass(frozen=True)
class Outcome:
    """What became of a request.

    ``again``: no answer, or one that time may change. ``refused``: the platform will not take this content, whatever
    time passes. ``conflict``: the log has something else under this sequence, or somebody else writes. ``blocked``:
    not before a person does something: a key, a role, an address.
    """

    kind: Literal["done", "again", "refused", "conflict", "blocked"]
    value: Any = None
    problem: Problem | None = None
    after: float | None = None
    """seconds that the server asked to wait"""


_TRANSIENT = frozenset({408, 425, 429})
_ABOUT_CONTENT = frozenset({413, 422})


def outcome_of(status: int, body: bytes, retry_after: str | None, now: float) -> Outcome:
    """Sorts a refusal by what helps against it.

    :param now: seconds since 1970
    """
    problem = problem_of(status, body)
    if status >= 500 or status in _TRANSIENT:
        return Outcome("again", problem=problem, after=_delay(retry_after, now))
    if status in _ABOUT_CONTENT:
        return Outcome("refused", problem=problem)
    return Outcome("conflict" if status == 409 else "blocked", problem=problem)


def no_answer(error: object) -> Outcome:
    """No answer, or half of one: whether the platform did it is unknown, and asking again is safe."""
    detail = str(error) or type(error).__name__
    return Outcome("again", problem=Problem(None, "no.answer", detail))


def problem_of(status: int, body: bytes) -> Problem:
    """A refusal as the platform said it; a proxy's, in its own words."""
    try:
        said = json.loads(body)
        if "code" not in said and "errors" in said:  # an answer of GraphQL
            [error, *_] = said["errors"]
            said = {**error["extensions"]["details"], "code": error["extensions"]["code"], "detail": error["message"]}
        code = said.pop("code")
        title, detail = said.pop("title", None), said.pop("detail", None)
        said.pop("type", None)
        if isinstance(code, str):
            text = next((text for text in (detail, title) if isinstance(text, str)), code)
            return Problem(status, code, text, said)
    except (ValueError, AttributeError, KeyError, TypeError):
        pass
    return Problem(status, f"http.{status}", body[:200].decode(errors="replace") or f"status {status}")


def _delay(retry_after: str | None, now: float) -> float | None:
    """Retry-After: seconds, or a date."""
    if retry_after is None:
        return None
    try:
        delay = float(retry_after)
    except ValueError:
        try:
            delay = email.utils.parsedate_to_datetime(retry_after).timestamp() - now
        except (TypeError, ValueError):
            return None
    return max(0.0, delay) if delay == delay else None
