# SPDX-License-Identifier: Apache-2.0
"""The temporal relations that the figures use (section 9.1)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq

from benchmarks.papers.loops.iterators import Intervals
from intervalsweep.kernels import Int64Array

DOMAIN = 1_000_000
Sides = tuple[Intervals, Intervals]


def synthetic(size: int, mean: float) -> Sides:
    """Starts uniform in 1 .. 10^6, exponential lengths; r and s differ by their seed."""
    r, s = (_exponential(size, mean, seed) for seed in (1, 2))
    return r, s


def _exponential(size: int, mean: float, seed: int) -> Intervals:
    random = np.random.default_rng((seed, size))
    start = random.integers(1, DOMAIN, size, endpoint=True)
    return _sorted(start, start + 1 + random.exponential(mean, size).astype(np.int64))


def uniform(size: int, longest: int, domain: int) -> Sides:
    """Lengths uniform in 1 .. longest, as in the before join of the paper's program."""
    sides = []
    for seed in (1, 2):
        random = np.random.default_rng((seed, size))
        start = random.integers(1, domain, size, endpoint=True)
        sides.append(_sorted(start, start + random.integers(1, longest, size, endpoint=True)))
    return sides[0], sides[1]


def real(folder: Path) -> dict[str, Sides]:
    """The real data sets that exist in the folder, by name."""
    found: dict[str, Sides] = {}
    for name in ("delta", "polars"):
        file = folder / f"{name}_file_history.csv.gz"
        if file.exists():
            table = pyarrow.csv.read_csv(file)
            start, end = (np.asarray(table[column], np.int64) for column in ("start", "end"))
            rows = _sorted(start - start.min(), end - start.min())
            found[name] = (rows, rows)
    if (folder / "exons").exists() and (folder / "fbrain").exists():
        found["exons x fbrain"] = _ranked(*(pq.read_table(folder / n) for n in ("exons", "fbrain")))
    return found


def _ranked(*tables: Any) -> Sides:
    """Ranks of (contig, position) instead of positions, because the algorithms have no keys.

    Ranks keep the order, and no interval spans two contigs, so the pairs are the same. Relations
    with a distance between endpoints are the exception.
    """
    columns = ("pos_start", "pos_end")
    contigs = np.concatenate([np.asarray(table["contig"]) for table in tables for _ in columns])
    _, numbers = np.unique(contigs.astype(str), return_inverse=True)
    positions = [np.asarray(table[column], np.int64) for table in tables for column in columns]
    _, ranks = np.unique(np.concatenate(positions) + (numbers << 40), return_inverse=True)
    sizes = [column.size for column in positions]
    r_start, r_end, s_start, s_end = np.split(ranks.astype(np.int64), np.cumsum(sizes)[:-1])
    return _sorted(r_start, r_end), _sorted(s_start, s_end)


def _sorted(start: Int64Array, end: Int64Array) -> Intervals:
    """Sorts by start, as the paper's program does before it builds its index."""
    order = np.argsort(start, kind="stable")
    return Intervals(start[order], end[order])
