# SPDX-License-Identifier: Apache-2.0
"""Runs on the lead axis: by look-ups, or boxes and points merged where both are in order."""

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

# Boxes that are merged with points at once, and the most points to each of them: look-ups of fewer
# boxes are not worth while, and neither is merging more points.
_STRETCH = 64
_POINTS_PER_BOX = 8


@helper
def first_at_least(
    value: int, lead: Any, start: int, stop: int, tables: Any, rank: int, table: Any
) -> int:
    """Return the first row of ``[start, stop)`` (not empty) with ``lead >= value``, or stop."""
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
    """Return the rows [first, stop) of box ``i``'s group whose lead value is in its bounds."""
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


@kernel(
    INT, POINTS, I32_IN, *BOUNDS, INT, INT, I64_OUT, INT, INT, I32_OUT, I32_OUT, I32_OUT
)  # fmt: skip
def lead_runs(
    boxes: int, points: Any, box_group: Any, lower: Any, lower_kind: int, upper: Any,
    upper_kind: int, clip_low: int, clip_high: int, state: Any, filled: int, wanted: int,
    out_box: Any, out_first: Any, out_stop: Any,
) -> int:  # fmt: skip
    """Append the runs of the boxes bounded on the lead axis alone.

    The join of an interval with time stamps (Piatov, Helmer, Dignoes, Persia: Cache-efficient
    sweeping-based interval joins for extended Allen relation predicates, VLDB Journal 2021,
    section 5) finds the stamps that fall into an interval; over sorted stamps they are one run.

    Goes on until ``wanted`` runs are stored or no box is left; returns how many are.
    """
    lead, offsets, rank_of, tables, table = points
    candidates = 0
    i = state[BOX]
    while i < boxes and filled < wanted:
        first, stop = _lead_run(
            i, lead, offsets, rank_of, tables, table, box_group,
            lower, lower_kind, upper, upper_kind, clip_low, clip_high,
        )  # fmt: skip
        # Stored always, kept if not empty: a branch here would be mispredicted often.
        out_box[filled] = i
        out_first[filled] = first
        out_stop[filled] = stop
        filled += stop > first
        candidates += stop - first
        i += 1
    state[BOX] = i
    state[CANDIDATES] += candidates
    return filled


@helper
def _end_of_stretch(box_group: Any, i: int, end: int) -> int:
    """Return the first box after ``i`` of another group, or ``end``. Boxes are in order."""
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
    """Append those of boxes [i, end) that hold a row of [row, limit), and the first such row.

    Boxes and rows are in order. Without a branch on values, since half of the steps go on with the
    rows, half with the boxes, and a mispredicted one costs more than several steps.
    """
    is_strict = int(lower_kind == STRICT)
    is_open = int(upper_kind == OPEN)
    is_inclusive = int(upper_kind == INCLUSIVE)
    tops = lower if is_open == 1 else upper  # an open side has no values
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
    """Store where the runs of [place, places) end, whose boxes and firsts are known.

    All are of one group, whose rows end at ``stop``. Returns how many rows they have together.
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
    """Append the runs that `lead_runs` does, of boxes with lower bounds and in their order.

    By group, then by lower bound. A sweep over both sides, as that of section 5 is, by stretches of
    boxes: the first and the last box of a stretch are looked up, and the others merged with the
    points between these two, unless they are many. A step takes a fifth of a look-up; of most boxes
    no more is needed to know that they hold nothing.
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
            while i < end:
                first, after = _lead_run(
                    i, lead, offsets, rank_of, tables, table, box_group,
                    lower, lower_kind, upper, upper_kind, clip_low, clip_high,
                )  # fmt: skip
                out_box[filled] = i
                out_first[filled] = first
                out_stop[filled] = after
                filled += after > first
                candidates += after - first
                i += 1
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
