"""What the benchmarks share: a session, systems to compare, interleaved runs."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

from pyspark.sql import SparkSession

import intervalsweep

Answer = tuple[Any, ...]
System = Callable[[], Answer]

ENABLED = "spark.sql.intervalsweep.enabled"
BROADCAST = "spark.sql.autoBroadcastJoinThreshold"
SWEPT, UNSWEPT = {ENABLED: "true"}, {ENABLED: "false"}
BROADCAST_ALL, BROADCAST_NONE = {BROADCAST: "1g"}, {BROADCAST: "-1"}
BROADCAST_SMALL = {BROADCAST: "10MB"}  # Spark's default


def session(**settings: str) -> SparkSession:
    """A local session on two cores with the extension."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "6g")
        .config("spark.sql.shuffle.partitions", "4")
    )
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = intervalsweep.configure(builder).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def spark_system(spark: SparkSession, query: str, settings: dict[str, str]) -> System:
    """The query as Spark answers it under some settings."""

    def run() -> Answer:
        for key, value in settings.items():
            spark.conf.set(key, value)
        return tuple(spark.sql(query).collect()[0])

    return run


def duckdb_system(query: str) -> System | None:
    """The query as DuckDB answers it on two cores; None where DuckDB is not installed."""
    try:
        import duckdb
    except ImportError:
        return None
    connection = duckdb.connect()
    connection.execute("SET threads TO 2")

    def run() -> Answer:
        return tuple(int(value) for value in connection.execute(query).fetchall()[0])

    return run


def measure(systems: dict[str, System | None], runs: int) -> tuple[Answer, dict[str, list[float]]]:
    """Runs the systems in turn, `runs` times after a first one; the answer, and all seconds.

    Raises SystemExit if the answers differ: a wrong answer has no time.
    """
    times: dict[str, list[float]] = {name: [] for name, system in systems.items() if system}
    answers: dict[str, Answer] = {}
    for _ in range(runs + 1):
        for name in times:
            start = time.perf_counter()
            system = systems[name]
            assert system is not None
            answers[name] = system()
            times[name].append(time.perf_counter() - start)
    if len(set(answers.values())) != 1:
        raise SystemExit(f"the answers differ: {answers}")
    return next(iter(answers.values())), times


def medians(systems: dict[str, System | None], runs: int) -> dict[str, float]:
    """The median of the warm runs of each system, in seconds."""
    _, times = measure(systems, runs)
    return {name: statistics.median(seconds[1:]) for name, seconds in times.items()}


def compare(systems: dict[str, System | None], runs: int) -> None:
    """Measures the systems and prints a table."""
    answer, times = measure(systems, runs)
    print(f"answer {answer}; seconds:")
    print(f"{'system':34} {'first':>7} {'median':>7} {'min':>7} {'max':>7}")
    for name, (first, *warm) in times.items():
        middle = statistics.median(warm)
        print(f"{name:34} {first:7.2f} {middle:7.2f} {min(warm):7.2f} {max(warm):7.2f}")
