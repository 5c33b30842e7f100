# SPDX-License-Identifier: Apache-2.0
"""Two streams `l` and `r` of rows (id, k, t, v), for as-of joins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from support.streams import arrivals
from support.streams.histories import TIME, time

SCHEMA = "id INT, k INT, t TIMESTAMP, v STRING"
COLUMNS = pa.schema([("id", pa.int32()), ("k", pa.int32()), ("t", TIME), ("v", pa.string())])
Row = tuple[Any, ...]


@dataclass
class Source:
    """A stream: its rows in order of arrival, cut into files; times are numbers of seconds."""

    name: str
    folder: Path
    batches: list[list[Row]]
    delay: int

    def write(self, first: int = 0, last: int | None = None) -> None:
        for number, rows in list(enumerate(self.batches))[first:last]:
            timed = [(i, k, time(t), v) for i, k, t, v in rows]
            arrivals.write(self.folder / self.name, timed, number, COLUMNS)


def read(spark: Any, folder: Path, delays: Mapping[str, int]) -> None:
    """Names the streams, by the delays of their watermarks in seconds."""
    for name, delay in delays.items():
        reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        stream = reader.parquet(str(folder / name)).withWatermark("t", f"{delay} seconds")
        stream.createOrReplaceTempView(name)
