# SPDX-License-Identifier: Apache-2.0
"""A stream of files of which each micro-batch takes one, and the same files as a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Streamed:
    """What a streaming query has returned, its last plan, and how many micro-batches had rows."""

    rows: list[Any]
    plan: str
    batches: int


def views(spark: Any, folder: Path, schema: str, batches: list[list[tuple[Any, ...]]]) -> None:
    """`incoming`, the stream, and `past`, the table."""
    for rows in batches:
        spark.createDataFrame(rows, schema).coalesce(1).write.mode("append").parquet(str(folder))
    reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    reader.parquet(str(folder)).createOrReplaceTempView("incoming")
    spark.read.schema(schema).parquet(str(folder)).createOrReplaceTempView("past")


def run(spark: Any, frame: Any, folder: Path, mode: str = "append") -> Streamed:
    """Runs a streaming frame over all that there is, into memory."""
    writer = frame.writeStream.format("memory").queryName("sink").outputMode(mode)
    writer = writer.option("checkpointLocation", str(folder / "state"))
    query = writer.trigger(availableNow=True).start()
    assert query.awaitTermination(300)
    # What adaptive execution began with stands behind what it ended with.
    plan = query._jsq.explainInternal(False).partition("Initial Plan")[0]
    batches = sum(1 for p in query.recentProgress if p["numInputRows"])
    return Streamed(spark.table("sink").collect(), plan, batches)
