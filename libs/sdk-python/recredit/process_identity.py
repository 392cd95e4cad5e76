"""Which process this is, so that another one can tell whether it still lives."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["is_alive", "this_process"]


def this_process() -> dict[str, Any]:
    """``place``: where its pid means something (the machine, its boot and, in a container, the pid namespace).

    ``started``: in the kernel's ticks, since pids come back, in containers at once; None where nobody says.
    """
    return {"place": _this_place(), "pid": os.getpid(), "started": _start_of(os.getpid())}


def is_alive(identity: Mapping[str, Any]) -> bool | None:
    """False: certainly gone. None: it ran elsewhere, nobody here can say."""
    pid, started = identity["pid"], identity.get("started")
    if identity["place"] != _this_place() or sys.platform == "win32":
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # it is there, and somebody else's
    now = _start_of(pid)
    return started is None or now is None or now == started


def _this_place() -> str:
    parts = [platform.node(), _read("/proc/sys/kernel/random/boot_id"), _link("/proc/self/ns/pid")]
    return " ".join(part for part in parts if part is not None)


def _start_of(pid: int) -> str | None:
    stat = _read(f"/proc/{pid}/stat")
    # The name in parentheses may hold spaces; the 22nd field is the 20th after it.
    return stat.split(") ")[-1].split(" ")[19] if stat else None


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return None


def _link(path: str) -> str | None:
    try:
        return os.readlink(path)
    except OSError:
        return None
