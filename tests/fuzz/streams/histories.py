# SPDX-License-Identifier: Apache-2.0
"""
Random queries over histories of streams, compared with their snapshots: `make fuzz-histories`.

The queries are those of `make fuzz-temporal`; some of their relations are streams. Rows arrive in
random micro-batches, out of order, and some are late. The rows of some relations are changes. Each
query runs with `emit => 'early'`, whose rows must be those of the plain query on each snapshot in
DuckDB, and with `emit => 'final'`, whose rows must be the early ones, joined where they touch. Some
streams are merged, split or complemented beside them. Half of the streams are restarted, and some
run in a process that is killed again and again.
"""

from __future__ import annotations

import dataclasses
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fuzz.settings import SETTINGS, SHUFFLED
from fuzz.streams.lateness import Arriving
from fuzz.streams.run import stream_main
from fuzz.streams.sets import Sets, sets
from fuzz.temporal.compare import Asked, difference, in_duckdb, sliced
from fuzz.temporal.queries import Query, query
from fuzz.temporal.tables import INSTANTS, WINDOWS, Row, Tables, tables, values
from support.spark.comparison import EXCLUDED_RULES, TEMPORAL_RULES, TIME_ZONE
from support.streams import arrivals, streaming_process
from support.streams.arrivals import QUICKLY, START
from support.streams.histories import (
    Source,
    canonical,
    instant,
    last_watermark,
    read,
    until_next,
    watermark,
)

# A row of each stream far ahead, which moves the watermark beyond all instants.
FAR = 1000
EMITS = ("final", "early")
# Streams have no fragments by length.
LEFT_OUT = ("python", "split")
LENGTH = re.compile(r"(sliding => |fixed => |temporal_(?:split|coalesce)\(TABLE\([^()]*\), )(\d+)")


def with_times(text: str) -> str:
    """A query over periods of numbers as one over periods of times."""
    return LENGTH.sub(r"\1INTERVAL '\2' SECOND", text)


def source(rng: random.Random, name: str, folder: Path, rows: Iterable[Row]) -> Source:
    """Random micro-batches, in which rows are out of order by less than the delay."""
    disorder = rng.choice((0, 2, 5))
    known = [row if row[3] is not None else (*row[:3], rng.randrange(12), row[4]) for row in rows]
    known.sort(key=lambda row: row[3] + rng.random() * disorder)
    cuts = sorted(rng.randrange(len(known) + 1) for _ in range(rng.choice((0, 1, 2, 4))))
    parts = [known[a:b] for a, b in zip([0, *cuts], [*cuts, len(known)], strict=True) if a < b]
    return Source(name, folder, [*parts, [far(1)]], disorder + 1)


def far(times: int) -> Row:
    return (9, 9, "far", FAR * times, FAR * times + 1)


def timed(column: str) -> str:
    return f"TIMESTAMP'{START}' + make_dt_interval(0, 0, 0, {column}) AS {column}"


def union(queries: Iterable[Query], of_sets: Iterable[Sets]) -> str:
    parts = []
    for number, one in enumerate(queries):
        for emit in EMITS:
            text = f"sequenced(TABLE({with_times(one.spark())}), emit => '{emit}')"
            parts.append(f"SELECT {number} AS q, '{emit}' AS emit, k, v, t, ts, te FROM {text}")
    for number, some in enumerate(of_sets):
        parts.append(f"SELECT {number} AS q, 'sets' AS emit, * FROM ({some.spark()})")
    return " UNION ALL ".join(parts)


class Histories(Arriving):
    """A case: rows in order of arrival, and queries over them."""

    def far(self, times: int) -> Row:
        return far(times)

    def make(self) -> None:
        rng = self.rng
        given = tables(rng)
        streamed = rng.sample("rsb", rng.choice((1, 2, 3, 3)))
        self.sources = [
            source(rng, name, self.folder / name, given.rows(name)) for name in streamed
        ]
        self.given = given
        self.changes = [name for name in "rs" if rng.random() < 0.25]
        self.queries = []
        while len(self.queries) < self.operators:
            one = query(rng, rng.choice((1, 1, 2)))
            parts = list(one.all())
            leaves = {"b" if part.leaf in WINDOWS else part.leaf for part in parts}
            # The process that is killed does not have the Python functions.
            if leaves.intersection(streamed) and not any(p.kind in LEFT_OUT for p in parts):
                self.queries.append(one)
        self.sets = sets(rng, [name for name in streamed if name not in self.changes])
        shuffled = SHUFFLED if rng.random() < 0.3 else {}
        self.settings = {k: rng.choice(some) for k, some in (SETTINGS | shuffled).items()}
        off = [rule for rule in TEMPORAL_RULES if rng.random() < 0.15]
        self.settings[EXCLUDED_RULES] = ",".join(
            filter(None, [self.settings[EXCLUDED_RULES], *off])
        )
        self.settings["spark.sql.shuffle.partitions"] = rng.choice(("1", "2", "3"))
        # Python reads and writes times in UTC.
        self.settings[TIME_ZONE] = "UTC"

    @property
    def outputs(self) -> int:
        return len(EMITS) * len(self.queries) + len(self.sets)

    def compare(self) -> None:
        kept, runs = self.arrive(time=3)
        self.compare_rows(kept, max(filter(None, map(watermark, runs))))

    def run(self) -> Any:
        for key, value in self.settings.items():
            self.spark.conf.set(key, value)
        read(self.spark, self.folder, self.delays, self.tables, self.changes)
        return arrivals.run(self.spark.sql(union(self.queries, self.sets)), self.folder)

    @property
    def tables(self) -> dict[str, str]:
        return {
            name: f"SELECT k, v, t, {timed('ts')}, {timed('te')} "
            f"FROM ({values(self.given.rows(name), 'STRING')})"
            for name in "rsbu"
            if name not in self.delays
        }

    def compare_written(self) -> None:
        rows = {s.name: tuple(row for part in s.batches for row in part) for s in self.sources}
        self.compare_rows(rows, last_watermark(self.folder))

    def compare_rows(self, in_time: dict[str, tuple[Row, ...]], until: int) -> None:
        """Compares the written rows, by the rows of streams that are not late."""
        rows = self.spark.read.parquet(str(self.folder / "out")).collect()
        read_rows = {n: self.given.rows(n) for n in "rsbu"} | in_time
        kept = Tables(**read_rows | {n: until_next(read_rows[n]) for n in self.changes})
        found: dict[tuple[str, int], list[Row]] = defaultdict(list)
        for row in rows:
            found[row.emit, row.q].append((*row[2:5], instant(row.ts), instant(row.te)))
        wrong = []
        for number, some in enumerate(self.sets):
            every = some.expected(in_time[some.stream])
            message = self.differs(every, found["sets", number], until)
            if message:
                wrong.append(f"{some.spark()}\n{message}")
        with in_duckdb(kept) as connection:
            for number, one in enumerate(self.queries):
                final, early = (found[emit, number] for emit in EMITS)
                expected = {i: sliced(connection, one, i) for i in INSTANTS}
                self.totals.rows += sum(map(len, expected.values()))
                asked = Asked(dataclasses.replace(one, swept=False))
                message = difference(asked, early, expected)
                message = message or self.differs(canonical(early), final, until)
                if message:
                    wrong.append(f"{with_times(one.spark())}\n{message}")
        if wrong:
            raise AssertionError("\n\n".join(wrong))

    def differs(self, rows: Counter[Row], final: Iterable[Row], until: int) -> str:
        """A message unless a stream has written those of the rows that have ended, once each."""
        ended = Counter({row: n for row, n in rows.items() if row[-1] < until})
        self.totals.rows += ended.total()
        written = Counter(final)
        if ended == written:
            return ""
        return f"final: missing {ended - written}, too many {written - ended}"

    def describe(self) -> None:
        for s in self.sources:
            s.write()
        settings = {**QUICKLY, **self.settings}
        sql = union(self.queries, self.sets)
        streaming_process.describe_histories(
            self.folder, sql, self.delays, self.tables, self.changes, settings
        )


if __name__ == "__main__":
    sys.exit(
        stream_main(
            Histories,
            command="make fuzz-histories",
            says=__doc__,
            cases=3000,
            killed=14,
            of_killed=2,
            operators=(8,),
        )
    )
