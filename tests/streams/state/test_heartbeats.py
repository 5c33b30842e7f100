# SPDX-License-Identifier: Apache-2.0
"""Heartbeats: the watermark moves on while one of the streams has no rows."""

from __future__ import annotations

import datetime as dt
import json
import time
from pathlib import Path
from typing import Any

import pytest

from intervalsweep import ArgumentError, ColumnError, EndpointTypeError
from intervalsweep.dataframe import window_union, with_heartbeat

SECOND = dt.timedelta(seconds=1)
SCHEMA = "id INT, k INT, ts TIMESTAMP"


def put(folder: Path, name: str, number: int, when: dt.datetime) -> None:
    file = folder / name / f"{number:04}.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"id": number, "k": 1, "ts": f"{when.isoformat()}Z"}))


def test_runs_in_which_only_one_stream_has_rows_never_got_anywhere(
    streaming: Any, two_partitions: None, tmp_path: Path
) -> None:
    def stream(name: str) -> Any:
        (tmp_path / name).mkdir(exist_ok=True)
        source = streaming.readStream.schema(SCHEMA).json(str(tmp_path / name))
        return with_heartbeat(source, delay=SECOND, idle_after=2 * SECOND)

    begin = dt.datetime.now(dt.timezone.utc).replace(tzinfo=None)
    found: list[Any] = []
    for number in range(12):
        if number < 4:
            put(tmp_path, "SR"[number % 2], number, begin + number * SECOND / 4)
        query = window_union(
            stream("S"), stream("R"), by="k", pre=5 * SECOND, aggs={"n": "count(*)"}
        )
        started = (
            query.writeStream.foreachBatch(lambda rows, _: found.extend(rows.collect()))
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        assert started.awaitTermination(200)
        if found:
            break
        # The rows of the first runs become idle.
        if number >= 2:
            time.sleep(3)
    assert [row.id for row in found if row.id is None] == []
    assert {row.id: row.n for row in found}.items() >= {0: 0}.items()
    assert query.columns == ["id", "k", "ts", "n"]


def test_what_needs_no_heartbeat(spark: Any) -> None:
    source = spark.readStream.format("rate").load().withColumnRenamed("timestamp", "ts")
    table = spark.sql("SELECT TIMESTAMP'2026-01-01' AS ts, 1 AS v")
    times: dict[str, Any] = {"delay": SECOND, "idle_after": SECOND}
    assert with_heartbeat(table, **times) is table
    beating = with_heartbeat(source, **times)
    assert beating.schema["ts"].metadata == {"spark.watermarkDelayMs": 1000}
    with pytest.raises(ArgumentError, match="in place of withWatermark"):
        with_heartbeat(source.withWatermark("ts", "1 second"), **times)
    with pytest.raises(ArgumentError, match="`idle_after` must not be negative"):
        with_heartbeat(source, delay=SECOND, idle_after=-SECOND)
    with pytest.raises(EndpointTypeError, match="'value' is bigint"):
        with_heartbeat(source, "value", **times)
    with pytest.raises(ColumnError, match="no column"):
        with_heartbeat(source, "tss", **times)
