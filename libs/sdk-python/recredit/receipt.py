"""What became of one call."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

__all__ = ["ACCEPTED", "Receipt", "RefusalReason", "refusal"]

RefusalReason = Literal["invalid", "back-pressure", "ended", "spool-failed"]
"""Why an event was not recorded. Training goes on in any case.

``invalid``: it holds something that cannot be sent. ``back-pressure``: the spool or its disk is full of events that
no server has acknowledged yet. ``ended``: the trajectory or the run has ended. ``spool-failed``: the spool cannot be
written for another reason, which ``detail`` names.
"""


class Receipt(NamedTuple):
    """What became of one call. True where the event was recorded."""

    accepted: bool
    reason: RefusalReason | None = None
    detail: str | None = None

    def __bool__(self) -> bool:
        return self.accepted


ACCEPTED: Final = Receipt(True)


def refusal(reason: RefusalReason, detail: str) -> Receipt:
    return Receipt(False, reason, detail)
