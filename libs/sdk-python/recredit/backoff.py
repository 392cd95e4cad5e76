"""How long to wait between attempts."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["BACKOFF", "Backoff", "wait_seconds"]


class Backoff(NamedTuple):
    """In seconds."""

    base: float
    cap: float


BACKOFF: Final = Backoff(0.25, 30.0)
_MAX_ASKED: Final = 300.0
"""What a server asks for is honoured up to here."""


def wait_seconds(attempt: int, asked: float | None, random: float, backoff: Backoff) -> float:
    """Exponential backoff with full jitter: a thousand trainers that lost the same server do not come back together.

    :param attempt: failures so far, from 1
    :param asked: what the server asked for; waited in full, with jitter on top
    :param random: from [0, 1)
    """
    bound: float = min(backoff.cap, backoff.base * 2.0 ** min(attempt - 1, 30))
    return min(asked or 0.0, _MAX_ASKED) + random * bound
