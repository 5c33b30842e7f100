# SPDX-License-Identifier: Apache-2.0
"""Two streams beside the queries of a load; one of them is stopped and started again and again."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

QUERY = (
    "SELECT a.id, b.id AS other FROM load_{0} a JOIN load_{0} b ON a.k = b.k "
    "AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '3' SECONDS"
)
SOURCE = "timestamp_seconds(1767225600 + value DIV 20) AS ts, value AS id, value % 7 AS k"


class Stream:
    """A join of a stream of rates with itself, written to Parquet."""

    def __init__(self, spark: Any, name: str, folder: Path) -> None:
        self._spark = spark
        self._name = name
        self._folder = folder / name
        rows = spark.readStream.format("rate").option("rowsPerSecond", 100).load()
        rows = rows.selectExpr(*SOURCE.split(", ")).withWatermark("ts", "1 second")
        rows.createOrReplaceTempView(f"load_{name}")
        self._query: Any = None

    def start(self) -> None:
        writer = self._spark.sql(QUERY.format(self._name)).writeStream.format("parquet")
        writer = writer.option("checkpointLocation", str(self._folder / "checkpoint"))
        self._query = writer.trigger(processingTime="1 second").start(str(self._folder / "out"))

    def stop(self) -> None:
        self._query.stop()

    def error(self) -> str | None:
        """The reason if the stream has failed."""
        failure = None if self._query.isActive else self._query.exception()
        return None if failure is None else f"stream {self._name}: {str(failure)[:2000]}"

    def wrong(self) -> str | None:
        """The difference from the join of the stream's rows as a table, up to the last pair."""
        out = self._spark.read.parquet(str(self._folder / "out"))
        pairs = {tuple(row) for row in out.collect()}
        if len(pairs) != out.count():
            return f"stream {self._name}: pairs came twice"
        # A row of number `id` has the second `id DIV 20`; pairs are complete long before the last.
        last = max((max(pair) for pair in pairs), default=0) - 200
        expected = {
            (a, b)
            for a in range(last)
            for b in range(a // 20 * 20, min(last, (a // 20 + 4) * 20))
            if a % 7 == b % 7
        }
        found = {pair for pair in pairs if max(pair) < last}
        if not expected:
            return f"stream {self._name}: no pairs"
        return None if found == expected else f"stream {self._name}: {found ^ expected}"[:2000]


def restarting(stream: Stream, is_over: Any) -> None:
    """Stops and starts a stream until the load is over."""
    while not is_over():
        time.sleep(10)
        stream.stop()
        stream.start()
