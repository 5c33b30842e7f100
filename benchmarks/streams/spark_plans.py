# SPDX-License-Identifier: Apache-2.0
"""Runs a written workload once in Spark, in a separate process; prints one line of JSON."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.streams.session import observed, stream_session
from benchmarks.streams.workloads import Written, read

SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.files.openCostInBytes": "0",
}

OURS = """
SELECT base.k, base.ts, w.* FROM base LEFT JOIN LATERAL (
  SELECT count(*) AS n, sum(v) AS total, max(v) AS greatest FROM probe
  WHERE probe.k = base.k AND probe.ts BETWEEN base.ts - {window} AND base.ts) w ON true"""

# Spark's own plan loses base rows with an empty window, and has one result row for all base rows
# with the same key and time.
SPARKS = """
SELECT base.k, base.ts, count(*) AS n, sum(probe.v) AS total, max(probe.v) AS greatest
FROM base JOIN probe
  ON probe.k = base.k AND probe.ts BETWEEN base.ts - {window} AND base.ts
GROUP BY base.k, base.ts"""

INTERVALS = """(SELECT *, timestamp_micros(unix_micros(ts) + 1000
  + 1000 * CAST(floor(v * {longest}) AS BIGINT)) AS te FROM {side})"""

# Each pair is a row, with the columns of a window's row.
OVERLAPS = """
SELECT 1L AS n, s.v AS total
FROM {r} r JOIN {s} s ON {keys}ALLEN_OVERLAPS(r.ts, r.te, s.ts, s.te)"""

# Each r is in all time buckets that it touches, each s only in the bucket in which it starts, so
# that each pair is found once. The longest interval bounds the state.
BUCKETS = """
SELECT 1L AS n, s.v AS total
FROM (SELECT *, explode(sequence(unix_millis(ts) DIV {longest}, unix_millis(te) DIV {longest})) AS b
  FROM {r}) r
JOIN (SELECT *, unix_millis(ts) DIV {longest} AS b FROM {s}) s
  ON {keys}r.b = s.b AND r.ts < s.ts AND s.ts < r.te AND r.te < s.te
  AND s.ts BETWEEN r.ts AND r.ts + {window}"""

PLANS = {"ours": OURS, "spread": OURS, "spark": SPARKS, "overlaps": OVERLAPS, "buckets": BUCKETS}
SIDES = {"r": "base", "s": "probe"}
MORE = {"spread": {"spark.sql.intervalsweep.streamFanout": "0"}}


def cpu_seconds(spark: Any) -> float:
    """Processor seconds of Spark's process so far, on all cores."""
    stat = Path(f"/proc/{spark.sparkContext._gateway.proc.pid}/stat").read_text().rpartition(")")[2]
    return sum(map(int, stat.split()[11:13])) / os.sysconf("SC_CLK_TCK")


def run(spark: Any, plan: str, written: Written, scratch: Path, cap: float) -> dict[str, Any]:
    """Streams the workload until the last window is emitted, or until the cap."""
    frame = features(spark, plan, written)
    writer = frame.writeStream.format("noop").outputMode("append").trigger(availableNow=True)
    started, worked = time.perf_counter(), cpu_seconds(spark)
    query = writer.option("checkpointLocation", str(scratch / "checkpoint")).start()
    complete = query.awaitTermination(cap)
    seconds = time.perf_counter() - started
    worked = cpu_seconds(spark) - worked
    progress = query.recentProgress
    query.stop()
    return {
        "complete": complete,
        **rate(progress, written.warm, complete, seconds),
        "cpu": round(worked, 2),
        **counts(progress),
    }


def features(spark: Any, plan: str, written: Written) -> Any:
    """The query, which observes the number of rows and the totals of `workloads.totals`."""
    from pyspark.sql import functions as sf

    w = written.workload
    for name in ("base", "probe"):
        reader = spark.readStream.schema("k INT, ts TIMESTAMP, v DOUBLE")
        stream = reader.option("maxFilesPerTrigger", written.files).parquet(
            str(written.folder / name)
        )
        stream.withWatermark("ts", f"{w.lateness} milliseconds").createOrReplaceTempView(name)
    text = PLANS[plan].format(
        window=f"INTERVAL '{w.window / 1000}' SECOND",
        longest=w.window,
        keys="r.k = s.k AND " if w.keys > 1 else "",
        **{name: INTERVALS.format(longest=w.window, side=side) for name, side in SIDES.items()},
    )
    frame = spark.sql(text)
    return frame.observe(
        "totals",
        sf.count("*").alias("rows"),
        sf.sum("n").alias("pairs"),
        sf.sum("total").alias("sum"),
    )


def rate(progress: list[Any], warm: int, complete: bool, seconds: float) -> dict[str, Any]:
    """
    The measured events and seconds: without the first micro-batches, if later ones have ended.

    The last micro-batch has no input rows and emits the windows that waited for it. Its seconds
    (`drain`) count against the plan, as the first measured micro-batch emits the windows of an
    unmeasured one.
    """
    done = sum(1 for p in progress if p.numInputRows)
    is_warm = done > warm
    rest = progress[warm:] if is_warm else progress
    millis = sum(p.batchDuration for p in rest)
    skipped = sum(p.batchDuration for p in progress[:warm]) if is_warm else 0
    return {
        "warm": is_warm,
        "events": sum(p.numInputRows for p in progress),
        "measured": sum(p.numInputRows for p in rest),
        "seconds": round(millis / 1000 if complete else seconds - skipped / 1000, 3),
        "drain": sum(p.batchDuration for p in rest if not p.numInputRows) / 1000,
        "batches": [p.batchDuration for p in progress],
    }


def counts(progress: list[Any]) -> dict[str, Any]:
    """The totals of the output, and the metrics of the operator."""
    metrics = [m.asDict() for p in progress for m in p.observedMetrics.values()]
    slices = [m["storedBuckets"] for m in metrics if m.get("storedBuckets") is not None]
    last = [p for p in progress if p.numInputRows][-1:]
    return {
        "rows": observed(progress, "rows"),
        "pairs": observed(progress, "pairs"),
        "sum": observed(progress, "sum"),
        "late": observed(progress, "lateRows"),
        "slices": max(slices, default=None),
        "phases": json.loads(last[0].json)["durationMs"] if last else None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plan", choices=PLANS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("cap", type=float, help="seconds")
    parser.add_argument("cores", type=int)
    parser.add_argument("heap")
    arguments = parser.parse_args()
    written = read(arguments.folder.resolve())
    if written is None:
        parser.error(f"no workload has been written to {arguments.folder}")
    scratch = Path(tempfile.mkdtemp(dir=arguments.folder.resolve()))
    settings = {**SETTINGS, **MORE.get(arguments.plan, {})}
    spark = stream_session(arguments.cores, arguments.heap, scratch, settings)
    try:
        print(json.dumps(run(spark, arguments.plan, written, scratch, arguments.cap)), flush=True)
    finally:
        spark.stop()
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
