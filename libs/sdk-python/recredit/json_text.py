"""Values as JSON, byte for byte as JavaScript's ``JSON.stringify`` writes them.

Both SDKs so write the same lines into the same spool, which ``test/sdk-vectors`` compares.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from .arrays import as_plain

__all__ = ["ABSENT", "MAX_DEPTH", "Absent", "Unsendable", "float_text", "json_text", "list_text", "quoted", "shown", "utf8"]

MAX_DEPTH: Final = 64
"""Lists and objects inside each other that the platform takes; what is deeper is a cycle."""

_DEEPEST: Final = MAX_DEPTH - 1
_MAX_INTEGER: Final = 2**53
_SHOWN: Final = 80


class Absent:
    """The type of ``ABSENT``, which stands for what was not said at all. ``None`` is "asked for and not available"."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent()

quoted = json.encoder.encode_basestring
_numbers = json.JSONEncoder(separators=(",", ":")).encode
# What Python spells otherwise than JavaScript: 1e-05, NaN, Infinity, 1.0
_ODD: Final = ("e", "N", "I", ".0,", ".0]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Unsendable(Exception):
    """A value that has no place in an event; says where it stands and what was wanted."""

    def __init__(self, expected: str, found: str, pointer: str = "") -> None:
        super().__init__(expected, found, pointer)
        self.subject = ""
        """the type of the event, once it is known"""
        self.expected = expected
        self.found = found
        self.pointer = pointer

    def __str__(self) -> str:
        return f"{self.subject}{self.pointer}: expected {self.expected}, found {self.found}".lstrip(":")

    def under(self, key: object) -> Unsendable:
        escaped = str(key).replace("~", "~0").replace("/", "~1")
        return Unsendable(self.expected, self.found, f"/{escaped}{self.pointer}")


def json_text(value: Any, depth: int = 0) -> str:
    """What JSON makes of a value, with NaN as null (asked for and not available).

    Takes numbers, texts, lists and mappings; numpy arrays, torch tensors and their scalars; dataclasses, pydantic
    models and datetimes.

    :raises Unsendable: for infinity, integers beyond 2**53, bytes, sets, cycles and what nobody knows
    """
    kind = type(value)
    if kind is str:
        return quoted(value)
    if kind is float:
        return float_text(value)
    if kind is bool:
        return "true" if value else "false"
    if kind is int:
        return _integer_text(value)
    if value is None:
        return "null"
    if kind is dict:
        return _mapping_text(value, depth)
    if kind is list or kind is tuple:
        return list_text(value, depth)
    return _other_text(value, depth)


def float_text(value: float) -> str:
    """A number in JavaScript's spelling: 1 for 1.0, 0.00001 for 1e-05, 1e+21."""
    text = float.__repr__(value)
    if text[-2:] == ".0":
        return text[:-2] if text != "-0.0" else "0"
    if "e" in text:
        return _without_exponent(text)
    if "n" not in text:
        return text
    if text == "nan":
        return "null"
    raise Unsendable("a finite number", "Infinity" if value > 0 else "-Infinity")


def _without_exponent(text: str) -> str:
    mantissa, _, exponent = text.partition("e")
    sign = "-" if mantissa[0] == "-" else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = whole + fraction
    point = int(exponent) + 1
    if 0 < point <= 21:
        return sign + digits.ljust(point, "0") if len(digits) <= point else f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    power = f"e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return f"{sign}{digits[0]}{'.' + digits[1:] if len(digits) > 1 else ''}{power}"


def _integer_text(value: int) -> str:
    if -_MAX_INTEGER <= value <= _MAX_INTEGER:
        return int.__repr__(value)
    try:
        text = float_text(float(value))
    except OverflowError:
        text = ""
    if text and (int(float(value)) == value or text == int.__repr__(value)):
        return text
    raise Unsendable("a number that a double holds (send it as text)", shown(value))


def list_text(items: Any, depth: int) -> str:
    """A list or tuple; the usual long list of numbers at the speed of ``json.dumps``."""
    if depth > _DEEPEST:
        raise _too_deep()
    if len(items) > 7:
        types = set(map(type, items))
        is_exact = types == {float} or (types == {int} and max(items) <= _MAX_INTEGER and min(items) >= -_MAX_INTEGER)
        if is_exact:
            text = _numbers(items)
            if types == {int} or not any(odd in text for odd in _ODD):
                return text
    texts = []
    for i, item in enumerate(items):
        try:
            texts.append("null" if item is ABSENT else json_text(item, depth + 1))
        except Unsendable as error:
            raise error.under(i) from None
    return f"[{','.join(texts)}]"


def _mapping_text(fields: Mapping[Any, Any], depth: int) -> str:
    if depth > _DEEPEST:
        raise _too_deep()
    texts = []
    for key, value in fields.items():
        if value is ABSENT:
            continue
        try:
            texts.append(f"{_key_text(key)}:{json_text(value, depth + 1)}")
        except Unsendable as error:
            raise error.under(key) from None
    return f"{{{','.join(texts)}}}"


def _key_text(key: object) -> str:
    if isinstance(key, str):
        return quoted(key)
    if isinstance(key, int) and not isinstance(key, bool):
        return f'"{int(key)}"'
    raise Unsendable("a name", shown(key))


def _other_text(value: Any, depth: int) -> str:
    if depth > _DEEPEST:
        raise _too_deep()
    if isinstance(value, str):
        return quoted(str.__str__(value))
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, int):
        return _integer_text(int(value))
    if isinstance(value, Mapping):
        return _mapping_text(value, depth)
    if isinstance(value, (list, tuple)):
        return list_text(value, depth)
    if isinstance(value, (bytes, bytearray, set, frozenset)):
        raise Unsendable("JSON", f"{type(value).__name__} {shown(value)}")
    if isinstance(value, (datetime.datetime, datetime.date)):
        return quoted(value.isoformat())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return _mapping_text(fields, depth)
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        return json_text(dump(), depth + 1)
    plain = as_plain(value)
    if plain is value:
        raise Unsendable("JSON", f"{type(value).__name__} {shown(value)}")
    return json_text(plain, depth)


def _too_deep() -> Unsendable:
    return Unsendable(f"up to {MAX_DEPTH} levels", "more (a cycle?)")


def shown(value: object) -> str:
    """A value as a person can read it in a message: short, and never a whole payload."""
    if value is ABSENT:
        return "nothing"
    try:
        if isinstance(value, str):
            text = quoted(value[: _SHOWN + 1])
        elif isinstance(value, (list, tuple)) and len(value) > 20:
            text = f"a list of {len(value)}"
        elif isinstance(value, int) and abs(value) >= 1 << 256:
            text = "an integer of many digits"
        else:
            text = repr(value)
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def utf8(text: str) -> bytes:
    """JSON text as UTF-8. A lone surrogate inside a string is escaped, as JavaScript does."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", joined).encode()
