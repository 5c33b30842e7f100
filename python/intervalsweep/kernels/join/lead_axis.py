# SPDX-License-Identifier: Apache-2.0
"""Finds the runs of boxes on the lead axis: by look-ups, or by merging sorted boxes and points."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import (
    BASE,
    BOX,
    CANDIDATES,
    I32_IN,
    I32_OUT,
    I64_OUT,
    INCLUSIVE,
    INT,
    OPEN,
    POINTS,
    SHIFT,
    STRICT,
    TABLE,
    helper,
    kernel,
)
from .bounds import BOUNDS, at_least, at_most, extent

_MAX = np.iinfo(np.int64).max

# The boxes of a stretch, which are merged with points together, and the most points per box of a
# stretch. With fewer boxes the two look-ups per stretch do not pay, with more points merging does
# not.
_STRETCH = 64
_POINTS_PER_BOX = 8


@helper
def first_at_least(
    value: int, lead: Any, start: int, stop: int, tables: Any, rank: int, table: Any
) -> int:
    """Return the first row of ``[start, stop)`` with ``lead >= value``, or ``stop``.

    ``[start, stop)`` is not empty. ``rank`` is the group's row in ``tables``, or -1.
    """
    if value <= lead[start]:
        return start
    if value > lead[stop - 1]:
        return stop
    if rank >= 0:
        slot = tables[rank, TABLE] + (value >> tables[rank, SHIFT]) - tables[rank, BASE]
        start = table[slot]
        stop = table[slot + 1]
    while start < stop:
        middle = (start + stop) >> 1
        if lead[middle] < value:
            start = middle + 1
        else:
            stop = middle
    return start


@helper
def _lead_run(
    i: int, lead: Any, offsets: Any, rank_of: Any, tables: Any, table: Any, box_group: Any,
    lower: Any, lower_kind: int, upper: Any, upper_kind: int, clip_low: int, clip_high: int,
) -> tuple[int, int]:  # fmt: skip
    """Return the rows [first, stop) of box ``i``'s group with a lead value in its bounds."""
    group = 0
    if box_group.size > 0:
        group = box_group[i]
        if group >= offsets.size - 1:
            return 0, 0
    start = offsets[group]
    stop = offsets[group + 1]
    low, high = extent(lower, lower_kind, upper, upper_kind, i)
    low = max(low, clip_low)
    high = min(high, clip_high)
    if start == stop or low > high:
        return 0, 0
    rank = rank_of[group]
    first = first_at_least(low, lead, start, stop, tables, rank, table)
    if first == stop or high == _MAX:
        return first, stop
    return first, first_at_least(high + 1, lead, first, stop, tables, rank, table)


@helper
def _look_up(
    i: int, end: int, lead: Any, offsets: Any, rank_of: Any, tables: Any, table: Any,
    box_group: Any, lower: Any, lower_kind: int, upper: Any, upper_kind: int, clip_low: int,
    clip_high: int, filled: int, wanted: int, out_box: Any, out_first: Any, out_stop: Any,
) -> tuple[int, int, int]:  # fmt: skip
    """Append the runs of the boxes from ``i`` on, until ``wanted`` are stored or ``end`` is met.

    Returns the next box, the number of stored runs, and the total number of rows of new runs.
    """
    rows = 0
    while i < end and filled < wanted:
        first, stop = _lead_run(
            i, lead, offsets, rank_of, tables, table, box_group,
            lower, lower_kind, upper, upper_kind, clip_low, clip_high,
        )  # fmt: skip
        # Store every run, and advance if it is not empty: a branch would often be mispredicted.
        out_box[filled] = i
        out_first[filled] = first
        out_stop[filled] = stop
        filled += stop > first
        rows += stop - first
        i += 1
    return i, filled, rows


@kernel(
    INT, POINTS, I32_IN, *BOUNDS, INT, INT, I64_OUT, INT, INT, I32_OUT, I32_OUT, I32_OUT
)  # fmt: skip
def lead_runs(
    boxes: int, points: Any, box_group: Any, lower: Any, lower_kind: int, upper: Any,
    upper_kind: int, clip_low: int, clip_high: int, state: Any, filled: int, wanted: int,
    out_box: Any, out_first: Any, out_stop: Any,
) -> int:  # fmt: skip
    """Append the run of each box on the lead axis, if it is not empty.

    The join of an interval with time stamps (Piatov, Helmer, Dignoes, Persia: Cache-efficient
    sweeping-based interval joins for extended Allen relation predicates, VLDB Journal 2021,
    section 5) finds the stamps that fall into an interval. If the stamps are sorted, they are one
    run, whose ends two look-ups find: O(log n) per box.

    Stops when ``wanted`` runs are stored or no box is left. Returns the number of stored runs. For
    the parameters see `join`; ``state`` has the fields ``BOX`` and ``CANDIDATES``.
    """
    lead, offsets, rank_of, tables, table = points
    i, filled, candidates = _look_up(
        state[BOX], boxes, lead, offsets, rank_of, tables, table, box_group, lower, lower_kind,
        upper, upper_kind, clip_low, clip_high, filled, wanted, out_box, out_first, out_stop,
    )  # fmt: skip
    state[BOX] = i
    state[CANDIDATES] += candidates
    return filled


@helper
def _end_of_stretch(box_group: Any, i: int, end: int) -> int:
    """Return the first box after ``i`` that has another group, or ``end``. Boxes are in order."""
    if box_group.size == 0 or box_group[end - 1] == box_group[i]:
        return end
    last = i + 1
    while box_group[last] == box_group[i]:
        last += 1
    return last


@helper
def _merge(
    i: int, end: int, row: int, limit: int, lead: Any, lower: Any, lower_kind: int, upper: Any,
    upper_kind: int, clip_high: int, filled: int, out_box: Any, out_first: Any,
) -> int:  # fmt: skip
    """Append the boxes of [i, end) that contain a row of [row, limit), with the first such row.

    Boxes and rows are in order. Each step advances either the row or the box, without a branch on
    values: about half of the steps go each way, and a mispredicted branch costs more than several
    steps.
    """
    is_strict = int(lower_kind == STRICT)
    is_open = int(upper_kind == OPEN)
    is_inclusive = int(upper_kind == INCLUSIVE)
    tops = lower if is_open == 1 else upper  # without an upper bound the array is empty
    while i < end and row < limit:
        value = lead[np.uint64(row)]
        bound = lower[np.uint64(i)]
        top = tops[np.uint64(i)]
        is_below = int(value < bound) | (is_strict & int(value == bound))
        is_held = int(value < top) | (is_inclusive & int(value == top)) | is_open
        out_box[np.uint64(filled)] = i
        out_first[np.uint64(filled)] = row
        filled += (1 - is_below) & is_held & int(value <= clip_high)
        row += is_below
        i += 1 - is_below
    return filled


@helper
def _end_runs(
    place: int, places: int, lead: Any, stop: int, tables: Any, rank: int, table: Any, upper: Any,
    upper_kind: int, clip_high: int, out_box: Any, out_first: Any, out_stop: Any,
) -> int:  # fmt: skip
    """Store the ends of the runs at [place, places), whose boxes and first rows are stored.

    All these boxes have the same group, whose rows end at ``stop``. Returns the total number of
    rows of these runs.
    """
    rows = 0
    for k in range(place, places):
        first = out_first[k]
        high, _ = at_most(upper, upper_kind, out_box[k])
        high = min(high, clip_high)
        after = stop
        if high < _MAX:
            after = first_at_least(high + 1, lead, first, stop, tables, rank, table)
        out_stop[k] = after
        rows += after - first
    return rows


@kernel(
    INT, POINTS, I32_IN, *BOUNDS, INT, INT, I64_OUT, INT, INT, I32_OUT, I32_OUT, I32_OUT
)  # fmt: skip
def merged_runs(
    boxes: int, points: Any, box_group: Any, lower: Any, lower_kind: int, upper: Any,
    upper_kind: int, clip_low: int, clip_high: int, state: Any, filled: int, wanted: int,
    out_box: Any, out_first: Any, out_stop: Any,
) -> int:  # fmt: skip
    """Append the same runs as `lead_runs`, for boxes in the order of group and lower bound.

    Like the sweep of section 5, it goes through both sides in order, in stretches of up to 64 boxes
    of one group. The first and the last box of a stretch are looked up, and all its boxes are
    merged with the points in between. If there are more than 8 points per box, each box is looked
    up instead. A step of the merge takes a fifth of the time of a look-up, and for most boxes it is
    enough to see that they are empty.

    For the parameters see `join`; ``state`` has the fields ``BOX`` and ``CANDIDATES``.
    """
    lead, offsets, rank_of, tables, table = points
    candidates = 0
    i = state[BOX]
    while i < boxes and filled < wanted:
        end = _end_of_stretch(box_group, i, min(boxes, i + min(_STRETCH, wanted - filled)))
        group = box_group[i] if box_group.size > 0 else 0
        start = offsets[group] if group < offsets.size - 1 else 0
        stop = offsets[group + 1] if group < offsets.size - 1 else 0
        if start == stop:
            i = end
            continue
        rank = rank_of[group]
        low, _ = at_least(lower, lower_kind, i)
        row = first_at_least(max(low, clip_low), lead, start, stop, tables, rank, table)
        low, _ = at_least(lower, lower_kind, end - 1)
        last = first_at_least(max(low, clip_low), lead, start, stop, tables, rank, table)
        if last - row > _POINTS_PER_BOX * (end - i):
            i, filled, rows = _look_up(
                i, end, lead, offsets, rank_of, tables, table, box_group, lower, lower_kind, upper,
                upper_kind, clip_low, clip_high, filled, wanted, out_box, out_first, out_stop,
            )  # fmt: skip
            candidates += rows
            continue
        found = _merge(
            i, end, row, min(last + 1, stop), lead, lower, lower_kind, upper, upper_kind,
            clip_high, filled, out_box, out_first,
        )  # fmt: skip
        candidates += _end_runs(
            filled, found, lead, stop, tables, rank, table, upper, upper_kind, clip_high,
            out_box, out_first, out_stop,
        )  # fmt: skip
        filled = found
        i = end
    state[BOX] = i
    state[CANDIDATES] += candidates
    return filled
