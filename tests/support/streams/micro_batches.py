# SPDX-License-Identifier: Apache-2.0
"""A stream of files, one per micro-batch, and the same files as a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Streamed:
    """Rows and last plan of a streaming query, and its number of micro-batches with rows."""

    rows: list[Any]
    plan: str
    batches: int


def views(spark: Any, folder: Path, schema: str, batches: list[list[tuple[Any, ...]]]) -> None:
    """Creates the views `incoming`, the stream, and `past`, the table."""
    for rows in batches:
        spark.createDataFrame(rows, schema).coalesce(1).write.mode("append").parquet(str(folder))
    reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    reader.parquet(str(folder)).createOrReplaceTempView("incoming")
    spark.read.schema(schema).parquet(str(folder)).createOrReplaceTempView("past")


def run(spark: Any, frame: Any, folder: Path, mode: str = "append") -> Streamed:
    """Runs a streaming frame over all files, into memory."""
    writer = frame.writeStream.format("memory").queryName("sink").outputMode(mode)
    writer = writer.option("checkpointLocation", str(folder / "state"))
    query = writer.trigger(availableNow=True).start()
    assert query.awaitTermination(300)
    # The text of an adaptive plan has the final plan first and the initial plan after it.
    plan = query._jsq.explainInternal(False).partition("Initial Plan")[0]
    batches = sum(1 for p in query.recentProgress if p["numInputRows"])
    return Streamed(spark.table("sink").collect(), plan, batches)
