# SPDX-License-Identifier: Apache-2.0
"""Compiled loops that find runs. They trust their arguments: see `runs`.

numba checks no bounds: a wrong shape or dtype is a crash without a traceback.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from .jit import (
    BASE,
    BIG_BLOCK,
    BOX,
    CANDIDATES,
    FAN_OUT,
    I32_IN,
    I32_OUT,
    I64_IN,
    I64_OUT,
    I64_TABLE_IN,
    I64_TABLE_OUT,
    INCLUSIVE,
    INT,
    OPEN,
    POINTS,
    ROW,
    RUN,
    SHIFT,
    SKIPPED,
    STRICT,
    TABLE,
    helper,
    kernel,
)

_MIN = np.iinfo(np.int64).min
_MAX = np.iinfo(np.int64).max

# Boxes that are merged with points at once, and the most points to each of them: look-ups of fewer
# boxes are not worth while, and neither is merging more points.
_STRETCH = 64
_POINTS_PER_BOX = 8

# second, blocks, big blocks; lower, kind, upper, kind.
_AXIS = types.Tuple((I64_IN, I64_TABLE_IN, I64_TABLE_IN))
_BOUNDS = (I64_IN, INT, I64_IN, INT)


@helper
def _first_at_least(
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
def _at_least(values: Any, kind: int, i: int) -> tuple[int, bool]:
    """Return box ``i``'s lower bound made inclusive, and whether any value satisfies it."""
    if kind == OPEN:
        return _MIN, True
    value = values[i]
    if kind == INCLUSIVE:
        return value, True
    if value == _MAX:
        return value, False
    return value + 1, True


@helper
def _at_most(values: Any, kind: int, i: int) -> tuple[int, bool]:
    """Return box ``i``'s upper bound made inclusive, and whether any value satisfies it."""
    if kind == OPEN:
        return _MAX, True
    value = values[i]
    if kind == INCLUSIVE:
        return value, True
    if value == _MIN:
        return value, False
    return value - 1, True


@helper
def _extent(
    lower: Any, lower_kind: int, upper: Any, upper_kind: int, i: int
) -> tuple[int, int]:  # fmt: skip
    """Return the least and the largest value within box ``i``'s bounds; of none, not in order."""
    least, some_low = _at_least(lower, lower_kind, i)
    most, some_high = _at_most(upper, upper_kind, i)
    if some_low and some_high:
        return least, most
    return _MAX, _MIN


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
    low, high = _extent(lower, lower_kind, upper, upper_kind, i)
    low = max(low, clip_low)
    high = min(high, clip_high)
    if start == stop or low > high:
        return 0, 0
    rank = rank_of[group]
    first = _first_at_least(low, lead, start, stop, tables, rank, table)
    if first == stop or high == _MAX:
        return first, stop
    return first, _first_at_least(high + 1, lead, first, stop, tables, rank, table)


@kernel(INT, *_BOUNDS, INT, INT)
def are_empty(
    boxes: int, lower: Any, lower_kind: int, upper: Any, upper_kind: int,
    clip_low: int, clip_high: int,
) -> bool:  # fmt: skip
    """Return whether no box holds any value of the lead axis; found out at the first that does."""
    for i in range(boxes):
        low, high = _extent(lower, lower_kind, upper, upper_kind, i)
        if max(low, clip_low) <= min(high, clip_high):
            return False
    return True


@helper
def _sum(value: int, difference: int) -> int:
    """Return the sum, or the integer nearest to it."""
    if difference > 0:
        return _MAX if value > _MAX - difference else value + difference
    return _MIN if value < _MIN - difference else value + difference


@kernel(INT, *_BOUNDS, INT, INT, *_BOUNDS, INT, INT)
def is_implied(
    boxes: int, lower: Any, lower_kind: int, upper: Any, upper_kind: int,
    clip_low: int, clip_high: int, second_lower: Any, second_lower_kind: int, second_upper: Any,
    second_upper_kind: int, smallest: int, largest: int,
) -> bool:  # fmt: skip
    """Return whether points that match a box on the lead axis always match on the second, too.

    Of each point, second - lead is within [smallest, largest]. For a box with lead in [low, high]:

                 low ========= high                            lead
                    \\             \\
        low + smallest ============= high + largest            second: nowhere else
           least =========================== most              so this says nothing

    A sum beyond the integers stands for no point. Found out at the first box that says something.
    """
    for i in range(boxes):
        low, high = _extent(lower, lower_kind, upper, upper_kind, i)
        low = max(low, clip_low)
        high = min(high, clip_high)
        if low > high:
            continue
        least, most = _extent(
            second_lower, second_lower_kind, second_upper, second_upper_kind, i
        )  # fmt: skip
        if _sum(low, smallest) < least or _sum(high, largest) > most:
            return False
    return True


@kernel(
    INT, POINTS, I32_IN, *_BOUNDS, INT, INT, I64_OUT, INT, INT, I32_OUT, I32_OUT, I32_OUT
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
        high, _ = _at_most(upper, upper_kind, out_box[k])
        high = min(high, clip_high)
        after = stop
        if high < _MAX:
            after = _first_at_least(high + 1, lead, first, stop, tables, rank, table)
        out_stop[k] = after
        rows += after - first
    return rows


@kernel(
    INT, POINTS, I32_IN, *_BOUNDS, INT, INT, I64_OUT, INT, INT, I32_OUT, I32_OUT, I32_OUT
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
        low, _ = _at_least(lower, lower_kind, i)
        row = _first_at_least(max(low, clip_low), lead, start, stop, tables, rank, table)
        low, _ = _at_least(lower, lower_kind, end - 1)
        last = _first_at_least(max(low, clip_low), lead, start, stop, tables, rank, table)
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


@helper
def _verdict(extremes: Any, b: int, least: int, most: int) -> int:
    """Return -1 if no value of block ``b`` is within [least, most], 1 if all are, else 0."""
    if extremes[b, 1] < least or extremes[b, 0] > most:
        return -1
    if extremes[b, 0] >= least and extremes[b, 1] <= most:
        return 1
    return 0


@helper
def _piece(
    at: int, stop: int, ask_big: int, blocks: Any, big_blocks: Any, least: int, most: int
) -> tuple[int, int, int]:
    """Return where the block that begins at row ``at`` ends, its verdict, and when to ask again.

    A big block if that fails or passes as a whole, which is asked from row ``ask_big`` on:

        rows        at |......|~~~~~~~~~~~~~~|......| stop     blocks of 64, big ones of 4096
        big blocks     |  ?   |     fails    |  ?   |          skipped in one step
        blocks         |?|all |              |none|?|          taken, or skipped, in one step

    Taking whole buckets without comparing is the idea of bgFS as related in Piatov et al. 2021,
    section 2.2; there along the sweep, here on the other axis. What it avoids is the k' > k
    intermediate pairs that section 8 accepts for the overlap and during joins.
    """
    if at >= ask_big:
        big = at // BIG_BLOCK
        ask_big = min(stop, (big + 1) * BIG_BLOCK)
        verdict = _verdict(big_blocks, big, least, most)
        if verdict != 0:
            return ask_big, verdict, ask_big
    block = at // FAN_OUT
    end = min(stop, (block + 1) * FAN_OUT)
    return end, _verdict(blocks, block, least, most), ask_big


@helper
def _append(
    filled: int, i: int, first: int, stop: int, out_box: Any, out_first: Any, out_stop: Any
) -> int:
    """Store rows [first, stop) for box ``i``: a new run, or more of its last one."""
    if filled > 0 and out_box[filled - 1] == i and out_stop[filled - 1] == first:
        out_stop[filled - 1] = stop
        return filled
    out_box[filled] = i
    out_first[filled] = first
    out_stop[filled] = stop
    return filled + 1


@helper
def _append_passing(
    filled: int,
    i: int,
    first: int,
    stop: int,
    second: Any,
    least: int,
    most: int,
    out_box: Any,
    out_first: Any,
    out_stop: Any,
) -> int:
    """Store the rows of [first, stop), one block at most, whose second value is in bounds.

    Branch-free: half of the rows may pass in random order, and a mispredicted branch costs more
    than ten rows. A run's start and stop are stored for every row into the next free place; the
    place is taken (the counter moves) only where a run really starts or stops.
    """
    passed = 0
    if filled > 0 and out_box[filled - 1] == i and out_stop[filled - 1] == first:
        passed = 1
    started = filled
    stopped = filled - passed
    for j in range(first, stop):
        value = second[np.uint64(j)]  # an unsigned index cannot count from the end: no check
        passes = int(value >= least) & int(value <= most)
        out_first[np.uint64(started)] = j
        started += passes & (passed ^ 1)
        out_stop[np.uint64(stopped)] = j
        stopped += passed & (passes ^ 1)
        passed = passes
    if passed == 1:
        out_stop[stopped] = stop
    for k in range(filled, started):
        out_box[k] = i
    return started


@helper
def _filter_run(
    i: int, at: int, stop: int, second: Any, blocks: Any, big_blocks: Any, least: int, most: int,
    filled: int, wanted: int, out_box: Any, out_first: Any, out_stop: Any,
) -> tuple[int, int, int]:  # fmt: skip
    """Append what passes of rows [at, stop), block by block.

    Returns the first row not looked at, the runs stored, and the blocks that failed as a whole.
    """
    skipped = 0
    ask_big = at
    while at < stop and filled <= wanted:
        end, verdict, ask_big = _piece(at, stop, ask_big, blocks, big_blocks, least, most)
        if verdict > 0:
            filled = _append(filled, i, at, end, out_box, out_first, out_stop)
        elif verdict == 0:
            filled = _append_passing(
                filled, i, at, end, second, least, most, out_box, out_first, out_stop
            )
        else:
            skipped += (end - 1) // FAN_OUT - at // FAN_OUT + 1
        at = end
    return at, filled, skipped


@kernel(
    I32_IN, I32_IN, I32_IN, _AXIS, *_BOUNDS, INT, I64_OUT, INT, INT, I32_OUT, I32_OUT, I32_OUT
)  # fmt: skip
def filter_runs(
    box: Any, first: Any, stop: Any, axis: Any, lower: Any, lower_kind: int, upper: Any,
    upper_kind: int, first_only: int, state: Any, filled: int, wanted: int,
    out_box: Any, out_first: Any, out_stop: Any,
) -> int:  # fmt: skip
    """Append what the second axis leaves of the given runs, joined where they touch.

    Goes on until more than ``wanted`` runs are stored or no given one is left; returns how many
    are stored. One more than wanted, because the last one may still grow. It may overshoot by one
    block: the buffers hold at least ``wanted + 2 + FAN_OUT // 2`` runs.

    If ``first_only`` is not 0, what follows the first run of the first block with a match is passed
    over.
    """
    second, blocks, big_blocks = axis
    run = state[RUN]
    row = state[ROW]
    while run < box.size and filled <= wanted:
        i = box[run]
        row = max(row, first[run])
        least, most = _extent(lower, lower_kind, upper, upper_kind, i)
        if least > most:
            row = stop[run]
        else:
            before = filled
            row, filled, skipped = _filter_run(
                i, row, stop[run], second, blocks, big_blocks, least, most, filled,
                before if first_only != 0 else wanted, out_box, out_first, out_stop,
            )  # fmt: skip
            state[SKIPPED] += skipped
            if first_only != 0 and filled > before:
                filled = before + 1
                row = stop[run]
        if row == stop[run]:
            run += 1
            row = 0
    state[RUN] = run
    state[ROW] = row
    return filled


@helper
def _first_passing(first: int, stop: int, second: Any, least: int, most: int) -> int:
    """Return the first row of [first, stop) whose second value is in bounds; one is."""
    while second[first] < least or second[first] > most:
        first += 1
    return first


@helper
def _count_passing(first: int, stop: int, second: Any, least: int, most: int) -> int:
    """Return how many rows of [first, stop) have a second value in bounds."""
    count = 0
    for j in range(first, stop):
        value = second[np.uint64(j)]
        count += int(value >= least) & int(value <= most)
    return count


@helper
def _add_passing(first: int, stop: int, second: Any, least: int, most: int, measure: Any) -> int:
    """Return the sum of ``measure`` over the rows of [first, stop) that are in bounds.

    By a mask, as vector units have one and no product of 64-bit integers.
    """
    total = 0
    for j in range(first, stop):
        value = second[np.uint64(j)]
        total += measure[np.uint64(j)] & -(int(value >= least) & int(value <= most))
    return total


@helper
def _add_block(
    k: int, at: int, end: int, verdict: int, second: Any, least: int, most: int,
    measures: Any, totals: Any, out_sums: Any,
) -> int:  # fmt: skip
    """Add what passes of rows [at, end), with a known verdict, to place ``k``; return how many."""
    if verdict > 0:
        for m in range(measures.shape[0]):
            out_sums[m, k] += totals[m, end] - totals[m, at]
        return end - at
    for m in range(measures.shape[0]):
        out_sums[m, k] += _add_passing(at, end, second, least, most, measures[m])
    return _count_passing(at, end, second, least, most)


@kernel(
    I32_IN, I32_IN, I32_IN, _AXIS, *_BOUNDS, I64_TABLE_IN, I64_TABLE_IN, I64_OUT,
    I32_OUT, I32_OUT, I32_OUT, I64_TABLE_OUT,
)  # fmt: skip
def add_runs(
    box: Any, first: Any, stop: Any, axis: Any, lower: Any, lower_kind: int, upper: Any,
    upper_kind: int, measures: Any, totals: Any, state: Any,
    out_box: Any, out_first: Any, out_count: Any, out_sums: Any,
) -> int:  # fmt: skip
    """Store what the second axis leaves of each given run: how many points, and their sums.

    A place of the output has a box, the first of its points, how many they are, and in
    ``out_sums[:, place]`` the sums of ``measures`` over them; ``totals[:, i]`` are the sums over
    the first i points. Boxes without a point have no place. Returns how many places are taken, one
    per run at most.

    That points are counted and not enumerated is what section 8 of Piatov et al. 2021 does to
    compare joins apart from their output. Rows are looked at in blocks that pass in part only, and
    there without a branch, several in an instruction.
    """
    second, blocks, big_blocks = axis
    filled = 0
    for run in range(box.size):
        i = box[run]
        at = first[run]
        end = stop[run]
        ask_big = at
        least, most = _extent(lower, lower_kind, upper, upper_kind, i)
        if least > most:
            continue
        for m in range(out_sums.shape[0]):
            out_sums[m, filled] = 0
        count = 0
        while at < end:
            upto, verdict, ask_big = _piece(at, end, ask_big, blocks, big_blocks, least, most)
            if verdict < 0:
                state[SKIPPED] += (upto - 1) // FAN_OUT - at // FAN_OUT + 1
            else:
                passed = _add_block(
                    filled, at, upto, verdict, second, least, most, measures, totals, out_sums
                )  # fmt: skip
                if count == 0 and passed > 0:
                    out_first[filled] = _first_passing(at, upto, second, least, most)
                count += passed
            at = upto
        out_box[filled] = i
        out_count[filled] = count
        filled += count > 0
    return filled
