# SPDX-License-Identifier: Apache-2.0
"""The matches of two tables by a relation: pairs of rows, or counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeVar

import numpy as np

from intervalsweep._overlaps import Overlap
from intervalsweep._progress import Progress
from intervalsweep.arrow.encoding import Encoding, Mask
from intervalsweep.arrow.search import plan
from intervalsweep.arrow.search.overlaps import WITHIN, Overlaps, moved_ends
from intervalsweep.arrow.search.plan import Axis, Sweep, Term, name_of
from intervalsweep.arrow.sides import Side, TwoTables, order_of
from intervalsweep.arrow.threads import in_threads
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
from intervalsweep.kernels.arrays import NO_INT32
from intervalsweep.kernels.expand_runs import Expansion
from intervalsweep.relations import Relation, check_parameters, relation_named

_T = TypeVar("_T")


@dataclass(frozen=True)
class _Swept:
    """The boxes, points and runs of one sweep."""

    boxes: Side
    points: Side
    runs: RunSweep


@dataclass(frozen=True)
class Matches:
    """The matches of two tables, computed on request by `pairs` or `counts`."""

    left: Any
    right: Any
    keys: list[tuple[str, str]]
    relation: Relation
    limits: dict[str, int | float]
    encoding: Encoding
    sides: dict[str, Side]
    # Selects pairs by the row numbers of both sides; None keeps all pairs.
    keep: Callable[[Int32Array, Int32Array], Mask] | None
    overlaps: Overlaps

    @staticmethod
    def of(
        left: Any,
        right: Any,
        relation: str,
        *,
        delta: Any = None,
        epsilon: Any = None,
        within: Any = None,
        min_overlap: Any = None,
        min_fraction: Any = None,
        **names: Any,
    ) -> Matches:
        """Match two tables with the arguments of `join`; `names` are those of `SideNames`.

        Raises IntervalSweepError for unknown names and unsuitable types.
        """
        meant = relation_named(relation)
        given = {"delta": delta, "epsilon": epsilon}
        check_parameters(meant, **given)
        asked = Overlap.of(meant.name, within, min_overlap, min_fraction)
        both = TwoTables.with_intervals(left, right, **names)
        read = {end for term in meant.formula for end in (term.left, term.right)}
        found = both.sides((_of_side("r", read), _of_side("s", read)))
        limit = both.encoding.limit
        limits = {p: limit(p, value) for p, value in given.items() if value is not None}
        sides = dict(zip("rs", found, strict=True))
        if within is not None:
            meant, sides = WITHIN, moved_ends(both.encoding, sides, within)
        overlaps = Overlaps(both)
        keep = overlaps.filter(asked)
        keys = both.names.keys
        return Matches(
            both.left, both.right, keys, meant, limits, both.encoding, sides, keep, overlaps
        )

    def pairs(self, make: Callable[[Int32Array, Int32Array], _T]) -> list[_T]:
        """Return the result of `make(left_rows, right_rows)` for each part of the pairs.

        Parts have about a million pairs each and are built by several threads. Only the results of
        `make` are kept, so the pairs themselves are never in memory all at once.
        """
        with Progress("joining") as progress:
            found = in_threads(self._expansion, self._sweeps(), self._rows())
            size = sum(expansion.size for expansion, _ in found)
            done = 0

            def part(one: tuple[Expansion, bool, int, int]) -> _T:
                nonlocal done
                expansion, is_flipped, start, stop = one
                boxes, points = expansion.pairs(start, stop)
                done += boxes.size
                rows, others = (points, boxes) if is_flipped else (boxes, points)
                if self.keep is not None:
                    kept = self.keep(rows, others)
                    rows, others = rows[kept], others[kept]
                made = make(rows, others)
                progress.tell(f"{done:,} of {size:,} pairs")
                return made

            parts = [(one, flip, *part) for one, flip in found for part in one.parts()]
            return in_threads(part, parts, size)

    def _expansion(self, sweep: Sweep) -> tuple[Expansion, bool]:
        """Return the pairs of a sweep, and whether the boxes are right rows."""
        swept = self._swept(sweep)
        if swept is None:
            return Expansion([], NO_INT32, NO_INT32), False
        expansion = Expansion(swept.runs, _numbers(swept.boxes), _numbers(swept.points))
        return expansion, sweep.boxes == "s"

    def counts(self) -> Int64Array:
        """Return the number of matches of each left row."""
        if self.keep is not None:
            size = self.left.num_rows
            parts = self.pairs(lambda rows, _: np.bincount(rows, minlength=size))
            return sum(parts, np.zeros(size, dtype=np.int64))
        with Progress("counting"):
            found = in_threads(self._counts_of, self._sweeps(), self._rows())
        return sum(found, np.zeros(self.left.num_rows, dtype=np.int64))

    def _counts_of(self, sweep: Sweep) -> Int64Array:
        counts = np.zeros(self.left.num_rows, dtype=np.int64)
        swept = self._swept(sweep)
        if swept is None:
            return counts
        if sweep.boxes == "r":
            rows = swept.boxes.rows
            for box, _, count in swept.runs:
                np.add.at(counts, rows[box], count)
            return counts
        # A run adds one to each of its points: +1 at its first point, -1 after its last. The
        # running sum of these steps is the count of each point.
        steps = np.zeros(swept.points.size + 1, dtype=np.int64)
        for _, first, count in swept.runs:
            np.add.at(steps, first, 1)
            np.add.at(steps, first + count, -1)
        counts[swept.points.rows] = np.cumsum(steps)[:-1]
        return counts

    def _sweeps(self) -> list[Sweep]:
        return plan.sweeps(self.relation, list(self.limits))

    def _rows(self) -> int:
        return sum(side.size for side in self.sides.values())

    def _swept(self, sweep: Sweep) -> _Swept | None:
        """Return a sweep's runs; None if no box can contain a point."""
        boxes, points = self.sides[sweep.boxes], self.sides[_other(sweep.boxes)]
        lead, second, some = self._bounds(sweep, boxes)
        boxes = boxes.where(some)
        if lead.are_empty(boxes.size):
            return None
        points = _in_order(points, sweep)
        runs = RunSweep(_index(points, sweep), Boxes(boxes.size, lead, second, boxes.groups))
        return _Swept(boxes, points, runs)

    def _bounds(self, sweep: Sweep, boxes: Side) -> tuple[Bounds, Bounds | None, Mask]:
        """Return the bounds of the boxes that may contain a point, and a mask of these boxes."""
        some: Mask = np.ones(boxes.size, dtype=np.bool_)
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
        """Return the tightest bound of each box, and whether it is strict.

        Several bounds, or one with a parameter, are made inclusive first. Boxes that cannot contain
        any point are set to False in `some`.
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


# So many ties are scanned quickly: the minima and maxima of blocks cover as many points.
_FEW_TIES = 64

_LEAST, _LARGEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


def _numbers(side: Side) -> Int32Array:
    """Return the row numbers as `Expansion` takes them: empty if they are 0, 1, 2, ..."""
    return NO_INT32 if side.numbers is None else side.numbers.astype(np.int32, copy=False)


def _index(points: Side, sweep: Sweep) -> PointIndex:
    """Return the index of points that are in order."""
    lead = points.ends[name_of(sweep.lead.point)]
    second = None if sweep.second is None else points.ends[name_of(sweep.second.point)]
    return PointIndex(lead, second, group_offsets(points.groups))


def _in_order(points: Side, sweep: Sweep) -> Side:
    """Return the points in the order of group and lead axis.

    If both axes are equalities and many points share a lead value, the second axis breaks the ties.
    The matches of a box are then next to each other.
    """
    points = _by_lead(points, sweep)
    second = sweep.second
    if second is None or not (sweep.lead.is_equality and second.is_equality):
        return points
    lead, groups = points.ends[name_of(sweep.lead.point)], points.groups
    if not _has_ties(groups, lead):
        return points
    return points.take(np.lexsort((points.ends[name_of(second.point)], lead, groups)))


def _by_lead(points: Side, sweep: Sweep) -> Side:
    """Return the points in the order of group and lead axis; unchanged if they are sorted."""
    lead, groups = points.ends[name_of(sweep.lead.point)], points.groups
    return points if is_sorted(groups, lead) else points.take(order_of(groups, lead))


def _has_ties(groups: Int32Array, lead: Int64Array) -> bool:
    """Return whether many points share group and lead value. The points are in order."""
    many = _FEW_TIES
    return bool(np.any((lead[many:] == lead[:-many]) & (groups[many:] == groups[:-many])))


def _of_side(side: str, endpoints: set[str]) -> set[str]:
    return {name_of(end) for end in endpoints if end.startswith(side)}


def _other(side: str) -> str:
    return "s" if side == "r" else "r"
