# SPDX-License-Identifier: Apache-2.0
"""
The queries of the SPO-Join paper (its Section 5.2) on generated rows.

The oracle and the peers use one form for both, `a.x < b.x AND a.y > b.y`. y grows with x except for
noise, as cooling grows with power and fares with distances. The size of the noise determines the
number of pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.streams.workloads import set_turn

RANGE = 10**9
SEED = 1


@dataclass(frozen=True)
class Query:
    """`columns` are the names of x and y; `condition` is on streams a and b."""

    name: str
    title: str
    columns: tuple[str, str]
    condition: str
    is_self_join: bool

    @property
    def streams(self) -> tuple[str, ...]:
        return ("a",) if self.is_self_join else ("a", "b")

    def noise(self, rate: float, window: int) -> float:
        """
        The noise, as a share of the range of x, that gives an arriving row `rate` pairs.

        With noise z in [0, 1], two rows match in one direction with probability z / 6 - z^2 / 24:
        they are in order by x, and the difference of their noises is greater than that of their x.
        """
        ways = 2 if self.is_self_join else 1
        chance = rate / window / ways
        if chance > 1 / 8:
            raise ValueError(f"{rate} pairs a row are too many for a window of {window} rows")
        return float(2 - np.sqrt(4 - 24 * chance))


QUERIES = {
    query.name: query
    for query in (
        Query(
            "q1",
            "Q1, racks and cooling of two data centers",
            ("rp", "cp"),
            "a.rp < b.rp AND a.cp > b.cp",
            is_self_join=False,
        ),
        Query(
            "q2",
            "Q2, taxi trips farther and cheaper than others",
            ("dist", "fare"),
            "a.dist > b.dist AND a.fare < b.fare",
            is_self_join=True,
        ),
    )
}


@dataclass(frozen=True)
class Window:
    """`length` rows, evicted in slices of `slide`; `full` slices arrive at a full window."""

    length: int
    slide: int
    batch: int
    full: int

    def __post_init__(self) -> None:
        if self.length % self.slide or self.slide % self.batch:
            raise ValueError("a window is of whole slides, and a slide of whole micro-batches")

    @property
    def slices(self) -> int:
        return self.length // self.slide

    @property
    def rows(self) -> int:
        """The number of rows of each stream."""
        return self.length + self.full * self.slide


@dataclass(frozen=True)
class Rows:
    """Rows of a stream in the order of their row numbers, from 0."""

    x: Any
    y: Any

    def part(self, first: int, end: int) -> Rows:
        return Rows(self.x[first:end], self.y[first:end])

    @property
    def count(self) -> int:
        return len(self.x)


def streams(query: Query, window: Window, rate: float) -> tuple[Rows, Rows]:
    """The rows of a and b, always the same. In a self join both are one stream."""
    rng = np.random.default_rng(SEED)
    noise = max(1, int(query.noise(rate, window.length) * RANGE))

    def one() -> Rows:
        x = rng.integers(0, RANGE, window.rows)
        return Rows(x, x + rng.integers(0, noise, window.rows))

    a = one()
    return (a, a) if query.is_self_join else (a, one())


def write(query: Query, window: Window, rows: tuple[Rows, Rows], folder: Path) -> None:
    """Writes a Parquet file for each micro-batch and stream; file times give the order."""
    for name, side in zip(query.streams, rows, strict=False):
        (folder / name).mkdir(parents=True)
        for number, first in enumerate(range(0, side.count, window.batch)):
            part = side.part(first, first + window.batch)
            seq = np.arange(first, first + part.count)
            columns = dict(zip(("seq", *query.columns), (seq, part.x, part.y), strict=True))
            file = folder / name / f"{number:05}.parquet"
            pq.write_table(pa.table(columns), file)
            set_turn(file, number)
