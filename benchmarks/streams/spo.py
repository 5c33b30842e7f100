# SPDX-License-Identifier: Apache-2.0
"""The self join of the SPO-Join paper by two inequalities, in a window of rows, inside Spark.

python -m benchmarks.streams.spo --window 1000000 --batch 100000 --cores 2

Trips whose fare nearly grows with their distance: `a.dist > b.dist AND a.fare < b.fare` (Q2 of
the paper) holds for a few pairs a trip. Measured are micro-batches once the window is full: probes
a second and pairs a second. Beside it, in the same run: a nested loop over the same window,
compiled by numba.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import intervalsweep
from intervalsweep.dataframe import inequality_join, rows

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "seq LONG, dist LONG, fare LONG"


def trips(count: int, spread: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    dist = rng.integers(0, 10**9, count)
    fare = dist + rng.integers(0, spread, count)
    return {"seq": np.arange(count), "dist": dist, "fare": fare}


@numba.njit  # type: ignore[untyped-decorator]
def nested_loop(dist: Any, fare: Any, probes: int) -> int:
    found = 0
    for i in range(probes):
        for j in range(len(dist)):
            if dist[i] > dist[j] and fare[i] < fare[j]:
                found += 1
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--window", type=int, default=10**6)
    parser.add_argument("--batch", type=int, default=10**5)
    parser.add_argument("--full", type=int, default=4, help="micro-batches with a full window")
    parser.add_argument("--matches", type=float, default=5, help="pairs a probe, about")
    parser.add_argument("--cores", type=int, default=2)
    arguments = parser.parse_args()
    filling = arguments.window // arguments.batch
    total = (filling + arguments.full) * arguments.batch
    # Two trips are a pair if their distances are near each other and their fares are not in order.
    spread = int(arguments.matches * 10**9 / arguments.window * 3)
    columns = trips(total, spread, 1)
    work = Path(tempfile.mkdtemp())
    for number in range(filling + arguments.full):
        part = slice(number * arguments.batch, (number + 1) * arguments.batch)
        (work / "trips").mkdir(exist_ok=True)
        table = pa.table({name: values[part] for name, values in columns.items()})
        pq.write_table(table, work / "trips" / f"{number:05}.parquet")
    builder = SparkSession.builder.master(f"local[{arguments.cores}]").config(
        "spark.sql.shuffle.partitions", arguments.cores
    )
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "6g",
        "spark.log.level": "ERROR",
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    }.items():
        builder = builder.config(key, value)
    spark = intervalsweep.configure(builder).getOrCreate()
    try:
        print(json.dumps(measured(spark, work, arguments)))
    finally:
        spark.stop()
        shutil.rmtree(work)
    first = {name: values[: arguments.window] for name, values in columns.items()}
    nested_loop(first["dist"], first["fare"], 1)
    start = time.perf_counter()
    nested_loop(first["dist"], first["fare"], 2000)
    print(json.dumps({"nested loop, probes/s": round(2000 / (time.perf_counter() - start))}))


def measured(spark: Any, work: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    joined = inequality_join(
        stream.parquet(str(work / "trips")),
        None,
        "a.dist > b.dist AND a.fare < b.fare",
        window=rows(arguments.window),
    )
    query = (
        joined.writeStream.format("noop")
        .option("checkpointLocation", str(work / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    progress = [p for p in query.recentProgress if p["numInputRows"]]
    full = progress[-arguments.full :]
    seconds = sum(p["durationMs"]["addBatch"] for p in full) / 1000
    pairs = sum(p["sink"]["numOutputRows"] for p in full)
    commit = sum(p["stateOperators"][0]["commitTimeMs"] for p in full) / 1000
    return {
        "window": arguments.window,
        "batch": arguments.batch,
        "cores": arguments.cores,
        "probes/s": round(len(full) * arguments.batch / seconds),
        "pairs/s": round(pairs / seconds),
        "pairs/probe": round(pairs / len(full) / arguments.batch, 2),
        "commit, s": round(commit / len(full), 2),
        "seconds a batch": [p["durationMs"]["addBatch"] / 1000 for p in progress],
        "state rows": full[-1]["stateOperators"][0]["numRowsTotal"],
        "memory, bytes": full[-1]["stateOperators"][0]["memoryUsedBytes"],
    }


if __name__ == "__main__":
    main()
