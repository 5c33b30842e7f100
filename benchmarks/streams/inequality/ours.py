# SPDX-License-Identifier: Apache-2.0
"""
Joins of streams in Spark, in micro-batches from Parquet files to a sink that discards the rows.

There are two: `inequality_join`, and the count of the same pairs for each row of a, which is
COUNT(*) over a window of rows.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.streams.inequality import oracle
from benchmarks.streams.inequality.memory import Peak
from benchmarks.streams.inequality.workloads import Query, Rows, Window, write
from benchmarks.streams.session import observed

SETTINGS = {"spark.sql.streaming.numRecentProgressUpdates": "10000"}
Progress = list[dict[str, Any]]
Line = dict[str, Any]


# Makes the stream of results from the query's streams.
Joined = Callable[[Query, Window, list[Any]], Any]


def pairs(spark: Any, query: Query, window: Window, rows: tuple[Rows, Rows], folder: Path) -> Line:
    """The speed of micro-batches with a full window, and the completeness of the pairs."""
    progress, memory = _measured(spark, query, window, rows, folder, _joined)
    found = [p["sink"]["numOutputRows"] for p in progress]
    step = window.slide // window.batch
    slices = [sum(found[k : k + step]) for k in range(0, len(found), step)]
    expected = oracle.by_slice(window, *rows)
    line = _line(query, window, progress, sum(slices[-window.full :]))
    line["completeness"] = sum(slices) / sum(expected)
    line["pairs of slices"] = slices
    if slices != expected:
        line["why_not"] = f"slices have {expected} pairs"
    return line | memory


def counts(spark: Any, query: Query, window: Window, rows: tuple[Rows, Rows], folder: Path) -> Line:
    """
    The same for counts of pairs.

    A count is emitted when it is final, a window later than its row. The pairs a second are those
    that the oracle finds for the rows of a micro-batch. The emitted counts must equal the oracle's.
    """
    progress, memory = _measured(spark, query, window, rows, folder, _counted)
    found = observed(progress, "pairs")
    left = sum(p["sink"]["numOutputRows"] for p in progress)
    expected = oracle.earliest(window, *rows, left)
    line = _line(query, window, progress, sum(oracle.by_slice(window, *rows)[-window.full :]))
    line["counted rows"] = left
    line["completeness"] = found / expected if expected else 0.0
    if found != expected or not found:
        line["why_not"] = f"{left} rows have {found} pairs, not {expected}"
    return line | memory


def _measured(
    spark: Any,
    query: Query,
    window: Window,
    rows: tuple[Rows, Rows],
    folder: Path,
    joined: Joined,
) -> tuple[Progress, Line]:
    work = Path(tempfile.mkdtemp(dir=folder))
    try:
        write(query, window, rows, work)
        with Peak(spark.sparkContext._gateway.proc.pid) as peak:
            progress = _run(spark, query, window, work, joined)
    finally:
        shutil.rmtree(work)
    return progress, {"spark, MiB": peak.spark >> 20, "workers, MiB": peak.workers >> 20}


def _joined(query: Query, window: Window, streams: list[Any]) -> Any:
    from intervalsweep.dataframe import inequality_join, rows

    return inequality_join(
        streams[0],
        None if query.is_self_join else streams[1],
        query.condition,
        window=rows(window.length, slide=window.slide),
    )


def _counted(query: Query, window: Window, streams: list[Any]) -> Any:
    from pyspark.sql import functions as sf

    # The oracle counts for the rows of its side a, which is side b of Q2.
    mine, theirs = ("b", "a") if query.is_self_join else ("a", "b")
    for name, stream in ((mine, streams[0]), (theirs, streams[-1])):
        stream.createOrReplaceTempView(name)
    slide = window.slide
    counted = streams[0].sparkSession.sql(
        f"SELECT {mine}.seq, w.pairs FROM {mine} LEFT JOIN LATERAL (SELECT count(*) AS pairs "
        f"FROM {theirs} WHERE {query.condition} AND abs(a.seq - b.seq) < {window.length} AND "
        f"abs(a.seq div {slide} - b.seq div {slide}) < {window.slices}) w ON true"
    )
    return counted.observe("counted", sf.sum("pairs").alias("pairs"))


def _run(spark: Any, query: Query, window: Window, work: Path, joined: Joined) -> Progress:
    schema = "seq LONG, " + ", ".join(f"{name} LONG" for name in query.columns)
    reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    streams = [reader.parquet(str(work / name)) for name in query.streams]
    writer = joined(query, window, streams).writeStream.format("noop").trigger(availableNow=True)
    running = writer.option("checkpointLocation", str(work / "checkpoint")).start()
    try:
        running.awaitTermination()
    finally:
        running.stop()
    return [p for p in running.recentProgress if p["numInputRows"]]


def _line(query: Query, window: Window, progress: Progress, pairs: int) -> Line:
    """The measurements; `pairs` are the pairs of the slices that arrive at a full window."""
    full = progress[-window.full * (window.slide // window.batch) :]
    # Both sides of a self join read the stream, and Spark counts its rows for each side.
    inputs = [p["numInputRows"] for p in progress]
    if inputs != [2 * window.batch] * (window.rows // window.batch):
        raise RuntimeError(f"micro-batches of {inputs} rows, not of {2 * window.batch}")
    seconds = sum(p["durationMs"]["addBatch"] for p in full) / 1000
    probes = len(full) * window.batch * len(query.streams)
    return {
        "probes": probes,
        "pairs": pairs,
        "probes/s": round(probes / seconds, 1),
        "pairs/s": round(pairs / seconds),
        "seconds of micro-batches": [p["durationMs"]["addBatch"] / 1000 for p in progress],
        "seconds to commit": _mean([p["stateOperators"][0]["commitTimeMs"] for p in full]) / 1000,
        "state rows": observed(full[-1:], "storedRows"),
        "late rows": observed(progress, "lateRows"),
        "state store, MiB": full[-1]["stateOperators"][0]["memoryUsedBytes"] >> 20,
    }


def _mean(values: list[int]) -> float:
    return sum(values) / len(values)
