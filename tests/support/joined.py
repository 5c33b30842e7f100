# SPDX-License-Identifier: Apache-2.0
"""Streams of random intervals, micro-batch by micro-batch, and the same rows as tables."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
SCHEMA = "id INT, k INT, ts TIMESTAMP, te TIMESTAMP, v INT"
START = datetime(2024, 1, 1)
HOW = ["INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI"]
ENDS = "a.ts, a.te, b.ts, b.te"
SECONDS = "INTERVAL '4' SECOND"
# Those whose rows leave by themselves, or with a parameter, by watermarks on ts.
RELATIONS = [
    f"interval_intersects({ENDS})",
    f"allen_overlaps({ENDS})",
    f"allen_during({ENDS})",
    f"allen_contains({ENDS})",
    f"allen_finishes({ENDS})",
    f"allen_started_by({ENDS})",
    f"iseql_start_preceding({ENDS})",
    f"iseql_end_following({ENDS}, epsilon => {SECONDS})",
    f"iseql_before({ENDS}, delta => {SECONDS})",
    f"iseql_after({ENDS}, delta => {SECONDS})",
    f"iseql_left_overlap({ENDS}, delta => {SECONDS}, epsilon => {SECONDS})",
    "a.ts BETWEEN b.ts - INTERVAL '3' SECOND AND b.ts + INTERVAL '6' SECOND",
    "a.ts <= b.ts AND b.ts < a.te AND a.v <> b.v",
]
# How far a row may be behind others that have come.
LATENESS = 20


@dataclass
class Arrivals:
    """What comes in each micro-batch, on either side."""

    folder: Path
    batches: list[dict[str, list[tuple[Any, ...]]]]
    written: int = 0
    schema: str = SCHEMA
    columns: list[str] = field(default_factory=lambda: ["id", "k", "ts", "te", "v"])

    def write(self, count: int | None = None) -> None:
        """Write the next micro-batches, or all that are left."""
        end = len(self.batches) if count is None else self.written + count
        for number in range(self.written, end):
            for side, rows in self.batches[number].items():
                file = self.folder / side / f"{number:04}.json"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text("".join(map(self._line, rows)), encoding="utf-8")
                os.utime(file, (1_700_000_000 + number,) * 2)
        self.written = end

    def _line(self, row: tuple[Any, ...]) -> str:
        values = dict(zip(self.columns, row, strict=True))
        return json.dumps({n: v for n, v in values.items() if v is not None}, default=str) + "\n"

    def tables(self, spark: Any) -> None:
        for side in "ab":
            read = spark.read.schema(self.schema).json(str(self.folder / side))
            read.createOrReplaceTempView(side)

    def streams(self, spark: Any, clock: str | None = "ts") -> None:
        for side in "ab":
            (self.folder / side).mkdir(parents=True, exist_ok=True)
            source = spark.readStream.schema(self.schema).option("maxFilesPerTrigger", 1)
            stream = source.json(str(self.folder / side))
            if clock:
                stream = stream.withWatermark(clock, f"{LATENESS} seconds")
            stream.createOrReplaceTempView(side)


def run(spark: Any, arrivals: Arrivals, sql: str, cut: int | None = None, **how: Any) -> list[Any]:
    """Return a stream's rows, which is stopped and started again after `cut` micro-batches."""
    found: list[Any] = []
    arrivals.streams(spark, **how)
    query = spark.sql(sql)
    for count in [None] if cut is None else [cut, None]:
        arrivals.write(count)
        start_and_wait(query, arrivals.folder / "checkpoint", found)
    return found


def start_and_wait(query: Any, checkpoint: Path, found: list[Any]) -> Any:
    started = (
        query.writeStream.foreachBatch(lambda batch, _: found.extend(batch.collect()))
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    started.awaitTermination()
    return started


def expected(spark: Any, arrivals: Arrivals, sql: str) -> list[Any]:
    """Spark's own join of the tables."""
    arrivals.tables(spark)
    spark.conf.set("spark.sql.intervalsweep.enabled", "false")
    try:
        rows: list[Any] = spark.sql(sql).collect()
    finally:
        spark.conf.unset("spark.sql.intervalsweep.enabled")
    return rows


def bag(rows: list[Any]) -> Counter[Any]:
    return Counter(map(tuple, rows))


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def random_batches(
    rng: random.Random, rows: int, cuts: int, *, clock: str = "ts"
) -> list[dict[str, list[tuple[Any, ...]]]]:
    """Rows of both sides in a random order of arrival, none of them late.

    The last micro-batch has a row that is far away from all others, so that all of them leave.
    """
    arriving = []
    for side in "ab":
        for number in range(rows):
            ts = rng.randrange(0, 3 * rows)
            length = rng.choice([0, 1, 2, 5, 10, 30, -1])
            te = ts + length
            late_by = rng.uniform(0, LATENESS - 1)
            when = (ts if clock == "ts" else te) + late_by
            key = rng.choice([1, 1, 2, None]) if rng.random() < 0.9 else 3
            end = at(te) if clock == "te" or rng.random() < 0.97 else None
            row = (number, key, at(ts), end, rng.randrange(5))
            arriving.append((when, side, row))
    arriving.sort(key=lambda a: a[0])
    borders = sorted(rng.randrange(len(arriving) + 1) for _ in range(cuts - 1))
    batches = []
    for start, end in zip([0, *borders], [*borders, len(arriving)], strict=True):
        some = arriving[start:end]
        batches.append({side: [row for _, s, row in some if s == side] for side in "ab"})
    far = 10**6
    batches.append(
        {
            "a": [(-1, -1, at(far), at(far + 1), 0)],
            "b": [(-2, -2, at(far + 10), at(far + 11), 0)],
        }
    )
    return batches


def select(number: int, how: str, condition: str) -> str:
    """One join as a query whose rows say which it is; without those that are far away."""
    if how in ("LEFT SEMI", "LEFT ANTI"):
        columns, where = "a.id AS x, CAST(NULL AS INT) AS y", "a.id >= 0"
    else:
        columns, where = "a.id AS x, b.id AS y", "coalesce(a.id, 0) >= 0 AND coalesce(b.id, 0) >= 0"
    return f"SELECT {number} AS n, {columns} FROM a {how} JOIN b ON {condition} WHERE {where}"


def cases(rng: random.Random, count: int) -> list[tuple[str, str]]:
    """Joins as their type and their condition."""
    found = []
    for number in range(count):
        condition = rng.choice(RELATIONS)
        if "(" in condition and rng.random() < 0.5:
            condition = f"a.k = b.k AND {condition}"
        if rng.random() < 0.2:
            condition = f"{condition} AND a.v + b.v < 6"
        found.append((HOW[number % len(HOW)], condition))
    return found


def both(
    spark: Any, folder: Path, rng: random.Random, some: list[tuple[str, str]]
) -> tuple[list[Any], list[Any]]:
    """Return the rows of joins of streams, in one query, and those of the joins of tables."""
    batches = random_batches(rng, rows=24, cuts=rng.randrange(1, 6))
    arrivals = Arrivals(folder, batches)
    # Some bounds on state rest on rows that do not end before they start; those have a test.
    for batch in batches:
        for side, rows in batch.items():
            batch[side] = [r for r in rows if r[3] is None or r[2] <= r[3]]
    joins = [select(number, how, condition) for number, (how, condition) in enumerate(some)]
    sql = " UNION ALL ".join(joins)
    found = run(spark, arrivals, sql, cut=rng.choice([None, 1, len(batches) - 1]))
    return found, expected(spark, arrivals, sql)
