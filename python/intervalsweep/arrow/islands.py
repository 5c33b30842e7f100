# SPDX-License-Identifier: Apache-2.0
"""Intervals of one table by group, sorted and merged: what the sets and coverage are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from intervalsweep.arrow.encoding import Encoding, Mask
from intervalsweep.arrow.tables import RowNumbers, Side
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
    """Disjoint intervals that do not meet, by group: their ends, and the rows these are of."""

    groups: Int32Array
    ts: Int64Array
    te: Int64Array
    first_rows: RowNumbers
    last_rows: RowNumbers
    count: Int64Array

    @staticmethod
    def of(side: Side, encoding: Encoding, gap: int | float = 0) -> Merged:
        """Merge intervals that overlap, meet, or are at most `gap` apart; not the empty ones."""
        side, last, is_new = islands(side, encoding, gap)
        ts, te, rows = side.ends["ts"], side.ends["te"], side.rows
        starts = np.flatnonzero(is_new)
        stops = np.append(starts[1:], ts.size)[: starts.size]
        ends = last[stops - 1]
        return Merged(
            side.groups[starts], ts[starts], te[ends], rows[starts], rows[ends], stops - starts
        )


def islands(side: Side, encoding: Encoding, gap: int | float = 0) -> tuple[Side, RowNumbers, Mask]:
    """Return the rows that hold something, by group and start, in the order of their islands.

    Of each row, the one up to it in its group that ends last, and whether it begins an island.
    """
    side = in_order(side.where(side.ends["ts"] < side.ends["te"]))
    ts, te, groups = side.ends["ts"], side.ends["te"], side.groups
    last = latest_so_far(groups, te)
    reach, some = encoding.at_most_later(te[last], gap)
    reach = np.where(some, reach, te[last])  # an infinite end reaches no farther
    is_new = np.ones(ts.size, dtype=np.bool_)
    is_new[1:] = (groups[1:] != groups[:-1]) | (ts[1:] > reach[:-1])
    return side, last, is_new


def in_order(side: Side) -> Side:
    """Return the rows by group, start and end."""
    return side.take(np.lexsort((side.ends["te"], side.ends["ts"], side.groups)))


def latest_so_far(groups: Int32Array, ends: Int64Array) -> RowNumbers:
    """Return, of sorted groups, for each row the one up to it in its group that ends last."""
    order = np.argsort(ends, kind="stable")
    rank = np.empty(ends.size, dtype=np.int64)
    rank[order] = np.arange(ends.size)
    # Groups rise, so that the running maximum begins anew with each.
    running = np.maximum.accumulate(groups.astype(np.int64) * ends.size + rank)
    return np.asarray(order[running % max(ends.size, 1)])


class LookUp:
    """Sorted values by group, in which the neighbours of others are found."""

    def __init__(self, groups: Int32Array, values: Int64Array) -> None:
        self._index = PointIndex(values, offsets=group_offsets(groups))

    def last_up_to(
        self, groups: Int32Array, values: Int64Array, *, strict: bool = False
    ) -> RowNumbers:
        """Return the last row of the group that is not larger, or is less; -1 if there is none."""
        return self._edge(groups, Bounds(upper=values, upper_strict=strict), last=True)

    def first_from(
        self, groups: Int32Array, values: Int64Array, *, strict: bool = False
    ) -> RowNumbers:
        """Return the first row of the group that is not less, or is larger; -1 if there is none."""
        return self._edge(groups, Bounds(lower=values, lower_strict=strict), last=False)

    def _edge(self, groups: Int32Array, bounds: Bounds, *, last: bool) -> RowNumbers:
        found: Any = np.full(groups.size, -1, dtype=np.int64)
        for batch in RunSweep(self._index, Boxes(groups.size, bounds, group=groups)):
            found[batch.box] = batch.first + (batch.count - 1 if last else 0)
        return np.asarray(found)
