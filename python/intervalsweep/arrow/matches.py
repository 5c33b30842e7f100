# SPDX-License-Identifier: Apache-2.0
"""The matches of two tables by a relation: their pairs of rows, or how many there are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from intervalsweep._naming import Ends, Keys, check_columns, key_pairs
from intervalsweep.arrow import plan
from intervalsweep.arrow.encoding import Encoding, Mask
from intervalsweep.arrow.plan import Axis, Sweep, Term, name_of
from intervalsweep.arrow.tables import RowNumbers, Side, as_table, ends_of, groups_of
from intervalsweep.kernels import (
    Bounds,
    Boxes,
    Int32Array,
    Int64Array,
    PointIndex,
    RunSweep,
    group_offsets,
    is_sorted,
)
from intervalsweep.kernels.pairs import expand, joined
from intervalsweep.relations import Relation, check_parameters, relation_named


@dataclass(frozen=True)
class _Swept:
    """One sweep: which side (`r`, `s`) is boxes, the rows of boxes and points, and the runs."""

    boxes: str
    box_rows: RowNumbers
    point_rows: RowNumbers
    runs: RunSweep


@dataclass(frozen=True)
class Matches:
    """The matches of two tables, found when they are asked for."""

    left: Any
    right: Any
    keys: list[tuple[str, str]]
    relation: Relation
    limits: dict[str, int | float]
    encoding: Encoding
    sides: dict[str, Side]

    @staticmethod
    def of(
        left: Any,
        right: Any,
        name: str,
        left_on: Ends,
        right_on: Ends,
        by: Keys | str,
        **given: Any,
    ) -> Matches:
        """Raises IntervalSweepError for names and types that mean nothing."""
        relation = relation_named(name)
        check_parameters(relation, **given)
        left, right, keys = as_table(left), as_table(right), key_pairs(by)
        check_columns("left", left.column_names, *(one for one, _ in keys))
        check_columns("right", right.column_names, *(other for _, other in keys))
        ends = {"r": ends_of(left, "left", left_on), "s": ends_of(right, "right", right_on)}
        encoding = Encoding([column.type for pair in ends.values() for column in pair])
        groups = dict(zip("rs", groups_of(left, right, keys), strict=True))
        read = {end for term in relation.formula for end in (term.left, term.right)}
        sides = {
            side: Side.of(encoding, ends[side], groups[side], _of_side(side, read)) for side in "rs"
        }
        limits = {p: encoding.limit(p, value) for p, value in given.items() if value is not None}
        return Matches(left, right, keys, relation, limits, encoding, sides)

    def pairs(self) -> tuple[Int32Array, Int32Array]:
        """Return the row numbers of all matches, on the left and on the right."""
        found: dict[str, list[Int32Array]] = {"r": [], "s": []}
        for swept in self._swept():
            numbers = (swept.box_rows, swept.point_rows)
            boxes, points = expand(
                swept.runs, *(rows.astype(np.int32, copy=False) for rows in numbers)
            )
            found[swept.boxes].append(boxes)
            found[_other(swept.boxes)].append(points)
        return joined(found["r"]), joined(found["s"])

    def counts(self) -> Int64Array:
        """Return the number of matches of each left row."""
        counts = np.zeros(self.left.num_rows, dtype=np.int64)
        for swept in self._swept():
            if swept.boxes == "r":
                for box, _, count in swept.runs:
                    np.add.at(counts, swept.box_rows[box], count)
                continue
            # A run adds one to each of its points: a step up where it begins, down where it ends.
            steps = np.zeros(swept.point_rows.size + 1, dtype=np.int64)
            for _, first, count in swept.runs:
                np.add.at(steps, first, 1)
                np.add.at(steps, first + count, -1)
            counts[swept.point_rows] += np.cumsum(steps)[:-1]
        return counts

    def _swept(self) -> Iterator[_Swept]:
        for sweep in plan.sweeps(self.relation, list(self.limits)):
            boxes, points = self.sides[sweep.boxes], self.sides[_other(sweep.boxes)]
            lead, second, some = self._bounds(sweep, boxes)
            boxes = boxes.where(some)
            if lead.are_empty(boxes.rows.size):
                continue
            points = _in_order(points, sweep)
            runs = RunSweep(
                _index(points, sweep), Boxes(boxes.rows.size, lead, second, boxes.groups)
            )
            yield _Swept(sweep.boxes, boxes.rows, points.rows, runs)

    def _bounds(self, sweep: Sweep, boxes: Side) -> tuple[Bounds, Bounds | None, Mask]:
        """Return the bounds of the boxes that may hold a point, and which boxes these are."""
        some: Mask = np.ones(boxes.rows.size, dtype=np.bool_)
        lead = self._of_axis(sweep.lead, boxes, some)
        second = None if sweep.second is None else self._of_axis(sweep.second, boxes, some)
        if not some.all():
            lead, second = lead.take(some), second and second.take(some)
        return lead, second, some

    def _of_axis(self, axis: Axis, boxes: Side, some: Mask) -> Bounds:
        lower, lower_strict = self._tightest(axis.lower, boxes, some, is_upper=False)
        upper, upper_strict = self._tightest(axis.upper, boxes, some, is_upper=True)
        return Bounds(lower, upper, lower_strict=lower_strict, upper_strict=upper_strict)

    def _tightest(
        self, terms: list[Term], boxes: Side, some: Mask, *, is_upper: bool
    ) -> tuple[Int64Array | None, bool]:
        """Return the tightest bound, and whether it is strict; of several, made inclusive.

        Takes boxes that can hold nothing out of `some`.
        """
        if len(terms) == 1 and terms[0].parameter is None:
            return boxes.ends[name_of(terms[0].endpoint)], terms[0].strict
        bounds = []
        for term in terms:
            values = boxes.ends[name_of(term.endpoint)]
            if term.parameter is not None:
                move = self.encoding.at_most_later if is_upper else self.encoding.at_most_earlier
                values, possible = move(values, self.limits[term.parameter])
                some &= possible
            if term.strict:
                some &= values != (_LEAST if is_upper else _LARGEST)
                values = values - 1 if is_upper else values + 1
            bounds.append(values)
        if not bounds:
            return None, False
        tightest = reduce(np.minimum if is_upper else np.maximum, bounds)
        return np.ascontiguousarray(tightest), False


_LEAST, _LARGEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


def _index(points: Side, sweep: Sweep) -> PointIndex:
    """Return the points, which are in order."""
    lead = points.ends[name_of(sweep.lead.point)]
    second = None if sweep.second is None else points.ends[name_of(sweep.second.point)]
    return PointIndex(lead, second, group_offsets(points.groups))


def _in_order(points: Side, sweep: Sweep) -> Side:
    """Return the points by group and lead axis: as they are, if they come so."""
    lead, groups = points.ends[name_of(sweep.lead.point)], points.groups
    return points if is_sorted(groups, lead) else points.take(_order(groups, lead))


def _order(groups: Int32Array, lead: Int64Array) -> RowNumbers:
    """Order by group and lead: by one number where both fit into it, several times as fast."""
    least, largest = int(lead.min()), int(lead.max())
    span = largest - least + 1
    if (int(groups.max()) + 1) * span > _LARGEST:
        return np.lexsort((lead, groups))
    return np.argsort(groups * np.int64(span) + (lead - least))


def _of_side(side: str, endpoints: set[str]) -> set[str]:
    return {name_of(end) for end in endpoints if end.startswith(side)}


def _other(side: str) -> str:
    return "s" if side == "r" else "r"
