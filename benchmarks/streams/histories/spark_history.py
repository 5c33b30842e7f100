# SPDX-License-Identifier: Apache-2.0
"""Runs the query of a written stream once in Spark; prints one line of JSON."""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.streams.histories.workloads import LAST, LOOKING_BACK, MARKER, Written, read, sides
from benchmarks.streams.session import observed, stream_session

SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.numRecentProgressUpdates": "1000",
}
MARKED = {
    "running": "validtime(TABLE(arrived), 'ts', 'te')",
    "sliding": "validtime(TABLE(arrived), 'ts')",
}
QUERIES = {
    "running": "SELECT k, count(*) AS n FROM v GROUP BY k",
    "sliding": "SELECT k, avg(third) AS n "
    "FROM temporal_window(TABLE(v), sliding => INTERVAL '{length}' SECONDS) GROUP BY k",
}


def run(spark: Any, written: Written, scratch: Path, emit: str) -> dict[str, Any]:
    """Streams all files until the last row of the history is emitted."""
    frame = result(spark, written, emit)
    writer = frame.writeStream.format("noop").outputMode("append").trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(scratch / "checkpoint")).start()
    query.awaitTermination()
    progress = query.recentProgress
    return {
        "complete": True,
        "rows": observed(progress, "rows"),
        "sum": observed(progress, "sum"),
        "late": observed(progress, "lateRows"),
        "read": [p.numInputRows for p in progress],
        "batches": [p.batchDuration for p in progress],
        "phases": [p.durationMs for p in progress][-4:],
        "stored": max(observed([p], "storedRows") for p in progress),
    }


def result(spark: Any, written: Written, emit: str) -> Any:
    """The rows of the query, which observes their number and the sum of their values."""
    from pyspark.sql import functions as sf

    s = written.stream
    looks_back = s.kind in LOOKING_BACK
    frame = looking_back(spark, written) if looks_back else history(spark, written, emit)
    is_own = sf.col("k") != MARKER  # the result does not have the marker
    rows, total = sf.count_if(is_own), sf.sum(sf.when(is_own, frame.n))
    return frame.observe("totals", rows.alias("rows"), total.alias("sum"))


def arrived(spark: Any, written: Written, side: str) -> Any:
    """The rows of a folder, as a stream with a watermark."""
    from pyspark.sql import functions as sf

    s = written.stream
    reader = spark.readStream.schema("k INT, start BIGINT, third BIGINT")
    lines = reader.option("maxFilesPerTrigger", 1).csv(str(written.folder / side))
    rows = lines.select(
        "k",
        sf.timestamp_millis("start").alias("ts"),
        sf.timestamp_millis("third").alias("te") if s.kind == "running" else "third",
    )
    return rows.withWatermark("ts", f"{s.lateness} milliseconds")


def history(spark: Any, written: Written, emit: str) -> Any:
    s = written.stream
    arrived(spark, written, "batches").createOrReplaceTempView("arrived")
    spark.sql(f"CREATE OR REPLACE TEMP VIEW v AS SELECT * FROM {MARKED[s.kind]}")
    query = QUERIES[s.kind].format(length=s.length // 1000)
    return spark.sql(f"SELECT * FROM sequenced(TABLE({query}), emit => '{emit}')")


def looking_back(spark: Any, written: Written) -> Any:
    """An as-of join, or the average of the last events."""
    from intervalsweep.dataframe import as_of_join, window_union

    if written.stream.kind == "as_of":
        asking, changes = (arrived(spark, written, name) for name in sides(written.stream))
        found = as_of_join(asking.select("k", "ts"), changes, on="ts", by="k")
        return found.withColumnRenamed("third", "n")
    base, probe = (arrived(spark, written, "batches") for _ in range(2))
    aggregates = {"n": "avg(third)"}
    return window_union(
        base.select("k", "ts"), probe, on="ts", by="k", pre=None, max_rows=LAST, aggs=aggregates
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("cores", type=int)
    parser.add_argument("heap")
    parser.add_argument("--emit", default="final")
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE")
    arguments = parser.parse_args()
    written = read(arguments.folder.resolve())
    if written is None:
        parser.error(f"no stream has been written to {arguments.folder}")
    scratch = Path(tempfile.mkdtemp(dir=arguments.folder.resolve()))
    settings = SETTINGS | dict(pair.split("=", 1) for pair in arguments.set)
    spark = stream_session(arguments.cores, arguments.heap, scratch, settings)
    try:
        print(json.dumps(run(spark, written, scratch, arguments.emit)), flush=True)
    finally:
        spark.stop()
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
