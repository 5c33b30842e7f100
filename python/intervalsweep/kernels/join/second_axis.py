# SPDX-License-Identifier: Apache-2.0
"""Filters runs on the lead axis by the second axis, in blocks of points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from ..jit import (
    BIG_BLOCK,
    FAN_OUT,
    I32_IN,
    I32_OUT,
    I64_IN,
    I64_OUT,
    I64_TABLE_IN,
    INT,
    ROW,
    RUN,
    SKIPPED,
    helper,
    kernel,
)
from .bounds import BOUNDS, extent

# The types of second, blocks, big_blocks.
AXIS = types.Tuple((I64_IN, I64_TABLE_IN, I64_TABLE_IN))


@helper
def classify_block(extremes: Any, b: int, least: int, most: int) -> int:
    """Return 1 if all values of block ``b`` are within [least, most], -1 if none can be, else 0."""
    if extremes[b, 1] < least or extremes[b, 0] > most:
        return -1
    if extremes[b, 0] >= least and extremes[b, 1] <= most:
        return 1
    return 0


@helper
def block_of(
    at: int, stop: int, ask_big: int, blocks: Any, big_blocks: Any, least: int, most: int
) -> tuple[int, int, int]:
    """Return the end of the block at row ``at``, its class, and the next row to try a big block.

    The class is that of `classify_block`. From row ``ask_big`` on, the big block is tried first: it
    is returned if it passes or fails as a whole. Else its small blocks are returned one by one.

        rows        at |......|~~~~~~~~~~~~~~|......| stop     blocks of 64, big blocks of 4096
        big blocks     |  ?   |     fails    |  ?   |          skipped in one step
        blocks         |?|all |              |none|?|          taken, or skipped, in one step

    Taking whole buckets without comparing values is the idea of bgFS, as described in Piatov et al.
    2021, section 2.2; there along the sweep, here on the other axis. It avoids the k' > k
    intermediate pairs that section 8 accepts for the overlap and during joins.
    """
    if at >= ask_big:
        big = at // BIG_BLOCK
        ask_big = min(stop, (big + 1) * BIG_BLOCK)
        verdict = classify_block(big_blocks, big, least, most)
        if verdict != 0:
            return ask_big, verdict, ask_big
    block = at // FAN_OUT
    end = min(stop, (block + 1) * FAN_OUT)
    return end, classify_block(blocks, block, least, most), ask_big


@helper
def _append(
    filled: int, i: int, first: int, stop: int, out_box: Any, out_first: Any, out_stop: Any
) -> int:
    """Store rows [first, stop) for box ``i``: as a new run, or to extend its last run."""
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
    """Store the rows of [first, stop) with a second value in bounds; they are one block at most.

    There is no branch: half of the rows may pass in random order, and a mispredicted branch costs
    more than ten rows. Each row is stored as the start and as the stop of a run in the next free
    place. The counters advance only where a run really starts or stops.
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
    """Append the rows of [at, stop) that pass, block by block, as runs.

    Returns the first row that was not examined, the number of stored runs, and the number of blocks
    that failed as a whole.
    """
    skipped = 0
    ask_big = at
    while at < stop and filled <= wanted:
        end, verdict, ask_big = block_of(at, stop, ask_big, blocks, big_blocks, least, most)
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
    I32_IN, I32_IN, I32_IN, AXIS, *BOUNDS, INT, I64_OUT, INT, INT, I32_OUT, I32_OUT, I32_OUT
)  # fmt: skip
def filter_runs(
    box: Any, first: Any, stop: Any, axis: Any, lower: Any, lower_kind: int, upper: Any,
    upper_kind: int, first_only: int, state: Any, filled: int, wanted: int,
    out_box: Any, out_first: Any, out_stop: Any,
) -> int:  # fmt: skip
    """Append the parts of the given runs that match on the second axis, joined where they touch.

    Stops when more than ``wanted`` runs are stored or no given run is left. Returns the number of
    stored runs. One run more than wanted is needed, because the last run may still grow. The loop
    may overshoot by one block, so the outputs have room for ``wanted + 2 + FAN_OUT // 2`` runs.

    A block that passes or fails as a whole costs O(1), another block O(FAN_OUT).

    Parameters
    ----------
    box, first, stop, axis, lower, lower_kind, upper, upper_kind
        The given runs, the second axis, and the bounds of the boxes on it; see `join`.
    first_only : int
        Not 0: of each given run, store only the first run of the first block with a match.
    state : int64[3]
        The fields ``RUN``, ``ROW`` and ``SKIPPED``.
    filled, wanted, out_box, out_first, out_stop
        See `join`.
    """
    second, blocks, big_blocks = axis
    run = state[RUN]
    row = state[ROW]
    while run < box.size and filled <= wanted:
        i = box[run]
        row = max(row, first[run])
        least, most = extent(lower, lower_kind, upper, upper_kind, i)
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
