"""A producer's folder of batches: events are appended at one end, acknowledged at the other."""

from __future__ import annotations

import errno
import json
import os
import threading
import time
from pathlib import Path
from typing import Any, Final, NamedTuple

from .encode_event import MAX_BATCH_BYTES, MAX_BATCH_EVENTS, Address
from .receipt import ACCEPTED, Receipt, refusal
from .spool_files import list_spool, read_lines, size_of, spool_file, write_whole

__all__ = ["SEAL_AT", "SealAt", "SealedFile", "Spool"]

_MAX_SENT_FILES: Final = 1_000
"""Acknowledged batches kept while there is room, for a server that comes back from an older backup."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class SealAt(NamedTuple):
    """When a batch is full. What an event alone exceeds, it exceeds alone."""

    events: int
    bytes: int


SEAL_AT: Final = SealAt(2_000, 4 * 1024 * 1024)


class SealedFile(NamedTuple):
    """A batch that is closed for writing."""

    number: int
    events: int
    bytes: int


class _OpenFile:
    __slots__ = ("extent", "fd", "next_turn", "number", "since")

    def __init__(self, number: int, fd: int) -> None:
        self.number = number
        self.fd = fd
        self.since = time.monotonic()
        # events and bytes, in one assignment: a signal's exception may come between any two
        self.extent = (0, 0)
        # by trajectory: the turn that must follow, as the platform refuses a batch in which a turn index skips
        self.next_turn: dict[str, int] = {}


class Spool:
    """Any thread may call it. Nothing in it waits for the network."""

    def __init__(self, folder: Path, max_bytes: float, seal_at: SealAt = SEAL_AT) -> None:
        """Takes up whatever lies in the folder; new events begin a new file."""
        if not (0 < seal_at.events <= MAX_BATCH_EVENTS and 0 < seal_at.bytes <= MAX_BATCH_BYTES):
            raise ValueError(f"a batch holds up to {MAX_BATCH_EVENTS} events and {MAX_BATCH_BYTES} bytes")
        self.folder = folder
        self._max_bytes = max_bytes
        self._seal_at = seal_at
        self._lock = threading.RLock()
        self._writing = False
        self._open: _OpenFile | None = None
        self._unsynced: list[int] = []
        found = list_spool(folder)
        self._pending: list[SealedFile] = []
        self._sent = [(number, size_of(spool_file(folder, number, "sent"))) for number in found.sent]
        self._next_number = max([-1, *found.pending, *found.sent, *found.refused]) + 1
        self.next_sequence = found.sent[-1] + 1 if found.sent else 0
        """The sequence that the oldest pending batch will have on the wire. Refused batches used none."""
        for number in found.pending:
            lines = read_lines(spool_file(folder, number, "ndjson"))
            if lines:
                self._pending.append(SealedFile(number, lines.count(b"\n"), len(lines)))
            else:
                spool_file(folder, number, "ndjson").unlink(missing_ok=True)
        self._bytes = sum(file.bytes for file in self._pending) + sum(size for _, size in self._sent)

    @property
    def unsent(self) -> int:
        """Events that no server has acknowledged or refused."""
        with self._lock:
            return sum(file.events for file in self._pending) + (self._open.extent[0] if self._open else 0)

    @property
    def open_since(self) -> float | None:
        """When the open batch began, by ``time.monotonic``; None while there is none."""
        opened = self._open
        return opened.since if opened else None

    @property
    def sealed(self) -> int:
        return len(self._pending)

    def append(self, line: bytes, turn: Address | None) -> Receipt:
        """Records one line with one write. Recorded means: survives the death of this process."""
        with self._lock:
            if self._writing:
                return refusal("spool-failed", "recorded from a signal handler, in the middle of another event")
            self._writing = True
            try:
                return self._append(line, turn)
            finally:
                self._writing = False

    def _append(self, line: bytes, turn: Address | None) -> Receipt:
        try:
            if not self._make_room(len(line)):
                held = f"{self.folder} holds {self._max_bytes} bytes that no server has acknowledged"
                return refusal("back-pressure", held)
            opened = self._open
            if opened and self._must_seal(opened, len(line), turn):
                self.seal()
                opened = None
            if opened is None:
                opened = self._open_next()
            self._write(opened, line)
            if turn:
                opened.next_turn[turn[0]] = turn[1] + 1
            events, size = opened.extent
            if events >= self._seal_at.events or size >= self._seal_at.bytes:
                self.seal()
            return ACCEPTED
        except OSError as error:
            is_full = error.errno in _FULL
            if is_full and self._drop_sent():
                return self._append(line, turn)
            return refusal("back-pressure" if is_full else "spool-failed", str(error))

    def seal(self) -> None:
        """Closes the open batch: it can be sent, and no event joins it any more."""
        with self._lock:
            opened = self._open
            if not opened:
                return
            self._open = None
            events, size = opened.extent
            if events:
                self._pending.append(SealedFile(opened.number, events, size))
            else:
                spool_file(self.folder, opened.number, "ndjson").unlink(missing_ok=True)
            self._unsynced.append(opened.fd)

    def sync_sealed(self) -> None:
        """Against the death of the machine, to be called in the background; against that of the process the write was enough."""
        while self._unsynced:
            fd = self._unsynced.pop()
            try:
                os.fsync(fd)
            except OSError:
                pass
            finally:
                os.close(fd)

    def abandon(self) -> None:
        """In a forked child: lets go of the parent's files without touching them."""
        fds = [*self._unsynced, *([self._open.fd] if self._open else [])]
        self._open, self._unsynced = None, []
        for fd in fds:
            try:
                os.close(fd)
            except OSError:
                pass

    def next(self) -> SealedFile | None:
        """The oldest batch that waits."""
        with self._lock:
            return self._pending[0] if self._pending else None

    def read(self, file: SealedFile) -> bytes:
        """Its whole lines: the bytes that go over the wire."""
        return spool_file(self.folder, file.number, "ndjson").read_bytes()[: file.bytes]

    def acknowledge(self, file: SealedFile) -> None:
        with self._lock:
            sequence = self.next_sequence
            self._path(file).rename(spool_file(self.folder, sequence, "sent"))
            self.next_sequence += 1
            self._pending.pop(0)
            self._sent.append((sequence, file.bytes))
            while len(self._sent) > _MAX_SENT_FILES:
                self._drop_oldest_sent()

    def set_aside(self, file: SealedFile, problem: dict[str, Any]) -> None:
        """Sets a batch aside with the answer it got; the next one takes its sequence."""
        with self._lock:
            reason = json.dumps(problem, indent=2, ensure_ascii=False).encode(errors="replace")
            write_whole(spool_file(self.folder, file.number, "problem.json"), reason + b"\n")
            self._path(file).rename(spool_file(self.folder, file.number, "refused"))
            self._pending.remove(file)
            self._bytes -= file.bytes

    def rewind_to(self, sequence: int) -> int | None:
        """Makes acknowledged batches pending again, from ``sequence`` on: the server has lost them.

        :returns: how many events that are, or None when a copy of one is not there any more; nothing changes then
        """
        with self._lock:
            lost = [(number, size) for number, size in self._sent if number >= sequence]
            if sequence < 0 or len(lost) != self.next_sequence - sequence or any(size == 0 for _, size in lost):
                return None
            again = []
            for number, _ in lost:
                path = spool_file(self.folder, number, "ndjson")
                spool_file(self.folder, number, "sent").rename(path)
                lines = read_lines(path)
                again.append(SealedFile(number, lines.count(b"\n"), len(lines)))
            # A batch's number is never below its sequence, so these come before all that wait.
            self._pending[:0] = again
            del self._sent[len(self._sent) - len(lost) :]
            self.next_sequence = sequence
            return sum(file.events for file in again)

    def _must_seal(self, opened: _OpenFile, size: int, turn: Address | None) -> bool:
        events, bytes_ = opened.extent
        if events and bytes_ + size > self._seal_at.bytes:
            return True
        expected = opened.next_turn.get(turn[0]) if turn else None
        return expected is not None and turn is not None and expected != turn[1]

    def _open_next(self) -> _OpenFile:
        path = spool_file(self.folder, self._next_number, "ndjson")
        # Appending, so that after a torn line was cut off the next one follows the last whole one.
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o666)
        self._open = _OpenFile(self._next_number, fd)
        self._next_number += 1
        return self._open

    def _write(self, opened: _OpenFile, line: bytes) -> None:
        events, size = opened.extent
        try:
            written = os.write(opened.fd, line)
            if written < len(line):
                raise OSError(errno.ENOSPC, f"{written} of {len(line)} bytes written")
            opened.extent = (events + 1, size + len(line))
        except BaseException:
            self._drop_torn(opened)
            raise
        self._bytes += len(line)

    def _drop_torn(self, opened: _OpenFile) -> None:
        """Nothing may follow a torn line, or the two would be one."""
        try:
            os.ftruncate(opened.fd, opened.extent[1])
        except OSError:
            self.seal()

    def _make_room(self, size: int) -> bool:
        while self._bytes + size > self._max_bytes and any(size for _, size in self._sent):
            self._drop_oldest_sent()
        return self._bytes + size <= self._max_bytes

    def _drop_sent(self) -> bool:
        """Gives the disk back what is acknowledged. False: there was nothing to give."""
        had = any(size for _, size in self._sent)
        while any(size for _, size in self._sent):
            self._drop_oldest_sent()
        return had

    def _drop_oldest_sent(self) -> None:
        """The newest keeps its name, which says what sequence comes next."""
        sequence, size = self._sent[0]
        path = spool_file(self.folder, sequence, "sent")
        if len(self._sent) > 1:
            path.unlink(missing_ok=True)
            self._sent.pop(0)
        else:
            os.truncate(path, 0)
            self._sent[0] = (sequence, 0)
        self._bytes -= size

    def _path(self, file: SealedFile) -> Path:
        return spool_file(self.folder, file.number, "ndjson")
