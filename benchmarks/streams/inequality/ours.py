# SPDX-License-Identifier: Apache-2.0
"""`inequality_join` of streams inside Spark: micro-batches from Parquet files into no sink."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.streams.inequality.memory import Peak
from benchmarks.streams.inequality.workloads import Query, Rows, Window, write
from benchmarks.streams.session import observed

SETTINGS = {"spark.sql.streaming.numRecentProgressUpdates": "10000"}


def measure(
    spark: Any, query: Query, window: Window, rows: tuple[Rows, Rows], folder: Path
) -> dict[str, Any]:
    """What the micro-batches with a full window took, and the pairs of each slice of all."""
    work = Path(tempfile.mkdtemp(dir=folder))
    try:
        write(query, window, rows, work)
        with Peak(spark.sparkContext._gateway.proc.pid) as peak:
            progress = _run(spark, query, window, work)
    finally:
        shutil.rmtree(work)
    mebibytes = {"spark, MiB": peak.spark >> 20, "workers, MiB": peak.workers >> 20}
    return _summary(query, window, progress) | mebibytes


def _run(spark: Any, query: Query, window: Window, work: Path) -> list[dict[str, Any]]:
    from intervalsweep.dataframe import inequality_join, rows

    schema = "seq LONG, " + ", ".join(f"{name} LONG" for name in query.columns)
    reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    streams = [reader.parquet(str(work / name)) for name in query.streams]
    joined = inequality_join(
        streams[0],
        None if query.is_self_join else streams[1],
        query.condition,
        window=rows(window.length, slide=window.slide),
    )
    writer = joined.writeStream.format("noop").trigger(availableNow=True)
    running = writer.option("checkpointLocation", str(work / "checkpoint")).start()
    try:
        running.awaitTermination()
    finally:
        running.stop()
    return [p for p in running.recentProgress if p["numInputRows"]]


def _summary(query: Query, window: Window, progress: list[dict[str, Any]]) -> dict[str, Any]:
    step = window.slide // window.batch
    full = progress[-window.full * step :]
    arriving = window.batch * len(query.streams)
    # Either side of a self join reads the stream, and Spark counts its rows for each.
    inputs = [p["numInputRows"] for p in progress]
    if inputs != [2 * window.batch] * (window.rows // window.batch):
        raise RuntimeError(f"micro-batches of {inputs} rows, not of {2 * window.batch}")
    pairs = [p["sink"]["numOutputRows"] for p in progress]
    seconds = sum(p["durationMs"]["addBatch"] for p in full) / 1000
    probes = len(full) * arriving
    found = sum(pairs[-len(full) :])
    return {
        "probes": probes,
        "pairs": found,
        "probes/s": round(probes / seconds, 1),
        "pairs/s": round(found / seconds),
        "pairs of slices": [sum(pairs[k : k + step]) for k in range(0, len(pairs), step)],
        "seconds of micro-batches": [p["durationMs"]["addBatch"] / 1000 for p in progress],
        "seconds to commit": _mean([p["stateOperators"][0]["commitTimeMs"] for p in full]) / 1000,
        "state rows": observed(full[-1:], "storedRows"),
        "late rows": observed(progress, "lateRows"),
        "state store, MiB": full[-1]["stateOperators"][0]["memoryUsedBytes"] >> 20,
    }


def _mean(values: list[int]) -> float:
    return sum(values) / len(values)
