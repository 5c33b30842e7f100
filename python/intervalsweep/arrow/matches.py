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
from intervalsweep.arrow.plan import Axis, Sweep
from intervalsweep.arrow.tables import RowNumbers, Side, as_table, ends_of, groups_of
from intervalsweep.kernels import (
    Bounds,
    Boxes,
    Int32Array,
    Int64Array,
    PointIndex,
    RunSweep,
    group_offsets,
)
from intervalsweep.kernels.pairs import expand
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
            rows = (numbers.astype(np.int32) for numbers in (swept.box_rows, swept.point_rows))
            boxes, points = expand(swept.runs, *rows)
            found[swept.boxes].append(boxes)
            found[_other(swept.boxes)].append(points)
        left, right = found["r"], found["s"]
        return (
            (left[0], right[0]) if len(left) == 1 else (np.concatenate(left), np.concatenate(right))
        )

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
            index, order = _index(points, sweep)
            runs = RunSweep(index, Boxes(boxes.rows.size, lead, second, boxes.groups))
            yield _Swept(sweep.boxes, boxes.rows, points.rows[order], runs)

    def _bounds(self, sweep: Sweep, boxes: Side) -> tuple[Bounds, Bounds | None, Mask]:
        """Return the bounds of the boxes that may hold a point, and which boxes these are."""
        some: Mask = np.ones(boxes.rows.size, dtype=np.bool_)
        tight: list[list[Int64Array | None]] = []
        for axis in (sweep.lead, sweep.second):
            lower, upper = (None, None)
            if axis is not None:
                lower = self._tightest(axis, boxes, some, is_upper=False)
                upper = self._tightest(axis, boxes, some, is_upper=True)
            tight.append([lower, upper])
        if not some.all():
            tight = [[None if bound is None else bound[some] for bound in pair] for pair in tight]
        lead, second = (Bounds(*pair) for pair in tight)
        return lead, None if sweep.second is None else second, some

    def _tightest(
        self, axis: Axis, boxes: Side, some: Mask, *, is_upper: bool
    ) -> Int64Array | None:
        """Return the tightest bound, inclusive; takes boxes that can hold nothing out of `some`."""
        bounds = []
        for term in axis.upper if is_upper else axis.lower:
            values = boxes.ends[term.endpoint.split(".")[1]]
            if term.parameter is not None:
                move = self.encoding.at_most_later if is_upper else self.encoding.at_most_earlier
                values, possible = move(values, self.limits[term.parameter])
                some &= possible
            if term.strict:
                some &= values != (_LEAST if is_upper else _LARGEST)
                values = values - 1 if is_upper else values + 1
            bounds.append(values)
        if not bounds:
            return None
        return np.ascontiguousarray(reduce(np.minimum if is_upper else np.maximum, bounds))


_LEAST, _LARGEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
_NO_ROWS: RowNumbers = np.empty(0, dtype=np.int64)


def _index(points: Side, sweep: Sweep) -> tuple[PointIndex, RowNumbers]:
    """Return the points sorted by group and lead axis, and their order."""
    lead = points.ends[sweep.lead.point.split(".")[1]]
    second = None if sweep.second is None else points.ends[sweep.second.point.split(".")[1]]
    order = _order(points.groups, lead)
    offsets = group_offsets(points.groups[order])
    return PointIndex(lead[order], None if second is None else second[order], offsets), order


def _order(groups: Int32Array, lead: Int64Array) -> RowNumbers:
    """Order by group and lead: by one number where both fit into it, several times as fast."""
    if lead.size == 0:
        return _NO_ROWS
    least, largest = int(lead.min()), int(lead.max())
    span = largest - least + 1
    if (int(groups.max()) + 1) * span > _LARGEST:
        return np.lexsort((lead, groups))
    return np.argsort(groups * np.int64(span) + (lead - least))


def _of_side(side: str, endpoints: set[str]) -> set[str]:
    return {end.split(".")[1] for end in endpoints if end.startswith(side)}


def _other(side: str) -> str:
    return "s" if side == "r" else "r"
