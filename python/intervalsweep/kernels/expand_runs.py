# SPDX-License-Identifier: Apache-2.0
"""Expands runs to pairs, for `intervalsweep.arrow`. Workers do not load this module."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .arrays import NO_INT32, Int32Array
from .jit import I32_IN, I32_OUT, kernel
from .runs import RunBatch

# Pairs that a thread builds at a time: 8 MiB of row numbers.
CHUNK = 1 << 20


class Expansion:
    """The pairs of runs, in the order of the runs, built a part at a time.

    A pair of box ``i`` and point ``j`` is returned as ``box_rows[i]`` and ``point_rows[j]``. An
    empty array stands for the numbers themselves. Several threads may build parts at the same time.

    >>> runs = [RunBatch(*(np.array(x, np.int32) for x in ([0, 1], [1, 0], [2, 1])))]
    >>> found = Expansion(runs, np.int32([7, 8]), np.int32([40, 50, 60]))
    >>> found.size, found.parts(1)
    (3, [(0, 1), (1, 2)])
    >>> [x.tolist() for x in found.pairs(0, 2)]
    [[7, 7, 8], [50, 60, 40]]
    """

    def __init__(
        self, runs: Iterable[RunBatch], box_rows: Int32Array, point_rows: Int32Array
    ) -> None:
        # A batch is valid until the next one is requested, so copy it.
        batches = [RunBatch(*(column.copy() for column in batch)) for batch in runs]
        self._runs = tuple(_joined([batch[k] for batch in batches]) for k in range(3))
        self._rows = box_rows, point_rows
        self._ends = np.cumsum(self._runs[2], dtype=np.int64)

    @property
    def size(self) -> int:
        """The number of pairs."""
        return int(self._ends[-1]) if self._ends.size else 0

    def parts(self, chunk: int = CHUNK) -> list[tuple[int, int]]:
        """Return parts of about `chunk` pairs as ranges [start, stop) of runs; no run is cut."""
        if not self.size:
            return []
        cuts = np.unique(np.searchsorted(self._ends, np.arange(0, self.size, chunk), "right"))
        return list(zip(cuts.tolist(), [*cuts[1:].tolist(), self._ends.size], strict=True))

    def pairs(self, start: int, stop: int) -> tuple[Int32Array, Int32Array]:
        """Return the pairs of runs [start, stop): their box rows and their point rows."""
        size = int(self._ends[stop - 1]) - (int(self._ends[start - 1]) if start else 0)
        out_box, out_point = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
        box, first, count = (column[start:stop] for column in self._runs)
        write_pairs(box, first, count, *self._rows, out_box, out_point)
        return out_box, out_point


def _joined(parts: list[Int32Array]) -> Int32Array:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([NO_INT32, *parts])


@kernel(I32_IN, I32_IN, I32_IN, I32_IN, I32_IN, I32_OUT, I32_OUT)
def write_pairs(
    box: Any, first: Any, count: Any, box_rows: Any, point_rows: Any, out_box: Any, out_point: Any
) -> None:
    """Write the pairs of runs, as row numbers, in the order of the runs."""
    at = 0
    for k in range(box.size):
        row = box_rows[box[k]] if box_rows.size > 0 else box[k]
        start = first[k]
        for j in range(count[k]):
            out_box[at + j] = row
            out_point[at + j] = point_rows[start + j] if point_rows.size > 0 else start + j
        at += count[k]
