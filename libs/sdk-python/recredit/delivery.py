"""The one background thread of a run: it sends what was recorded, and what dead processes left in the same spool."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from .backoff import Backoff
from .platform_client import PlatformClient
from .producer import Producer, ProducerFile, Registration, has_pending, leave_producer, producers_in, sweep
from .sender import Sender
from .spool import Spool
from .spool_lock import take_lock

__all__ = ["Delivery", "Resumed"]


class Resumed:
    """The batches that a dead process left, taken up."""

    def __init__(self, producer: Producer, client: PlatformClient, backoff: Backoff) -> None:
        """:raises BlockingIOError: while a living process has them"""
        self.folder, file = producer
        lock = take_lock(self.folder)
        if not lock:
            raise BlockingIOError(f"{self.folder} is in use")
        self._lock = lock
        self.spool = Spool(self.folder, math.inf)
        registration = Registration(self.folder, file, client)
        self.sender = Sender(client, self.spool, registration, file.producer, lock.epoch, backoff)

    @property
    def is_over(self) -> bool:
        """Sent, or nothing that time alone would change."""
        return self.spool.unsent == 0 or self.sender.stuck or self.sender.times_blocked > 0

    def finish(self) -> None:
        """Ends sending; the folder goes when nothing is left in it."""
        leave_producer(self.folder, self.spool, self._lock)


class Delivery:
    """Those of the same run go first, then what this process records, and the others when it has nothing to say."""

    def __init__(self, root: Path, file: ProducerFile, client: PlatformClient, backoff: Backoff, sender: Sender) -> None:
        self.sender = sender
        self._root = root
        self._file = file
        self._client = client
        self._backoff = backoff
        self._event = threading.Event()
        self._idle = False
        self._other: Resumed | None = None
        self._stopping = False
        self._left: Callable[[], None] | None = None
        self._thread = threading.Thread(target=self._work, name=f"recredit {file.name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def recorded(self) -> None:
        """To be called after an event was recorded; a fraction of a microsecond."""
        if self._idle:
            self._idle = False
            self._event.set()

    def flush(self, deadline: float, patience: float = math.inf) -> None:
        """Returns when all is sent, when no request can help any more, or when the time (``time.monotonic``) is over."""
        self.sender.flushing += 1
        try:
            self.sender.hurry()
            if other := self._other:
                other.sender.hurry()
            self._event.set()
            if self._thread.is_alive():
                self.sender.wait_until_done(deadline, patience)
        finally:
            self.sender.flushing -= 1

    def stop(self, leave: Callable[[], None], grace: float) -> None:
        """Sends nothing more, and calls ``leave`` when the request under way has ended, perhaps after ``grace`` seconds."""
        self._left = leave
        self._stopping = True
        self._event.set()
        if not self._thread.is_alive():
            leave()
        elif self._thread is not threading.current_thread():
            self._thread.join(grace)

    def _work(self) -> None:
        try:
            for resumed in self._backlog(of_run=True):
                self._deliver(resumed)
            others = self._backlog(of_run=False)
            self._other = next(others, None)
            while not self._stopping:
                self._event.clear()
                self._idle = True
                wait = self.sender.step()
                if wait != 0 and self._other:
                    wait = self._step_other(self._other, others, wait)
                self._idle = wait is None
                if wait != 0 and not self._stopping:
                    self._event.wait(wait)
            if self._other:
                self._finish(self._other)
        finally:
            if self._left:
                self._left()

    def _backlog(self, of_run: bool) -> Iterator[Resumed]:
        """What dead processes left for this server. A folder that cannot be read holds up nobody; `recredit sync` names it."""
        try:
            sweep(self._root)
            producers = producers_in(self._root)
        except Exception:
            return
        for producer in producers:
            file = producer.file
            is_of_run = (file.project, file.name) == (self._file.project, self._file.name)
            is_ours = not self._stopping and not file.replay and file.url in (None, self._client.url)
            if not is_ours or is_of_run != of_run or file.producer == self._file.producer:
                continue
            try:
                if has_pending(producer.folder):
                    yield Resumed(producer, self._client, self._backoff)
            except Exception:
                continue

    def _step_other(self, other: Resumed, others: Iterator[Resumed], wait: float | None) -> float | None:
        other_wait = other.sender.step()
        if other.is_over:
            self._finish(other)
            self._other = next(others, None)
            return 0.0
        return min((each for each in (wait, other_wait) if each is not None), default=None)

    def _deliver(self, resumed: Resumed) -> None:
        self._other = resumed
        while not (resumed.is_over or self._stopping):
            self._event.clear()
            wait = resumed.sender.step()
            if wait != 0 and not resumed.is_over and not self._stopping:
                self._event.wait(wait)
        self._finish(resumed)

    def _finish(self, resumed: Resumed) -> None:
        try:
            resumed.finish()
        except OSError:
            pass  # it is taken for a dead process's when this one ends

