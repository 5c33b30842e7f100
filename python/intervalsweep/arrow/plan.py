# SPDX-License-Identifier: Apache-2.0
"""From a relation to sweeps: which side is boxes, and which comparisons bound which axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from intervalsweep.relations import Comparison, Relation


@dataclass(frozen=True)
class Term:
    """One bound on an axis: an endpoint of the box's row, perhaps moved by a parameter."""

    endpoint: str
    strict: bool = False
    parameter: str | None = None


@dataclass
class Axis:
    """An endpoint of the point's row, with all that bounds it from below and from above."""

    point: str
    lower: list[Term] = field(default_factory=list)
    upper: list[Term] = field(default_factory=list)
    is_equality: bool = False

    @property
    def strength(self) -> int:
        """How well it leads: a point on the axis, a stretch of it, or all of it from one end."""
        return 3 if self.is_equality else 1 + bool(self.lower and self.upper)


@dataclass(frozen=True)
class Sweep:
    """The rows of `boxes` (`r` or `s`) as boxes over those of the other side."""

    boxes: str
    lead: Axis
    second: Axis | None = None


def sweeps(relation: Relation, parameters: Sequence[str]) -> list[Sweep]:
    """Return disjoint sweeps that together find the relation's pairs, with these parameters."""
    forms = [form(relation, parameters, boxes) for boxes in ("r", "s")]
    best = max(forms, key=lambda form: form.lead.strength)
    if best.lead.strength == 1 and best.second is not None:
        return _split(relation)
    return [best]


def form(relation: Relation, parameters: Sequence[str], boxes: str) -> Sweep:
    """Return the relation as one sweep, with this side (`r`, `s`) as boxes."""
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
    lead, *second = sorted(axes.values(), key=lambda one: -one.strength)
    return Sweep(boxes, lead, second[0] if second else None)


def _split(relation: Relation) -> list[Sweep]:
    """Two opposite inequalities, `a < b` and `c < d` with `a` and `d` of one side, as two sweeps.

        A  a=========d               sweep 1: A is boxes, its lead axis is a <= c < d
        B      c=========b                    and its second one a < b

        A       a=========d          sweep 2: B is boxes, its lead axis is c < a < b
        B  c=========b                        and its second one c < d

    Either `a <= c` or `c < a`, never both: they are disjoint, and each leads with a bounded axis.
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
