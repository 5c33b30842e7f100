# SPDX-License-Identifier: Apache-2.0
"""
Random as-of joins of two streams, compared with a slow search: `make fuzz-stream-nearest`.

The queries are those of `make fuzz-nearest`. Rows arrive in random micro-batches, out of order, and
some are late. Half of the streams are restarted, and some run in a process that is killed again and
again.
"""

from __future__ import annotations

import dataclasses
import random
import sys
from collections import Counter
from typing import Any

from fuzz.nearest.queries import Query, query
from fuzz.nearest.run import known_forms
from fuzz.nearest.tables import Kind, Row, Tables, tables
from fuzz.streams.lateness import Arriving
from fuzz.streams.run import stream_main
from support.spark.comparison import TIME_ZONE
from support.streams import arrivals, streaming_process
from support.streams.arrivals import QUICKLY
from support.streams.last_rows import Source, read

# A row of each stream far ahead, which moves the watermark beyond all others.
FAR = 10_000
FAR_ID = 1000
TIME = Kind("TIMESTAMP", "", step="INTERVAL '{}' SECOND")
# With a condition on both sides, any earlier row may be the last match.
WITHOUT_PAIRS = ("", "r.v IS NOT NULL")


def source(rng: random.Random, name: str, folder: Any, rows: tuple[Row, ...]) -> Source:
    """Random micro-batches; the watermark follows the rows closely, or so that none is late."""
    disorder = rng.choice((0, 2, 5, 20))
    known = sorted(rows, key=lambda row: (row[2] or 0) + rng.random() * disorder)
    cuts = sorted(rng.randrange(len(known) + 1) for _ in range(rng.choice((0, 1, 2, 4))))
    parts = [known[a:b] for a, b in zip([0, *cuts], [*cuts, len(known)], strict=True) if a < b]
    return Source(name, folder, [*parts, [far(1)]], disorder + 1)


def far(times: int) -> Row:
    return (FAR_ID * times, None, FAR * times, None)


def streamed(rng: random.Random, given: Tables, forms: tuple[str, ...]) -> Query:
    """A random query with a finite state, which a stream can append to."""
    one = query(rng, given, forms)
    is_open = one.length is None and not (one.looks_back and one.residual in WITHOUT_PAIRS)
    return dataclasses.replace(
        one,
        above=rng.choice(("", "", "filter")),
        length=rng.choice((0, 1, 3)) if is_open else one.length,
        reads_all=one.form == "lateral",
    )


class LastRows(Arriving):
    """A case: rows in order of arrival, and queries over them."""

    def far(self, times: int) -> Row:
        return far(times)

    def make(self) -> None:
        rng = self.rng
        self.given = tables(rng, (TIME,))
        self.sources = [
            source(rng, "l", self.folder / "l", self.given.left),
            source(rng, "r", self.folder / "r", self.given.right),
        ]
        batch = ("grouped", "ranked", "nearest")  # not on streams
        forms = tuple(form for form in known_forms(self.spark.version) if form not in batch)
        self.queries = [streamed(rng, self.given, forms) for _ in range(self.operators)]
        parts = (
            f"SELECT {number} AS q, a, CAST(b AS STRING) AS b FROM ({one.sql(self.given)})"
            for number, one in enumerate(self.queries)
        )
        self.text = " UNION ALL ".join(parts)
        self.settings = {
            "spark.sql.shuffle.partitions": rng.choice(("1", "1", "2", "3")),
            "spark.sql.intervalsweep.streamFanout": rng.choice(("0", "1", "2")),
            "spark.sql.join.asofJoin.enabled": "true",
            TIME_ZONE: "UTC",
        }

    def compare(self) -> None:
        kept, _ = self.arrive(time=2)
        self.compare_rows(kept["l"], kept["r"])

    def run(self) -> Any:
        for key, value in self.settings.items():
            self.spark.conf.set(key, value)
        read(self.spark, self.folder, self.delays)
        return arrivals.run(self.spark.sql(self.text), self.folder)

    def compare_written(self) -> None:
        left, right = (tuple(r for part in s.batches for r in part) for s in self.sources)
        self.compare_rows(left, right)

    def compare_rows(self, left: tuple[Row, ...], right: tuple[Row, ...]) -> None:
        """Compares the written rows with those of a search among the rows that are not late."""
        own = tuple(row for row in left if row[0] < FAR_ID)
        kept = dataclasses.replace(self.given, left=own, right=right)
        found: list[Counter[Row]] = [Counter() for _ in self.queries]
        for q, a, b in self.spark.read.parquet(str(self.folder / "out")).collect():
            if a < FAR_ID:
                found[q][a, b] += 1
        wrong = []
        for one, rows in zip(self.queries, found, strict=True):
            expected = one.answer(kept)
            self.totals.rows += expected.total()
            if rows != expected:
                wrong.append(
                    f"{one.sql(kept)}\nmissing {expected - rows}, too many {rows - expected}"
                )
        if wrong:
            raise AssertionError("\n\n".join(wrong))

    def describe(self) -> None:
        for s in self.sources:
            s.write()
        settings = {**QUICKLY, **self.settings}
        streaming_process.describe_last_rows(self.folder, self.text, self.delays, settings)


if __name__ == "__main__":
    sys.exit(
        stream_main(
            LastRows,
            command="make fuzz-stream-nearest",
            says=__doc__,
            cases=2400,
            killed=12,
            of_killed=2,
        )
    )
