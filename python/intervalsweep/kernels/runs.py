# SPDX-License-Identifier: Apache-2.0
"""Finds the runs of points that match boxes, in bounded batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from . import index_build, jit
from .arrays import (
    MAX_ROWS,
    NO_INT32,
    Int32Array,
    Int64Array,
    int32_column,
)
from .boxes import Bounds, Boxes, Sides, clip_of
from .index import PointIndex, is_sorted
from .join.bounds import is_implied
from .join.lead_axis import lead_runs, merged_runs
from .join.second_axis import filter_runs
from .join.sums import add_runs

# The room of a sweep's buffers beyond the wanted runs: see `filter_runs`.
_SLACK = 2 + jit.FAN_OUT // 2

# Lead runs that are found before they are filtered: 200 kB, which stay in the CPU cache.
_LEAD_RUNS = 16_384

# Boxes are ordered from this many boxes and points on; fewer fit into the CPU cache.
_ORDER_FROM = 16_384
_PLACE_BITS = 12

_Runs = tuple[Int32Array, Int32Array, Int32Array]


class RunBatch(NamedTuple):
    """Runs: box ``box[k]`` matches points ``first[k] .. first[k] + count[k] - 1``. All int32[m]."""

    box: Int32Array
    first: Int32Array
    count: Int32Array  # type: ignore[assignment]  # hides a method of tuple


class SumBatch(NamedTuple):
    """Sums: box ``box[k]`` matches ``count[k]`` points, ``first[k]`` is the first of them.

    All are int32[m], except ``sums``, int64[measures, m]: the sums of the measures over these
    points.
    """

    box: Int32Array
    first: Int32Array
    count: Int32Array  # type: ignore[assignment]  # hides a method of tuple
    sums: Int64Array


class Measures:
    """Values of points to be added up: int64[measures, n], in the order of the points.

    No sum over values of a measure may exceed 64 bits. Raises ValueError for a wrong dtype or
    shape.
    """

    def __init__(self, values: npt.NDArray[np.int64]) -> None:
        if values.dtype != np.int64 or values.ndim != 2:
            raise ValueError(
                f"values: expected int64 in two dimensions, got {values.dtype}, {values.ndim}"
            )
        self.values = np.ascontiguousarray(values)
        self.totals = np.zeros((values.shape[0], values.shape[1] + 1), dtype=np.int64)
        np.cumsum(values, axis=1, out=self.totals[:, 1:])

    @property
    def nbytes(self) -> int:
        """The size in bytes."""
        return self.values.nbytes + self.totals.nbytes


class RunSweep:
    """All matches of ``boxes`` with the points of ``index``, each exactly once, as runs.

    Iterating yields batches of 1 to ``max_runs`` runs. The runs of a box are consecutive, in rising
    order, and maximal: no two of them touch. Boxes come in any order. The memory depends on the
    boxes and ``max_runs``, not on the number of matches. **A batch is only valid until the next
    one is requested**, which reuses its memory.

    First the run of each box on the lead axis is found: O(log n) per box with n points. If the
    boxes bound a second axis, these runs are then filtered in blocks of points. The filter is
    skipped if the lead axis implies the second axis. An example are intersecting intervals that are
    not empty: a point that starts within a box also ends after the start of the box.

    Parameters
    ----------
    index
        The points.
    boxes
        The boxes, in any order.
    clip
        An inclusive range (low, high) that further restricts the lead coordinates of all matches.
    max_runs
        The largest number of runs of a batch.
    first_only
        If true, a box that bounds a second axis and has matches gets only some of them, in one run
        that need not be maximal. That tells which boxes have matches, at a cost that does not grow
        with the matches.

    Attributes
    ----------
    candidates
        The number of pairs so far that match on the lead axis and the clip.
    runs
        The number of runs that were yielded.
    skipped
        The number of blocks of points that were skipped because of their minimum and maximum on the
        second axis.

    Raises
    ------
    ValueError
        For wrong shapes, dtypes or sizes, or if boxes bound a second axis that the points do not
        have.

    Examples
    --------
    >>> points = PointIndex(np.array([1, 2, 2, 5]))
    >>> boxes = Boxes(2, Bounds(np.array([0, 2]), np.array([2, 9]), upper_strict=True))
    >>> [(b.box.tolist(), b.first.tolist(), b.count.tolist()) for b in RunSweep(points, boxes)]
    [([0, 1], [0, 1], [1, 3])]
    """

    def __init__(
        self,
        index: PointIndex,
        boxes: Boxes,
        *,
        clip: tuple[int, int] | None = None,
        max_runs: int = 65_536,
        first_only: bool = False,
    ) -> None:
        if max_runs < 1:
            raise ValueError(f"max_runs: expected at least 1, got {max_runs}")
        if not 0 <= boxes.size <= MAX_ROWS:
            raise ValueError(f"size: expected 0 to {MAX_ROWS} boxes, got {boxes.size}")
        group = NO_INT32 if boxes.group is None else int32_column("group", boxes.group, boxes.size)
        if group.size and group.min() < 0:
            raise ValueError(f"group: expected no negative number, got {group.min()}")
        if boxes.second is not None and index.second is None:
            raise ValueError("second: boxes bound a second axis, but the points have only one")
        lead, second = boxes.lead, boxes.second
        for bounds in (lead, second):
            if bounds is not None:
                bounds.sides(boxes.size)  # raises if the number of bounds is wrong
        limits = clip_of(clip)
        self._index = index
        self._size = 0 if _is_nothing(index, boxes, limits) else boxes.size
        if not self._size or _is_implied(index, boxes, limits):
            second = None
        self._is_sorted = self._size >= _ORDER_FROM and _are_sorted(group, lead)
        is_to_order = self._size > 0 and not self._is_sorted
        self._order = _order(index, group, lead) if is_to_order else None
        if self._order is not None:
            group = group[self._order] if group.size else group
            lead = lead.take(self._order)
            second = second and second.take(self._order)
        self._lead = (group, *lead.sides(boxes.size), *limits)
        self._second = None if second is None else second.sides(boxes.size)
        self._first_only = int(first_only)
        self._max_runs = max_runs
        self._state = np.zeros(2, dtype=np.int64)
        self.runs = 0
        self.skipped = 0

    @property
    def candidates(self) -> int:
        """The number of pairs so far that match on the lead axis."""
        return int(self._state[jit.CANDIDATES])

    def __iter__(self) -> Iterator[RunBatch]:
        """Continue the sweep; see the class for how long a batch is valid."""
        if self._second is None:
            batches = self._lead_runs(self._max_runs)
        else:
            batches = self._filtered_runs(self._second)
        for box, first, stop in batches:
            self.runs += box.size
            if self._order is not None:
                box = self._order[box]
            yield RunBatch(box, first, np.subtract(stop, first, out=stop))

    def sums(self, measures: Measures) -> Iterator[SumBatch]:
        """Yield counts and sums for each box that has matches, without enumerating the matches.

        Adds the number of these boxes to ``runs``. As with runs, a batch is only valid until the
        next one is requested.

        Raises ValueError if the measures have another number of points.

        >>> points = PointIndex(np.array([1, 2, 3]), np.array([9, 4, 8]))
        >>> boxes = Boxes(1, Bounds(np.array([1]), np.array([3])), Bounds(np.array([5])))
        >>> sums = RunSweep(points, boxes).sums(Measures(np.array([[10, 20, 30]])))
        >>> [(b.box.tolist(), b.count.tolist(), b.sums.tolist()) for b in sums]
        [([0], [2], [[40]])]
        """
        given = measures.values.shape[1]
        if given != self._index.size:
            raise ValueError(f"measures: expected values of {self._index.size} points, got {given}")
        if self._second is None:
            batches = self._whole_sums(measures)
        else:
            batches = self._filtered_sums(self._second, measures)
        for batch in batches:
            self.runs += batch.box.size
            yield batch if self._order is None else batch._replace(box=self._order[batch.box])

    def _whole_sums(self, measures: Measures) -> Iterator[SumBatch]:
        """Add up all points of each run, as a difference of running sums."""
        for box, first, stop in self._lead_runs(min(_LEAD_RUNS, self._max_runs)):
            sums = measures.totals.take(stop, axis=1)
            sums -= measures.totals.take(first, axis=1)
            yield SumBatch(box, first, np.subtract(stop, first, out=stop), sums)

    def _filtered_sums(self, second: Sides, measures: Measures) -> Iterator[SumBatch]:
        wanted = min(_LEAD_RUNS, self._max_runs)
        box, first, count = _buffers(wanted)
        sums = np.empty((measures.values.shape[0], wanted), dtype=np.int64)
        arrays = measures.values, measures.totals
        state = np.zeros(3, dtype=np.int64)
        for runs in self._lead_runs(wanted):
            filled = add_runs(
                *runs, self._index.axis, *second, *arrays, state, box, first, count, sums
            )
            self.skipped = int(state[jit.SKIPPED])
            if filled:
                yield SumBatch(box[:filled], first[:filled], count[:filled], sums[:, :filled])

    def _lead_runs(self, wanted: int) -> Iterator[_Runs]:
        find = merged_runs if self._is_sorted else lead_runs
        buffers = _buffers(wanted + 1)
        filled = wanted if self._size else 0
        while filled == wanted:
            filled = find(
                self._size, self._index.points, *self._lead, self._state, 0, wanted, *buffers
            )
            if filled:
                yield _part(buffers, 0, filled)

    def _filtered_runs(self, second: Sides) -> Iterator[_Runs]:
        """Find the lead runs of a batch of boxes, then filter them.

        In separate loops, because the CPU overlaps the cache misses of consecutive look-ups, but
        not those of look-ups between two filters. For boxes in random order it is twice as fast.
        """
        wanted = self._max_runs
        buffers = _buffers(wanted + _SLACK)
        filled = 0
        for given in self._lead_runs(_LEAD_RUNS):
            state = np.zeros(3, dtype=np.int64)
            while state[jit.RUN] < given[0].size:
                filled = filter_runs(
                    *given, self._index.axis, *second, self._first_only, state, filled, wanted,
                    *buffers,
                )  # fmt: skip
                while filled > wanted:
                    yield _part(buffers, 0, wanted)
                    filled = _drop(buffers, wanted, filled)
            self.skipped += int(state[jit.SKIPPED])
        if filled:
            yield _part(buffers, 0, filled)


def _buffers(size: int) -> _Runs:
    box, first, stop = (np.empty(size, dtype=np.int32) for _ in range(3))
    return box, first, stop


def _part(runs: _Runs, start: int, stop: int) -> _Runs:
    return runs[0][start:stop], runs[1][start:stop], runs[2][start:stop]


def _drop(buffers: _Runs, given: int, filled: int) -> int:
    """Move the runs from ``given`` on to the front; return their number."""
    for column in buffers:
        column[: filled - given] = column[given:filled]
    return filled - given


def _is_nothing(index: PointIndex, boxes: Boxes, clip: tuple[int, int]) -> bool:
    """Return whether no box can match; that may happen to one of the two sweeps of a relation."""
    return index.size == 0 or boxes.lead.are_empty(boxes.size, clip)


def _is_implied(index: PointIndex, boxes: Boxes, clip: tuple[int, int]) -> bool:
    """Return whether the lead axis implies the second; False if the boxes bound none."""
    if boxes.second is None or index.differences is None:
        return False
    if _is_same_column(boxes.lead, boxes.second, *index.differences):
        return True
    lead, second = (bounds.sides(boxes.size) for bounds in (boxes.lead, boxes.second))
    return is_implied(boxes.size, *lead, *clip, *second, *index.differences)


def _is_same_column(lead: Bounds, second: Bounds, smallest: int, largest: int) -> bool:
    """Return whether the second axis is implied because the same array bounds both axes.

    Intersecting intervals are an example: ``lower <= start`` and ``lower < end``. `is_implied`
    would have to look at each box.
    """
    if second.lower is not None:
        least = int(second.lower_strict) - int(lead.lower_strict)
        if second.lower is not lead.lower or smallest < least:
            return False
    if second.upper is not None:
        most = int(lead.upper_strict) - int(second.upper_strict)
        if second.upper is not lead.upper or largest > most:
            return False
    return True


def _are_sorted(group: Int32Array, lead: Bounds) -> bool:
    """Return whether the boxes have lower bounds and are in the order of group and lower bound."""
    return lead.lower is not None and is_sorted(group if group.size else None, lead.lower)


def _order(index: PointIndex, group: Int32Array, lead: Bounds) -> Int32Array | None:
    """Return an order of the boxes roughly along the points, or None if that does not pay.

    Look-ups that are far apart miss the CPU cache: a million boxes in random order take two to four
    times as long as sorted ones, depending on how busy the machine is. A counting sort into a few
    thousand places costs about 20 ms.
    """
    bound = lead.lower if lead.lower is not None else lead.upper
    if bound is None or bound.size < _ORDER_FROM or index.size < _ORDER_FROM:
        return None
    shift = max(index.size.bit_length() - _PLACE_BITS, 0)
    place = np.empty(bound.size, dtype=np.int32)
    if index_build.place_boxes(index.points, group, bound, shift, place):
        return None
    order = np.empty(bound.size, dtype=np.int32)
    index_build.order_by_place(place, np.zeros((index.size >> shift) + 3, dtype=np.int64), order)
    return order
