# SPDX-License-Identifier: Apache-2.0
"""The fixed costs of a query: 1,000 rows, one more task, one more key group.

Compares with Spark's own plan, warm, in one session. Both sides are distributed, and adaptive
execution does not merge tasks. The cost of a task or a group is the difference between a query with
many and a query with few of them over the same rows, divided by their number.

    python -m benchmarks.studies.overheads [--runs 9]
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.adapter import Limits
from benchmarks.data import Synthetic
from benchmarks.studies.matrix import medians
from benchmarks.systems import BROADCAST, name_tables, spark_session
from benchmarks.workloads import Workload

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {BROADCAST: "-1", "spark.sql.adaptive.enabled": "false"}
TASKS = (4, 404)
GROUPS = (10_000, 1_000_000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=9)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        spark = spark_session(Limits(os.cpu_count() or 1, "4g", Path(scratch)), **SETTINGS)
        print("| what | IntervalSweep | Spark |\n|---|--:|--:|")
        print(line("a query of 1,000 rows a side, ms", seconds(spark, 1_000, 10, 4, runs), 1e3))
        tasks = [seconds(spark, 10_000, 1_000, number, runs) for number in TASKS]
        print(line("one more task, ms", slopes(TASKS, tasks), 1e3))
        groups = [seconds(spark, 1_000_000, number, 4, runs) for number in GROUPS]
        print(line("one more key group, microseconds", slopes(GROUPS, groups), 1e6))
        spark.stop()


def seconds(spark: SparkSession, rows: int, keys: int, tasks: int, runs: int) -> list[float]:
    """The median seconds of the sweep and of Spark's own plan."""
    workload = Workload("inner", "", Synthetic(matches=10, keys=keys), is_keyed=True)
    with tempfile.TemporaryDirectory() as name:
        workload.tables.write(Path(name), rows)
        name_tables(spark, Path(name))
        spark.conf.set("spark.sql.shuffle.partitions", str(tasks))
        return medians(spark, workload.sql("r", "s", workload.on()), ["true", "false"], runs)


def slopes(numbers: tuple[int, int], seconds: list[list[float]]) -> list[float]:
    """Seconds for each additional task or group."""
    few, many = seconds
    return [(b - a) / (numbers[1] - numbers[0]) for a, b in zip(few, many, strict=True)]


def line(what: str, figures: list[float], unit: float) -> str:
    return f"| {what} | " + " | ".join(f"{figure * unit:.3g}" for figure in figures) + " |"


if __name__ == "__main__":
    main()
