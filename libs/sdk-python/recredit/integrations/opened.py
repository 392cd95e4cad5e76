"""A run that is there, or that is started where it is needed first: trainers work in processes of their own."""

from __future__ import annotations

from collections.abc import Callable

from ..run import Run

__all__ = ["Opened", "RunOrStart"]

RunOrStart = Run | Callable[[], Run]
"""A run, or how to start one."""


class Opened:
    """Called, it gives the run; it is started once, in the process that calls first."""

    def __init__(self, run: RunOrStart) -> None:
        self._start = run
        self._run = run if isinstance(run, Run) else None

    def __call__(self) -> Run:
        if self._run is None:
            assert not isinstance(self._start, Run)
            self._run = self._start()
        return self._run
