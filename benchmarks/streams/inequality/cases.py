# SPDX-License-Identifier: Apache-2.0
"""One query at one match rate: ours and the peers over the same rows, with pairs checked."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.streams.inequality import batch, oracle, ours
from benchmarks.streams.inequality.peers import PEERS, split
from benchmarks.streams.inequality.workloads import Query, Rows, Window, streams

OURS, DUCKDB = "intervalsweep", "duckdb"
SYSTEMS = (OURS, *PEERS, DUCKDB)
Line = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """What all cases have in common."""

    window: Window
    systems: tuple[str, ...]
    sample: int
    limit: float


@dataclass(frozen=True)
class Case:
    """`rate` is how many pairs an arriving row has, about."""

    query: Query
    rate: float
    options: Options

    def measure(self, spark: Any, folder: Path) -> Iterator[Line]:
        """A line for each system. What finds other pairs than there are has its `why_not`."""
        rows = streams(self.query, self.options.window, self.rate)
        systems = self.options.systems
        if OURS in systems:
            yield self._line(OURS, self._ours(spark, rows, folder))
        yield from (self._line(*each) for each in self._peers(rows))
        if DUCKDB in systems:
            yield self._line(DUCKDB, self._batch(rows))

    def _line(self, system: str, found: Line) -> Line:
        about = {"query": self.query.name, "rate": self.rate, "system": system}
        return {**about, **found}

    def _ours(self, spark: Any, rows: tuple[Rows, Rows], folder: Path) -> Line:
        window = self.options.window
        found = ours.measure(spark, self.query, window, rows, folder)
        start = time.perf_counter()
        expected = oracle.by_slice(window, *rows)
        found["seconds of the oracle"] = round(time.perf_counter() - start, 2)
        found["completeness"] = sum(found["pairs of slices"]) / sum(expected)
        if found["pairs of slices"] != expected:
            found["why_not"] = f"slices have {expected} pairs"
        return found

    def _peers(self, rows: tuple[Rows, Rows]) -> Iterator[tuple[str, Line]]:
        stored, arriving = split(self.options.window, rows, self.options.sample)
        a, b = zip(stored, arriving, strict=True)
        expected = oracle.arriving(a, b)
        for name in self.options.systems:
            if name in PEERS:
                yield (
                    name,
                    _checked(PEERS[name].measure(self.options.window, stored, arriving), expected),
                )

    def _batch(self, rows: tuple[Rows, Rows]) -> Line:
        a, b = (side.part(0, self.options.window.length) for side in rows)
        return _checked(batch.measure(a, b, self.options.limit), oracle.pairs(a, b))


def _checked(found: Line, expected: int) -> Line:
    if found.get("pairs", expected) != expected:
        found["why_not"] = f"there are {expected} pairs"
    return found
