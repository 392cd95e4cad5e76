"""A producer: whoever writes one folder of a spool, for one run."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from .json_text import json_text, utf8
from .platform_client import PlatformClient
from .problem import Outcome
from .spool import Spool
from .spool_files import list_spool, write_whole
from .spool_lock import SpoolLock, take_lock

__all__ = [
    "Producer",
    "ProducerFile",
    "Registration",
    "create_producer",
    "has_pending",
    "leave_producer",
    "producers_in",
    "remove_producer",
    "sweep",
]

_FILE = "producer.json"


@dataclass(frozen=True)
class ProducerFile:
    """Who wrote a folder and for which run. Never holds a key."""

    producer: str
    url: str | None
    """None: recorded without a server"""
    project: str
    name: str
    config: dict[str, Any]
    idempotency_key: str
    run: str | None
    """None: not created yet"""
    started_at: str
    replay: bool = False
    """Can be made again from its source, so nobody else needs to send it."""

    def as_json(self) -> dict[str, Any]:
        return {
            "version": 1,
            "producer": self.producer,
            "url": self.url,
            "project": self.project,
            "name": self.name,
            "config": self.config,
            "idempotencyKey": self.idempotency_key,
            "run": self.run,
            "startedAt": self.started_at,
            "replay": self.replay,
        }


class Producer(NamedTuple):
    folder: Path
    file: ProducerFile


def create_producer(folder: Path, file: ProducerFile) -> SpoolLock:
    """Makes a producer's folder. The lock comes first: a folder without ``producer.json`` is nobody's to resume."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = take_lock(folder)
    if not lock:
        raise OSError(f"{folder} is in use")
    _write_file(folder, file)
    return lock


def producers_in(root: Path) -> list[Producer]:
    """The producers of a spool (or the one of a producer's folder), the oldest first."""
    try:
        folders = [root, *(path for path in root.iterdir() if not path.name.startswith("."))]
    except (FileNotFoundError, NotADirectoryError):
        return []
    found = [Producer(folder, file) for folder in folders if (file := _read_file(folder))]
    return sorted(found, key=lambda producer: producer.file.started_at)


def has_pending(folder: Path) -> bool:
    return folder.exists() and bool(list_spool(folder).pending)


def leave_producer(folder: Path, spool: Spool, lock: SpoolLock) -> None:
    """Gives a folder up: it is removed when all of it is in the log, else somebody else may take it."""
    spool.seal()
    spool.sync_sealed()
    if not lock.renew():
        return
    if spool.unsent == 0 and not list_spool(folder).refused:
        remove_producer(folder)
    else:
        lock.release()


def sweep(root: Path) -> None:
    """Finishes removals that a kill interrupted."""
    for gone in _removals(root):
        shutil.rmtree(gone, ignore_errors=True)


def _removals(root: Path) -> Iterator[Path]:
    try:
        yield from [path for path in root.iterdir() if path.name.startswith(".") and path.name.endswith(".gone")]
    except (FileNotFoundError, NotADirectoryError):
        pass


def remove_producer(folder: Path) -> None:
    gone = folder.with_name(f".{uuid.uuid4()}.gone")
    folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


class Registration:
    """Finds the run's id, by creating the run where that has not happened yet, and remembers it beside the batches."""

    def __init__(self, folder: Path, file: ProducerFile, client: PlatformClient) -> None:
        self._folder = folder
        self._client = client
        self._file = file if file.url == client.url else replace(file, url=client.url, run=None)

    @property
    def run(self) -> str | None:
        return self._file.run

    def create(self) -> Outcome:
        file = self._file
        outcome = self._client.create_run(file.project, file.name, file.config, file.idempotency_key)
        if outcome.kind == "done":
            self._file = replace(file, run=outcome.value)
            try:
                _write_file(self._folder, self._file)
            except OSError:
                pass  # on a full disk the id stays unwritten; asking again gives the same one
        return outcome


def _write_file(folder: Path, file: ProducerFile) -> None:
    write_whole(folder / _FILE, utf8(json_text(file.as_json())) + b"\n")


def _read_file(folder: Path) -> ProducerFile | None:
    """The file of a folder, or None where there is none that can be read."""
    try:
        said = json.loads((folder / _FILE).read_bytes())
        if said["version"] != 1 or not isinstance(said["producer"], str):
            return None
        return ProducerFile(
            producer=said["producer"],
            url=said["url"],
            project=said["project"],
            name=said["name"],
            config=said["config"],
            idempotency_key=said["idempotencyKey"],
            run=said["run"],
            started_at=said["startedAt"],
            replay=bool(said.get("replay")),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
