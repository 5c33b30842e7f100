# SPDX-License-Identifier: Apache-2.0
"""Window unions of tables, beside a join of as many pairs and beside SQL by hand.

python -m benchmarks.streams.batch [--rows 1000000] [--runs 5] [--output FILE]

Each base row gets count, sum and max of a hundred probe rows on average, by a thousand keys or not.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.adapter import Limits
from benchmarks.machine import heading
from benchmarks.systems import ENABLED, spark_session
from benchmarks.temporal.__main__ import KEYS, timed

PARTNERS = 100
OURS, JOIN, DUCKDB = "window union", "the join", "DuckDB"
GOALS = {JOIN: "at least 0.67", DUCKDB: "at least 3"}
AGGREGATES = "count({v}) AS n, sum({v}) AS total, max({v}) AS most"
# One row of all, in which NULL is not zero.
SUMS = "SELECT count(*), sum(n), sum(total), sum(coalesce(most, -1)) FROM ({}) AS all_"
LATERAL = """SELECT b.*, w.* FROM base b LEFT JOIN LATERAL (
  SELECT {aggregates} FROM probe p WHERE {keys}p.ts BETWEEN b.ts - {length} AND b.ts) w ON true"""
GROUPED = """SELECT b.id, {aggregates} FROM base b LEFT JOIN probe p
  ON {keys}p.ts BETWEEN b.ts - {length} AND b.ts GROUP BY b.id"""
# What a window function can do: both tables in one, in which base rows have no value.
OVER = """SELECT * FROM (SELECT is_base, {aggregates} FROM (
    SELECT k, ts, NULL AS v, true AS is_base FROM base
    UNION ALL SELECT k, ts, v, false FROM probe) AS u
  WINDOW w AS ({partition}ORDER BY ts RANGE BETWEEN {length} PRECEDING AND CURRENT ROW)) AS o
WHERE is_base"""
PAIRS = (
    "SELECT count(*), sum(p.v) FROM base b JOIN probe p "
    "ON {keys}p.ts BETWEEN b.ts - {length} AND b.ts"
)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=10**6, help="of each table")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--output", type=Path, help="a file for the medians, as JSON")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        systems = Systems(Path(scratch), arguments.rows)
        found = {title: systems.compared(title, arguments.runs) for title in ("by key", "of all")}
        systems.spark.stop()
    if arguments.output:
        about = {"rows": arguments.rows, "runs": arguments.runs}
        results = {**heading(), **about, "seconds": found}
        arguments.output.write_text(json.dumps(results, indent=1) + "\n")


class Systems:
    """Spark and DuckDB, each with the tables."""

    def __init__(self, folder: Path, rows: int) -> None:
        self.spark = spark_session(Limits(2, "4g", folder))
        self.duck = duckdb.connect(config={"threads": 2})
        random = np.random.default_rng(7)
        for name in ("base", "probe"):
            columns = {
                "id": np.arange(rows),
                "k": random.integers(0, KEYS, rows),
                "ts": random.integers(0, rows, rows),
                "v": random.integers(0, 1000, rows),
            }
            file = folder / f"{name}.parquet"
            pq.write_table(pa.table(columns), file, row_group_size=1 << 17)
            self.duck.execute(f"CREATE VIEW {name} AS SELECT * FROM '{file}'")
            self.spark.read.parquet(str(file)).createOrReplaceTempView(name)

    def compared(self, title: str, runs: int) -> dict[str, float]:
        """Seconds of each way, printed with their ratios."""
        is_keyed = title == "by key"
        given = {
            "keys": "p.k = b.k AND " if is_keyed else "",
            "partition": "PARTITION BY k " if is_keyed else "",
            # Each of the instants has a probe row, and of a key one in a thousand has.
            "length": PARTNERS * (KEYS if is_keyed else 1) - 1,
        }
        took = timed(runs, self.ways(given))
        took[JOIN] = timed(runs, {JOIN: self.swept(PAIRS.format(**given))})[JOIN]
        parts = [
            f"{name} {seconds:.2f} s, {seconds / took[OURS]:.2f} x"
            + (f" ({GOALS[name]})" if name in GOALS else "")
            for name, seconds in took.items()
        ]
        print(f"{title}: {'; '.join(parts)}", flush=True)
        return took

    def ways(self, given: dict[str, Any]) -> dict[str, Callable[[], tuple[object, ...]]]:
        def text(query: str, over: str = "") -> str:
            value = "v" if over else "p.v"
            aggregates = AGGREGATES.format(v=value)
            if over:
                aggregates = aggregates.replace(" AS ", f" {over} AS ")
            return SUMS.format(query.format(aggregates=aggregates, **given))

        lateral, over = text(LATERAL), text(OVER, "OVER w")
        return {
            OURS: self.swept(lateral),
            DUCKDB: partial(self.ducks, over),
            "DuckDB, grouped": partial(self.ducks, text(GROUPED)),
            "Spark, OVER": self.swept(over, "false"),
        }

    def swept(self, text: str, enabled: str = "true") -> Callable[[], tuple[object, ...]]:
        def run() -> tuple[object, ...]:
            self.spark.conf.set(ENABLED, enabled)
            return tuple(self.spark.sql(text).collect()[0])

        return run

    def ducks(self, text: str) -> tuple[object, ...]:
        found = self.duck.execute(text).fetchall()[0]
        return tuple(found)


if __name__ == "__main__":
    main()
