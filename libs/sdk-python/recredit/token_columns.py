"""Token columns as the protocol has them: arrays of floats in base64, everything else as JSON."""

from __future__ import annotations

import binascii
import re
import struct
from collections.abc import Mapping
from typing import Any, Final

from .arrays import as_plain, float32_bytes, has_infinity
from .json_text import Unsendable, list_text, quoted, shown

__all__ = ["column_text"]

# From here on a number rounds to an infinite float32: half a step above the largest finite one.
_FLOAT32_END: Final = 2.0**128 - 2.0**103
_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_BYTES: Final = {"f32": 4, "f16": 2}


def column_text(column: Any, depth: int = 2) -> tuple[str, int]:
    """One column, and its number of tokens.

    :param column: [tokens], numbers or any JSON; or ``{"f32": base64}``, ``{"f16": base64}``
    :raises Unsendable: for what is no column, and for numbers that no float32 holds
    """
    if type(column) is list or type(column) is tuple:
        return _items_text(column, depth), len(column)
    floats = float32_bytes(column)
    if floats is not None:
        infinite = has_infinity(floats)
        if infinite >= 0:
            raise Unsendable("a finite number that fits into a float32", "Infinity", f"/{infinite}")
        return f'{{"f32":"{binascii.b2a_base64(floats, newline=False).decode("ascii")}"}}', len(floats) // 4
    if isinstance(column, Mapping):
        return _encoded_text(column)
    plain = as_plain(column)
    if not isinstance(plain, (list, tuple)):
        raise Unsendable("a list with one entry per token", shown(column))
    return _items_text(plain, depth), len(plain)


def _items_text(items: Any, depth: int) -> str:
    text = list_text(items, depth)
    if "e" in text:  # no number without an exponent is beyond float32
        for i, item in enumerate(items):
            if isinstance(item, (int, float)) and abs(item) >= _FLOAT32_END:
                raise Unsendable("a number that fits into a float32", shown(item), f"/{i}")
    return text


def _encoded_text(column: Mapping[Any, Any]) -> tuple[str, int]:
    if len(column) == 1:
        (kind, text), = column.items()
        if kind in _BYTES and isinstance(text, str):
            floats = _decoded(text, kind)
            return f'{{"{kind}":{quoted(text)}}}', len(floats) // _BYTES[kind]
    raise Unsendable('a list with one entry per token, {"f32": ...} or {"f16": ...}', shown(dict(column)))


def _decoded(text: str, kind: str) -> bytes:
    floats = binascii.a2b_base64(text) if len(text) % 4 == 0 and _BASE64.fullmatch(text) else b"?"
    if len(floats) % _BYTES[kind]:
        raise Unsendable("base64 of whole little-endian floats", "something else")
    if kind == "f32":
        infinite = has_infinity(floats)
    else:
        halves = struct.unpack(f"<{len(floats) // 2}H", floats)
        infinite = next((i for i, bits in enumerate(halves) if bits & 0x7FFF == 0x7C00), -1)
    if infinite >= 0:
        raise Unsendable("a finite number", "Infinity", f"/{infinite}")
    return floats
