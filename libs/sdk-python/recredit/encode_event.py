"""Events as lines of a batch, checked as the platform will check them, so that no batch is refused for one."""

from __future__ import annotations

import functools
import json
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from .json_text import ABSENT, Unsendable, json_text, quoted, shown, utf8
from .token_columns import column_text

__all__ = ["MAX_BATCH_BYTES", "MAX_BATCH_EVENTS", "Address", "TurnHead", "encode_event", "now", "record_text"]

MAX_BATCH_EVENTS: Final = 10_000
MAX_BATCH_BYTES: Final = 16 * 1024 * 1024
_MAX_NAMES: Final = 1_000
_MAX_TURNS: Final = 1_000_000
_MAX_STEP: Final = 2**31 - 1
_MAX_SKETCH: Final = 262_144
_MAX_TENSORS: Final = 256

Address = tuple[str, int]
"""Of a recorded turn: its trajectory and its index."""
Writer = Callable[[Any], str]

_NOT_IN_NAMES = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII)


def _name(value: Any) -> str:
    if type(value) is not str:
        value = _name_of(value)
    if not 0 < len(value) <= 512:
        raise Unsendable("a name of 1 to 512 characters", shown(value))
    if _NOT_IN_NAMES.search(value):
        raise Unsendable("a name without control characters", shown(value))
    return quoted(value)


def _name_of(value: Any) -> str:
    """Numbers of prompts and rollouts are names too."""
    if isinstance(value, str):
        return str.__str__(value)
    if not isinstance(value, (bool, float)) and hasattr(value, "__index__"):
        return str(value.__index__())
    raise Unsendable("a name", shown(value))


def _integer(least: int, most: int) -> Writer:
    def write(value: Any) -> str:
        if type(value) is not int:
            value = _integer_of(value)
        if least <= value <= most:
            return int.__repr__(value)
        raise Unsendable(f"an integer from {least} to {most}", shown(value))

    return write


def _integer_of(value: Any) -> int:
    if not isinstance(value, bool):
        if hasattr(value, "__index__"):
            return int(value.__index__())
        if isinstance(value, float) and value.is_integer():
            return int(value)
    raise Unsendable("an integer", shown(value))


def _number(value: Any) -> str:
    """A number or null. A flag counts as 1 or 0, as it does in Python's arithmetic."""
    if value is None:
        return "null"
    text = json_text(value)
    if type(value) is int or type(value) is float:
        return text
    if text in ("true", "false"):
        return "1" if text == "true" else "0"
    if text[0] in '"[{':
        raise Unsendable("a number", shown(value))
    return text


def _flag(value: Any) -> str:
    text = json_text(value)
    if text in ("true", "false", "1", "0"):
        return text
    raise Unsendable("True or False", shown(value))


def _string(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value)
    raise Unsendable("a text", shown(value))


def _one_of(*allowed: str) -> Writer:
    def write(value: Any) -> str:
        if isinstance(value, str) and value in allowed:
            return quoted(value)
        raise Unsendable(f"one of {', '.join(allowed)}", shown(value))

    return write


def _text(value: Any, depth: int = 1) -> str:
    """What the agent saw or did: a text, or chat messages."""
    if isinstance(value, str):
        return quoted(value)
    if not isinstance(value, (list, tuple)):
        raise Unsendable("a text or a list of chat messages", shown(value))
    messages = []
    for i, message in enumerate(value):
        try:
            text = json_text(message, depth + 1)
            if not text.startswith("{"):
                raise Unsendable("a chat message with a role", shown(message))
            if not isinstance(_role_of(message), str):
                raise Unsendable("a text", shown(_role_of(message)), "/role")
            messages.append(text)
        except Unsendable as error:
            raise error.under(i) from None
    return f"[{','.join(messages)}]"


def _role_of(message: Any) -> object:
    return message.get("role", ABSENT) if isinstance(message, Mapping) else getattr(message, "role", ABSENT)


def _named(
    value: Any, what: str, longest: int, write: Callable[[Any, int], str], depth: int = 1, most: int | None = _MAX_NAMES
) -> str:
    """:param write: of a value, which lies so deep"""
    if type(value) is not dict and not isinstance(value, Mapping):
        raise Unsendable(f"{what} by name", shown(value))
    if most is not None and len(value) > most:
        raise Unsendable(f"up to {most} different names", str(len(value)))
    texts = []
    for name, item in value.items():
        if item is ABSENT:
            continue
        try:
            texts.append(_field(name, longest) + write(item, depth + 1))
        except Unsendable as error:
            raise error.under(name) from None
    return f"{{{','.join(texts)}}}"


@functools.lru_cache(maxsize=4096)
def _field(name: Any, longest: int) -> str:
    """A name with its colon: a trainer says the same few in every turn."""
    if not isinstance(name, str) or not 0 < len(name) <= longest:
        raise Unsendable(f"a name of 1 to {longest} characters", shown(name))
    return f"{quoted(name)}:"


def _signals(value: Any, depth: int = 1) -> str:
    return _named(value, "signals", 128, json_text, depth)


def _metrics(value: Any) -> str:
    return _named(value, "numbers", 256, lambda item, _: _number(item), most=None)


def _tokens(value: Any, depth: int = 1) -> str:
    if type(value) is dict or isinstance(value, Mapping):
        value = {name: item for name, item in value.items() if item is not None and item is not ABSENT}
    first = -1

    def column(item: Any, depth: int) -> str:
        nonlocal first
        text, count = column_text(item, depth)
        if first < 0:
            first = count
        elif count != first:
            raise Unsendable(f"{first} entries, as {next(iter(value))} has (one per token)", str(count))
        return text

    return _named(value, "token columns", 128, column, depth)


def _sketch(value: Any) -> str:
    """Numbers: what else may stand in a column of tokens is none of a sketch."""
    text, count = column_text(value)
    if text.startswith("[") and not all(isinstance(item, (int, float, type(None))) for item in json.loads(text)):
        raise Unsendable("numbers", shown(value))
    if count > _MAX_SKETCH:
        raise Unsendable(f"up to {_MAX_SKETCH} numbers", str(count))
    return text


def _sketched_tensors(value: Any) -> str:
    if not isinstance(value, (list, tuple)) or not 0 < len(value) <= _MAX_TENSORS:
        raise Unsendable(f"a list of 1 to {_MAX_TENSORS} tensors", shown(value))
    text = _list_of(value, _TENSOR_FIELDS, ("name", "size"))
    names = [_name_of(tensor["name"]) for tensor in value]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise Unsendable("each name once", shown(name), f"/{i}/name")
    return text


def _assert_divided(event: Mapping[str, Any]) -> None:
    """:raises Unsendable: for tensors whose sizes are not all of the sketch"""
    tensors = event.get("tensors", ABSENT)
    if tensors is None or tensors is ABSENT:
        return
    count = column_text(event["sketch"])[1]
    divided = sum(int(tensor["size"]) for tensor in tensors)
    if divided != count:
        raise Unsendable(f"sizes that add up to the {count} numbers of the sketch", str(divided), "/tensors")


def _parent(value: Any) -> str:
    """``{"trajectory": id, "turn": index}``, or the two as a pair."""
    if isinstance(value, (tuple, list)) and len(value) == 2:
        value = {"trajectory": value[0], "turn": value[1]}
    if not isinstance(value, Mapping):
        raise Unsendable("a trajectory and a turn", shown(value))
    for name in value:
        if name not in _PARENT_FIELDS:
            raise Unsendable(f"no field {name}", shown(value))
    return _object(value, _PARENT_FIELDS, tuple(_PARENT_FIELDS))


def _instant(value: Any) -> str:
    if isinstance(value, str) and _INSTANT.fullmatch(value):
        return quoted(value)
    raise Unsendable("a time such as 2026-11-21T12:00:00Z", shown(value))


def _turns(value: Any) -> str:
    if not isinstance(value, (list, tuple)):
        raise Unsendable("a list of turns", shown(value))
    if len(value) > _MAX_TURNS:
        raise Unsendable(f"up to {_MAX_TURNS} turns", str(len(value)))
    _assert_few_names(value, "signals")
    _assert_few_names(value, "tokens")
    return _list_of(value, _NESTED_TURN_FIELDS, ())


def _assert_few_names(turns: Any, field: str) -> None:
    names: set[object] = set()
    for i, turn in enumerate(turns):
        named = turn.get(field) if isinstance(turn, Mapping) else None
        if isinstance(named, Mapping) and not names.issuperset(named):
            names.update(named)
            if len(names) > _MAX_NAMES:
                raise Unsendable(f"up to {_MAX_NAMES} different names", str(len(names)), f"/{i}/{field}")


def _annotated_turns(value: Any) -> str:
    if isinstance(value, Mapping):
        value = [{"turn": turn, "signals": signals} for turn, signals in value.items()]
    if not isinstance(value, (list, tuple)):
        raise Unsendable("a list of turns with signals", shown(value))
    _assert_few_names(value, "signals")
    return _list_of(value, _ANNOTATED_TURN_FIELDS, ("turn", "signals"))


def _list_of(items: Any, fields: Mapping[str, Writer], required: tuple[str, ...]) -> str:
    texts = []
    for i, item in enumerate(items):
        try:
            if not isinstance(item, Mapping):
                raise Unsendable("fields by name", shown(item))
            texts.append(_object(item, fields, required, depth=3))
        except Unsendable as error:
            raise error.under(i) from None
    return f"[{','.join(texts)}]"


def _object(
    fields: Mapping[Any, Any], writers: Mapping[str, Writer], required: tuple[str, ...] = (), depth: int = 1
) -> str:
    texts = []
    for key, value in fields.items():
        if value is ABSENT:
            continue
        writer = writers.get(key)
        try:
            if writer is None:
                text = json_text(value, depth)
            elif value is None and writer is not _number and key not in required:
                continue
            else:
                text = writer(value)
            if type(key) is not str:
                raise Unsendable("a name", shown(key))
        except Unsendable as error:
            raise error.under(key) from None
        texts.append(f"{quoted(key)}:{text}")
    for key in required:
        if fields.get(key, ABSENT) is ABSENT:
            raise Unsendable("a value", "nothing", f"/{key}")
    return f"{{{','.join(texts)}}}"


_PARENT_FIELDS: Final[dict[str, Writer]] = {"trajectory": _name, "turn": _integer(-1, _MAX_TURNS)}
_step = _integer(0, _MAX_STEP)
_index = _integer(0, _MAX_TURNS)
_TURN_FIELDS: Final[dict[str, Writer]] = {
    "state": _text,
    "action": _text,
    "reward": _number,
    "signals": _signals,
    "tokens": _tokens,
}
# the same, two levels further down: what is nested too deeply is refused here as it would be there
_NESTED_TURN_FIELDS: Final[dict[str, Writer]] = {
    "state": lambda value: _text(value, 3),
    "action": lambda value: _text(value, 3),
    "reward": _number,
    "signals": lambda value: _signals(value, 3),
    "tokens": lambda value: _tokens(value, 3),
}
_ANNOTATED_TURN_FIELDS: Final[dict[str, Writer]] = {
    "turn": _index,
    "signals": _NESTED_TURN_FIELDS["signals"],
    "rationale": _string,
}
_TENSOR_FIELDS: Final[dict[str, Writer]] = {"name": _name, "size": _integer(1, _MAX_SKETCH)}
_OF_TRAJECTORY: Final[dict[str, Writer]] = {"group": _name, "trainingStep": _step, "parent": _parent}
_OUTCOME: Final[dict[str, Writer]] = {"outcomeReward": _number, "success": _flag, "signals": _signals}
_RECORD_FIELDS: Final[dict[str, Writer]] = {"id": _name, **_OF_TRAJECTORY, **_OUTCOME, "turns": _turns}
_RECORD_REQUIRED: Final = ("id", "group", "trainingStep", "turns")
_EVENT: Final[dict[str, Writer]] = {"type": _string, "version": _integer(1, 1), "at": _instant}

_EVENTS: Final[dict[str, tuple[dict[str, Writer], tuple[str, ...]]]] = {
    "trainingStep.recorded": ({"trainingStep": _step, "metrics": _metrics}, ("trainingStep", "metrics")),
    "turn.recorded": (
        {"trajectory": _name, **_OF_TRAJECTORY, "turn": _index, **_TURN_FIELDS},
        ("trajectory", "group", "trainingStep", "turn"),
    ),
    "trajectory.ended": (
        {"trajectory": _name, **_OF_TRAJECTORY, **_OUTCOME, "turnCount": _index},
        ("trajectory", "group", "trainingStep"),
    ),
    "trajectory.recorded": (_RECORD_FIELDS, _RECORD_REQUIRED),
    "annotation.recorded": (
        {
            "trajectory": _name,
            "annotator": _name,
            "schema": _name,
            "attempt": _integer(0, 2**53),
            "status": _one_of("ok", "failed"),
            "failureReason": _string,
            "signals": _signals,
            "turns": _annotated_turns,
        },
        ("trajectory", "annotator"),
    ),
    "checkpoint.recorded": (
        {"trainingStep": _step, "sketch": _sketch, "tensors": _sketched_tensors},
        ("trainingStep", "sketch"),
    ),
    "run.rewound": ({"toTrainingStep": _step}, ("toTrainingStep",)),
    "run.ended": ({"state": _one_of("completed", "failed", "stopped"), "reason": _string}, ()),
}
for _fields, _ in _EVENTS.values():
    _fields.update(_EVENT)


def encode_event(event: Mapping[str, Any], at: str) -> tuple[bytes, Address | None]:
    """An event as one line of UTF-8 with its newline, and which turn it is, if it is one.

    :param event: its ``type`` and fields, in the protocol's spelling
    :param at: when it happened, where the event does not say
    :raises Unsendable: with the JSON pointer of what the platform would refuse
    """
    kind = event.get("type")
    if not isinstance(kind, str) or kind not in _EVENTS:
        raise Unsendable(f"one of {', '.join(_EVENTS)}", shown(kind), "/type")
    writers, required = _EVENTS[kind]
    if event.get("at") is None:
        event = {**event, "at": at}
    try:
        line = _line(_object(event, writers, required))
        if kind == "checkpoint.recorded":
            _assert_divided(event)
    except Unsendable as error:
        error.subject = kind
        raise
    return line, (_name_of(event["trajectory"]), int(event["turn"])) if kind == "turn.recorded" else None


class TurnHead:
    """What all turns of a trajectory begin with, written once."""

    __slots__ = ("_start", "trajectory")

    def __init__(self, trajectory: Any, group: Any, training_step: Any, parent: Any) -> None:
        """:raises Unsendable: see ``encode_event``"""
        fields = {"trajectory": trajectory, "group": group, "trainingStep": training_step, "parent": parent}
        writers, required = _EVENTS["turn.recorded"]
        text = _object(fields, writers, required[:3])
        self.trajectory = _name_of(trajectory)
        self._start = f'"type":"turn.recorded",{text[1:-1]},"turn":'

    def line(self, index: int, at: str, turn: Mapping[str, Any]) -> bytes:
        """The line of one turn that has nothing but the protocol's fields."""
        text = ""
        for key, value in turn.items():
            if value is ABSENT or (value is None and key != "reward"):
                continue
            try:
                text += f'"{key}":{_TURN_FIELDS[key](value)},'
            except Unsendable as error:
                refused = error.under(key)
                refused.subject = "turn.recorded"
                raise refused from None
        return _line(f'{{{text}{self._start}{index},"at":"{at}"}}')


def record_text(trajectory: Mapping[str, Any]) -> str:
    """A whole trajectory as JSON, as ``trajectory.recorded`` has it without type and time. :raises Unsendable:"""
    return _object(trajectory, _RECORD_FIELDS, _RECORD_REQUIRED)


def _line(text: str) -> bytes:
    line = utf8(text) + b"\n"
    if len(line) > MAX_BATCH_BYTES:
        raise Unsendable(f"up to {MAX_BATCH_BYTES} bytes", str(len(line)))
    return line


_second = (0, "")


def now() -> str:
    """The time of this machine in UTC, to the millisecond."""
    global _second
    instant = time.time_ns() // 1_000_000
    second, millisecond = divmod(instant, 1000)
    known, text = _second
    if known != second:
        text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
        _second = (second, text)
    return f"{text}.{millisecond:03d}Z"
