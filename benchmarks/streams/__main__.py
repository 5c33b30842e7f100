# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.streams A IV`: how many events a second, from Parquet files."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.streams.workloads import WORKLOADS, Workload, write

PROVIDER = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
FOLDER = Path("target/benchmarks/streams")

OURS = """
SELECT base.k, base.ts, w.* FROM base LEFT JOIN LATERAL (
  SELECT count(*) AS n, sum(v) AS total, max(v) AS greatest FROM probe
  WHERE probe.k = base.k AND probe.ts BETWEEN base.ts - {window} AND base.ts) w ON true"""

# What Spark can do by itself: a row without partners is lost, and rows of a base row with the same
# key and time are counted together.
SPARKS = """
SELECT base.k, base.ts, count(*) AS n, sum(probe.v) AS total, max(probe.v) AS greatest
FROM base JOIN probe
  ON probe.k = base.k AND probe.ts BETWEEN base.ts - {window} AND base.ts
GROUP BY base.k, base.ts"""


def session() -> Any:
    from pyspark.sql import SparkSession

    import intervalsweep

    builder = SparkSession.builder.master("local[2]").appName("streams")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "6g",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.streaming.stateStore.providerClass": PROVIDER,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.files.openCostInBytes": "0",
        "spark.local.dir": str(FOLDER / "local"),
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = intervalsweep.configure(builder).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def cpu_seconds(spark: Any) -> float:
    """What Spark's process has worked so far, on all cores."""
    stat = Path(f"/proc/{spark.sparkContext._gateway.proc.pid}/stat").read_text().rpartition(")")[2]
    return sum(map(int, stat.split()[11:13])) / os.sysconf("SC_CLK_TCK")


def run(spark: Any, text: str, w: Workload, folder: Path, files: int, cap: float) -> dict[str, Any]:
    """Streams the workload; says how many events a second, without the first two micro-batches."""
    for name in ("base", "probe"):
        reader = spark.readStream.schema("k INT, ts TIMESTAMP, v DOUBLE")
        stream = reader.option("maxFilesPerTrigger", files).parquet(str(folder / name))
        stream.withWatermark("ts", f"{w.lateness} milliseconds").createOrReplaceTempView(name)
    window = f"INTERVAL '{w.window / 1000}' SECOND"
    checkpoint = tempfile.mkdtemp(dir=folder)
    frame = spark.sql(text.format(window=window))
    writer = frame.writeStream.format("noop").outputMode("append").trigger(availableNow=True)
    started, worked = time.perf_counter(), cpu_seconds(spark)
    query = writer.option("checkpointLocation", checkpoint).start()
    ended = query.awaitTermination(cap)
    seconds = time.perf_counter() - started
    worked = cpu_seconds(spark) - worked
    query.stop()
    shutil.rmtree(checkpoint)
    some = [p for p in query.recentProgress if p.numInputRows > 0]
    rows = sum(p.numInputRows for p in some[2:])
    millis = sum(p.batchDuration for p in some[2:])
    last: dict[str, Any] = json.loads(query.recentProgress[-1].json) if some else {}
    return {
        "complete": ended,
        "seconds": round(seconds, 2),
        "cpu us/event": round(1e6 * worked / max(1, sum(p.numInputRows for p in some)), 3),
        "batches": len(some),
        "events/s": round(1000 * rows / millis) if millis else None,
        "late": sum(
            m.get("lateRows") or 0
            for p in query.recentProgress
            for m in (r.asDict() for r in p.observedMetrics.values())
        ),
        "phases": last.get("durationMs"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="*", default=["A", "IV"], help=", ".join(WORKLOADS))
    parser.add_argument("--batches", type=int, default=10)
    parser.add_argument("--files", type=int, default=2, help="of a side and a micro-batch")
    parser.add_argument("--cap", type=float, default=120, help="seconds for each run")
    parser.add_argument("--spark", action="store_true", help="Spark's own join and aggregate, too")
    arguments = parser.parse_args()
    spark = session()
    for name in arguments.workloads:
        w = WORKLOADS[name]
        folder = (FOLDER / name).resolve()
        expected = write(w, folder, arguments.batches, arguments.files)
        print(json.dumps({"workload": name, **expected}), flush=True)
        plans = {"ours": OURS, **({"spark": SPARKS} if arguments.spark else {})}
        for plan, text in plans.items():
            result = run(spark, text, w, folder, arguments.files, arguments.cap)
            print(json.dumps({"workload": name, "plan": plan, **result}), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
