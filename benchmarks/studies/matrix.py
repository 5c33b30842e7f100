# SPDX-License-Identifier: Apache-2.0
"""Compares the sweep with Spark's own plan, by keys, sizes and join types, in one session.

The goal is that the sweep is never slower by more than a fifth. Spark's nested loop is left out if
it would compare more than `--most` pairs.

    python -m benchmarks.studies.matrix [--runs 5] [--most 3e9] [--sizes 1000 ...] [--keys 0 1 ...]
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.adapter import Limits
from benchmarks.data import Synthetic
from benchmarks.systems import ENABLED, spark_session
from benchmarks.turns import medians_of
from benchmarks.workloads import Join, Workload

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JOINS: tuple[Join, ...] = ("inner", "left", "semi", "anti")
WARMING = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--most", type=float, default=3e9)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--keys", type=int, nargs="+", default=[0, 1, 10, 1000, 1_000_000])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        spark = spark_session(Limits(os.cpu_count() or 1, "4g", Path(scratch)))
        print(
            "| rows | keys | join | IntervalSweep s | Spark s | ratio |\n|---|---|---|---|---|---|"
        )
        for rows in options.sizes:
            for keys in options.keys:
                for line in cells(spark, options, rows, keys):
                    print(line, flush=True)
        spark.stop()


def cells(spark: SparkSession, options: argparse.Namespace, rows: int, keys: int) -> Iterator[str]:
    """The lines of the table for one size and number of keys."""
    tables = Synthetic(matches=10, keys=max(keys, 1))
    with tempfile.TemporaryDirectory() as name:
        tables.write(Path(name), rows)
        r, s = (f"parquet.`{name}/{side}.parquet`" for side in "rs")
        for join in JOINS:
            workload = Workload(join, "", tables, join=join, is_keyed=keys > 0)
            query = workload.sql(r, s, workload.on())
            ways = ["true"]
            if rows * rows / max(keys, 1) <= options.most:
                ways.append("false")
            swept, *spark_own = medians(spark, query, ways, options.runs)
            beside = f"{spark_own[0]:.3f} | {swept / spark_own[0]:.2f}" if spark_own else "- | -"
            yield f"| {rows} | {keys} | {join} | {swept:.3f} | {beside} |"


def medians(spark: SparkSession, query: str, ways: list[str], runs: int) -> list[float]:
    """Seconds with the extension on or off, in turn; the answers must be equal."""

    def way(enabled: str) -> tuple[object, ...]:
        spark.conf.set(ENABLED, enabled)
        return tuple(spark.sql(query).collect()[0])

    seconds = medians_of({each: partial(way, each) for each in ways}, runs, WARMING)
    return [seconds[each] for each in ways]


if __name__ == "__main__":
    main()
