# SPDX-License-Identifier: Apache-2.0
"""Two streams that arrive out of order, as files; each micro-batch reads one file."""

from __future__ import annotations

import datetime as dt
import os
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark

from support.spark.comparison import OWN_PLAN, bag, configured, difference
from support.spark.session import INTERPRETED

SCHEMA = "id INT, k INT, g STRING, ts TIMESTAMP, v INT, x DOUBLE, txt STRING"
TYPES = [
    pa.int32(),
    pa.int32(),
    pa.string(),
    pa.timestamp("us", "UTC"),
    pa.int32(),
    pa.float64(),
    pa.string(),
]
NAMES = [column.split()[0] for column in SCHEMA.split(", ")]
ARROW_SCHEMA = pa.schema(list(zip(NAMES, TYPES, strict=True)))
START = dt.datetime(2024, 1, 1)
PROVIDER = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": PROVIDER,
    "spark.sql.shuffle.partitions": "2",
}
# Settings against the main costs of micro-batches with few rows: state files and compilation.
STREAMING = "org.apache.spark.sql.execution.streaming."
CHECKPOINTS = STREAMING if pyspark.__version__.startswith("4.0.") else f"{STREAMING}checkpointing."
QUICKLY = {
    **SETTINGS,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.checkpointFileManagerClass": (
        f"{CHECKPOINTS}FileSystemBasedCheckpointFileManager"
    ),
    **INTERPRETED,
}

Row = tuple[Any, ...]


def at(seconds: float) -> dt.datetime:
    return START + dt.timedelta(seconds=seconds)


@dataclass
class Arrivals:
    """
    Rows of two streams in order of arrival. A row arrives up to `lateness` seconds after its event
    time. The last file of each stream has a row from far ahead, which makes all windows final.
    """

    rng: random.Random
    rows: int = 200
    files: int = 5
    lateness: int = 20
    span: int = 200
    keys: int = 4
    last: float = 100_000.0
    start: dt.datetime = START
    base: list[Row] = field(default_factory=list)
    probe: list[Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.base, self.probe = (self._stream(first) for first in (0, 1_000_000))

    def _stream(self, first: int) -> list[Row]:
        rng = self.rng
        seconds = [
            rng.choice([rng.randrange(self.span), rng.random() * self.span])
            for _ in range(self.rows)
        ]
        seconds.sort(key=lambda s: s + rng.random() * self.lateness)
        return [self._row(first + i, s) for i, s in enumerate(seconds)]

    def _row(self, number: int, seconds: float) -> Row:
        rng = self.rng
        return (
            number,
            rng.choice([None, *range(self.keys)]),
            rng.choice("ab"),
            None if rng.random() < 0.02 else self.start + dt.timedelta(seconds=seconds),
            rng.choice([None, *range(-20, 20)]),
            rng.choice([None, -0.0, 1.5, rng.random()]),
            rng.choice([None, "", "p", "q" * 9]),
        )

    def write(self, folder: Path) -> None:
        for name, rows in (("S", self.base), ("R", self.probe)):
            cuts = sorted(self.rng.sample(range(1, len(rows)), self.files - 1))
            parts = [rows[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
            # The row passes few of the queries' filters. It moves the watermark nevertheless.
            ahead = self.start + dt.timedelta(seconds=self.last)
            parts.append([(-1, None, None, ahead, None, None, None)])
            for i, part in enumerate(parts):
                write(folder / name, part, i)


def write(
    folder: Path, rows: Iterable[Row], number: int, columns: pa.Schema = ARROW_SCHEMA
) -> None:
    """Adds a file. A stream reads files in the order of their numbers."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays = [pa.array(v, c.type) for v, c in zip(zip(*rows, strict=True), columns, strict=True)]
    file = folder / f"{number:04}.parquet"
    pq.write_table(pa.Table.from_arrays(arrays, schema=columns), file)
    os.utime(file, (1e9 + number, 1e9 + number))


def read(spark: Any, folder: Path, lateness: float, names: tuple[str, str] = ("S", "R")) -> None:
    """Creates views: `S` and `R` are the streams, `S_all` and `R_all` the same files as tables."""
    for name, source in zip(names, "SR", strict=True):
        reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        stream = reader.parquet(str(folder / source))
        stream.withWatermark("ts", f"{lateness} seconds").createOrReplaceTempView(name)
        spark.read.schema(SCHEMA).parquet(str(folder / source)).createOrReplaceTempView(
            f"{name}_all"
        )


def run(frame: Any, folder: Path, seconds: int = 300) -> Any:
    """Runs a stream over all files; it writes its rows into files."""
    writer = frame.writeStream.format("parquet").trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    return ended(writer.start(str(folder / "out")), seconds)


def ended(query: Any, seconds: int) -> Any:
    """Waits until a query has ended without an error; fails after some seconds."""
    assert query.awaitTermination(seconds)
    assert query.exception() is None
    return query


def progresses(query: Any) -> Iterator[Any]:
    yield from (p for p in query.recentProgress if p.stateOperators)


def expected(spark: Any, text: str) -> Any:
    """The rows by Spark's own plan, without the row that is far ahead."""
    with configured(spark, OWN_PLAN):
        return bag(spark.sql(text.format(S="S_all", R="R_all")).where("id >= 0").collect())


def assert_streamed(spark: Any, folder: Path, text: str, lateness: float) -> Any:
    """Runs a query over two streams, and compares its rows with Spark's over the tables."""
    read(spark, folder, lateness)
    query = run(spark.sql(text.format(S="S", R="R")), folder)
    assert_written(spark, folder, text)
    return query


def written(spark: Any, folder: Path) -> Any:
    return bag(spark.read.parquet(str(folder / "out")).where("id >= 0").collect())


def assert_written(spark: Any, folder: Path, text: str) -> None:
    wanted = expected(spark, text)
    got = written(spark, folder)
    assert not difference(wanted, got), f"{text}\n{difference(wanted, got)}"
    assert wanted.total() > 0
