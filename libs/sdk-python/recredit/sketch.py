"""Sketches of a model's parameters: few numbers, logged at every checkpoint, from which its way can be told."""

from __future__ import annotations

import array
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["Sketch", "sketch"]

_32: Final = 0xFFFFFFFF
_CHUNK: Final = 1 << 20


@dataclass(frozen=True)
class Sketch:
    """What ``run.checkpoint`` takes."""

    values: array.array[float]
    """the tensors' numbers one after the other, in the order of ``tensors``"""
    tensors: list[dict[str, Any]]
    """``{"name", "size"}`` of each group of tensors"""
    projection: dict[str, Any]
    """how it was made: what was made otherwise cannot be compared with it"""


def _layers_together(name: str) -> str:
    """``model.layers.11.mlp.weight`` is one of ``model.layers.*.mlp.weight``."""
    return re.sub(r"(^|\.)\d+(?=\.|$)", r"\1*", name)


def sketch(
    state: Mapping[str, Any],
    *,
    dimensions: int = 1024,
    seed: int = 0,
    group_of: Callable[[str], str] = _layers_together,
) -> Sketch:
    """Parameters in few numbers, from which lengths of their ways and angles between them can be told.

    Per group of tensors ``s_b = sum of sign_i * theta_i over bin b``, bin and sign a hash of the seed, the tensor's name
    and the index, so that ``E <s(x), s(y)> = <x, y>``. One pass on the tensors' own device, no matrix; the TypeScript SDK
    makes the same numbers.

    Source: the count sketch of Charikar, Chen and Farach-Colton, Finding Frequent Items in Data Streams, 2002.

    :param state: a state dict: torch tensors, numpy arrays or lists of numbers by name; what is not floats is left out
    :param dimensions: numbers per group; the error of a length is about ``1 / sqrt(dimensions)`` of it
    :param group_of: tensors of one group are sketched as if they were one; by default the layers of a kind
    """
    groups: dict[str, list[float]] = {}
    for name, values in state.items():
        sums = _sums(values, dimensions, _hash_of_name(name, seed))
        if sums is None:
            continue
        known = groups.setdefault(group_of(name), [0.0] * dimensions)
        for b, value in enumerate(sums):
            known[b] += value
    names = sorted(groups)
    return Sketch(
        values=array.array("f", [value for name in names for value in groups[name]]),
        tensors=[{"name": name, "size": dimensions} for name in names],
        projection={"method": "count-sketch", "dimensions": dimensions, "seed": seed},
    )


def _sums(values: Any, dimensions: int, salt: int) -> list[float] | None:
    """[dimensions] of one tensor; None for integers and flags, which are no parameters."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(values, torch.Tensor):
        return _torch_sums(torch, values.detach(), dimensions, salt)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(values, numpy.ndarray):
        return _numpy_sums(numpy, values, dimensions, salt)
    sums = [0.0] * dimensions
    for i, value in enumerate(_flat(values)):
        bits = _mixed(_mixed((i ^ salt) & _32) + (i >> 32))
        sums[(bits >> 1) % dimensions] += -value if bits & 1 else value
    return sums


def _torch_sums(torch: Any, values: Any, dimensions: int, salt: int) -> list[float] | None:
    if not values.is_floating_point():
        return None
    flat = values.reshape(-1)
    exact = torch.float32 if flat.device.type == "mps" else torch.float64
    sums = torch.zeros(dimensions, dtype=exact, device=flat.device)
    for start in range(0, flat.numel(), _CHUNK):
        part = flat[start : start + _CHUNK].to(exact)
        index = torch.arange(start, start + part.numel(), dtype=torch.int64, device=flat.device)
        bits = _mixed_all(_mixed_all((index & _32) ^ salt) + (index >> 32))
        sums.index_add_(0, (bits >> 1) % dimensions, part * (1 - 2 * (bits & 1)).to(exact))
    return [float(value) for value in sums.tolist()]


def _numpy_sums(numpy: Any, values: Any, dimensions: int, salt: int) -> list[float] | None:
    if values.dtype.kind != "f":
        return None
    flat = values.reshape(-1)
    sums = numpy.zeros(dimensions)
    for start in range(0, flat.size, _CHUNK):
        part = flat[start : start + _CHUNK].astype(numpy.float64)
        index = numpy.arange(start, start + part.size, dtype=numpy.int64)
        bits = _mixed_all(_mixed_all((index & _32) ^ salt) + (index >> 32))
        sums += numpy.bincount((bits >> 1) % dimensions, part * (1 - 2 * (bits & 1)), dimensions)
    return [float(value) for value in sums]


def _flat(values: Any) -> Iterator[float]:
    for value in values:
        if hasattr(value, "__iter__"):
            yield from _flat(value)
        else:
            yield float(value)


def _hash_of_name(name: str, seed: int) -> int:
    """FNV-1a of the name's UTF-8, from the seed."""
    bits = _mixed(seed & _32) ^ 0x811C9DC5
    for byte in name.encode("utf-8", "surrogatepass"):
        bits = ((bits ^ byte) * 0x01000193) & _32
    return _mixed(bits)


def _mixed(bits: int) -> int:
    """Murmur3's last step: 32 bits in, 32 bits out, each of them on all the others."""
    bits &= _32
    bits = ((bits ^ (bits >> 16)) * 0x85EBCA6B) & _32
    bits = ((bits ^ (bits >> 13)) * 0xC2B2AE35) & _32
    return bits ^ (bits >> 16)


def _mixed_all(bits: Any) -> Any:
    """The same of each of some int64: what a product loses at 64 bits is above the 32 that count."""
    bits = bits & _32
    bits = ((bits ^ (bits >> 16)) * (0x85EBCA6B - (1 << 32))) & _32
    bits = ((bits ^ (bits >> 13)) * (0xC2B2AE35 - (1 << 32))) & _32
    return bits ^ (bits >> 16)
