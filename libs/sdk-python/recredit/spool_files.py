"""What lies in a producer's folder, one file per batch; the TypeScript SDK reads and writes the same.

::

    00000007.ndjson        recorded, not acknowledged; the number only orders
    00000007.sent          acknowledged under that sequence; dropped when room is needed, but for the newest,
                           whose name says which sequence comes next
    00000007.refused       refused for its content, with the answer in 00000007.problem.json; used no sequence

Each step of a batch is one rename, so a process killed at any moment leaves a folder that says where it stood.
"""

from __future__ import annotations

import os
import re
import uuid
from pathlib import Path
from typing import Literal, NamedTuple

__all__ = ["SpoolListing", "list_spool", "read_lines", "size_of", "spool_file", "write_whole"]

FileState = Literal["ndjson", "sent", "refused", "problem.json"]
_FILE = re.compile(r"(\d{8,})\.(ndjson|sent|refused)", re.ASCII)


class SpoolListing(NamedTuple):
    """Numbers, ascending."""

    pending: list[int]
    sent: list[int]
    refused: list[int]


def spool_file(folder: Path, number: int, state: FileState) -> Path:
    return folder / f"{number:08d}.{state}"


def list_spool(folder: Path) -> SpoolListing:
    listing = SpoolListing([], [], [])
    by_state = {"ndjson": listing.pending, "sent": listing.sent, "refused": listing.refused}
    for name in os.listdir(folder):
        if found := _FILE.fullmatch(name):
            by_state[found[2]].append(int(found[1]))
    for numbers in listing:
        numbers.sort()
    return listing


def read_lines(path: Path) -> bytes:
    """The whole lines of a batch. A line without its newline was torn by a kill or a full disk: nobody was told that it was recorded."""
    content = path.read_bytes()
    return content[: content.rfind(b"\n") + 1]


def size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def write_whole(path: Path, content: bytes) -> None:
    """Whole or not at all, also for a reader in another process."""
    draft = path.with_name(f"{path.name}.{uuid.uuid4()}.draft")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
