# SPDX-License-Identifier: Apache-2.0
"""The relations, read from `relations.json`, and look-ups by name."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from intervalsweep._errors import ArgumentError


@dataclass(frozen=True)
class Comparison:
    """`left operator right`: two endpoints such as `r.ts`; the operator is `<`, `<=` or `=`."""

    left: str
    operator: str
    right: str

    def __str__(self) -> str:
        return f"{self.left} {self.operator} {self.right}"


@dataclass(frozen=True)
class Distance:
    """The distance that a parameter limits: `later - earlier`."""

    later: str
    earlier: str

    def __str__(self) -> str:
        return f"{self.later} - {self.earlier}"


@dataclass(frozen=True)
class Relation:
    """A conjunction of comparisons, the distances that its parameters limit, and an example.

    The example contains an interval for `r` and one for `s` that match. The inverse is the name of
    the relation with swapped operands. Aliases are other names of the relation.
    """

    name: str
    inverse: str
    summary: str
    formula: tuple[Comparison, ...]
    parameters: dict[str, Distance]
    example: dict[str, tuple[int, int]]
    aliases: tuple[str, ...] = ()

    def least(self, parameter: str) -> int:
        """Return the smallest value of a parameter for which the example still matches."""
        distance = self.parameters[parameter]
        return self._value(distance.later) - self._value(distance.earlier)

    def _value(self, endpoint: str) -> int:
        side, end = endpoint.split(".")
        return self.example[side][("ts", "te").index(end)]


def relation_named(name: str) -> Relation:
    """Return the relation with this name, ignoring case. Raises ArgumentError if it is unknown."""
    known = by_name()
    if not isinstance(name, str):
        raise ArgumentError(
            f"`relation` must be the name of a relation, such as 'interval_intersects'; got "
            f"{name!r}. For a condition of your own, use the join of Spark."
        )
    if (wanted := name.lower()) not in known:
        raise ArgumentError(f"Unknown relation {name!r}. {_advice(wanted, relations())}")
    return known[wanted]


def _advice(name: str, known: Iterable[str]) -> str:
    """Return similar names, beginning with the relation that nearly all mean by "overlap"."""
    if re.match("(?!allen_|iseql_).*(overlap|intersect)", name):
        return (
            "Did you mean interval_intersects? It is true if two intervals share an instant. "
            "allen_overlaps also requires that the first starts and ends earlier."
        )
    return suggestion(name, known)


def check_parameters(relation: Relation, **values: object) -> None:
    """Raise ArgumentError if a value that is not None is for a parameter of another relation."""
    for name, value in values.items():
        if value is not None and name not in relation.parameters:
            has = " and ".join(relation.parameters) or "none"
            raise ArgumentError(f"{relation.name} has no parameter {name}; it has {has}.")


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return a sentence for an error message: similar known names, or else all known names.

    >>> suggestion("overlap", ["overlaps", "meets"])
    'Did you mean overlaps?'
    >>> suggestion("x", ["overlaps", "meets"])
    'Known: overlaps, meets.'
    """
    by_case = {one.lower(): one for one in known}
    found = difflib.get_close_matches(name.lower(), by_case, n=3, cutoff=0.5)
    if found:
        return f"Did you mean {', '.join(by_case[one] for one in found)}?"
    return f"Known: {', '.join(by_case.values())}."


@cache
def relations() -> dict[str, Relation]:
    """Return all relations by their names in lower case, in the order of `relations.json`."""
    text = Path(__file__).with_name("relations.json").read_text(encoding="utf-8")
    return {data["name"].lower(): _relation(data) for data in json.loads(text)["relations"]}


@cache
def by_name() -> dict[str, Relation]:
    """Return all relations by their names and aliases in lower case."""
    return {
        name.lower(): relation
        for relation in relations().values()
        for name in (relation.name, *relation.aliases)
    }


def _relation(data: dict[str, Any]) -> Relation:
    distances = {p: data[p] for p in ("delta", "epsilon") if data[p]}
    return Relation(
        data["name"],
        data["inverse"],
        data["summary"],
        tuple(Comparison(*term.split(" ")) for term in data["formula"]),
        {p: Distance(*text.split(" - ")) for p, text in distances.items()},
        {side: (start, end) for side, (start, end) in data["example"].items()},
        tuple(data.get("aliases", ())),
    )
