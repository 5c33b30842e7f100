# SPDX-License-Identifier: Apache-2.0
"""The intervals of one table by group, sorted and merged. Sets and coverage build on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from intervalsweep.arrow.encoding import Encoding, Mask
from intervalsweep.arrow.sides import NO_END, Side
from intervalsweep.arrow.tables import RowNumbers
from intervalsweep.arrow.threads import in_threads, parts_of
from intervalsweep.kernels import (
    Bounds,
    Boxes,
    Int32Array,
    Int64Array,
    PointIndex,
    RunSweep,
    group_offsets,
)


@dataclass(frozen=True)
class Merged:
    """Merged intervals by group, which neither overlap nor meet.

    `first_rows` and `last_rows` are the rows of their starts and of their ends.
    """

    groups: Int32Array
    ts: Int64Array
    te: Int64Array
    first_rows: RowNumbers
    last_rows: RowNumbers
    count: Int64Array

    @staticmethod
    def of(side: Side, encoding: Encoding, gap: int | float = 0) -> Merged:
        """Merge intervals that overlap, meet, or are at most `gap` apart; drop empty ones."""
        side, last, is_new = islands(side, encoding, gap)
        ts, te, rows = side.ends["ts"], side.ends["te"], side.rows
        starts = np.flatnonzero(is_new)
        stops = np.append(starts[1:], ts.size)[: starts.size]
        ends = last[stops - 1]
        return Merged(
            side.groups[starts], ts[starts], te[ends], rows[starts], rows[ends], stops - starts
        )


def islands(side: Side, encoding: Encoding, gap: int | float = 0) -> tuple[Side, RowNumbers, Mask]:
    """Return the rows with start < end in the order of group and start, which is that of islands.

    Also returns, for each row, the row up to it in its group that ends last, and whether the row
    begins an island.
    """
    side = in_order(side.where(side.ends["ts"] < side.ends["te"]))
    ts, te, groups = side.ends["ts"], side.ends["te"], side.groups
    last = latest_so_far(groups, te)
    reach, some = encoding.at_most_later(te[last], gap)
    # An infinite end cannot move, and neither can the end of an interval without one.
    reach = np.where(some & (te[last] != NO_END), reach, te[last])
    is_new = np.ones(ts.size, dtype=np.bool_)
    is_new[1:] = (groups[1:] != groups[:-1]) | (ts[1:] > reach[:-1])
    return side, last, is_new


def in_order(side: Side) -> Side:
    """Return the rows by group, start and end."""
    return side.take(np.lexsort((side.ends["te"], side.ends["ts"], side.groups)))


def latest_so_far(groups: Int32Array, ends: Int64Array) -> RowNumbers:
    """Return for each row the row up to it in its group that ends last; groups are sorted."""
    order = np.argsort(ends, kind="stable")
    rank = np.empty(ends.size, dtype=np.int64)
    rank[order] = np.arange(ends.size)
    # Groups rise, so the running maximum restarts with each group.
    running = np.maximum.accumulate(groups.astype(np.int64) * ends.size + rank)
    return np.asarray(order[running % max(ends.size, 1)])


class LookUp:
    """Sorted values by group, in which the neighbours of other values are found."""

    def __init__(self, groups: Int32Array, values: Int64Array) -> None:
        self._index = PointIndex(values, offsets=group_offsets(groups))

    def last_up_to(
        self, groups: Int32Array, values: Int64Array, *, strict: bool = False
    ) -> RowNumbers:
        """Return the last row of the group with a value <= (strict: <) the given one, or -1."""
        return self._edges(groups, Bounds(upper=values, upper_strict=strict), last=True)

    def first_from(
        self, groups: Int32Array, values: Int64Array, *, strict: bool = False
    ) -> RowNumbers:
        """Return the first row of the group with a value >= (strict: >) the given one, or -1."""
        return self._edges(groups, Bounds(lower=values, lower_strict=strict), last=False)

    def _edges(self, groups: Int32Array, bounds: Bounds, *, last: bool) -> RowNumbers:
        found: Any = np.full(groups.size, -1, dtype=np.int64)

        def search(part: slice) -> None:
            rows, edges = groups[part], found[part]
            for batch in RunSweep(self._index, Boxes(rows.size, bounds.take(part), group=rows)):
                edges[batch.box] = batch.first + (batch.count - 1 if last else 0)

        in_threads(search, parts_of(groups.size), groups.size)
        return np.asarray(found)
