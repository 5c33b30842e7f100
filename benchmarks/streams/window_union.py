# SPDX-License-Identifier: Apache-2.0
"""Compares the window union of tables with the join that it contains, and with DuckDB.

The query computes, for each of a million rows of `base`, the count and the sum of about a hundred
earlier rows of `probe`, from Parquet files to one row of sums, with 1,000 keys and without keys.
DuckDB runs the same text, and OVER the union of both tables, which has no join. Spark also runs
LEFT JOIN with GROUP BY. A ratio is the median of the ratios of runs that follow each other. A wrong
answer ends the program.

    python -m benchmarks.streams.window_union [--rows 1000000] [--runs 7] [--warm-up 5] [--duckdb]
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.adapter import Limits
from benchmarks.machine import heading
from benchmarks.systems import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEYS = 1000
SPAN = 10**7
MATCHES = 100
SIDES = ("base", "probe")


def main() -> None:
    """Measures all ways and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--warm-up", type=int, default=5, help="runs before it is measured")
    parser.add_argument("--duckdb", action="store_true", help="beside DuckDB, too")
    parser.add_argument("--output", type=Path, help="a file for the lines, as Markdown")
    options = parser.parse_args()
    lines = ["| windows | what | seconds | window union is times faster |", "|---|---|--:|--:|"]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        write(Path(scratch), options.rows)
        spark = spark_session(Limits(os.cpu_count() or 1, "4g", Path(scratch)))
        for side in SIDES:
            spark.read.parquet(f"{scratch}/{side}").createOrReplaceTempView(side)
        print("\n".join(lines))
        for name in ("keys", "no keys"):
            ways = ours(spark, name, options.rows)
            if options.duckdb:
                ways |= duckdb_ways(Path(scratch), name, options.rows)
            for line in compared(name, ways, options.runs, options.warm_up):
                print(line, flush=True)
                lines.append(line)
        spark.stop()
    if options.output:
        about = heading()
        size = f"{options.rows:,} rows a side, {options.runs} runs"
        title = f"{size}; {about['machine']['cpu']}, {about['date']}, commit {about['commit']}."
        options.output.write_text("\n".join([title, "", *lines, ""]), encoding="utf-8")


def write(folder: Path, rows: int) -> None:
    """Writes two tables, each in as many files as there are cores."""
    draw = np.random.default_rng(24)
    files = os.cpu_count() or 1
    for side in SIDES:
        (folder / side).mkdir()
        for part in range(files):
            count = rows // files + (part < rows % files)
            columns = {
                "k": draw.integers(0, KEYS, count),
                "ts": draw.integers(0, SPAN, count),
                "v": draw.integers(0, 1000, count),
            }
            pq.write_table(pa.table(columns), folder / side / f"{part}.parquet")


def window(name: str, rows: int) -> tuple[str, int]:
    """The condition, and the length of the window, for about MATCHES matches a row."""
    groups = KEYS if name == "keys" else 1
    back = SPAN * MATCHES * groups // rows
    keyed = "probe.k = base.k AND " if name == "keys" else ""
    return f"{keyed}probe.ts BETWEEN base.ts - {back} AND base.ts", back


def lateral(condition: str) -> str:
    """The query of the window union, with totals."""
    return f"""
        SELECT count(*), sum(c), sum(s), sum(v) FROM (
          SELECT base.*, w.* FROM base LEFT JOIN LATERAL (
            SELECT count(*) AS c, sum(v) AS s FROM probe WHERE {condition}) w ON true)"""


def ours(spark: SparkSession, name: str, rows: int) -> dict[str, Callable[[], Any]]:
    """Spark's ways: the window union, the totals of its join, and LEFT JOIN with GROUP BY."""
    condition, _ = window(name, rows)
    join = f"SELECT count(*), sum(probe.v) FROM base JOIN probe ON {condition}"
    grouped = f"""
        SELECT count(*), sum(c), sum(s), sum(v) FROM (
          SELECT base.k, base.ts, base.v, count(probe.ts) AS c, sum(probe.v) AS s
          FROM base LEFT JOIN probe ON {condition} GROUP BY base.k, base.ts, base.v)"""

    def way(query: str) -> Callable[[], Any]:
        return lambda: tuple(spark.sql(query).collect()[0])

    return {
        "window union": way(lateral(condition)),
        "the join, totals": way(join),
        "LEFT JOIN, GROUP BY": way(grouped),
    }


def duckdb_ways(folder: Path, name: str, rows: int) -> dict[str, Callable[[], Any]]:
    """DuckDB's ways, with as many threads as cores."""
    import duckdb

    condition, back = window(name, rows)
    connection = duckdb.connect()
    connection.execute(f"SET threads = {os.cpu_count() or 1}")
    for side in SIDES:
        connection.execute(f"CREATE VIEW {side} AS SELECT * FROM '{folder}/{side}/*.parquet'")
    partition = "PARTITION BY k " if name == "keys" else ""
    over = f"""
        SELECT count(*), sum(c), sum(s), sum(v) FROM (
          SELECT of_base, v, count(p) OVER w AS c, sum(p) OVER w AS s FROM (
            SELECT true AS of_base, k, ts, v, NULL::BIGINT AS p FROM base
            UNION ALL SELECT false, k, ts, NULL, v FROM probe)
          WINDOW w AS ({partition}ORDER BY ts RANGE BETWEEN {back} PRECEDING AND CURRENT ROW))
        WHERE of_base"""

    def way(query: str) -> Callable[[], Any]:
        return lambda: connection.execute(query).fetchone()

    return {"DuckDB, OVER the union": way(over), "DuckDB, the same text": way(lateral(condition))}


def compared(name: str, ways: dict[str, Callable[[], Any]], runs: int, warm_up: int) -> list[str]:
    """A line for each way: the median, and the median ratio to the window union."""
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    answers: dict[str, Any] = {}
    for run in range(warm_up + runs):
        for way, ask in ways.items():
            # DuckDB is warm after the first run.
            if 0 < run < warm_up and way.startswith("DuckDB"):
                continue
            start = time.perf_counter()
            answer = ask()
            if run >= warm_up:
                seconds[way].append(time.perf_counter() - start)
            if answers.setdefault(way, answer) != answer:
                raise SystemExit(f"{way} answers {answers[way]}, then {answer}")
    first, *others = ways
    for other in others:
        expected = answers[first] if len(answers[other]) == 4 else answers[first][1:3]
        if answers[other] != expected:
            raise SystemExit(f"{other} answers {answers[other]}, and {first} {answers[first]}")

    def ratio(way: str) -> float:
        pairs = zip(seconds[way], seconds[first], strict=True)
        return statistics.median(theirs / own for theirs, own in pairs)

    return [
        f"| {name} | {way} | {statistics.median(seconds[way]):.3f} | {ratio(way):.2f} |"
        for way in ways
    ]


if __name__ == "__main__":
    main()
