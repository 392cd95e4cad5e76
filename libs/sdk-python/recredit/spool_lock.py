"""One process's right to a producer's folder. Its number is the producer's epoch."""

from __future__ import annotations

import json
import os
import re
import time
import uuid
from pathlib import Path
from typing import Final

from .process_identity import is_alive, this_process

__all__ = ["SpoolLock", "take_lock"]

_LEASE: Final = 600.0
"""A holder on another machine that has not been heard of for so many seconds is taken for dead."""

_LOCK = re.compile(r"lock\.(\d+)", re.ASCII)


class SpoolLock:
    """Locks are numbered: taking over means creating the next number, which the file system lets one process do."""

    def __init__(self, folder: Path, epoch: int) -> None:
        self.epoch = epoch
        self._folder = folder
        self._path = _lock_file(folder, epoch)

    def renew(self) -> bool:
        """Says that the holder lives, to machines that cannot see its pid. False: somebody else took over."""
        try:
            if not self._path.exists() or _last_lock(self._folder) != self.epoch:
                return False
            os.utime(self._path)
        except OSError:
            return False
        return True

    def release(self) -> None:
        if not self._path.exists():
            return
        draft = self._path.with_name(f"{self._path.name}.draft")
        try:
            draft.write_text(json.dumps({**this_process(), "released": True}))
            draft.replace(self._path)
        except OSError:
            # A full disk still lets go of bytes: a lock that names nobody is nobody's.
            draft.unlink(missing_ok=True)
            os.truncate(self._path, 0)


def take_lock(folder: Path) -> SpoolLock | None:
    """Takes a folder, unless a living process has it."""
    while True:
        last = _last_lock(folder)
        if last >= 0:
            held = _is_held(folder, last)
            if held is None:
                continue
            if held:
                return None
        if _create(folder, last + 1):
            return SpoolLock(folder, last + 1)


def _create(folder: Path, epoch: int) -> bool:
    draft = folder / f"{uuid.uuid4()}.draft"
    draft.write_text(json.dumps(this_process()))
    try:
        os.link(draft, _lock_file(folder, epoch))
    except FileExistsError:
        return False
    finally:
        draft.unlink(missing_ok=True)
    # Who listed the folder long ago may create a number that others have passed meanwhile.
    last = _last_lock(folder)
    if last > epoch:
        _lock_file(folder, epoch).unlink(missing_ok=True)
    else:
        for older in _locks(folder):
            if older < epoch:
                _lock_file(folder, older).unlink(missing_ok=True)
    return last == epoch


def _is_held(folder: Path, epoch: int) -> bool | None:
    """None: it has been replaced meanwhile."""
    path = _lock_file(folder, epoch)
    try:
        holder = json.loads(path.read_bytes())
        if holder.get("released"):
            return False
        alive = is_alive(holder)
        return time.time() - path.stat().st_mtime < _LEASE if alive is None else alive
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError):
        return False


def _last_lock(folder: Path) -> int:
    return max(_locks(folder), default=-1)


def _locks(folder: Path) -> list[int]:
    return [int(found[1]) for name in os.listdir(folder) if (found := _LOCK.fullmatch(name))]


def _lock_file(folder: Path, epoch: int) -> Path:
    return folder / f"lock.{epoch}"
