# SPDX-License-Identifier: Apache-2.0
"""The costs of a million rows, and predictions for more rows and for a cluster.

Measures the anchor, distributed and aggregated from runs, at three sizes: the processor time of the
Java machine and of the workers, and the bytes that move. Both grow in proportion to the rows, so a
size that was not measured takes

    seconds = fixed + (processor seconds of a million rows) * millions / (cores * use)

`fixed` is the time to plan and to start jobs; `use` is the share of the cores that a query keeps
busy. Both follow from the smallest and the middle size. The largest size checks the prediction.

    python -m benchmarks.studies.costs [--rows 100000 1000000 4000000] [--runs 7]
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.adapter import Limits
from benchmarks.data import Synthetic
from benchmarks.processes import descendants
from benchmarks.systems import BROADCAST, name_tables, spark_session
from benchmarks.workloads import Workload

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MEGA = 1_000_000
WARMING = 8
METRICS = ("shuffleBytesWritten", "pythonDataSent", "pythonDataReceived", "replicatedRows")
NODES, CORES_PER_NODE, NETWORK = 100, 16, 1.25e9  # bytes a second into each node


@dataclass(frozen=True)
class Cost:
    """The medians of one size, in seconds and bytes."""

    rows: int
    wall: float
    jvm: float
    workers: float
    shuffled: int
    sent: int
    returned: int
    replicated: int

    @property
    def processor(self) -> float:
        """Processor seconds of the Java machine and the workers."""
        return self.jvm + self.workers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs=3, default=[MEGA // 10, MEGA, 4 * MEGA])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        spark = spark_session(Limits(options.cores, "4g", Path(name)), **{BROADCAST: "-1"})
        costs = [measured(spark, Path(name), rows, options.runs) for rows in options.rows]
        spark.stop()
    print("| " + " | ".join(field.name for field in fields(Cost)) + " |")
    print("|" + "--:|" * len(fields(Cost)))
    for cost in costs:
        print("| " + " | ".join(shown(value) for value in vars(cost).values()) + " |")
    predict(costs, options.cores)


def measured(spark: SparkSession, folder: Path, rows: int, runs: int) -> Cost:
    """The cost of the anchor with `rows` rows a side, warm."""
    workload = Workload("anchor", "", Synthetic())
    data = folder / str(rows)
    data.mkdir()
    workload.tables.write(data, rows)
    name_tables(spark, data)
    query = workload.sql("r", "s", workload.on())
    costs = [once(spark, query, rows) for _ in range(WARMING + runs)][WARMING:]
    medians = [
        statistics.median(getattr(cost, field.name) for cost in costs) for field in fields(Cost)
    ]
    return Cost(*medians)


def once(spark: SparkSession, query: str, rows: int) -> Cost:
    java, workers = processor_seconds()
    start = time.perf_counter()
    frame = spark.sql(query)
    frame.collect()
    wall = time.perf_counter() - start
    java_after, workers_after = processor_seconds()
    figures = join_metrics(frame)
    return Cost(
        rows, wall, java_after - java, workers_after - workers, figures["shuffleBytesWritten"],
        figures["pythonDataSent"], figures["pythonDataReceived"], figures["replicatedRows"],
    )  # fmt: skip


def processor_seconds() -> tuple[float, float]:
    """Seconds used so far by the Java machine, and by other descendants of this process."""
    tick = os.sysconf("SC_CLK_TCK")
    java = others = 0.0
    for pid in descendants(os.getpid()):
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        except OSError:  # the process has just ended
            continue
        name, values = (
            stat[stat.index("(") + 1 : stat.rindex(")")],
            stat[stat.rindex(")") :].split(),
        )
        seconds = (int(values[12]) + int(values[13])) / tick
        if name == "java":
            java += seconds
        else:
            others += seconds
    return java, others


def join_metrics(frame: Any) -> dict[str, int]:
    """The metrics of the join, after the query has run."""
    nodes = [frame._jdf.queryExecution().executedPlan()]
    while True:
        node = nodes.pop(0)
        name = node.nodeName()
        if "IntervalSweepJoin" in name:
            metrics = node.metrics()
            known = {key: metrics.get(key) for key in METRICS}
            return {key: int(value.get().value()) for key, value in known.items()}
        if "Adaptive" in name:
            nodes.append(node.finalPhysicalPlan())
        elif "QueryStage" in name:
            nodes.append(node.plan())
        else:
            nodes += [node.children().apply(k) for k in range(node.children().size())]


def shown(value: float) -> str:
    return f"{value:.2f}" if isinstance(value, float) and value < 1000 else f"{value:,.0f}"


def predict(costs: list[Cost], cores: int) -> None:
    """Prints the model, and its predictions for the largest size and for a cluster."""
    small, middle, large = costs
    millions = (middle.rows - small.rows) / MEGA
    each = (middle.processor - small.processor) / millions
    slope = (middle.wall - small.wall) / millions
    fixed = small.wall - slope * small.rows / MEGA
    use = each / (slope * cores)
    print(
        f"\nfixed {fixed:.2f} s; a million rows a side {each:.2f} processor seconds; use {use:.2f}"
    )
    said = fixed + each * large.rows / MEGA / (cores * use)
    print(f"{large.rows:,} rows: {said:.2f} s predicted, {large.wall:.2f} s measured")
    rows = 10_000 * MEGA
    computing = each * rows / MEGA / (NODES * CORES_PER_NODE * use)
    moving = middle.shuffled / middle.rows * rows / (NODES * NETWORK)
    print(
        f"{rows:,} rows a side on {NODES} nodes of {CORES_PER_NODE} cores: {computing:.0f} s of"
        f" computing, {moving:.0f} s of shuffling at {NETWORK / 1e9:g} GB/s a node"
    )


if __name__ == "__main__":
    main()
