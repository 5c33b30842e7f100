# SPDX-License-Identifier: Apache-2.0
"""Files of the examples as streams: one in each micro-batch, until there are no more."""

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
    # Without keys each row goes to all partitions of the state.
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",  # in which the results are written
}


def arrive(folder: Path, names: Iterable[str]) -> None:
    """Puts the files there as if they had come one by one: streams take the oldest first."""
    for name in names:
        (folder / name).mkdir()
        for file in sorted((DATA / name).iterdir()):
            add(folder / name, file.name, file.read_text(encoding="utf-8"))


def add(folder: Path, name: str, text: str) -> None:
    """Puts one more file there."""
    age = len(list(folder.iterdir()))
    (folder / name).write_text(text, encoding="utf-8")
    os.utime(folder / name, (1_700_000_000 + age,) * 2)


def stream(spark: SparkSession, name: str, folder: Path) -> DataFrame:
    """The files of a folder as a stream, with the columns of the view of that name."""
    source = spark.readStream.schema(spark.table(name).schema)
    return source.option("maxFilesPerTrigger", 1).json(str(folder / name))


def run(frame: DataFrame, name: str) -> DataFrame:
    """What a stream returns until there are no more files."""
    with tempfile.TemporaryDirectory() as checkpoint:
        writer = frame.writeStream.format("memory").queryName(f"{name}_rows")
        writer = writer.option("checkpointLocation", checkpoint)
        writer.trigger(availableNow=True).start().awaitTermination()
    return frame.sparkSession.table(f"{name}_rows")
