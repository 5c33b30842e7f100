# SPDX-License-Identifier: Apache-2.0
"""Histories of streams: sources of files, watermarks, and rows joined from their pieces."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from support.streams import arrivals
from support.streams.arrivals import START

SCHEMA = "k INT, v INT, t STRING, ts TIMESTAMP, te TIMESTAMP"
TIME = pa.timestamp("us", "UTC")
COLUMNS = pa.schema(
    [("k", pa.int32()), ("v", pa.int32()), ("t", pa.string()), ("ts", TIME), ("te", TIME)]
)
# Marked relations; the others are always valid.
MARKED = "rsb"
# How the rows of a relation are changes, in which `te` has no meaning.
UNTIL_NEXT = """'ts', until_next => array('k'), deleted => "t = 'b'\""""
Row = tuple[Any, ...]


def instant(time: dt.datetime | None) -> int | None:
    return None if time is None else round((time - START).total_seconds())


def time(number: int | None) -> dt.datetime | None:
    return None if number is None else arrivals.at(number)


@dataclass
class Source:
    """A stream: its rows (k, v, t, start, end) in order of arrival, cut into files."""

    name: str
    folder: Path
    batches: list[list[Row]]
    delay: int
    columns: ClassVar[pa.Schema] = COLUMNS

    def write(self, first: int = 0, last: int | None = None) -> None:
        for number, rows in list(enumerate(self.batches))[first:last]:
            arrivals.write(self.folder, map(self.timed, rows), number, self.columns)

    @staticmethod
    def timed(row: Row) -> Row:
        """A row with times in place of numbers."""
        return (*row[:3], time(row[3]), time(row[4]))


def until_next(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Changes as rows with periods: what `UNTIL_NEXT` says."""
    known = [row for row in rows if row[3] is not None]

    def end(change: Row) -> int | None:
        later = [row[3] for row in known if row[0] == change[0] and row[3] > change[3]]
        return min(later, default=None)

    return tuple((*row[:4], end(row)) for row in known if row[2] != "b")


def read(
    spark: Any,
    folder: Path,
    delays: Mapping[str, int],
    tables: Mapping[str, str],
    changes: Container[str] = (),
) -> None:
    """
    Names streams, by the delays of their watermarks, and tables, by their queries. The rows of some
    of them are changes.
    """
    for name, delay in delays.items():
        reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        stream = reader.parquet(str(folder / name)).withWatermark("ts", f"{delay} seconds")
        stream.createOrReplaceTempView(f"{name}_rows")
    for name, text in tables.items():
        spark.sql(f"CREATE OR REPLACE TEMP VIEW {name}_rows AS {text}")
    for name in (*delays, *tables):
        period = f"{UNTIL_NEXT}, names => array('ts', 'te')" if name in changes else "'ts', 'te'"
        source = f"(SELECT k, v, t, ts FROM {name}_rows)" if name in changes else f"{name}_rows"
        marked = f"SELECT * FROM validtime(TABLE({source}), {period})"
        text = marked if name in MARKED else f"SELECT k, v, t FROM {name}_rows"
        spark.sql(f"CREATE OR REPLACE TEMP VIEW {name} AS {text}")


def watermark(progress: Any) -> int | None:
    """The watermark of a micro-batch; None if the query was only started."""
    text = progress.eventTime.get("watermark")
    return None if text is None else instant(dt.datetime.fromisoformat(text.rstrip("Z")))


def last_watermark(folder: Path) -> int:
    """The watermark of the last micro-batch in a checkpoint."""
    entries = [
        file for file in (folder / "checkpoint" / "offsets").iterdir() if file.name.isdigit()
    ]
    text = max(entries, key=lambda file: int(file.name)).read_text().splitlines()[1]
    millis = json.loads(text)["batchWatermarkMs"]
    return round(millis / 1000 - START.replace(tzinfo=dt.timezone.utc).timestamp())


def canonical(pieces: Iterable[Row]) -> Counter[Row]:
    """Rows joined where they touch: of equal rows, the n-th start goes with the n-th end."""
    changes: dict[Row, Counter[Any]] = {}
    for *row, start, end in pieces:
        counts = changes.setdefault(tuple(row), Counter())
        counts[start] += 1
        counts[end] -= 1
    found: Counter[Row] = Counter()
    for row, counts in changes.items():
        starts = [t for t, n in sorted(counts.items()) for _ in range(n)]
        ends = [t for t, n in sorted(counts.items()) for _ in range(-n)]
        found.update((*row, a, b) for a, b in zip(starts, ends, strict=True))
    return found


def streamed(frame: Any, folder: Path) -> tuple[Any, Counter[Row]]:
    """Runs a stream over all files; returns the query and its rows."""
    query = arrivals.run(frame, folder)
    rows = frame.sparkSession.read.schema(frame.schema).parquet(str(folder / "out"))
    return query, Counter(map(tuple, rows.collect()))
