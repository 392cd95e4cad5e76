"""numpy arrays, torch tensors and their like, seen without importing any of them."""

from __future__ import annotations

import array
import contextlib
import sys
from typing import Any

__all__ = ["as_plain", "float32_bytes", "has_infinity"]

_INFINITIES = (b"\x00\x00\x80\x7f", b"\x00\x00\x80\xff")


def float32_bytes(value: Any) -> bytes | None:
    """A vector of floats of any width [n] as little-endian float32; None for everything else.

    Tokens are kept as float32 on the other side, so float64 loses nothing here that it would keep there.
    """
    if isinstance(value, (array.array, memoryview)):
        return _buffer_bytes(value)
    numbers = _numpy_like(value)
    if numbers is None:
        return None
    dtype = numbers.dtype
    if numbers.ndim != 1 or not (dtype.kind == "f" or "bfloat16" in str(dtype)):
        return None
    if dtype.str == "<f4":
        return bytes(numbers.tobytes())
    with _quiet():
        return bytes(numbers.astype("<f4").tobytes())


def as_plain(value: Any) -> Any:
    """An array, tensor or scalar as lists and numbers; what is none of them, as it is."""
    if isinstance(value, memoryview):
        return value.tolist() if value.format not in ("B", "b", "c") else value
    value = _on_cpu(value)
    for method in ("tolist", "item"):
        convert = getattr(value, method, None)
        if callable(convert):
            plain = convert()
            if plain is not value:
                return plain
    as_array = getattr(value, "__array__", None)
    return as_array().tolist() if callable(as_array) else value


def has_infinity(floats: bytes) -> int:
    """Where in some little-endian float32 the first infinite one is; -1: nowhere."""
    last_bytes = floats[3::4]
    if b"\x7f" not in last_bytes and b"\xff" not in last_bytes:
        return -1  # the usual case in a third of the time: no number so large
    first = -1
    for pattern in _INFINITIES:
        at = floats.find(pattern)
        while at >= 0 and at % 4:
            at = floats.find(pattern, at + 1)
        if at >= 0 and (first < 0 or at // 4 < first):
            first = at // 4
    return first


def _buffer_bytes(value: array.array[Any] | memoryview) -> bytes | None:
    view = memoryview(value)
    if view.ndim != 1 or view.format not in ("f", "d"):
        return None
    if view.format == "f" and sys.byteorder == "little":
        return view.tobytes()
    try:
        floats = array.array("f", view.tolist())
    except OverflowError:
        floats = array.array("f", [float("inf") if abs(x) >= 2.0**128 - 2.0**103 else x for x in view.tolist()])
    if sys.byteorder == "big":
        floats.byteswap()
    return floats.tobytes()


def _on_cpu(value: Any) -> Any:
    """A tensor without its graph, in memory that Python sees."""
    for method in ("detach", "cpu"):
        step = getattr(value, method, None)
        if callable(step):
            value = step()
    return value


def _numpy_like(value: Any) -> Any | None:
    value = _on_cpu(value)
    if callable(getattr(value, "is_floating_point", None)):
        if not value.is_floating_point():
            return None
        value = value.float()  # numpy knows no bfloat16
    if not (hasattr(value, "tobytes") and hasattr(value, "astype")):
        as_array = getattr(value, "__array__", None)
        if not callable(as_array):
            return None
        value = as_array()
    return value if hasattr(value, "dtype") and hasattr(value, "ndim") else None


def _quiet() -> contextlib.AbstractContextManager[Any]:
    """No warning of numpy's where a double is too large: it is refused, with its place."""
    numpy = sys.modules.get("numpy")
    return numpy.errstate(over="ignore") if numpy else contextlib.nullcontext()
