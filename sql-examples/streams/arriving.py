# SPDX-License-Identifier: Apache-2.0
"""Turns files of the examples into streams, with one file in each micro-batch."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DATA = Path(__file__).resolve().parent / "data"
STATE = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # Without keys each row goes to all state partitions.
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",  # the golden results are in UTC
}


def arrive(folder: Path, names: Iterable[str]) -> None:
    """Copies the files with increasing times, as streams read the oldest file first."""
    for name in names:
        (folder / name).mkdir()
        for file in sorted((DATA / name).iterdir()):
            add(folder / name, file.name, file.read_text(encoding="utf-8"))


def add(folder: Path, name: str, text: str) -> None:
    """Adds one more file, newer than the others."""
    age = len(list(folder.iterdir()))
    (folder / name).write_text(text, encoding="utf-8")
    os.utime(folder / name, (1_700_000_000 + age,) * 2)


def stream(spark: SparkSession, name: str, folder: Path) -> DataFrame:
    """The files of a folder as a stream, with the columns of the view of the same name."""
    source = spark.readStream.schema(spark.table(name).schema)
    return source.option("maxFilesPerTrigger", 1).json(str(folder / name))


def run(frame: DataFrame, name: str) -> DataFrame:
    """Runs a stream until all files are read, and returns its rows."""
    with tempfile.TemporaryDirectory() as checkpoint:
        writer = frame.writeStream.format("memory").queryName(f"{name}_rows")
        writer = writer.option("checkpointLocation", checkpoint)
        writer.trigger(availableNow=True).start().awaitTermination()
    return frame.sparkSession.table(f"{name}_rows")
