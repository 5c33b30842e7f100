# SPDX-License-Identifier: Apache-2.0
"""Queries in real-time mode over Spark's in-memory source for tests."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

SCHEMA = "id INT, k INT, ts TIMESTAMP, te TIMESTAMP, seq INT"
Row = tuple[int, int, int, int]
START = datetime(2024, 1, 1)


def values(row: Row) -> tuple[Any, ...]:
    number, key, start, end = row
    times = (START + timedelta(seconds=start), START + timedelta(seconds=end))
    return (number, key, *times, number)


class Source:
    """A stream of rows (id, k, ts in seconds, te in seconds)."""

    def __init__(self, spark: Any) -> None:
        self._jvm = spark._jvm
        streams = self._jvm.org.apache.spark.sql.execution.streaming.sources
        text = self._jvm.org.apache.spark.sql.Encoders.STRING()
        self._stream = streams.LowLatencyMemoryStream.apply(spark._jsparkSession, 1, text)
        self._spark = spark

    def frame(self, delay: str | None = "10 seconds") -> Any:
        from pyspark.sql import DataFrame
        from pyspark.sql import functions as sf

        lines = DataFrame(self._stream.toDF(), self._spark)
        rows = lines.select(sf.from_csv("value", SCHEMA).alias("row")).select("row.*")
        return rows.withWatermark("ts", delay) if delay else rows

    def add(self, *rows: Row) -> None:
        lines = self._jvm.java.util.ArrayList()
        for row in rows:
            lines.add(",".join(map(str, values(row))))
        convert = self._jvm.scala.jdk.javaapi.CollectionConverters
        self._stream.addData(convert.asScala(lines))


def start(frame: Any, folder: Path, seconds: int = 5) -> Any:
    """Start a query whose rows :func:`written` reads; micro-batches take `seconds`."""
    file = folder / "rows"
    folder.mkdir(parents=True, exist_ok=True)

    def write(row: Any) -> None:
        with file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(list(row)) + "\n")

    writer = frame.writeStream.foreach(write).outputMode("update")
    writer = writer.trigger(realTime=f"{seconds} seconds")
    return writer.option("checkpointLocation", str(folder / "checkpoint")).start()


def written(folder: Path) -> list[Any]:
    file = folder / "rows"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [tuple(json.loads(line)) for line in lines]


def wait(query: Any, until: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while query.isActive and not until():
        if time.monotonic() > end:
            raise TimeoutError(str(query.lastProgress))
        time.sleep(0.05)
    if query.exception():
        raise query.exception()


def batches(query: Any, count: int) -> None:
    """Wait until `count` micro-batches have ended."""
    wait(query, lambda: (query.lastProgress or {"batchId": -1})["batchId"] >= count - 1)
