# SPDX-License-Identifier: Apache-2.0
"""From runs to the pairs that they stand for. Workers have no use for it, and do not load it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from .arrays import NO_INT32, Int32Array
from .jit import I32_IN, I32_OUT, INT, kernel
from .runs import RunBatch

# Fewer pairs are written before a thread has started.
_PAIRS_PER_THREAD = 1 << 20


def expand(
    runs: Iterable[RunBatch], box_rows: Int32Array, point_rows: Int32Array
) -> tuple[Int32Array, Int32Array]:
    """Return the pairs of some runs, in their order, each as two numbers.

    ``box_rows[i]`` is what is returned of box ``i``, ``point_rows[j]`` of point ``j``; of none, the
    number itself. Several threads write, each the pairs of some runs.

    >>> runs = [RunBatch(*(np.array(x, np.int32) for x in ([0, 1], [1, 0], [2, 1])))]
    >>> [x.tolist() for x in expand(runs, np.int32([7, 8]), np.int32([40, 50, 60]))]
    [[7, 7, 8], [50, 60, 40]]
    """
    batches = [RunBatch(*(column.copy() for column in batch)) for batch in runs]
    box, first, count = (joined([batch[k] for batch in batches]) for k in range(3))
    ends = np.cumsum(count, dtype=np.int64)
    pairs = int(ends[-1]) if ends.size else 0
    out_box = np.empty(pairs, dtype=np.int32)
    out_point = np.empty(pairs, dtype=np.int32)

    def write(start: int, stop: int) -> None:
        at = int(ends[start - 1]) if start else 0
        part = slice(start, stop)
        write_pairs(
            box[part], first[part], count[part], box_rows, point_rows, at, out_box, out_point
        )

    threads = min(os.cpu_count() or 1, 1 + pairs // _PAIRS_PER_THREAD)
    cuts = [int(cut) for cut in np.searchsorted(ends, np.arange(threads + 1) * pairs // threads)]
    cuts[-1] = box.size
    if threads == 1:
        write(0, box.size)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(write, cuts[:-1], cuts[1:]))
    return out_box, out_point


def joined(parts: list[Int32Array]) -> Int32Array:
    """Return all rows of the parts: the part itself if there is one, of any size."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else NO_INT32


@kernel(I32_IN, I32_IN, I32_IN, I32_IN, I32_IN, INT, I32_OUT, I32_OUT)
def write_pairs(
    box: Any, first: Any, count: Any, box_rows: Any, point_rows: Any, at: int,
    out_box: Any, out_point: Any,
) -> None:  # fmt: skip
    """Write the pairs of the runs from place ``at`` on."""
    for k in range(box.size):
        row = box_rows[box[k]] if box_rows.size > 0 else box[k]
        start = first[k]
        for j in range(count[k]):
            out_box[at + j] = row
            out_point[at + j] = point_rows[start + j] if point_rows.size > 0 else start + j
        at += count[k]
