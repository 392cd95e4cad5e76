"""Starts to record a run."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import math
import os
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from .arrays import as_plain
from .backoff import BACKOFF, Backoff
from .delivery import Delivery
from .json_text import json_text, utf8
from .platform_client import PlatformClient
from .producer import ProducerFile, Registration, create_producer, producers_in
from .run import Run, RunParts
from .sender import Sender
from .settings import Connection, connection_of, spool_root
from .spool import SEAL_AT, SealAt, Spool

__all__ = ["idempotency_key_of", "start_run"]

_MAX_SPOOL_BYTES: Final = 1024**3


def start_run(
    *,
    project: str,
    name: str,
    config: Any = None,
    url: str | None = None,
    api_key: str | None = None,
    timeout: float = 30.0,
    spool: str | os.PathLike[str] | None = None,
    max_spool_bytes: float = _MAX_SPOOL_BYTES,
    offline: bool = False,
    idempotency_key: str | None = None,
    seal_at: SealAt = SEAL_AT,
    seal_after: float = 0.25,
    backoff: Backoff = BACKOFF,
) -> Run:
    """Starts to record a run.

    No request is made here: the run is created in the background as soon as the server answers, and what a process
    that died has left in the same spool is delivered first.

    :param project: made where it is not there
    :param name: the run's name in its project; a name that is there already continues that run
    :param config: a mapping, dataclass or namespace; values that JSON does not know are kept as their text
    :param url: of the platform; default RECREDIT_URL, else http://127.0.0.1:4000
    :param api_key: default RECREDIT_API_KEY, else the first key in RECREDIT_HOME
    :param timeout: of one request, in seconds
    :param spool: folder for what is not acknowledged yet; default RECREDIT_SPOOL, else `spool` in RECREDIT_HOME
    :param max_spool_bytes: of this process's events in the spool
    :param offline: no server at all: `recredit sync` delivers later
    :param idempotency_key: two starts with the same key are one run; default: the same for a project and name
    :param seal_at: when a batch is full
    :param seal_after: how long an event waits for others to share its batch, in seconds
    :raises ValueError, OSError: for options that cannot be meant, and a spool that cannot be made; only here, never later
    """
    for field, value in (("project", project), ("name", name)):
        if not isinstance(value, str) or not value:
            raise ValueError(f"{field}: expected a name, found {value!r}")
    root = spool_root(spool)
    connection = connection_of(url, api_key, timeout)
    settled = _config_of(config)
    key = idempotency_key or idempotency_key_of(project, name)

    def open_parts() -> RunParts:
        file = ProducerFile(
            producer=str(uuid.uuid4()),
            url=None if offline else connection.url,
            project=project,
            name=name,
            config=settled,
            idempotency_key=key,
            run=None,
            started_at=_started_after(root),
        )
        return _parts_of(root, file, None if offline else connection, max_spool_bytes, seal_at, seal_after, backoff)

    return Run(open_parts)


def _parts_of(
    root: Path,
    file: ProducerFile,
    connection: Connection | None,
    max_bytes: float,
    seal_at: SealAt,
    seal_after: float,
    backoff: Backoff,
) -> RunParts:
    folder = root / file.producer
    lock = create_producer(folder, file)
    spool = Spool(folder, max_bytes, seal_at)
    if connection is None:
        return RunParts(file, spool, lock, None)
    client = PlatformClient(connection)
    registration = Registration(folder, file, client)
    sender = Sender(client, spool, registration, file.producer, lock.epoch, backoff, seal_after)
    return RunParts(file, spool, lock, Delivery(root, file, client, backoff, sender))


def idempotency_key_of(project: str, name: str) -> str:
    """The same in both SDKs, so that ranks in different languages share one run."""
    return f"sdk-{hashlib.sha256(utf8(json_text([project, name]))).hexdigest()[:32]}"


def _started_after(root: Path) -> str:
    """Now, or a millisecond after all that began in this spool before, where the clock was set back since."""
    instant = datetime.datetime.now(datetime.timezone.utc)
    producers = producers_in(root)
    if producers:
        try:
            last = datetime.datetime.fromisoformat(producers[-1].file.started_at.replace("Z", "+00:00"))
            instant = max(instant, last + datetime.timedelta(milliseconds=1))
        except (ValueError, TypeError):
            pass
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _config_of(config: Any) -> dict[str, Any]:
    if config is None:
        return {}
    if dataclasses.is_dataclass(config) and not isinstance(config, type):
        config = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}
    elif not isinstance(config, Mapping):
        for method in ("model_dump", "to_dict"):
            if callable(getattr(config, method, None)):
                config = getattr(config, method)()
                break
        else:
            config = vars(config) if hasattr(config, "__dict__") else config
    if not isinstance(config, Mapping):
        raise ValueError(f"config: expected values by name, found {config!r}")
    return {str(name): _settled(value, 1) for name, value in config.items()}


def _settled(value: Any, depth: int) -> Any:
    """A value as JSON has it, or as its text."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, (int, float)):
        is_exact = abs(value) <= 2**53 if isinstance(value, int) else math.isfinite(value) or math.isnan(value)
        return value if is_exact else str(value)
    if depth < 60:
        if isinstance(value, Mapping):
            return {str(name): _settled(item, depth + 1) for name, item in value.items()}
        if isinstance(value, (list, tuple, set, frozenset)):
            return [_settled(item, depth + 1) for item in value]
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = dataclasses.fields(value)
            return {field.name: _settled(getattr(value, field.name), depth + 1) for field in fields}
        plain = as_plain(value)
        if plain is not value and isinstance(plain, (int, float, str, list)):
            return _settled(plain, depth + 1)
    return str(value)
