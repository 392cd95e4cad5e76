"""The two requests that a trainer makes. Answers are sorted by what to do about them; nothing raises."""

from __future__ import annotations

import gzip
import http.client
import importlib
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from email.message import Message
from typing import Any, NamedTuple, TypeVar

from .json_text import json_text, utf8
from .problem import Outcome, no_answer, outcome_of
from .settings import Connection

__all__ = ["Answer", "PlatformClient", "Stored", "request"]

_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_usual = urllib.request.build_opener()
"".encode("idna")  # a codec that is first looked up in a thread is lost to a child forked at that moment


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    """by name in lower case"""
    body: bytes


def request(connection: Connection, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> Answer:
    """One request with the key. A platform on this machine is asked directly, whatever proxy the environment names.

    :raises OSError, http.client.HTTPException: where no whole answer came
    """
    key = {"Authorization": f"Bearer {connection.api_key}"} if connection.api_key else {}
    asked = urllib.request.Request(connection.url + path, body, {**headers, **key}, method=method)
    host = urllib.parse.urlsplit(connection.url).hostname
    opener = _direct if host in _LOCAL else _usual
    try:
        with opener.open(asked, timeout=connection.timeout) as answer:
            return Answer(answer.status, _lower(answer.headers), answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, _lower(error.headers), error.read())


def _lower(headers: Message) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


class Stored(NamedTuple):
    first_position: int
    event_count: int
    duplicate: bool


Value = TypeVar("Value")


class PlatformClient:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._zstd = _zstd_compressor()
        self._codec = "zstd" if self._zstd else "gzip"

    @property
    def url(self) -> str:
        return self._connection.url

    def create_run(self, project: str, name: str, config: Mapping[str, Any], idempotency_key: str) -> Outcome:
        """The run's id."""
        headers = {"Content-Type": "application/json", "Idempotency-Key": idempotency_key}
        body = utf8(json_text({"project": project, "name": name, "config": config}))
        return self._post("/v1/runs", headers, body, lambda said: str(said["id"]))

    def append(self, run: str, producer: str, epoch: int, sequence: int, lines: bytes) -> Outcome:
        """What is ``Stored``."""
        while True:
            headers = {
                "Content-Type": "application/x-ndjson",
                "Content-Encoding": self._codec,
                "Recredit-Producer": producer,
                "Recredit-Epoch": str(epoch),
                "Recredit-Sequence": str(sequence),
            }
            path = f"/v1/runs/{urllib.parse.quote(run, safe='')}/events"
            outcome = self._post(path, headers, self._compressed(lines), _stored)
            is_unknown = outcome.kind == "blocked" and outcome.problem is not None and outcome.problem.status == 415
            if not is_unknown or self._codec == "identity":
                return outcome
            self._codec = "gzip" if self._codec == "zstd" else "identity"

    def _compressed(self, lines: bytes) -> bytes:
        if self._codec == "zstd" and self._zstd:
            return self._zstd(lines)
        return gzip.compress(lines, 3) if self._codec == "gzip" else lines

    def _post(
        self, path: str, headers: Mapping[str, str], body: bytes, read: Callable[[Mapping[str, Any]], Value]
    ) -> Outcome:
        try:
            answer = request(self._connection, "POST", path, {**headers, "Accept": "application/json"}, body)
        except (OSError, http.client.HTTPException, ValueError) as error:
            return no_answer(error.reason if isinstance(error, urllib.error.URLError) else error)
        if not 200 <= answer.status < 300:
            return outcome_of(answer.status, answer.body, answer.headers.get("retry-after"), time.time())
        try:
            return Outcome("done", read(json.loads(answer.body)))
        except (ValueError, KeyError, TypeError):
            return no_answer(f"an answer that is not the platform's: {answer.body[:200].decode(errors='replace')}")


def _stored(said: Mapping[str, Any]) -> Stored:
    return Stored(int(said["firstPosition"]), int(said["eventCount"]), said.get("duplicate") is True)


def _zstd_compressor() -> Callable[[bytes], bytes] | None:
    """zstd where this Python or a package of it has it; the platform takes gzip as well."""
    try:
        zstd = importlib.import_module("compression.zstd")  # Python 3.14
        return lambda lines: bytes(zstd.compress(lines))
    except ImportError:
        pass
    try:
        import zstandard

        return lambda lines: zstandard.ZstdCompressor(level=3).compress(lines)
    except ImportError:
        return None
