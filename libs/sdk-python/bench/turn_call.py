"""What one ``turn`` call costs, disk write included, beside ``json.dumps`` of the same dict.

    python3 bench/turn_call.py [calls]
"""

from __future__ import annotations

import array
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import recredit

STATE = "You are in the middle of a room. Looking quickly around you, you see a cabinet 1, a drawer 2 and a fridge 1. " * 2
SIGNALS = {"valueEstimate": 0.31415926, "entropy": 1.0986123, "loggedAdvantage": -0.70710678}
NUMBERS = [-0.123456 - i / 1000 for i in range(200)]
FLOATS = array.array("f", NUMBERS)


def microseconds(call: Callable[[], object], calls: int) -> float:
    """The median of one call."""
    times = []
    for _ in range(calls):
        start = time.perf_counter_ns()
        call()
        times.append(time.perf_counter_ns() - start)
    return statistics.median(times) / 1000


def compare(name: str, tokens: dict[str, Any] | None, jsonable: dict[str, Any] | None, calls: int) -> None:
    turn = {"state": STATE, "action": "go to fridge 1", "reward": 0, "signals": SIGNALS, "tokens": jsonable}
    address = {"trajectory": "t", "group": "g", "trainingStep": 0, "turn": 0, "at": "2026-11-21T12:00:00.000Z"}
    dumped = microseconds(lambda: json.dumps({**turn, **address}), calls)
    with tempfile.TemporaryDirectory() as folder:
        run = recredit.offline(folder).start_run(project="bench", name="bench")
        record = run.trajectory(group="g", training_step=0).turn
        recorded = microseconds(
            lambda: record(STATE, "go to fridge 1", reward=0, signals=SIGNALS, tokens=tokens), calls
        )
        report = run.close()
        assert report.accepted == calls, report
    print(f"{name:<42} {recorded:8.1f} us {dumped:8.1f} us {recorded / dumped:6.2f}")


def main() -> None:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    print(f"{'median of one turn':<42} {'turn()':>11} {'json.dumps':>11} {'ratio':>6}")
    compare("240 characters of state, three signals", None, None, calls)
    both = {"logprob": FLOATS, "entropy": FLOATS}
    compare("the same, 2 x 200 tokens as float32", both, {"logprob": NUMBERS, "entropy": NUMBERS}, calls)
    lists = {"logprob": NUMBERS, "entropy": NUMBERS}
    compare("the same, 2 x 200 tokens as lists", lists, lists, calls)


if __name__ == "__main__":
    main()
