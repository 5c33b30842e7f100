# SPDX-License-Identifier: Apache-2.0
"""Runs the queries in turn by all systems, in one process, and prints medians and ratios.

.venv/bin/python -m benchmarks.temporal [--rows 1000000] [--runs 5] [--cores 2]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.adapter import Limits
from benchmarks.systems import ENABLED, spark_session
from benchmarks.temporal.queries import JOINS, QUERIES, Query

MEAN_LENGTH = 100
KEYS = 1_000


def write(folder: Path, rows: int, hot: float = 0.0) -> None:
    """Writes r and s: periods of a mean length of 100, as many starts as instants."""
    random = np.random.default_rng(7)
    for name, value in (("r", "v"), ("s", "w")):
        start = random.integers(0, rows, rows)
        length = random.integers(1, 2 * MEAN_LENGTH, rows)
        keys = random.integers(0, KEYS, rows)
        keys[random.random(rows) < hot] = 0
        values = random.integers(0, KEYS, rows)
        columns = {"k": keys, value: values, "ts": start, "te": start + length}
        pq.write_table(pa.table(columns), folder / f"{name}.parquet", row_group_size=1 << 17)


def timed(runs: int, ways: Mapping[str, Callable[[], tuple[object, ...]]]) -> dict[str, float]:
    """Medians in seconds, of runs that take turns; all answers have to be the same."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    answers = {}
    for run in range(runs + 2):
        for name, way in ways.items():
            begin = time.perf_counter()
            answers[name] = tuple(int(value) for value in way())  # type: ignore[call-overload]
            if run >= 2:  # the first two compile
                seconds[name].append(time.perf_counter() - begin)
    assert len(set(answers.values())) == 1 or "left join" in ways, answers
    return {name: statistics.median(all_) for name, all_ in seconds.items()}


class Systems:
    """The systems, each with the tables."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self.spark = spark_session(limits)
        self.duck = duckdb.connect(config={"threads": limits.cores})
        for name in "rs":
            file = folder / f"{name}.parquet"
            self.duck.execute(f"CREATE VIEW {name} AS SELECT * FROM '{file}'")
            self.spark.read.parquet(str(file)).createOrReplaceTempView(name)
            self.spark.sql(
                f"CREATE OR REPLACE TEMP VIEW {name}_valid AS "
                f"SELECT * FROM validtime(TABLE({name}), 'ts', 'te')"
            )

    def swept(self, text: str, enabled: str = "true") -> tuple[object, ...]:
        """The one row of an answer."""
        self.spark.conf.set(ENABLED, enabled)
        return tuple(self.spark.sql(text).collect()[0])

    def ways(self, query: Query) -> dict[str, Callable[[], tuple[object, ...]]]:
        """How each system answers."""
        texts = query.texts()
        return {
            "sequenced": lambda: self.swept(texts["sequenced"]),
            "DuckDB": lambda: self.duck.execute(texts["DuckDB"]).fetchall()[0],
            "Spark": lambda: self.swept(texts["Spark"], "false"),
        }


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--heap", default="4g")
    parser.add_argument("--hot", type=float, default=0.0, help="the part of rows with one key")
    parser.add_argument("--only", default="", help="a part of the titles to run")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write(folder, arguments.rows, arguments.hot)
        limits = Limits(arguments.cores, arguments.heap, folder)
        systems = Systems(folder, limits)
        print("| query | sequenced s | DuckDB s | Spark s | x DuckDB | x Spark | goals |")
        print("|---|---|---|---|---|---|---|")
        for query in QUERIES:
            if arguments.only not in query.title:
                continue
            took = timed(arguments.runs, systems.ways(query))
            own, duck, spark = (took[name] for name in ("sequenced", "DuckDB", "Spark"))
            print(
                f"| {query.title} | {own:.2f} | {duck:.2f} | {spark:.2f} | {duck / own:.2f} | "
                f"{spark / own:.2f} | {query.goal[0]:g}, {query.goal[1]:g} |",
                flush=True,
            )
        if arguments.only in "joins":
            joins = {name: partial(systems.swept, text) for name, text in JOINS.items()}
            took = timed(arguments.runs, joins)
            inner = took["join"]
            by_hand = inner / took["the interval join by hand"]
            print(f"join {inner:.2f} s, {by_hand:.2f} of the interval join by hand (goal 1.1)")
            print(f"left join {took['left join'] / inner:.2f} of the join (goal 1.5)")
        systems.spark.stop()


if __name__ == "__main__":
    main()
