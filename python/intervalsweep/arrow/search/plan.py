# SPDX-License-Identifier: Apache-2.0
"""Turns a relation into sweeps: chooses the side of the boxes and the bounds of each axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from intervalsweep.relations import Comparison, Relation


@dataclass(frozen=True)
class Term:
    """A bound on an axis: an endpoint of the box's row, moved by a parameter if there is one."""

    endpoint: str
    strict: bool = False
    parameter: str | None = None


@dataclass
class Axis:
    """An endpoint of the point's row, with all its lower and upper bounds."""

    point: str
    lower: list[Term] = field(default_factory=list)
    upper: list[Term] = field(default_factory=list)
    is_equality: bool = False

    @property
    def strength(self) -> int:
        """Selectivity as a lead axis: 3 for equality, 2 with bounds on both ends, 1 with one."""
        return 3 if self.is_equality else 1 + bool(self.lower and self.upper)

    @property
    def bounds(self) -> int:
        """The number of bounds: of equally strong axes, the one with more bounds leads."""
        return len(self.lower) + len(self.upper)


@dataclass(frozen=True)
class Sweep:
    """A sweep in which the rows of `boxes` (`r` or `s`) are boxes, and the others points."""

    boxes: str
    lead: Axis
    second: Axis | None = None


def sweeps(relation: Relation, parameters: Sequence[str]) -> list[Sweep]:
    """Return sweeps that together find each pair of the relation once, with these parameters."""
    forms = [form(relation, parameters, boxes) for boxes in ("r", "s")]
    best = max(forms, key=lambda form: form.lead.strength)
    if best.lead.strength == 1 and best.second is not None:
        return _split(relation)
    return [best]


def form(relation: Relation, parameters: Sequence[str], boxes: str) -> Sweep:
    """Return the relation as one sweep, with the rows of `boxes` (`r` or `s`) as boxes."""
    axes: dict[str, Axis] = {}

    def axis(point: str) -> Axis:
        return axes.setdefault(point, Axis(point))

    for comparison in relation.formula:
        strict = comparison.operator == "<"
        lesser, greater = comparison.left, comparison.right
        point, box = (greater, lesser) if _side(lesser) == boxes else (lesser, greater)
        if comparison.operator == "=" or point == greater:
            axis(point).lower.append(Term(box, strict))
        if comparison.operator == "=" or point == lesser:
            axis(point).upper.append(Term(box, strict))
        axis(point).is_equality |= comparison.operator == "="
    for name in parameters:
        distance = relation.parameters[name]
        if _side(distance.later) == boxes:
            axis(distance.earlier).lower.append(Term(distance.later, parameter=name))
        else:
            axis(distance.later).upper.append(Term(distance.earlier, parameter=name))
    lead, *second = sorted(axes.values(), key=lambda one: (-one.strength, -one.bounds))
    return Sweep(boxes, lead, second[0] if second else None)


def _split(relation: Relation) -> list[Sweep]:
    """Return two sweeps for `a < b` and `c < d`, where `a` and `d` are endpoints of one side.

        A  a=========d               sweep 1: rows of A are boxes
        B      c=========b                    lead axis a <= c < d, second axis a < b

        A       a=========d          sweep 2: rows of B are boxes
        B  c=========b                        lead axis c < a < b, second axis c < d

    Either `a <= c` or `c < a` is true, never both, so no pair is found twice. Both lead axes are
    bounded on both ends.
    """
    less, more = sorted(relation.formula, key=lambda one: _side(one.left))
    a, b, c, d = less.left, less.right, more.left, more.right
    return [
        Sweep(
            _side(a),
            Axis(c, [Term(a)], [Term(d, _is_strict(more))]),
            Axis(b, [Term(a, _is_strict(less))]),
        ),
        Sweep(
            _side(c),
            Axis(a, [Term(c, strict=True)], [Term(b, _is_strict(less))]),
            Axis(d, [Term(c, _is_strict(more))]),
        ),
    ]


def _is_strict(comparison: Comparison) -> bool:
    return comparison.operator == "<"


def _side(endpoint: str) -> str:
    return endpoint.split(".")[0]


def name_of(endpoint: str) -> str:
    """Return the endpoint's name without its side.

    >>> name_of("r.ts")
    'ts'
    """
    return endpoint.split(".")[1]
