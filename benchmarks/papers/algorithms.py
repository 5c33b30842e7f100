# SPDX-License-Identifier: Apache-2.0
"""All algorithms: each sorts and indexes the tuples of a query, and returns the run to time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.papers import relations
from benchmarks.papers.loops import assembly, rivals
from benchmarks.papers.loops.iterators import Intervals, Rows
from benchmarks.papers.query import COUNTERS, FAR, Out, Part, Query, Run, in_turn
from intervalsweep.arrow.search.plan import Axis, Sweep, sweeps
from intervalsweep.kernels import Bounds, Boxes, Int32Array, Int64Array, PointIndex, RunSweep


def join_by_s(query: Query, room: int = 1) -> Run:
    """The paper's JoinByS (5.3); with `room > 1`, LazyJoinByS (7.2)."""
    joins = relations.joins(query.name, query.delta, query.epsilon)
    return assembly.prepare(joins, query.r, query.s, room)


def lazy_join_by_s(query: Query) -> Run:
    """The paper's LazyJoinByS (7.2)."""
    return join_by_s(query, assembly.LAZY)


def runs(query: Query) -> Run:
    """The product's kernels, planned as for Arrow tables; their runs are expanded into pairs."""
    return in_turn([_runs(query, sweep) for sweep in sweeps(query.relation, list(query.limits))])


def prepared(query: Query, sweep: Sweep) -> tuple[PointIndex, Boxes, Int32Array]:
    """For one of the product's sweeps: the index of points, the boxes, and the points' order."""
    is_swapped = sweep.boxes == "s"
    lead = query.value(sweep.lead.point)
    order = np.argsort(lead, kind="stable").astype(np.int32)
    second = None if sweep.second is None else query.value(sweep.second.point)[order]
    second_bounds = None if sweep.second is None else _bounds(query, sweep.second)
    size = query.s.size if is_swapped else query.r.size
    boxes = Boxes(size, _bounds(query, sweep.lead), second_bounds)
    return PointIndex(lead[order], second), boxes, order


def _runs(query: Query, sweep: Sweep) -> Part:
    index, wanted, order = prepared(query, sweep)
    is_swapped = sweep.boxes == "s"
    points, boxes = (query.r, query.s) if is_swapped else (query.s, query.r)
    rows = np.arange(boxes.size, dtype=np.int32)
    box_values = boxes.te if is_swapped else boxes.ts
    point_values = (points.ts if is_swapped else points.te)[order]

    def run(out: Out, counters: Int64Array) -> None:
        for box, first, count in RunSweep(index, wanted):
            rivals.expand(
                box, first, count, rows, order, box_values, point_values, int(is_swapped), out,
                counters,
            )  # fmt: skip

    return run


def _bounds(query: Query, axis: Axis) -> Bounds:
    tightest = []
    for terms, sign in ((axis.lower, 1), (axis.upper, -1)):
        bounds = [
            query.value(term.endpoint)
            + sign * (int(term.strict) - (query.limits[term.parameter] if term.parameter else 0))
            for term in terms
        ]
        most = np.maximum if sign == 1 else np.minimum
        tightest.append(most.reduce(bounds) if bounds else None)
    return Bounds(*tightest)


def slices(query: Query) -> Run:
    """Binary search on the axis that has two bounds; on s.ts if both or neither do."""
    b0, b1, b2, b3 = query.box
    ts_leads = not (_is_bound(b2) and _is_bound(b3)) or (_is_bound(b0) and _is_bound(b1))
    lead, second = (query.s.ts, query.s.te) if ts_leads else (query.s.te, query.s.ts)
    box = query.box if ts_leads else (b2, b3, b0, b1)
    order = np.argsort(lead, kind="stable").astype(np.int32)
    points = (lead[order], second[order], order, query.s.te[order])
    return lambda out: _count(rivals.slices, *points, box, query.r.ts, out)


def _is_bound(values: Int64Array) -> bool:
    return bool(values.size and abs(values[0]) < FAR)


def leung_muntz(query: Query) -> Run:
    """The sweep of Leung and Muntz over whole tuples, with the active tuples in heaps."""
    sides = _Sides(query)
    heaps = [(np.empty(side.size, np.int64), np.empty(side.size, np.int32)) for side in sides.both]

    def run(out: Out) -> Int64Array:
        counters = _count(
            rivals.leung_muntz, *sides.proper, *sides.ends, query.box, _slack(query), *heaps, out
        )
        return sides.add_improper(out, counters)

    return run


def ie_join(query: Query) -> Run:
    """IEJoin on two of the inequalities, with the others as a selection."""
    bounds = []
    for least, most, keys in zip(query.box[::2], query.box[1::2], query.s_ends, strict=True):
        bounds += [(least, keys)] if _is_bound(least) else []
        bounds += [(-most, -keys)] if _is_bound(most) else []
    nothing = (np.zeros(query.r.size, np.int64), np.zeros(query.s.size, np.int64))
    (first, s_first), (second, s_second) = [*bounds, nothing, nothing][:2]
    by_first = np.argsort(s_first, kind="stable").astype(np.int32)
    place = np.empty(by_first.size, np.int32)
    place[by_first] = np.arange(by_first.size)
    r_order, s_order = (np.argsort(-keys, kind="stable").astype(np.int32) for keys in
                        (second, s_second))  # fmt: skip
    arguments = (
        (second[r_order], r_order), (s_second[s_order], s_order), place,
        (s_first[by_first], by_first), (query.r.ts, first), query.s_ends, query.box,
    )  # fmt: skip
    marks = np.empty(query.s.size, np.uint8)
    chunks = np.empty(query.s.size // rivals.CHUNK + 1, np.uint8)

    def run(out: Out) -> Int64Array:
        marks[:] = 0
        chunks[:] = 0
        return _count(rivals.ie_join, *arguments, marks, chunks, out)

    return run


# The aimed number of intervals that start in a cell. Cells are at least a mean length wide.
_PER_CELL = 16


def grid(query: Query) -> Run:
    """A grid of equal cells over time; each interval is stored in all cells that it touches."""
    sides = _Sides(query)
    least = [side.ts[side.is_proper].min() for side in sides.both if side.is_proper.any()]
    most = [side.te[side.is_proper].max() for side in sides.both if side.is_proper.any()]
    low, high = (int(min(least)), int(max(most))) if least else (0, 1)
    wanted = max(1, max(side.size for side in sides.both) // _PER_CELL)
    lengths = [
        side.te[rows] - side.ts[rows] for side, rows in zip(sides.both, sides.proper, strict=True)
    ]
    mean = int(np.concatenate(lengths).mean()) if least else 0
    width = max(1, mean, -(-(high - low + 1) // wanted))
    cells = (high - low) // width + 1
    slack = min(_slack(query), high - low)
    filled = [
        _cells(rows, ends, low, width, slack, cells)
        for rows, ends in zip(sides.proper, sides.ends, strict=True)
    ]

    def run(out: Out) -> Int64Array:
        counters = _count(rivals.grid, *filled, low, width, *sides.ends, query.box, out)
        return sides.add_improper(out, counters)

    return run


def _cells(
    rows: Int32Array, ends: tuple[Int64Array, Int64Array], low: int, width: int, slack: int,
    cells: int,
) -> tuple[Int64Array, Int32Array]:  # fmt: skip
    counts = np.zeros(cells + 1, np.int64)
    rivals.fill_cells(ends, rows, low, width, slack, counts, np.empty(0, np.int32))
    offsets = np.cumsum(counts)
    filled = np.empty(max(1, int(offsets[-1])), np.int32)
    rivals.fill_cells(ends, rows, low, width, slack, offsets.copy(), filled)
    return offsets, filled


class _Sides:
    """Proper intervals for an algorithm that needs them; the others go through a nested loop."""

    def __init__(self, query: Query) -> None:
        self.query = query
        self.both = (query.r, query.s)
        self.ends = (query.r_ends, query.s_ends)
        self.proper = tuple(_by_start(side, side.is_proper) for side in self.both)
        self.improper = tuple(_by_start(side, ~side.is_proper) for side in self.both)

    def add_improper(self, out: Out, counters: Int64Array) -> Int64Array:
        everything = np.arange(self.query.s.size, dtype=np.int32)
        (r_proper, _), (r_improper, s_improper) = self.proper, self.improper
        for r_rows, s_rows in ((r_improper, everything), (r_proper, s_improper)):
            rivals.nested_loop(r_rows, s_rows, *self.ends, self.query.box, out, counters)
        return counters


def _by_start(side: Intervals, wanted: Rows) -> Int32Array:
    rows = np.flatnonzero(wanted).astype(np.int32)
    return rows[np.argsort(side.ts[rows], kind="stable")]


def _slack(query: Query) -> int:
    """How long after its end an interval may still find matches."""
    apart = ("ALLEN_BEFORE", "ALLEN_AFTER", "ISEQL_BEFORE", "ISEQL_AFTER")
    if query.name not in apart:
        return 0
    return FAR if query.delta is None else query.delta


def _count(kernel: Callable[..., None], *arguments: object) -> Int64Array:
    counters = np.zeros(COUNTERS, np.int64)
    kernel(*arguments, counters)
    return counters


ALGORITHMS: dict[str, Callable[[Query], Run]] = {
    "JoinByS": join_by_s,
    "LazyJoinByS": lazy_join_by_s,
    "runs": runs,
    "slices": slices,
    "Leung-Muntz": leung_muntz,
    "IEJoin": ie_join,
    "grid": grid,
}
