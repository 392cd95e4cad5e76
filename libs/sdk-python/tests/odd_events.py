"""Prints the lines that this SDK makes of odd events, for the platform's own checks (test/e2e/python-sdk.e2e-spec.ts).

    python3 -m tests.odd_events SEED COUNT
"""

from __future__ import annotations

import array
import math
import random
import sys
from typing import Any

from recredit.encode_event import encode_event

_NUMBERS = [0, 1, -1, 0.5, 1e-7, 1e21, 2**53, 2**60, 2**31, -0.0, 5e-324, 1.7e308, math.nan, math.inf, 3.5e38, True]
_TEXTS = ["", "a", "é漢😀", "\x00", "\ud800", '"\\/', "x" * 200, "__proto__", "constructor", "a/b~c", "\n"]


def odd(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.randrange(10 if depth < 4 else 5)
    if kind < 2:
        return rng.choice(_NUMBERS)
    if kind < 4:
        return rng.choice(_TEXTS)
    if kind == 4:
        return rng.choice([None, False, array.array("f", [0.5, math.nan]), array.array("d", [1, 2]), b"x", object()])
    if kind < 7:
        return [odd(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(_TEXTS): odd(rng, depth + 1) for _ in range(rng.randrange(4))}


def column(rng: random.Random) -> Any:
    numbers = [rng.choice(_NUMBERS) for _ in range(rng.randrange(4))]
    encoded = [{"f32": "AACAPw=="}, {"f16": "ADw="}, {"f32": "AACAfw=="}, {"f32": "?"}, {"f32": "AAA="}]
    return rng.choice([numbers, array.array("f", [0.5] * rng.randrange(3)), rng.choice(encoded), odd(rng)])


def turn(rng: random.Random) -> dict[str, Any]:
    fields = {
        "state": lambda: rng.choice([rng.choice(_TEXTS), [{"role": "user", "content": odd(rng)}], odd(rng)]),
        "action": lambda: odd(rng),
        "reward": lambda: rng.choice([rng.choice(_NUMBERS), odd(rng)]),
        "signals": lambda: {rng.choice(_TEXTS) or "s": odd(rng) for _ in range(3)},
        "tokens": lambda: {name: column(rng) for name in "ab"[: rng.randrange(3)]},
        "more": lambda: odd(rng),
    }
    return {name: make() for name, make in fields.items() if rng.random() < 0.35}


def _tensors(rng: random.Random) -> Any:
    if rng.random() < 0.3:
        return odd(rng)
    sizes = rng.choice([[3], [1, 2], [2, 2], [0, 3], [3.0], []])
    return [{"name": rng.choice(["a", "b", 7, ""]), "size": size, "more": odd(rng)} for size in sizes]


def event(rng: random.Random) -> dict[str, Any]:
    address = {"group": rng.choice(["g", 7, "é"]), "trainingStep": rng.choice([0, 3, 3.0, 2**31])}
    signals = {"signals": {"x": odd(rng)}} if rng.random() < 0.5 else {}
    return rng.choice(
        [
            {**turn(rng), "type": "turn.recorded", "trajectory": "t", **address, "turn": rng.choice([0, 5, -1])},
            {"type": "trajectory.recorded", "id": "t", **address, "turns": [turn(rng) for _ in range(rng.randrange(4))], **signals},
            {"type": "trajectory.ended", "trajectory": "t", **address, "success": odd(rng), **signals},
            {"type": "trainingStep.recorded", "trainingStep": 0, "metrics": {rng.choice(_TEXTS): rng.choice(_NUMBERS)}},
            {"type": "annotation.recorded", "trajectory": "t", "annotator": "a", "turns": [{"turn": 1, "signals": {"x": odd(rng)}}]},
            {"type": "checkpoint.recorded", "trainingStep": 0, "sketch": column(rng), "projection": odd(rng)},
            {"type": "checkpoint.recorded", "trainingStep": 0, "sketch": [1, None, 2], "tensors": _tensors(rng)},
            {"type": "run.ended", "reason": rng.choice(_TEXTS), "more": odd(rng)},
        ]
    )


def main() -> None:
    rng = random.Random(int(sys.argv[1]))
    for _ in range(int(sys.argv[2])):
        made = event(rng)
        try:
            line, _ = encode_event(made, "2026-11-21T12:00:00.000Z")
        except Exception:  # which a run answers with a receipt
            continue
        sys.stdout.buffer.write(line)


if __name__ == "__main__":
    main()
