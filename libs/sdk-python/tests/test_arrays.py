"""What a trainer holds: numpy arrays, torch tensors, scalars of both, objects."""

from __future__ import annotations

import array
import base64
import dataclasses
import datetime
import enum
import importlib.util
import json
import math
import struct
import unittest
from typing import Any

from recredit.encode_event import encode_event
from recredit.json_text import ABSENT, Unsendable, float_text, json_text, utf8
from recredit.token_columns import column_text


def without(package: str) -> Any:
    return unittest.skipUnless(importlib.util.find_spec(package), f"{package} is not installed")


def decoded(text: str) -> list[float]:
    floats = base64.b64decode(json.loads(text)["f32"])
    return list(struct.unpack(f"<{len(floats) // 4}f", floats))


class Tensor:
    """What a torch tensor on a device has, and nothing else."""

    def __init__(self, values: Any, floating: bool = True, where: str = "cuda") -> None:
        self.values, self.floating, self.where = values, floating, where

    def detach(self) -> Tensor:
        return Tensor(self.values, self.floating, "cuda, detached")

    def cpu(self) -> Tensor:
        assert self.where == "cuda, detached"
        return Tensor(self.values, self.floating, "cpu")

    def is_floating_point(self) -> bool:
        return self.floating

    def float(self) -> Tensor:
        return self

    def tolist(self) -> Any:
        assert self.where == "cpu"
        return self.values

    def __array__(self) -> Any:
        assert self.where == "cpu"
        return Array(self.values)


class Array:
    """What a numpy array of float32 has."""

    def __init__(self, values: list[float]) -> None:
        self.values, self.ndim, self.dtype = values, 1, type("dtype", (), {"kind": "f", "str": "<f4"})

    def tobytes(self) -> bytes:
        return struct.pack(f"<{len(self.values)}f", *self.values)

    def astype(self, _: str) -> Array:
        return self


class AnyTrainer(unittest.TestCase):
    def test_a_tensor_on_a_device_is_detached_and_brought_over(self) -> None:
        text, count = column_text(Tensor([-0.5, 2.0]))
        self.assertEqual((decoded(text), count), ([-0.5, 2.0], 2))
        self.assertEqual(column_text(Tensor([1, 2], floating=False)), ("[1,2]", 2))
        self.assertEqual(json_text(Tensor(0.5)), "0.5")
        self.assertEqual(json_text({"x": Tensor([1, None])}), '{"x":[1,null]}')
        with self.assertRaises(Unsendable) as refused:
            column_text(Tensor([0.0, math.inf]))
        self.assertEqual(refused.exception.pointer, "/1")

    def test_buffers_of_the_standard_library(self) -> None:
        self.assertEqual(decoded(column_text(array.array("d", [0.5, -1]))[0]), [0.5, -1])
        self.assertEqual(column_text(memoryview(array.array("f", [1, 2, 3])))[1], 3)
        self.assertEqual(column_text(array.array("q", [1, 2])), ("[1,2]", 2))
        for value in (b"abc", 3, "text", {"f32": 3}, {1, 2}, object()):
            with self.subTest(repr(value)), self.assertRaises(Unsendable):
                column_text(value)

    def test_objects_that_stand_for_json(self) -> None:
        @dataclasses.dataclass
        class Message:
            role: str
            content: str

        class Model:
            role = "user"

            def model_dump(self) -> dict[str, str]:
                return {"role": self.role, "content": "y"}

        class Kind(str, enum.Enum):
            TOOL = "tool"

        turn = {"type": "turn.recorded", "trajectory": 7, "group": 3, "trainingStep": 2.0, "turn": 0}
        event = {**turn, "state": [Message("user", "x"), Model()], "reward": True, "signals": {"kind": Kind.TOOL, "n": 1.0}}
        line, address = encode_event(event, "2026-01-01T00:00:00Z")
        said = json.loads(line)
        self.assertEqual(address, ("7", 0))
        self.assertEqual((said["trajectory"], said["group"], said["trainingStep"], said["reward"]), ("7", "3", 2, 1))
        self.assertEqual(said["state"], [{"role": "user", "content": "x"}, {"role": "user", "content": "y"}])
        self.assertEqual(said["signals"], {"kind": "tool", "n": 1})
        moment = datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc)
        self.assertEqual(json_text([moment, (1, 2), ABSENT, {3: "x"}]), '["2026-01-02T00:00:00+00:00",[1,2],null,{"3":"x"}]')

    def test_numbers_keep_every_digit(self) -> None:
        for value in (0.1, 1 / 3, 1e-5, 1.25e-6, 9.87e-7, 1e15 + 0.5, 1e20, 1.2345678901234567e20, 1e21, 5e-324, -1e-300, 2.0**60):
            with self.subTest(value):
                self.assertEqual(float(float_text(value)), value)
        self.assertEqual([float_text(value) for value in (1e-5, 1e-6, 1e-7, 1e20, 1e21)], ["0.00001", "0.000001", "1e-7", "1" + "0" * 20, "1e+21"])
        self.assertEqual(json_text([2**53, 2**60]), "[9007199254740992,1152921504606847000]")
        with self.assertRaises(Unsendable):
            json_text(2**53 + 1)

    def test_half_a_surrogate_pair_is_escaped_as_javascript_does(self) -> None:
        self.assertEqual(utf8('"\ud83d\ude00 \ud800"'), '"😀 \\ud800"'.encode())

    @without("numpy")
    def test_numpy(self) -> None:
        import numpy

        for dtype in ("float16", "float32", "float64", ">f4"):
            text, count = column_text(numpy.array([-0.5, 2.0, numpy.nan], dtype))
            self.assertEqual((decoded(text)[:2], count), ([-0.5, 2.0], 3))
            self.assertTrue(math.isnan(decoded(text)[2]))
        self.assertEqual(column_text(numpy.arange(6, dtype="float32")[::2]), column_text(numpy.array([0, 2, 4], "float32")))
        self.assertEqual(column_text(numpy.array([1, 2])), ("[1,2]", 2))
        self.assertEqual(column_text(numpy.ones((2, 2))), ("[[1,1],[1,1]]", 2))
        self.assertEqual(json_text([numpy.float32(0.5), numpy.float64(1), numpy.int64(3), numpy.bool_(True)]), "[0.5,1,3,true]")
        with self.assertRaises(Unsendable):
            column_text(numpy.array([1e39]))

    @without("torch")
    def test_torch(self) -> None:
        import torch

        for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
            text, count = column_text(torch.tensor([-0.5, 2.0], dtype=dtype, requires_grad=True))
            self.assertEqual((decoded(text), count), ([-0.5, 2.0], 2))
        self.assertEqual(column_text(torch.tensor([1, 2])), ("[1,2]", 2))
        self.assertEqual(json_text({"kl": torch.tensor(0.25, requires_grad=True)}), '{"kl":0.25}')
