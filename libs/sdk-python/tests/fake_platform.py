"""The platform's two endpoints for producers over plain HTTP, with the log's rules kept in memory, and its bad days."""

from __future__ import annotations

import gzip
import hashlib
import importlib
import json
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class FakePlatform:
    """``faults``: one per request to the events endpoint: None, dropped, lost, busy, down, forbidden, unwanted."""

    def __init__(self, port: int = 0) -> None:
        self.faults: deque[str | None] = deque()
        self.requests: list[dict[str, str]] = []
        self.runs: dict[str, dict[str, list[dict[str, Any]]]] = {}
        self.lock = threading.Lock()
        self.answering = threading.Event()
        self.answering.set()
        platform = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                platform.answering.wait()
                with platform.lock:
                    answer = platform.answer(self.path, dict(self.headers), body)
                if answer is None:
                    self.close_connection = True
                    return
                status, headers, said = answer
                text = json.dumps(said).encode()
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(text))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        self.answering.set()
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> FakePlatform:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def events(self, name: str) -> list[dict[str, Any]]:
        batches = [batch for producer in self.runs.get(name, {}).values() for batch in producer]
        batches.sort(key=lambda batch: batch["firstPosition"])
        return [json.loads(line) for batch in batches for line in batch["lines"].splitlines()]

    def answer(self, path: str, headers: dict[str, str], body: bytes) -> Any:
        self.requests.append({"path": path, **headers})
        if not path.endswith("/events"):
            said = json.loads(body)
            self.runs.setdefault(said["name"], {})
            return 200, {}, {"id": said["name"], "project": said["project"], "name": said["name"], "position": 0}
        fault = self.faults.popleft() if self.faults else None
        if fault == "dropped":
            return None
        if fault == "busy":
            return 429, {"retry-after": "0.3"}, {"code": "capacity.exceeded", "detail": "busy"}
        if fault == "down":
            return 503, {}, {"message": "upstream is away"}
        if fault == "forbidden":
            return 403, {}, {"code": "role.missing", "detail": "this key may not"}
        if fault == "unwanted":
            return 422, {}, {"code": "events.invalid", "detail": "line 1: unwanted"}
        answer = self._append(path, headers, body)
        return None if fault == "lost" else answer

    def _append(self, path: str, headers: dict[str, str], body: bytes) -> Any:
        producers = self.runs.get(path.split("/")[3])
        if producers is None:
            return 404, {}, {"code": "run.unknown", "detail": "no such run"}
        lines = gzip.decompress(body) if headers["Content-Encoding"] == "gzip" else _decompressed(body)
        batches = producers.setdefault(headers["Recredit-Producer"], [])
        sequence, epoch = int(headers["Recredit-Sequence"]), int(headers["Recredit-Epoch"])
        digest = hashlib.sha256(lines).hexdigest()
        if batches and epoch < batches[-1]["epoch"]:
            return 409, {}, {"code": "producer.fenced", "detail": "a newer epoch writes"}
        if sequence < len(batches):
            twin = batches[sequence]
            if twin["digest"] != digest:
                return 409, {}, {"code": "batch.conflicting", "detail": "other bytes", "eventCount": twin["eventCount"]}
            return 200, {}, {"firstPosition": twin["firstPosition"], "eventCount": twin["eventCount"], "duplicate": True}
        if sequence > len(batches):
            return 409, {}, {"code": "sequence.unexpected", "detail": "a gap", "expected": len(batches)}
        first = sum(batch["eventCount"] for producer in producers.values() for batch in producer)
        batch = {"digest": digest, "lines": lines, "epoch": epoch, "firstPosition": first, "eventCount": lines.count(b"\n")}
        batches.append(batch)
        return 200, {}, {"firstPosition": first, "eventCount": batch["eventCount"], "duplicate": False}


def _decompressed(body: bytes) -> bytes:
    """Only a Python that has zstd sends it."""
    try:
        zstd = importlib.import_module("compression.zstd")
        return bytes(zstd.decompress(body))
    except ImportError:
        return bytes(importlib.import_module("zstandard").ZstdDecompressor().decompressobj().decompress(body))
