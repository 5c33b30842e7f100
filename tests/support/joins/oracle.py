# SPDX-License-Identifier: Apache-2.0
"""The written-out formula of every relation, and its call as a function.

The formulas below are hand-written from the definitions and independent of `relations.json`, so
that tests find mistakes there. An interval is half-open; `r` is the left operand, `s` the right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

ENDPOINT = re.compile(r"\b([rs])\.(ts|te)\b")


@dataclass(frozen=True)
class Distance:
    """The difference `later - earlier`, which a parameter limits."""

    later: str
    earlier: str


@dataclass(frozen=True)
class Relation:
    name: str
    formula: str
    delta: Distance | None = None
    epsilon: Distance | None = None
    parameters: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        given = [p for p in ("delta", "epsilon") if getattr(self, p) is not None]
        object.__setattr__(self, "parameters", tuple(given))

    @property
    def is_equality(self) -> bool:
        """True for formulas of equalities only. Spark can use these as equi-join keys."""
        return "<" not in self.formula


def _swap(text: str) -> str:
    return ENDPOINT.sub(lambda m: f"{'s' if m[1] == 'r' else 'r'}.{m[2]}", text)


def _inverse(name: str, of: Relation) -> Relation:
    def swapped(d: Distance | None) -> Distance | None:
        return d and Distance(_swap(d.later), _swap(d.earlier))

    return Relation(name, _swap(of.formula), swapped(of.delta), swapped(of.epsilon))


_BASE = [
    (Relation("ALLEN_BEFORE", "r.te < s.ts"), "ALLEN_AFTER"),
    (Relation("ALLEN_MEETS", "r.te = s.ts"), "ALLEN_MET_BY"),
    (
        Relation("ALLEN_OVERLAPS", "r.ts < s.ts AND s.ts < r.te AND r.te < s.te"),
        "ALLEN_OVERLAPPED_BY",
    ),
    (Relation("ALLEN_STARTS", "r.ts = s.ts AND r.te < s.te"), "ALLEN_STARTED_BY"),
    (Relation("ALLEN_DURING", "s.ts < r.ts AND r.te < s.te"), "ALLEN_CONTAINS"),
    (Relation("ALLEN_FINISHES", "s.ts < r.ts AND r.te = s.te"), "ALLEN_FINISHED_BY"),
    (Relation("ALLEN_EQUALS", "r.ts = s.ts AND r.te = s.te"), None),
    (
        Relation(
            "ISEQL_START_PRECEDING",
            "r.ts <= s.ts AND s.ts < r.te",
            delta=Distance("s.ts", "r.ts"),
        ),
        "ISEQL_REVERSE_START_PRECEDING",
    ),
    (
        Relation(
            "ISEQL_END_FOLLOWING",
            "r.ts < s.te AND s.te <= r.te",
            epsilon=Distance("r.te", "s.te"),
        ),
        "ISEQL_REVERSE_END_FOLLOWING",
    ),
    (Relation("ISEQL_BEFORE", "r.te <= s.ts", delta=Distance("s.ts", "r.te")), "ISEQL_AFTER"),
    (
        Relation(
            "ISEQL_LEFT_OVERLAP",
            "r.ts <= s.ts AND s.ts < r.te AND r.te <= s.te",
            delta=Distance("s.ts", "r.ts"),
            epsilon=Distance("s.te", "r.te"),
        ),
        "ISEQL_RIGHT_OVERLAP",
    ),
    (
        Relation(
            "ISEQL_DURING",
            "s.ts <= r.ts AND r.te <= s.te",
            delta=Distance("r.ts", "s.ts"),
            epsilon=Distance("s.te", "r.te"),
        ),
        "ISEQL_REVERSE_DURING",
    ),
    (Relation("INTERVAL_INTERSECTS", "r.ts < s.te AND s.ts < r.te"), None),
]

RELATIONS: dict[str, Relation] = {}
INVERSES: dict[str, str] = {}
for _relation, _other in _BASE:
    RELATIONS[_relation.name] = _relation
    if _other:
        RELATIONS[_other] = _inverse(_other, _relation)
        INVERSES[_relation.name] = _other

ALLEN = [name for name in RELATIONS if name.startswith("ALLEN_")]


@dataclass(frozen=True)
class Limit:
    """A parameter's value: the argument of the function, and the bound that the oracle writes.

    `written` is a format string over {later} and {earlier}.
    """

    argument: str
    written: str


@dataclass(frozen=True)
class Variant:
    """A relation with some of its parameters."""

    relation: Relation
    parameters: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "+".join((self.relation.name, *self.parameters))


def variants() -> list[Variant]:
    """Every relation with every subset of its parameters."""
    found = []
    for relation in RELATIONS.values():
        subsets: list[tuple[str, ...]] = [()]
        for parameter in relation.parameters:
            subsets += [(*subset, parameter) for subset in subsets]
        found += [Variant(relation, subset) for subset in subsets]
    return found


def _substitute(text: str, r: tuple[str, str], s: tuple[str, str]) -> str:
    names = {
        "r": dict(zip(("ts", "te"), r, strict=True)),
        "s": dict(zip(("ts", "te"), s, strict=True)),
    }
    return ENDPOINT.sub(lambda m: names[m[1]][m[2]], text)


R = ("r.ts", "r.te")
S = ("s.ts", "s.te")


def formula(
    name: str,
    r: tuple[str, str] = R,
    s: tuple[str, str] = S,
    delta: Limit | None = None,
    epsilon: Limit | None = None,
) -> str:
    """The relation written out in SQL."""
    relation = RELATIONS[name]
    conjuncts = [_substitute(relation.formula, r, s)]
    for distance, limit in ((relation.delta, delta), (relation.epsilon, epsilon)):
        if limit is not None:
            assert distance is not None, f"{name} has no such parameter"
            later, earlier = (_substitute(d, r, s) for d in (distance.later, distance.earlier))
            conjuncts.append(limit.written.format(later=later, earlier=earlier))
    return "(" + " AND ".join(conjuncts) + ")"


def call(
    name: str,
    r: tuple[str, str] = R,
    s: tuple[str, str] = S,
    delta: Limit | None = None,
    epsilon: Limit | None = None,
    style: str = "named",
) -> str:
    """The relation as a function call: parameters by name or position, or periods as structs."""
    arguments = [*r, *s]
    if style == "structs":
        arguments = [f"struct({a}, {b})" for a, b in (r, s)]
    given = {"delta": delta, "epsilon": epsilon}
    skipped = False
    for parameter in RELATIONS[name].parameters:
        limit = given[parameter]
        by_position = style == "positional" and not skipped
        if limit is None:
            skipped = True
        else:
            arguments.append(limit.argument if by_position else f"{parameter} => {limit.argument}")
    return f"{name}({', '.join(arguments)})"
