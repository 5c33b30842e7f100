# SPDX-License-Identifier: Apache-2.0
"""One query at one match rate: ours and the peers on the same rows, with checked pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.streams.inequality import batch, oracle, ours
from benchmarks.streams.inequality.ours import Line
from benchmarks.streams.inequality.peers import PEERS, split
from benchmarks.streams.inequality.workloads import Query, Rows, Window, streams

OURS = {"intervalsweep": ours.pairs, "intervalsweep, counts": ours.counts}
DUCKDB = "duckdb"
SYSTEMS = (*OURS, *PEERS, DUCKDB)


@dataclass(frozen=True)
class Options:
    """The options that all cases have in common."""

    window: Window
    systems: tuple[str, ...]
    sample: int
    limit: float


@dataclass(frozen=True)
class Case:
    """A query and a match rate; an arriving row has about `rate` pairs."""

    query: Query
    rate: float
    options: Options

    def measure(self, spark: Any, folder: Path) -> Iterator[Line]:
        """A line for each system. A line with wrong pairs has a `why_not`."""
        rows = streams(self.query, self.options.window, self.rate)
        systems = self.options.systems
        for name, measured in OURS.items():
            if name in systems:
                found = measured(spark, self.query, self.options.window, rows, folder)
                yield self._line(name, found)
        yield from (self._line(*each) for each in self._peers(rows))
        if DUCKDB in systems:
            yield self._line(DUCKDB, self._batch(rows))

    def _line(self, system: str, found: Line) -> Line:
        about = {"query": self.query.name, "rate": self.rate, "system": system}
        return {**about, **found}

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
