# SPDX-License-Identifier: Apache-2.0
"""The cases of the guard. As a program, measures one of them and prints a line of JSON.

Each case has a process of its own, so that cases do not warm up each other's code. Within a case,
our way and the rival's way take turns in that process.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pyarrow.compute as pc

from benchmarks.adapter import Limits
from benchmarks.data import Synthetic
from benchmarks.streams import spark_plans
from benchmarks.streams import workloads as streams
from benchmarks.streams.processes import answer
from benchmarks.streams.session import ROCKSDB, STORE, stream_session
from benchmarks.studies import peers
from benchmarks.systems import ENABLED
from benchmarks.temporal.__main__ import Systems, write
from benchmarks.temporal.queries import QUERIES
from benchmarks.turns import Way, seconds_of
from benchmarks.workloads import workloads

OURS = "IntervalSweep"
CORES = 2
HEAP = "4g"
CAP = 60.0  # seconds for a stream
BATCHES = 4  # micro-batches of a stream
# Spark's own joins of streams are several times as fast with Spark's default state store.
IN_MEMORY = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"

Rival = Literal["DuckDB", "Spark"]


@dataclass(frozen=True)
class Case:
    """A case; `ways` writes the tables into a folder, and returns our way and that of the rival.

    `rows` are those of each side; for streams, the events of both sides.
    """

    about: str
    rival: Rival
    rows: int
    ways: Callable[[Path, int], dict[str, Way]]
    runs: int = 7
    warm_up: int = 6


def systems_in(folder: Path) -> Systems:
    return Systems(folder, Limits(CORES, HEAP, folder))


def workload(name: str, folder: Path, rows: int) -> dict[str, Way]:
    """The ways of all systems to answer a query of the benchmark suite."""
    (found,) = (each for each in workloads() if each.name == name)
    found.tables.write(folder, rows)
    text = found.sql("r", "s", found.on())
    systems = systems_in(folder)
    return {
        OURS: partial(systems.swept, text),
        "DuckDB": partial(systems.in_duckdb, text),
        "Spark": partial(systems.swept, text, "false"),
    }


def history(folder: Path, rows: int) -> dict[str, Way]:
    """The count and sum by 1,000 keys at each instant, with `sequenced` and hand-written."""
    write(folder, rows)
    ways = systems_in(folder).ways(QUERIES[0])
    return {OURS: ways["sequenced"], "DuckDB": ways["DuckDB"]}


def as_of(folder: Path, rows: int) -> dict[str, Way]:
    """The latest row of s before each row of r, by 1,000 keys, with Spark's ASOF JOIN as the rival.

    The sums have only the time of that row, because the choice among equal times is arbitrary.
    """
    from intervalsweep.dataframe import as_of_join

    Synthetic(keys=1_000).write(folder, rows)
    systems = systems_in(folder)
    systems.spark.conf.set("spark.sql.join.asofJoin.enabled", "true")
    r, s = (systems.spark.table(name) for name in "rs")

    def ours() -> tuple[object, ...]:
        systems.spark.conf.set(ENABLED, "true")
        found = as_of_join(r, s, on="ts", by="k")
        sums = found.selectExpr("count(*)", "count(ts_right)", "sum(ts - ts_right)")
        return tuple(sums.collect()[0])

    text = (
        "SELECT count(*), count(s.ts), sum(r.ts - s.ts) "
        "FROM r LEFT ASOF JOIN s MATCH_CONDITION (r.ts >= s.ts) ON r.k = s.k"
    )
    return {OURS: ours, "Spark": partial(systems.swept, text, "false")}


def arrow_join(folder: Path, rows: int) -> dict[str, Way]:
    """The ids of all pairs of intervals that intersect, from Arrow tables to an Arrow table."""
    import duckdb

    left, right = peers.synthetic(folder, rows)
    connection = duckdb.connect(config={"threads": CORES})
    connection.register("l", left)
    connection.register("r", right)
    join = peers.sweep_join()
    # All rows have the same contig. With an equality, DuckDB would compare all pairs.
    text = (
        'SELECT l.id, r.id AS id_right FROM l JOIN r ON l."start" < r."end" AND r."start" < l."end"'
    )
    return {
        OURS: lambda: _sums(join(left, right)),
        "DuckDB": lambda: _sums(connection.sql(text).to_arrow_table()),
    }


def _sums(pairs: Any) -> tuple[object, ...]:
    return pairs.num_rows, *(pc.sum(pairs[name]).as_py() for name in ("id", "id_right"))


def stream(name: str, ours: str, sparks: str, folder: Path, events: int) -> dict[str, Way]:
    """The ways to stream a workload, from files through several micro-batches to the last row."""
    known = {**streams.sweep("keys"), **streams.RELATIONS}
    sized = replace(known[name], events=events)
    written = streams.write(sized, folder / "events", BATCHES)
    spark = stream_session(CORES, HEAP, folder, spark_plans.SETTINGS)

    def way(plan: str, store: str) -> Way:
        def run() -> tuple[object, ...]:
            spark.conf.set(STORE, store)
            scratch = Path(tempfile.mkdtemp(dir=folder))
            found = spark_plans.run(spark, plan, written, scratch, CAP)
            verdict = answer(plan, found, written.expected)
            if verdict != "right":
                raise AssertionError(f"the answer of {plan} is {verdict}: {found}")
            return (found["pairs"],)

        return run

    return {OURS: way(ours, ROCKSDB), "Spark": way(sparks, IN_MEMORY)}


CASES = {
    "anchor": Case(
        "s starts in r, 10^8 pairs, counted and summed",
        "DuckDB", 1_000_000, partial(workload, "anchor"),
    ),
    "keyed": Case(
        "s starts in r, 100,000 equal keys, 10^7 pairs",
        "Spark", 1_000_000, partial(workload, "keys-range"),
    ),
    "window-union": Case(
        "sums over the last second of another stream, 1,000 keys",
        "Spark", 200_000, partial(stream, "keys=1000", "ours", "spark"), runs=5, warm_up=2,
    ),
    "stream-join": Case(
        "ALLEN_OVERLAPS of two streams, ten keys; the rival has hand-written buckets",
        "Spark", 200_000, partial(stream, "keyed", "overlaps", "buckets"), runs=5, warm_up=2,
    ),
    "history": Case("count and sum over time by 1,000 keys", "DuckDB", 1_000_000, history),
    "as-of": Case("the latest row before each row, by 1,000 keys", "Spark", 200_000, as_of),
    "arrow": Case(
        "intervals that intersect, 2 * 10^7 pairs, without Spark",
        "DuckDB", 100_000, arrow_join, runs=15,
    ),
}  # fmt: skip


def measured(case: Case, folder: Path, rows: int, runs: int) -> dict[str, list[float]]:
    """The seconds of our runs and of the rival's runs, by name."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    ways = case.ways(folder, rows)
    chosen = {name: ways[name] for name in (OURS, case.rival)}
    return seconds_of(chosen, runs, case.warm_up)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("rows", type=int)
    parser.add_argument("runs", type=int)
    given = parser.parse_args()
    print(json.dumps(measured(CASES[given.case], given.folder, given.rows, given.runs)), flush=True)


if __name__ == "__main__":
    main()
