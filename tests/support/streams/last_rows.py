# SPDX-License-Identifier: Apache-2.0
"""Two streams `l` and `r` of rows (id, k, t, v), for as-of joins."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from support.streams import histories
from support.streams.histories import TIME, time

SCHEMA = "id INT, k INT, t TIMESTAMP, v STRING"
COLUMNS = pa.schema([("id", pa.int32()), ("k", pa.int32()), ("t", TIME), ("v", pa.string())])
Row = tuple[Any, ...]


class Source(histories.Source):
    """A stream of rows (id, k, t, v)."""

    columns = COLUMNS

    @staticmethod
    def timed(row: Row) -> Row:
        """A row with a time in place of a number."""
        return (*row[:2], time(row[2]), row[3])


def read(spark: Any, folder: Path, delays: Mapping[str, int]) -> None:
    """Names the streams, by the delays of their watermarks in seconds."""
    for name, delay in delays.items():
        reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        stream = reader.parquet(str(folder / name)).withWatermark("t", f"{delay} seconds")
        stream.createOrReplaceTempView(name)
