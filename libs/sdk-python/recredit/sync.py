"""Delivers what dead processes left in a spool."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from .backoff import BACKOFF, Backoff
from .delivery import Resumed
from .platform_client import PlatformClient
from .problem import Problem
from .producer import Producer, producers_in, remove_producer, sweep
from .settings import connection_of, spool_root
from .spool_files import list_spool, read_lines, spool_file
from .spool_lock import take_lock

__all__ = ["SyncReport", "SyncedProducer", "sync"]


@dataclass(frozen=True)
class SyncedProducer:
    producer: str
    folder: str
    project: str
    name: str
    run: str | None
    held: bool
    """A living process has it; it sends its events itself."""
    sent: int = 0
    duplicates: int = 0
    unsent: int = 0
    refused: int = 0
    problem: Problem | None = None


@dataclass(frozen=True)
class SyncReport:
    producers: tuple[SyncedProducer, ...]

    @property
    def sent(self) -> int:
        return sum(producer.sent for producer in self.producers)

    @property
    def unsent(self) -> int:
        return sum(producer.unsent for producer in self.producers)

    @property
    def refused(self) -> int:
        return sum(producer.refused for producer in self.producers)


def sync(
    folder: str | os.PathLike[str] | None = None,
    *,
    url: str | None = None,
    api_key: str | None = None,
    timeout: float = 30.0,
    patience: float = 30.0,
    backoff: Backoff = BACKOFF,
    on_progress: Callable[[SyncReport], None] | None = None,
) -> SyncReport:
    """Delivers what dead processes left in a spool, or in one producer's folder, each event exactly once.

    What living ones have is left to them.

    :param folder: default: the same spool as ``start_run``
    :param url: default: the server that a folder was recorded for, else as ``start_run``
    :param patience: gives up on a server that has not acknowledged anything for so many seconds
    """
    root = spool_root(folder)
    sweep(root)
    done: list[SyncedProducer] = []
    for producer in producers_in(root):
        if producer.file.replay:
            _remove_replay(producer)
            continue
        connection = connection_of(url or producer.file.url, api_key, timeout)
        done.append(_sync_producer(producer, PlatformClient(connection), patience, backoff))
        if on_progress:
            on_progress(SyncReport(tuple(done)))
    return SyncReport(tuple(done))


def _sync_producer(producer: Producer, client: PlatformClient, patience: float, backoff: Backoff) -> SyncedProducer:
    folder, file = producer
    about = SyncedProducer(file.producer, str(folder), file.project, file.name, file.run, held=True)
    try:
        resumed = Resumed(producer, client, backoff)
    except BlockingIOError:
        return about
    sender, spool = resumed.sender, resumed.spool
    try:
        until = time.monotonic() + patience
        settled = 0
        while not resumed.is_over and time.monotonic() < until:
            wait = sender.step()
            if sender.settled != settled:
                settled, until = sender.settled, time.monotonic() + patience
            if wait:
                time.sleep(max(0.0, min(wait, until - time.monotonic())))
        return replace(
            about,
            run=sender.registration.run,
            held=False,
            sent=sender.sent,
            duplicates=sender.duplicates,
            unsent=spool.unsent,
            refused=_refused_events(producer),
            problem=sender.problem or sender.refusal,
        )
    finally:
        resumed.finish()


def _refused_events(producer: Producer) -> int:
    folder = producer.folder
    return sum(
        read_lines(spool_file(folder, number, "refused")).count(b"\n") for number in list_spool(folder).refused
    )


def _remove_replay(producer: Producer) -> None:
    """Half an import; its source is read again."""
    if take_lock(producer.folder):
        remove_producer(producer.folder)
