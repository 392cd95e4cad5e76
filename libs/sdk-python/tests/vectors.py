"""The files of ``test/sdk-vectors``, which the tests of both SDKs read."""

from __future__ import annotations

import array
import json
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parents[3] / "test" / "sdk-vectors"


def vectors(name: str) -> Any:
    return json.loads((_FOLDER / name).read_text(encoding="utf-8"))


def revived(value: Any) -> Any:
    """A value of a vector as the language has it; what JSON cannot say stands as an object with one of these names."""
    if isinstance(value, list):
        return [revived(item) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"$number": number} | {"$float": number}:
            return float(number)
        case {"$float32": numbers}:
            return array.array("f", map(float, numbers))
        case {"$float64": numbers}:
            return array.array("d", map(float, numbers))
        case {"$int32": numbers}:
            return array.array("i", numbers)
        case {"$repeat": [text, times]}:
            return text * times
        case {"$nested": levels}:
            nested: Any = 1
            for _ in range(levels):
                nested = [nested]
            return nested
        case {"$names": count}:
            return {f"s{i}".ljust(value.get("$length", 1), "x"): 1 for i in range(count)}
    return {name: revived(item) for name, item in value.items()}
