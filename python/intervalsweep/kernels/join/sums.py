# SPDX-License-Identifier: Apache-2.0
"""Counts, and sums over, the points of runs that match on the second axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import (
    FAN_OUT,
    I32_IN,
    I32_OUT,
    I64_OUT,
    I64_TABLE_IN,
    I64_TABLE_OUT,
    SKIPPED,
    helper,
    kernel,
)
from .bounds import BOUNDS, extent
from .second_axis import AXIS, block_of


@helper
def _first_passing(first: int, stop: int, second: Any, least: int, most: int) -> int:
    """Return the first row of [first, stop) with a second value in bounds. There is such a row."""
    while second[first] < least or second[first] > most:
        first += 1
    return first


@helper
def _count_passing(first: int, stop: int, second: Any, least: int, most: int) -> int:
    """Return the number of rows of [first, stop) with a second value in bounds."""
    count = 0
    for j in range(first, stop):
        value = second[np.uint64(j)]
        count += int(value >= least) & int(value <= most)
    return count


@helper
def _add_passing(first: int, stop: int, second: Any, least: int, most: int, measure: Any) -> int:
    """Return the sum of ``measure`` over the rows of [first, stop) with a second value in bounds.

    Uses a bit mask, because vector units have no product of 64-bit integers.
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
    """Add the passing rows of block [at, end) to place ``k``; return their number.

    ``verdict`` is the class of the block: 1 if all its rows pass, 0 if they must be compared.
    """
    if verdict > 0:
        for m in range(measures.shape[0]):
            out_sums[m, k] += totals[m, end] - totals[m, at]
        return end - at
    for m in range(measures.shape[0]):
        out_sums[m, k] += _add_passing(at, end, second, least, most, measures[m])
    return _count_passing(at, end, second, least, most)


@kernel(
    I32_IN, I32_IN, I32_IN, AXIS, *BOUNDS, I64_TABLE_IN, I64_TABLE_IN, I64_OUT,
    I32_OUT, I32_OUT, I32_OUT, I64_TABLE_OUT,
)  # fmt: skip
def add_runs(
    box: Any, first: Any, stop: Any, axis: Any, lower: Any, lower_kind: int, upper: Any,
    upper_kind: int, measures: Any, totals: Any, state: Any,
    out_box: Any, out_first: Any, out_count: Any, out_sums: Any,
) -> int:  # fmt: skip
    """Store for each given run the number of points that match on the second axis, and their sums.

    Runs without such points are left out. Returns the number of stored places, at most one per run.

    Section 8 of Piatov et al. 2021 counts points instead of enumerating them, too, to compare joins
    without their output. Values are compared only in blocks that pass in part, there without a
    branch and several per instruction.

    Parameters
    ----------
    box, first, stop, axis, lower, lower_kind, upper, upper_kind
        The given runs, the second axis, and the bounds of the boxes on it; see `join`.
    measures : int64[m, n]
        The values to add up, in the order of the points.
    totals : int64[m, n + 1]
        Running sums: ``totals[:, i]`` are the sums over the first i points.
    state : int64[3]
        Only the field ``SKIPPED`` is used: the blocks that failed as a whole are added to it.
    out_box, out_first, out_count : int32[size]
        Outputs: the box, its first matching point, and the number of matching points.
    out_sums : int64[m, size]
        Outputs: the sums of the measures over these points.
    """
    second, blocks, big_blocks = axis
    filled = 0
    for run in range(box.size):
        i = box[run]
        at = first[run]
        end = stop[run]
        ask_big = at
        least, most = extent(lower, lower_kind, upper, upper_kind, i)
        if least > most:
            continue
        for m in range(out_sums.shape[0]):
            out_sums[m, filled] = 0
        count = 0
        while at < end:
            upto, verdict, ask_big = block_of(at, end, ask_big, blocks, big_blocks, least, most)
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
