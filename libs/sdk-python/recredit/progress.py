"""A line that says how far something is, where somebody looks: in a terminal or a notebook."""

from __future__ import annotations

import sys
from typing import TextIO

__all__ = ["ProgressLine"]

_WIDTH = 24


class ProgressLine:
    """Plain text, rewritten in place. Where nobody looks, nothing is written."""

    def __init__(self, label: str, wanted: bool | None = None) -> None:
        """:param wanted: None: where there is a terminal or a notebook"""
        self._label = label
        self._stream = _stream(wanted)
        self._written = 0

    def update(self, done: int, total: int, seconds_left: float | None = None) -> None:
        """:param total: 0: not known yet"""
        if not self._stream:
            return
        share = done / total if total else 0.0
        filled = int(_WIDTH * share)
        left = "" if seconds_left is None or done >= total else f", {_duration(seconds_left)} left"
        of = f"{done}/{total}" if total else "..."
        self._write(f"{self._label} [{'=' * filled}{' ' * (_WIDTH - filled)}] {of}{left}")

    def end(self) -> None:
        if self._stream and self._written:
            self._stream.write("\n")
            self._stream.flush()

    def _write(self, text: str) -> None:
        assert self._stream
        self._stream.write(f"\r{text.ljust(self._written)}")
        self._stream.flush()
        self._written = len(text)


def _stream(wanted: bool | None) -> TextIO | None:
    is_notebook = "ipykernel" in sys.modules
    stream = sys.stdout if is_notebook else sys.stderr
    if wanted is False or stream is None:
        return None
    try:
        return stream if wanted or is_notebook or stream.isatty() else None
    except ValueError:  # it is closed
        return None


def _duration(seconds: float) -> str:
    whole = int(seconds + 0.5)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"
