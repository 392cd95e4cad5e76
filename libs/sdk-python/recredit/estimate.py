"""What an estimator says of trajectories that a trainer holds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .encode_event import record_text
from .json_text import Unsendable, json_text
from .problem import Problem, RecreditError
from .run import protocol_names

__all__ = ["ESTIMATE_QUERY", "Estimate", "estimate_of", "input_text"]

ESTIMATE_QUERY = """query ($input: EstimateInput!) { estimate(input: $input) {
  estimator version hash params missing { path rows of recordedAs } level
  trajectoryAdvantage turnAdvantage tokenAdvantage columns groups warnings
} }"""


@dataclass(frozen=True)
class Estimate:
    """Credit in the order of the trajectories, nested like them. NaN: nothing is said there."""

    estimator: str
    version: int
    hash: str | None
    """of a user's own estimator: what the sha256 of its file begins with"""
    params: Mapping[str, Any]
    """with the defaults filled in"""
    level: str
    """what carries the credit: trajectory, turn or token"""
    trajectory_advantage: list[float] | None
    """[trajectories]"""
    turn_advantage: list[list[float]] | None
    """[trajectories][turns]"""
    token_advantage: list[list[list[float]]] | None
    """[trajectories][turns][tokens]"""
    columns: Mapping[str, Any]
    """what the credit was made of, by name, nested like its level"""
    groups: tuple[str, ...]
    """names, in the order of columns that have a value per group"""
    warnings: tuple[str, ...]


def input_text(trajectories: Iterable[Mapping[str, Any]], estimator: str, params: Mapping[str, Any] | None) -> str:
    """The variables of the query, as JSON.

    :raises Unsendable: with the place of what cannot be sent
    """
    records = []
    for i, trajectory in enumerate(trajectories):
        record = {"id": str(i), "trainingStep": 0, **protocol_names(trajectory)}
        try:
            records.append(record_text(record))
        except Unsendable as error:
            raise error.under(i) from None
    asked = f'"estimator":{json_text(estimator)},"params":{json_text(dict(params or {}))}'
    return f'{{"input":{{{asked},"trajectories":[{",".join(records)}]}}}}'


def estimate_of(said: Mapping[str, Any]) -> Estimate:
    """:raises RecreditError: ``signals.missing``, where the estimator says nothing for lack of them"""
    if said["missing"]:
        lacks = ", ".join(_missing_text(missing) for missing in said["missing"])
        details = {"missing": said["missing"]}
        raise RecreditError(Problem(None, "signals.missing", f"{said['estimator']} says nothing: {lacks}", details))
    return Estimate(
        estimator=said["estimator"],
        version=said["version"],
        hash=said["hash"],
        params=said["params"],
        level=said["level"],
        trajectory_advantage=_numbers(said["trajectoryAdvantage"]),
        turn_advantage=_numbers(said["turnAdvantage"]),
        token_advantage=_numbers(said["tokenAdvantage"]),
        columns=said["columns"],
        groups=tuple(said["groups"]),
        warnings=tuple(said["warnings"]),
    )


def _missing_text(missing: Mapping[str, Any]) -> str:
    instead = f" ({missing['recordedAs']} is there: was it meant?)" if missing["recordedAs"] else ""
    return f"{missing['path']} is missing on {missing['rows']} of {missing['of']} rows{instead}"


def _numbers(nested: Any, inside: bool = False) -> Any:
    if isinstance(nested, list):
        return [_numbers(item, True) for item in nested]
    return math.nan if nested is None and inside else nested
