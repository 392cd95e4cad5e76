"""Recording on a machine that reaches no server."""

from __future__ import annotations

import os
from typing import Any

from .run import Run
from .start_run import start_run

__all__ = ["Offline", "offline"]


class Offline:
    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = folder

    def start_run(self, *, project: str, name: str, config: Any = None, **options: Any) -> Run:
        """As ``recredit.start_run``, but nothing is ever sent."""
        return start_run(project=project, name=name, config=config, **{**options, "spool": self._folder, "offline": True})


def offline(folder: str | os.PathLike[str]) -> Offline:
    """Records into a folder; `recredit sync` delivers it later, from wherever it lies then."""
    return Offline(folder)
