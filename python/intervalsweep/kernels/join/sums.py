# SPDX-License-Identifier: Apache-2.0
"""Counts and sums of what the second axis leaves of runs, without enumerating it."""

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
    I32_IN, I32_IN, I32_IN, AXIS, *BOUNDS, I64_TABLE_IN, I64_TABLE_IN, I64_OUT,
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
