"""What trainers pass around, for machines without torch: enough of a tensor for what the integrations ask of one."""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import recredit


class Tensor:
    """Nested lists with the methods of a tensor that are used."""

    def __init__(self, values: Any) -> None:
        self.values = values

    @property
    def ndim(self) -> int:
        value, depth = self.values, 0
        while isinstance(value, list):
            value, depth = value[0] if value else 0, depth + 1
        return depth

    def detach(self) -> Tensor:
        return self

    cpu = float = detach

    def bool(self) -> Tensor:
        return Tensor([[bool(value) for value in row] for row in self.values] if self.ndim == 2 else list(map(bool, self.values)))

    def tolist(self) -> Any:
        return self.values

    def item(self) -> Any:
        return self.values

    def new_tensor(self, values: Any) -> Tensor:
        return Tensor(values)

    def sum(self, _dim: int) -> Tensor:
        return Tensor([sum(row) for row in self.values])

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, at: Any) -> Tensor:
        if isinstance(at, Tensor):
            return Tensor(list(itertools.compress(self.values, at.values)))
        return Tensor(self.values[at])


class Recorded:
    """A run without a server, and what it has recorded."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.run = recredit.start_run(project="p", name="r", offline=True, spool=self._folder.name)

    def events(self, keep: Callable[[dict[str, Any]], bool] = lambda _: True) -> list[dict[str, Any]]:
        report = self.run.close()
        assert report.dropped == 0, report.reasons
        lines = [line for file in sorted(Path(report.spool).glob("*.ndjson")) for line in file.read_bytes().splitlines()]
        return [event for event in map(json.loads, lines) if keep(event)]

    def of(self, *types: str) -> list[dict[str, Any]]:
        return self.events(lambda event: event["type"] in types)

    def __enter__(self) -> Recorded:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.run.close()
        self._folder.cleanup()
