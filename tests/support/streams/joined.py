# SPDX-License-Identifier: Apache-2.0
"""Two streams of random intervals, in micro-batches, and the same rows as tables."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from support.spark.comparison import OWN_PLAN, configured

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
SCHEMA = "id INT, k INT, g STRING, ts TIMESTAMP, te TIMESTAMP, v INT, w INT, seq INT"
START = datetime(2024, 1, 1)
ENDS = "a.ts, a.te, b.ts, b.te"
# The longest time by which a row arrives out of order, in seconds.
LATENESS = 20
# Rows with this number and above are far away from all others.
FAR = 10**6
# Metadata of a column of row numbers.
DISORDER = "intervalsweep.disorder"

Row = tuple[Any, ...]
Batch = dict[str, list[Row]]


def columns_of(schema: str) -> list[str]:
    return [column.split()[0] for column in schema.split(", ")]


@dataclass
class Arrivals:
    """The rows of each micro-batch, by side."""

    folder: Path
    batches: list[Batch]
    written: int = 0
    schema: str = SCHEMA
    clock: str | None = "ts"
    lateness: float = LATENESS
    # Whether the streams by row number have a watermark too.
    numbers_have_times: bool = False
    columns: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.columns = columns_of(self.schema)

    def write(self, count: int | None = None) -> None:
        """Write the files of the next micro-batches, or of all that are left."""
        end = len(self.batches) if count is None else self.written + count
        for number in range(self.written, end):
            for side, rows in self.batches[number].items():
                file = self.folder / side / f"{number:04}.json"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text("".join(map(self._line, rows)), encoding="utf-8")
                os.utime(file, (1_700_000_000 + number,) * 2)
        self.written = end

    def _line(self, row: Row) -> str:
        values = dict(zip(self.columns, row, strict=True))
        return json.dumps({n: v for n, v in values.items() if v is not None}, default=str) + "\n"

    def rows(self, side: str) -> Iterator[Row]:
        for batch in self.batches:
            yield from batch[side]

    def tables(self, spark: Any) -> None:
        for side in "ab":
            read = spark.read.schema(self.schema).json(str(self.folder / side))
            read.createOrReplaceTempView(side)

    def streams(self, spark: Any, disorder: int | None = None) -> None:
        """Creates views: the streams `a` and `b` by event time, `an` and `bn` by row number."""
        behind = 0
        if "seq" in self.columns:
            behind = self.disorder() if disorder is None else disorder
        for side in "ab":
            (self.folder / side).mkdir(parents=True, exist_ok=True)
            source = spark.readStream.schema(self.schema).option("maxFilesPerTrigger", 1)
            plain = stream = source.json(str(self.folder / side))
            if self.clock:
                stream = stream.withWatermark(self.clock, f"{self.lateness} seconds")
            if "seq" in self.columns:
                other = stream if self.numbers_have_times else plain
                numbered(other, behind).createOrReplaceTempView(f"{side}n")
            stream.createOrReplaceTempView(side)

    def disorder(self) -> int:
        """1 + the largest distance of a number below the maximum of earlier micro-batches."""
        at, behind = self.columns.index("seq"), 0
        for side in "ab":
            largest: int | None = None
            for batch in self.batches:
                numbers = [row[at] for row in batch[side] if row[at] is not None]
                if largest is not None and numbers:
                    behind = max(behind, largest - min(numbers) + 1)
                largest = max([*numbers, *([] if largest is None else [largest])], default=None)
        return behind


def numbered(stream: Any, disorder: int) -> Any:
    from pyspark.sql import functions as sf

    marked = sf.col("seq").alias("seq", metadata={DISORDER: disorder})
    return stream.select([marked if name == "seq" else sf.col(name) for name in stream.columns])


def run(spark: Any, arrivals: Arrivals, sql: str, cut: int | None = None) -> list[Any]:
    """Return the rows of a stream; it is restarted after `cut` micro-batches."""
    found: list[Any] = []
    arrivals.streams(spark)
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


def write(query: Any, folder: Path) -> None:
    """Run the stream over all files; it writes its rows into files."""
    writer = query.writeStream.format("parquet").trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    writer.start(str(folder / "out")).awaitTermination()


def written(spark: Any, folder: Path) -> list[Any]:
    """The rows in the sink, without files of failed attempts."""
    rows: list[Any] = spark.read.parquet(str(folder / "out")).collect()
    return rows


def counted(query: Any) -> Counter[str]:
    """The counts that the joins of a query report, summed over all micro-batches."""
    total: Counter[str] = Counter()
    for progress in query.recentProgress:
        for name, counts in (progress["observedMetrics"] or {}).items():
            assert name.startswith("intervalsweep_")
            total.update({n: c for n, c in counts.asDict().items() if c is not None})
    return total


def expected(spark: Any, arrivals: Arrivals, sql: str) -> list[Any]:
    """The rows of Spark's own join of the tables."""
    arrivals.tables(spark)
    with configured(spark, OWN_PLAN):
        rows: list[Any] = spark.sql(sql).collect()
    return rows


def bag(rows: list[Any]) -> Counter[Any]:
    return Counter(map(tuple, rows))


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def interval(number: int, ts: float, te: float | None, key: int | None = 1, v: int = 0) -> Row:
    """A row of the streams."""
    return (number, key, None, at(ts), None if te is None else at(te), v, 0, number)


def random_arrivals(
    folder: Path,
    rng: random.Random,
    rows: int,
    cuts: int,
    *,
    clock: str = "ts",
    lateness: float = LATENESS,
    reversed_too: bool = True,
) -> Arrivals:
    """Rows of both sides in a random order of arrival, none of them late.

    The last micro-batch has a row that is far away from all others, so that all others expire.
    """
    arriving = []
    for side in "ab":
        starts = sorted(rng.randrange(0, 2 * rows) for _ in range(rows))
        for number, ts in enumerate(starts):
            length = rng.choice([0, 0, 1, 2, 5, 10, 30, *([-1, -6] if reversed_too else [])])
            te = ts + length
            when = (ts if clock == "ts" else te) + rng.uniform(0, lateness - 1)
            ends = [at(ts), at(te)]
            if rng.random() < 0.06:
                ends[rng.randrange(2)] = None  # type: ignore[call-overload]
            key = rng.choice([1, 1, 2, 2, 3, None])
            group = rng.choice(["x", "y", None])
            values = (rng.randrange(5), rng.randrange(12))
            seq = None if rng.random() < 0.03 else number
            arriving.append((when, side, (number, key, group, *ends, *values, seq)))
    arriving.sort(key=lambda a: a[0])
    borders = sorted(rng.randrange(len(arriving) + 1) for _ in range(cuts - 1))
    batches = []
    for start, end in zip([0, *borders], [*borders, len(arriving)], strict=True):
        some = arriving[start:end]
        batches.append({side: [row for _, s, row in some if s == side] for side in "ab"})
    return Arrivals(folder, [*batches, far_away(FAR)], clock=clock, lateness=lateness)


def far_away(seconds: int) -> Batch:
    """A row of each side that is far away from all others, so that all others expire."""
    ends = {"a": (seconds, seconds + 1), "b": (seconds + 10, seconds + 11)}
    return {s: [(FAR, -1, None, at(ts), at(te), 0, 0, ts)] for s, (ts, te) in ends.items()}
