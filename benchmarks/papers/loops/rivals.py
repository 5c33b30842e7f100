# SPDX-License-Identifier: Apache-2.0
"""The algorithms that the papers or we compare with: compiled loops over a relation's boxes.

Each adds up r.ts + s.te of all pairs, like JoinByS, and stores the pairs if there is room.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from benchmarks.papers.query import CANDIDATES, OUT, PAIRS, SIZES, SUM
from intervalsweep.kernels.jit import I32_IN, I32_OUT, I64_IN, I64_OUT, INT, helper, kernel

_TWO = types.UniTuple(I64_IN, 2)
_BOX = types.UniTuple(I64_IN, 4)
_HEAP = types.Tuple((I64_OUT, I32_OUT))


@helper
def _holds(i: int, start: int, end: int, b0: Any, b1: Any, b2: Any, b3: Any) -> int:
    """1 if the s with these ends lies in the box of row i of r, else 0."""
    return int(start >= b0[i]) & int(start <= b1[i]) & int(end >= b2[i]) & int(end <= b3[i])


@kernel(I64_IN, I64_IN, I32_IN, I64_IN, _BOX, I64_IN, OUT, I64_OUT)
def slices(
    lead: Any, second: Any, rows: Any, ends: Any, box: Any, starts: Any, out: Any, counters: Any
) -> None:
    """Binary search for the points within each box on the lead axis, then test the second axis.

    `lead`, `second`, `rows` and `ends` (s.te) are columns of s, sorted by the lead axis.
    """
    least, most, low, high = box
    out_r, out_s = out
    pairs = total = candidates = 0
    for i in range(least.size):
        first = np.searchsorted(lead, least[i])
        stop = np.searchsorted(lead, most[i], "right")
        candidates += max(0, stop - first)
        for j in range(first, stop):
            if second[j] >= low[i] and second[j] <= high[i]:
                if out_r.size > 0:
                    out_r[pairs] = i
                    out_s[pairs] = rows[j]
                pairs += 1
                total += starts[i] + ends[j]
    counters[PAIRS] += pairs
    counters[SUM] += total
    counters[CANDIDATES] += candidates


@kernel(I32_IN, I32_IN, I32_IN, I32_IN, I32_IN, I64_IN, I64_IN, INT, OUT, I64_OUT)
def expand(
    box: Any, first: Any, count: Any, box_rows: Any, point_rows: Any, box_values: Any,
    point_values: Any, is_swapped: int, out: Any, counters: Any,
) -> None:  # fmt: skip
    """Expand the product's runs into pairs."""
    out_r, out_s = out
    pairs = counters[PAIRS]
    total = 0
    for n in range(box.size):
        row = box_rows[box[n]]
        for j in range(first[n], first[n] + count[n]):
            total += box_values[row] + point_values[j]
        if out_r.size > 0:
            for j in range(count[n]):
                out_r[pairs + j] = point_rows[first[n] + j] if is_swapped else row
                out_s[pairs + j] = row if is_swapped else point_rows[first[n] + j]
        pairs += count[n]
    counters[PAIRS] = pairs
    counters[SUM] += total


@kernel(I32_IN, I32_IN, _TWO, _TWO, _BOX, OUT, I64_OUT)
def nested_loop(
    r_rows: Any, s_rows: Any, r: Any, s: Any, box: Any, out: Any, counters: Any
) -> None:
    """Test all pairs of the given rows."""
    b0, b1, b2, b3 = box
    out_r, out_s = out
    pairs = counters[PAIRS]
    for i in r_rows:
        for j in s_rows:
            if _holds(i, s[0][j], s[1][j], b0, b1, b2, b3) != 0:
                if out_r.size > 0:
                    out_r[pairs] = i
                    out_s[pairs] = j
                pairs += 1
                counters[SUM] += r[0][i] + s[1][j]
    counters[CANDIDATES] += r_rows.size * s_rows.size
    counters[PAIRS] = pairs


@helper
def _push(end: int, row: int, size: int, ends: Any, rows: Any) -> int:
    at = size
    while at > 0 and ends[(at - 1) >> 1] > end:
        above = (at - 1) >> 1
        ends[at] = ends[above]
        rows[at] = rows[above]
        at = above
    ends[at] = end
    rows[at] = row
    return size + 1


@helper
def _pop_ended(limit: int, size: int, ends: Any, rows: Any) -> int:
    """Remove all tuples that end before the limit."""
    while size > 0 and ends[0] < limit:
        size -= 1
        end = ends[size]
        row = rows[size]
        at = 0
        below = 1
        while below < size:
            if below + 1 < size and ends[below + 1] < ends[below]:
                below += 1
            if ends[below] >= end:
                break
            ends[at] = ends[below]
            rows[at] = rows[below]
            at = below
            below = 2 * at + 1
        ends[at] = end
        rows[at] = row
    return size


@kernel(I32_IN, I32_IN, _TWO, _TWO, _BOX, INT, _HEAP, _HEAP, OUT, I64_OUT)
def leung_muntz(
    r_rows: Any, s_rows: Any, r: Any, s: Any, box: Any, slack: int, r_heap: Any, s_heap: Any,
    out: Any, counters: Any,
) -> None:  # fmt: skip
    """Read whole tuples in the order of their starts; each meets the other side's active tuples.

    The join of Leung and Muntz (section 2.1), both sides ascending by start. Each side keeps its
    active tuples in a heap by end, and drops those that ended more than `slack` ago. The tuple
    that starts first is read next, instead of the tuple that their heuristic chooses. Each tuple
    is tested against the whole heap of the other side, in memory order.
    """
    b0, b1, b2, b3 = box
    r_ends, r_ids = r_heap
    s_ends, s_ids = s_heap
    out_r, out_s = out
    pairs = counters[PAIRS]
    total = candidates = 0
    at_r = at_s = r_size = s_size = 0
    while at_r < r_rows.size or at_s < s_rows.size:
        reads_r = at_s == s_rows.size or (
            at_r < r_rows.size and r[0][r_rows[at_r]] <= s[0][s_rows[at_s]]
        )
        now = r[0][r_rows[at_r]] if reads_r else s[0][s_rows[at_s]]
        r_size = _pop_ended(now - slack, r_size, r_ends, r_ids)
        s_size = _pop_ended(now - slack, s_size, s_ends, s_ids)
        counters[SIZES] += r_size + s_size
        if reads_r:
            i = r_rows[at_r]
            at_r += 1
            candidates += s_size
            for k in range(s_size):
                j = s_ids[k]
                if _holds(i, s[0][j], s_ends[k], b0, b1, b2, b3) != 0:
                    if out_r.size > 0:
                        out_r[pairs] = i
                        out_s[pairs] = j
                    pairs += 1
                    total += now + s_ends[k]
            r_size = _push(r[1][i], i, r_size, r_ends, r_ids)
        else:
            j = s_rows[at_s]
            at_s += 1
            candidates += r_size
            for k in range(r_size):
                i = r_ids[k]
                if _holds(i, now, s[1][j], b0, b1, b2, b3) != 0:
                    if out_r.size > 0:
                        out_r[pairs] = i
                        out_s[pairs] = j
                    pairs += 1
                    total += r[0][i] + s[1][j]
            s_size = _push(s[1][j], j, s_size, s_ends, s_ids)
    counters[PAIRS] = pairs
    counters[SUM] += total
    counters[CANDIDATES] += candidates


_SIDE = types.Tuple((I64_IN, I32_IN))
_FLAGS = types.Array(types.uint8, 1, "C")
# Rows of s for each entry of IEJoin's coarse bitmap.
CHUNK = 1024


@kernel(_SIDE, _SIDE, I32_IN, _SIDE, _TWO, _TWO, _BOX, _FLAGS, _FLAGS, OUT, I64_OUT)
def ie_join(
    r_by_second: Any, s_by_second: Any, place: Any, s_by_first: Any, r: Any, s: Any, box: Any,
    marks: Any, chunks: Any, out: Any, counters: Any,
) -> None:  # fmt: skip
    """IEJoin (section 2.3): two inequalities, each "the bound of r is at most the key of s".

    r_by_second, s_by_second
        The keys of the second inequality and their rows, descending.
    place
        The permutation: the position of each s in the order of the first inequality.
    s_by_first
        The keys of the first inequality, ascending, and their rows.
    r
        r.ts, and the bounds of the first inequality.
    marks, chunks
        Zeros: one for each row of s, and one for each chunk of 1024 rows.

    Rows of s are marked as soon as they pass the second inequality. Among the marked rows, those
    from some position on pass the first inequality as well. Chunks without a mark are skipped, as
    by the paper's bitmap. Each candidate pair is tested against the rest of the relation.
    """
    b0, b1, b2, b3 = box
    out_r, out_s = out
    keys, rows = s_by_first
    size = rows.size
    pairs = total = candidates = marked = 0
    for n in range(r_by_second[1].size):
        i = r_by_second[1][n]
        while marked < size and s_by_second[0][marked] >= r_by_second[0][n]:
            at = place[s_by_second[1][marked]]
            marks[at] = 1
            chunks[at // CHUNK] = 1
            marked += 1
        at = np.searchsorted(keys, r[1][i])
        while at < size:
            stop = min(size, (at // CHUNK + 1) * CHUNK)
            if chunks[at // CHUNK] != 0:
                for k in range(at, stop):
                    if marks[k] != 0:
                        j = rows[k]
                        candidates += 1
                        if _holds(i, s[0][j], s[1][j], b0, b1, b2, b3) != 0:
                            if out_r.size > 0:
                                out_r[pairs] = i
                                out_s[pairs] = j
                            pairs += 1
                            total += r[0][i] + s[1][j]
            at = stop
    counters[PAIRS] += pairs
    counters[SUM] += total
    counters[CANDIDATES] += candidates


@kernel(_TWO, I32_IN, INT, INT, INT, I64_OUT, I32_OUT)
def fill_cells(
    ends: Any, rows: Any, low: int, width: int, slack: int, offsets: Any, cells: Any
) -> None:
    """Put rows into all cells that they touch; only count them if `cells` is empty."""
    for row in rows:
        first = (ends[0][row] - low) // width
        last = min((ends[1][row] + slack - low) // width, offsets.size - 2)
        for cell in range(first, last + 1):
            if cells.size > 0:
                cells[offsets[cell]] = row
                offsets[cell] += 1
            else:
                offsets[cell + 1] += 1


@kernel(_SIDE, _SIDE, INT, INT, _TWO, _TWO, _BOX, OUT, I64_OUT)
def grid(
    r_cells: Any, s_cells: Any, low: int, width: int, r: Any, s: Any, box: Any, out: Any,
    counters: Any,
) -> None:  # fmt: skip
    """Test all pairs in each cell of a grid; a pair counts in the cell of the later start."""
    b0, b1, b2, b3 = box
    r_offsets, r_rows = r_cells
    s_offsets, s_rows = s_cells
    out_r, out_s = out
    pairs = counters[PAIRS]
    total = 0
    for cell in range(r_offsets.size - 1):
        start = low + cell * width
        stop = start + width
        for m in range(r_offsets[cell], r_offsets[cell + 1]):
            i = r_rows[m]
            counters[CANDIDATES] += s_offsets[cell + 1] - s_offsets[cell]
            for n in range(s_offsets[cell], s_offsets[cell + 1]):
                j = s_rows[n]
                later = max(r[0][i], s[0][j])
                if (
                    later >= start
                    and later < stop
                    and _holds(i, s[0][j], s[1][j], b0, b1, b2, b3) != 0
                ):
                    if out_r.size > 0:
                        out_r[pairs] = i
                        out_s[pairs] = j
                    pairs += 1
                    total += r[0][i] + s[1][j]
    counters[PAIRS] = pairs
    counters[SUM] += total
