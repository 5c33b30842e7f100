# SPDX-License-Identifier: Apache-2.0
"""Compares as-of and nearest joins with those of DuckDB, Polars and Spark.

    python -m benchmarks.studies.nearest [--rows 1000000] [--runs 7] [--only "1,000 keys" ...]
    python -m benchmarks.studies.nearest --growth [--runs 3]    # 10^5 to 10^7 rows, ours and DuckDB
    python -m benchmarks.studies.nearest --arrow    # as-of joins of Arrow tables, without Spark

With `--output`, it writes the medians as JSON, and draws them next to it.

All systems read the same Parquet files in the query and return one row: the rows, those with a
match, and the sum of the times that were found, as the choice among equal times is free. Spark's
own plans make all pairs of a key, so they run once, over `--small` rows where there are no keys.
The memory is that of another process, which answers the query three times.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from benchmarks.adapter import Limits
from benchmarks.data import Synthetic
from benchmarks.machine import heading
from benchmarks.processes import resident
from benchmarks.systems import ENABLED, name_tables, spark_session
from benchmarks.turns import Way, medians_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CORES, HEAP, OURS, SPARK = 2, "4g", "IntervalSweep", "Spark alone"
FOUND = "SELECT count(*), count(found), CAST(sum(found) AS BIGINT) FROM ({}) AS all_"
AS_OF = (
    "SELECT s.ts AS found FROM r LEFT ASOF JOIN s MATCH_CONDITION (r.ts >= s.ts){on}",
    "SELECT s.ts AS found FROM r ASOF LEFT JOIN s ON {keys}r.ts >= s.ts",
)
NEAREST = (
    "SELECT abs(r.ts - s.ts) AS found "
    "FROM r JOIN s EXACT NEAREST {count} BY DISTANCE abs(r.ts - s.ts)",
    # The rows around each row of s, by windows; then the row of s before and the one after.
    """SELECT unnest(list_slice(list_sort(
      list_filter([{before}, {after}], lambda d: d IS NOT NULL)), 1, {count})) AS found
    FROM r ASOF LEFT JOIN (SELECT ts{lags} FROM s) a ON r.ts >= a.ts
    ASOF LEFT JOIN (SELECT ts{leads} FROM s) b ON r.ts < b.ts""",
)


@dataclass(frozen=True)
class Question:
    """A query in Spark and in DuckDB, and the number of keys of the tables."""

    keys: int
    spark: str
    duckdb: str
    polars: bool = False
    is_keyed: bool = True


def as_of(keys: int, *, is_keyed: bool = True) -> Question:
    on = " ON r.k = s.k" if is_keyed else ""
    both = "r.k = s.k AND " if is_keyed else ""
    ours, theirs = AS_OF[0].format(on=on), AS_OF[1].format(keys=both)
    return Question(keys, ours, theirs, polars=True, is_keyed=is_keyed)


def nearest(count: int) -> Question:
    steps = range(1, count)
    named = {
        "before": ", ".join(["r.ts - a.ts", *(f"r.ts - a.p{n}" for n in steps)]),
        "after": ", ".join(["b.ts - r.ts", *(f"b.n{n} - r.ts" for n in steps)]),
        "lags": "".join(f", lag(ts, {n}) OVER (ORDER BY ts) AS p{n}" for n in steps),
        "leads": "".join(f", lead(ts, {n}) OVER (ORDER BY ts) AS n{n}" for n in steps),
    }
    ours, theirs = (text.format(count=count, **named) for text in NEAREST)
    return Question(1, ours, theirs, is_keyed=False)


QUESTIONS = {
    "as of, 1,000 keys": as_of(1_000),
    "as of, 1,000,000 keys": as_of(1_000_000),
    "as of, one key": as_of(1),
    "as of, no key": as_of(1, is_keyed=False),
    "nearest, no key": nearest(1),
    "3 nearest, no key": nearest(3),
}


# A measurement has seconds and peak bytes by system, and the number of rows of Spark's own plan.
Measured: TypeAlias = "dict[str, Any]"


def main() -> None:
    """Measures the questions and prints a line for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--small", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--only", nargs="+", default=list(QUESTIONS))
    parser.add_argument("--growth", action="store_true", help="three sizes, without Spark's plan")
    parser.add_argument("--arrow", action="store_true", help="tables in memory, without Spark")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--alone", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alone:
        answer_alone(given.alone[0], given.alone[1], given.only[0])
        return
    if given.arrow:
        print_arrow(given)
        return
    sizes = (100_000, 1_000_000, 10_000_000) if given.growth else (given.rows,)
    found = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        for title, rows in itertools.product(given.only, sizes):
            name = f"{title}, {rows:,} rows" if given.growth else title
            found[name] = measured(title, rows, Path(scratch), given)
            print(line(name, found[name]), flush=True)
    if given.output:
        given.output.write_text(json.dumps({**heading(), "questions": found}, indent=1) + "\n")
        draw(found, given.output.with_suffix(".png"))


def measured(title: str, rows: int, folder: Path, given: argparse.Namespace) -> Measured:
    """Measures one question."""
    question = QUESTIONS[title]
    Synthetic(keys=question.keys).write(folder, rows)
    ways = ways_of(question, folder)
    found: Measured = {
        "seconds": medians_of(ways, given.runs, 6),
        "bytes": {name: peak(name, folder, title) for name in (OURS, "DuckDB")},
    }
    if not given.growth:
        alone = rows if question.is_keyed and question.keys > 1 else given.small
        found["seconds"][SPARK] = spark_alone(question, folder, alone)
        found["rows of Spark alone"] = alone
    return found


def print_arrow(given: argparse.Namespace) -> None:
    """Measures as-of joins of Arrow tables: all left rows, with the time that was found."""
    with tempfile.TemporaryDirectory() as scratch:
        for title in (title for title in given.only if QUESTIONS[title].polars):
            question = QUESTIONS[title]
            Synthetic(keys=question.keys).write(Path(scratch), given.rows)
            ways = arrow_ways(question, Path(scratch))
            took = medians_of(ways, given.runs, 3)
            parts = [f"{name} {s:.3f} s ({s / took[OURS]:.2f})" for name, s in took.items()]
            print(f"{title}, Arrow: {', '.join(parts)}", flush=True)


def arrow_ways(question: Question, folder: Path) -> dict[str, Way]:
    """An as-of join of two Arrow tables; each system returns rows, and reports their sum."""
    import duckdb
    import polars
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from intervalsweep import arrow

    keys = ["k"] if question.is_keyed else []
    r, s = (pq.read_table(folder / f"{n}.parquet").select([*keys, "ts"]) for n in "rs")
    s = s.append_column("found", s.column("ts"))
    connection = duckdb.connect(config={"threads": CORES})
    connection.register("r", r)
    connection.register("s", s)
    on = "r.k = s.k AND " if keys else ""
    text = f"SELECT r.*, s.found FROM r ASOF LEFT JOIN s ON {on}r.ts >= s.ts"
    left, right = polars.from_arrow(r), polars.from_arrow(s)

    def answer(table: Any) -> tuple[int, int]:
        found = pa.table(table).column("found")
        return len(found), pc.sum(found).as_py()

    def in_polars() -> tuple[int, int]:
        by = "k" if keys else None
        return answer(left.sort("ts").join_asof(right.sort("ts"), on="ts", by=by).to_arrow())

    return {
        OURS: lambda: answer(arrow.as_of_join(r, s, on="ts", by=keys)),
        "DuckDB": lambda: answer(connection.sql(text).to_arrow_table()),
        "Polars": in_polars,
    }


def line(name: str, found: Measured) -> str:
    """A line for one question: seconds, and in parentheses how many times as long as ours."""
    seconds, peaks = found["seconds"], found["bytes"]
    rivals = [f"{key} {s:.2f} s ({s / seconds[OURS]:.2f})" for key, s in seconds.items()]
    memory = ", ".join(f"{key} {size / 2**20:.0f} MiB" for key, size in peaks.items())
    rows = found.get("rows of Spark alone")
    small = f" with {rows:,} rows a side" if rows else ""
    return f"{name}: {', '.join(rivals)}{small}; {memory}"


def draw(found: dict[str, Measured], file: Path) -> None:
    """Draws bars of seconds on a logarithmic scale."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib.figure import Figure

    systems = list(dict.fromkeys(name for each in found.values() for name in each["seconds"]))
    width = 1 / (len(systems) + 1)
    figure = Figure((8, 1 + 0.16 * len(found) * (len(systems) + 1)), layout="tight")
    axes = figure.subplots()
    axes.set(xscale="log", ylim=(len(found), -width), xlabel="median seconds")
    for number, name in enumerate(systems):
        places = [row + (number + 0.5) * width for row in range(len(found))]
        values = [each["seconds"].get(name, 0) for each in found.values()]
        axes.barh(places, values, width, label=name)
        for place, each in zip(places, found.values(), strict=True):
            rows = each.get("rows of Spark alone")
            if name == SPARK and rows and rows < 1_000_000:
                text = f" {rows:,} rows"
                axes.text(each["seconds"][name], place, text, va="center", fontsize="x-small")
    axes.set_yticks([row + 0.5 - width / 2 for row in range(len(found))], list(found))
    axes.margins(x=0.15)
    axes.legend()
    figure.savefig(file, dpi=120)


def ways_of(question: Question, folder: Path) -> dict[str, Way]:
    spark = session(folder)
    ways: dict[str, Way] = {
        OURS: partial(in_spark, spark, question),
        "DuckDB": in_duckdb(question, folder),
    }
    if question.polars:
        ways["Polars"] = partial(in_polars, question, folder)
    return ways


def session(folder: Path) -> SparkSession:
    spark = spark_session(Limits(CORES, HEAP, folder))
    name_tables(spark, folder)
    return spark


def in_spark(spark: SparkSession, question: Question) -> tuple[Any, ...]:
    return tuple(spark.sql(FOUND.format(question.spark)).collect()[0])


def in_duckdb(question: Question, folder: Path) -> Way:
    import duckdb

    connection = duckdb.connect(config={"threads": CORES})
    for name in "rs":
        connection.execute(f"CREATE VIEW {name} AS SELECT * FROM '{folder}/{name}.parquet'")
    text = FOUND.format(question.duckdb)
    return lambda: connection.execute(text).fetchall()[0]


def in_polars(question: Question, folder: Path) -> Sequence[Any]:
    import polars

    r, s = (polars.scan_parquet(folder / f"{name}.parquet").sort("ts") for name in "rs")
    times = s.select("k", "ts", polars.col("ts").alias("found"))
    by = "k" if question.is_keyed else None
    found = r.select("k", "ts").join_asof(times, on="ts", by=by, strategy="backward")
    sums = found.select(
        polars.len(), polars.col("found").count(), polars.col("found").sum().alias("f")
    )
    row: tuple[Any, ...] = sums.collect().row(0)
    return row


def spark_alone(question: Question, folder: Path, rows: int) -> float:
    """The seconds of Spark's own plan, which runs once and must give our answer."""
    Synthetic(keys=question.keys).write(folder, rows)
    spark = session(folder)
    expected = in_spark(spark, question)
    spark.conf.set(ENABLED, "false")
    begin = time.perf_counter()
    answer = in_spark(spark, question)
    took = time.perf_counter() - begin
    spark.conf.set(ENABLED, "true")
    if answer != expected:
        raise AssertionError(f"Spark's own plan returns {answer}, not {expected}")
    return took


def peak(system: str, folder: Path, title: str) -> int:
    """The resident bytes of a process that answers a question."""
    arguments = ["--alone", system, str(folder), "--only", title]
    program = [sys.executable, "-m", "benchmarks.studies.nearest", *arguments]
    with subprocess.Popen(program, stderr=subprocess.DEVNULL) as process:
        most = 0
        while process.poll() is None:
            most = max(most, resident(process.pid))
            time.sleep(0.05)
    if process.returncode:
        raise AssertionError(f"{system} ended with {process.returncode}")
    return most


def answer_alone(system: str, folder: str, title: str) -> None:
    question, at = QUESTIONS[title], Path(folder)
    ours = system == OURS
    way = partial(in_spark, session(at), question) if ours else in_duckdb(question, at)
    for _ in range(3):
        way()


if __name__ == "__main__":
    main()
