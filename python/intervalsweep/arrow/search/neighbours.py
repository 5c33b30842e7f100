# SPDX-License-Identifier: Apache-2.0
"""For each row, the k nearest rows of another table, on one side or on both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from intervalsweep.arrow.encoding import Encoding
from intervalsweep.arrow.search.islands import LookUp
from intervalsweep.arrow.search.matches import Matches
from intervalsweep.arrow.sides import Side, order_of
from intervalsweep.arrow.tables import RowNumbers


@dataclass(frozen=True)
class Neighbours:
    """Pairs of a left and a right row, and their distances."""

    left: RowNumbers
    right: RowNumbers
    gap: Any

    def where(self, mask: Any) -> Neighbours:
        """Return the pairs that a mask or their places select."""
        return Neighbours(self.left[mask], self.right[mask], self.gap[mask])

    def or_none(self, rows: int) -> Neighbours:
        """Return the pairs by left row; a left row without a pair has the right row -1."""
        alone = np.setdiff1d(np.arange(rows), self.left)
        left = np.concatenate([self.left, alone])
        order = np.argsort(left, kind="stable")
        right = np.concatenate([self.right, np.full(alone.size, -1)])
        gap = np.concatenate([self.gap, np.zeros(alone.size, dtype=self.gap.dtype)])
        return Neighbours(left, right, gap).where(order)

    def nearest(self, k: int) -> Neighbours:
        """Return the `k` nearest pairs of each left row, by left row and distance."""
        order = np.lexsort((self.gap, self.left))
        ordered = self.where(order)
        position = np.arange(order.size)
        is_first = np.ones(order.size, dtype=bool)
        is_first[1:] = ordered.left[1:] != ordered.left[:-1]
        begin = np.maximum.accumulate(np.where(is_first, position, 0))
        return ordered.where(position - begin < k)


def neighbours(
    encoding: Encoding, r: Side, s: Side, overlaps: Matches | None, k: int, direction: str
) -> Neighbours:
    """Return the nearest right rows of each left row, at least the `k` nearest.

    The sides have rows whose end is not before their start. `overlaps` are the matches of both
    tables that share an instant; None if they do not count.
    """
    found = []
    if direction != "forward":
        found.append(_before(encoding, r, s, k))
    if direction != "backward":
        found.append(_after(encoding, r, s, k, is_both=direction == "both"))
    if overlaps is not None:
        found.append(_overlapping(r, s, overlaps, found[0].gap.dtype))
    columns = ([getattr(one, name) for one in found] for name in ("left", "right", "gap"))
    return Neighbours(*map(np.concatenate, columns)).nearest(k)


def _before(encoding: Encoding, r: Side, s: Side, k: int) -> Neighbours:
    """Return the last rows that end at a left row's start, or before it."""
    s = s.take(order_of(s.groups, s.ends["te"]))
    last = LookUp(s.groups, s.ends["te"]).last_up_to(r.groups, r.ends["ts"])
    ours, theirs = _steps(r, s, last, -1, k)
    gap = encoding.minus(r.ends["ts"][ours], s.ends["te"][theirs])
    return Neighbours(r.rows[ours], s.rows[theirs], gap)


def _after(encoding: Encoding, r: Side, s: Side, k: int, *, is_both: bool) -> Neighbours:
    """Return the first rows that start at a left row's end, or after it."""
    s = s.take(order_of(s.groups, s.ends["ts"]))
    first = LookUp(s.groups, s.ends["ts"]).first_from(r.groups, r.ends["te"])
    ours, theirs = _steps(r, s, first, 1, k)
    if is_both:  # An empty interval at the same instant as another one is before it, too.
        is_after = s.ends["te"][theirs] > r.ends["ts"][ours]
        ours, theirs = ours[is_after], theirs[is_after]
    gap = encoding.minus(s.ends["ts"][theirs], r.ends["te"][ours])
    return Neighbours(r.rows[ours], s.rows[theirs], gap)


def _steps(r: Side, s: Side, found: RowNumbers, step: int, k: int) -> tuple[RowNumbers, RowNumbers]:
    """Return places of `r` and `s`: those that were found, and `k` - 1 more of the same group."""
    ours, theirs = [], []
    known = np.flatnonzero(found >= 0)
    for distance in range(k):
        places = found[known] + step * distance
        is_inside = (places >= 0) & (places < s.size)
        known, places = known[is_inside], places[is_inside]
        is_of_key = s.groups[places] == r.groups[known]
        known, places = known[is_of_key], places[is_of_key]
        ours.append(known)
        theirs.append(places)
    return np.concatenate(ours), np.concatenate(theirs)


def _overlapping(r: Side, s: Side, overlaps: Matches, kind: Any) -> Neighbours:
    parts = overlaps.pairs(lambda left, right: (left.copy(), right.copy()))
    none = np.zeros(0, dtype=np.int64)
    left = np.concatenate([none, *(part[0] for part in parts)])
    right = np.concatenate([none, *(part[1] for part in parts)])
    is_proper = np.isin(left, r.rows) & np.isin(right, s.rows)
    return Neighbours(left, right, np.zeros(left.size, dtype=kind)).where(is_proper)
