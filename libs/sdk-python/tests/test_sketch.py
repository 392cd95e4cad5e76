"""Sketches of parameters: the same numbers from lists, numpy and torch, and as the TypeScript SDK makes them."""

from __future__ import annotations

import array
import importlib
import importlib.util
import random
import unittest
from typing import Any

import recredit


def without(package: str) -> Any:
    return unittest.skipUnless(importlib.util.find_spec(package), f"{package} is not installed")


STATE = {"h.0.w": [float(i) for i in range(1, 13)], "é": [0.5, -2.0]}
SAME = [-15, 3, -10, -4, -0.5, 0, -2, 0]
"""libs/sdk/src/sketch.spec.ts has the same line."""


class Sketches(unittest.TestCase):
    def test_the_numbers_are_those_of_the_typescript_sdk(self) -> None:
        made = recredit.sketch(STATE, dimensions=4, seed=3)
        self.assertEqual(list(made.values), SAME)
        self.assertEqual(made.tensors, [{"name": "h.*.w", "size": 4}, {"name": "é", "size": 4}])
        self.assertEqual(made.projection, {"method": "count-sketch", "dimensions": 4, "seed": 3})

    def test_layers_of_a_kind_are_taken_together(self) -> None:
        made = recredit.sketch({"h.1.w": [1.0, 2.0], "h.0.w": array.array("d", [3.0]), "10": [[1.0], [2.0]]}, dimensions=3)
        self.assertEqual([tensor["name"] for tensor in made.tensors], ["*", "h.*.w"])
        self.assertEqual(len(made.values), 6)

    def test_lengths_are_kept(self) -> None:
        rng = random.Random(1)
        values = [rng.gauss(0, 1) for _ in range(20_000)]
        made = recredit.sketch({"w": values}).values
        self.assertLess(abs(sum(x * x for x in made) / sum(x * x for x in values) - 1), 4 / 32)

    @without("numpy")
    def test_numpy_gives_the_same(self) -> None:
        numpy = importlib.import_module("numpy")
        values = numpy.random.default_rng(0).normal(size=(130, 20))
        state = {"w": values, "b": numpy.float32([1, 2]), "steps": numpy.array([3])}
        lists = {"w": values.reshape(-1).tolist(), "b": [1.0, 2.0]}
        made = recredit.sketch(state, dimensions=64, seed=9)
        for one, other in zip(made.values, recredit.sketch(lists, dimensions=64, seed=9).values, strict=True):
            self.assertAlmostEqual(one, other, places=5)
        self.assertEqual([tensor["name"] for tensor in made.tensors], ["b", "w"])

    @without("torch")
    def test_torch_gives_the_same_whatever_the_width(self) -> None:
        torch = importlib.import_module("torch")
        values = [0.5 * (i % 7) for i in range(3000)]
        state = {"w": torch.tensor(values, dtype=torch.bfloat16, requires_grad=True), "n": torch.tensor(3)}
        made = recredit.sketch(state, dimensions=64)
        self.assertEqual(list(made.values), list(recredit.sketch({"w": values}, dimensions=64).values))
