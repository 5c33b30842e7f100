# SPDX-License-Identifier: Apache-2.0
"""Runs each query on all systems in turn, in one process, and prints medians and ratios.

python -m benchmarks.temporal [--rows 1000000] [--runs 5] [--cores 2]
"""

from __future__ import annotations

import argparse
import json
import tempfile
import threading
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.adapter import Limits
from benchmarks.studies.large import watch
from benchmarks.systems import ENABLED, spark_session
from benchmarks.temporal.queries import JOINS, QUERIES, Query
from benchmarks.turns import Way, medians_of

MEAN_LENGTH = 100
KEYS = 1_000
WARM_UP = 2
OURS = "sequenced"
SYSTEMS = (OURS, "DuckDB", "Spark")


def write(
    folder: Path, rows: int, hot: float = 0.0, *, mean_length: int = MEAN_LENGTH, sparse: int = 1
) -> None:
    """Writes r and s: periods of a mean length, over `sparse` times as many instants as rows."""
    random = np.random.default_rng(7)
    for name, value in (("r", "v"), ("s", "w")):
        start = random.integers(0, sparse * rows, rows)
        length = random.integers(1, 2 * mean_length, rows)
        keys = random.integers(0, KEYS, rows)
        keys[random.random(rows) < hot] = 0
        values = random.integers(0, KEYS, rows)
        columns = {"k": keys, value: values, "ts": start, "te": start + length}
        pq.write_table(pa.table(columns), folder / f"{name}.parquet", row_group_size=1 << 17)


def timed(
    runs: int, ways: Mapping[str, Way], *, agree: bool = True, warm_up: int = WARM_UP
) -> dict[str, float]:
    """Median seconds of runs that take turns; with `agree`, all answers must be equal."""
    return medians_of(ways, runs, warm_up, agree=agree)


def create_views(spark: Any, duck: Any, folder: Path, tables: Iterable[str]) -> None:
    """Makes a view of each table in both systems, and in Spark of its history, `{table}_valid`."""
    for name in tables:
        file = folder / f"{name}.parquet"
        duck.execute(f"CREATE VIEW {name} AS SELECT * FROM '{file}'")
        spark.read.parquet(str(file)).createOrReplaceTempView(name)
        marked = spark.sql(f"SELECT * FROM validtime(TABLE({name}), 'ts', 'te')")
        marked.createOrReplaceTempView(f"{name}_valid")


class Systems:
    """Spark and DuckDB, with views of the tables."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self.spark = spark_session(limits)
        self.duck = duckdb.connect(config={"threads": limits.cores})
        create_views(self.spark, self.duck, folder, "rs")

    def swept(self, text: str, enabled: str = "true") -> tuple[object, ...]:
        """The answer of Spark, with or without the extension's joins: one row."""
        self.spark.conf.set(ENABLED, enabled)
        return tuple(self.spark.sql(text).collect()[0])

    def in_duckdb(self, text: str) -> tuple[object, ...]:
        """The answer of DuckDB: one row."""
        return tuple(self.duck.execute(text).fetchall()[0])

    def ways(self, query: Query) -> dict[str, Way]:
        """The call that answers the query, for each system."""
        texts = query.texts()
        return {
            OURS: partial(self.swept, texts[OURS]),
            "DuckDB": partial(self.in_duckdb, texts["DuckDB"]),
            "Spark": partial(self.swept, texts["Spark"], "false"),
        }


def main() -> None:
    """Measures all queries and prints the results."""
    arguments = parsed()
    peaks: dict[str, int] = {}
    threading.Thread(target=watch, args=(peaks, threading.Event()), daemon=True).start()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write(folder, arguments.rows, arguments.hot)
        systems = Systems(folder, Limits(arguments.cores, arguments.heap, folder))
        asked = [query for query in QUERIES if arguments.only in query.title]
        queries = {query.title: compared(systems, query, arguments) for query in asked}
        joins = joined(systems, arguments) if arguments.only in "joins" else {}
        systems.spark.stop()
    print(f"peak resident MiB: {peaks}")
    if arguments.output:
        given = {key: value for key, value in vars(arguments).items() if key != "output"}
        found = {**given, "queries": queries, "joins": joins, "peak MiB": peaks}
        arguments.output.write_text(json.dumps(found, indent=1) + "\n")


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument(
        "--warm-up", type=int, default=WARM_UP, help="runs before the first that counts"
    )
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--heap", default="4g")
    parser.add_argument("--hot", type=float, default=0.0, help="the part of rows with one key")
    parser.add_argument("--only", default="", help="a part of the titles to run")
    parser.add_argument("--systems", nargs="+", default=SYSTEMS, choices=SYSTEMS)
    parser.add_argument("--output", type=Path, help="a file for the medians, as JSON")
    return parser.parse_args()


def compared(systems: Systems, query: Query, arguments: argparse.Namespace) -> dict[str, float]:
    """Measures and prints a query: the seconds of each system, and their ratios."""
    ways = systems.ways(query)
    chosen = {name: ways[name] for name in arguments.systems}
    took = timed(arguments.runs, chosen, warm_up=arguments.warm_up)
    parts = [f"{name} {seconds:.2f} s" for name, seconds in took.items()]
    for name, goal in zip(SYSTEMS[1:], query.goal, strict=True):
        if name in took and OURS in took:
            parts.append(f"{took[name] / took[OURS]:.2f} x {name} (goal {goal:g})")
    print(f"{query.title}: {', '.join(parts)}", flush=True)
    return took


def joined(systems: Systems, arguments: argparse.Namespace) -> dict[str, float]:
    """Measures and prints the joins of histories: seconds and ratios."""
    ways = {name: partial(systems.swept, text) for name, text in JOINS.items()}
    # The left join has more rows.
    took = timed(arguments.runs, ways, agree=False, warm_up=arguments.warm_up)
    inner = took["join"]
    by_hand = inner / took["the interval join by hand"]
    print(f"join {inner:.2f} s, {by_hand:.2f} of the interval join by hand (goal 1.1)")
    print(f"left join {took['left join'] / inner:.2f} of the join (goal 1.5)", flush=True)
    return took


if __name__ == "__main__":
    main()
