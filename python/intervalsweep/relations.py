# SPDX-License-Identifier: Apache-2.0
"""The relations in Python, from their one home, `relations.json`; and their names."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from intervalsweep._errors import ArgumentError


@dataclass(frozen=True)
class Comparison:
    """`left operator right`, of endpoints such as `r.ts`; the operator is `<`, `<=` or `=`."""

    left: str
    operator: str
    right: str


@dataclass(frozen=True)
class Distance:
    """What a parameter bounds: `later - earlier`."""

    later: str
    earlier: str


@dataclass(frozen=True)
class Relation:
    """A conjunction of comparisons, the distances that its parameters bound, and an example.

    The example is of two intervals that match, those of `r` and `s`.
    """

    name: str
    formula: tuple[Comparison, ...]
    parameters: dict[str, Distance]
    example: dict[str, tuple[int, int]]


def relation_named(name: str) -> Relation:
    """Return the relation of this name, in any case. Raises ArgumentError if there is none."""
    known = _relations()
    if name.lower() not in known:
        raise ArgumentError(f"There is no relation {name}{suggestion(name, known)}")
    return known[name.lower()]


def check_parameters(relation: Relation, **values: object) -> None:
    """Raise ArgumentError for a parameter (one that is not None) that it does not have."""
    for name, value in values.items():
        if value is not None and name not in relation.parameters:
            has = " and ".join(relation.parameters) or "none"
            raise ArgumentError(f"{relation.name} has no parameter {name}; it has {has}.")


def suggestion(name: str, known: Iterable[str]) -> str:
    """Say which of the known names are meant perhaps, or which there are: the end of a sentence."""
    by_case = {one.lower(): one for one in known}
    found = difflib.get_close_matches(name.lower(), by_case, n=3, cutoff=0.5)
    if found:
        return f"; near it: {', '.join(by_case[one] for one in found)}."
    return f"; there are: {', '.join(by_case.values())}."


@cache
def _relations() -> dict[str, Relation]:
    text = Path(__file__).with_name("relations.json").read_text(encoding="utf-8")
    return {data["name"].lower(): _relation(data) for data in json.loads(text)["relations"]}


def _relation(data: dict[str, Any]) -> Relation:
    distances = {p: data[p] for p in ("delta", "epsilon") if data[p]}
    return Relation(
        data["name"],
        tuple(Comparison(*term.split(" ")) for term in data["formula"]),
        {p: Distance(*text.split(" - ")) for p, text in distances.items()},
        {side: (start, end) for side, (start, end) in data["example"].items()},
    )
