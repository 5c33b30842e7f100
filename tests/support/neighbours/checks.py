# SPDX-License-Identifier: Apache-2.0
"""Comparisons that a program of a neighbour's test makes in its own application."""

from __future__ import annotations

from typing import Any

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
ENABLED = "spark.sql.intervalsweep.enabled"
# The text of a program that makes all checks and prints one value. `{folder!r}` is for its files.
PROGRAM = """
from support.neighbours.checks import ROCKSDB, relations_history_and_stream
spark = start(spark__sql__streaming__stateStore__providerClass=ROCKSDB)
relations_history_and_stream(spark, {folder!r})
print({printed})
"""


def plan(frame: Any) -> str:
    """The executed plan of a frame, as text."""
    return str(frame._jdf.queryExecution().executedPlan().toString())


def bag(frame: Any) -> list[Any]:
    return sorted(map(tuple, frame.collect()), key=repr)


def same(spark: Any, query: str) -> list[Any]:
    """The rows of a query with a join; asserts its plan, and that Spark's own returns them."""
    frame = spark.sql(query)
    assert "IntervalSweepJoin" in plan(frame), plan(frame)
    rows = bag(frame)
    spark.conf.set(ENABLED, "false")
    try:
        own = spark.sql(query)
        assert "IntervalSweepJoin" not in plan(own)
        assert bag(own) == rows
    finally:
        spark.conf.set(ENABLED, "true")
    assert rows, "no rows"
    return rows


def relations(spark: Any, left: str, right: str) -> int:
    """Compares joins of two tables (id, k, ts, te) by several relations; returns the rows."""
    conditions = (
        "ALLEN_OVERLAPS(a.ts, a.te, b.ts, b.te)",
        "INTERVAL_INTERSECTS(a.ts, a.te, b.ts, b.te) AND a.k = b.k",
        "ALLEN_DURING(a.ts, a.te, b.ts, b.te)",
        "b.ts >= a.ts AND b.ts < a.te",
    )
    return sum(
        len(same(spark, f"SELECT a.id, b.id FROM {left} a {kind} JOIN {right} b ON {condition}"))
        for kind in ("", "LEFT")
        for condition in conditions
    )


def relations_history_and_stream(spark: Any, folder: str) -> None:
    """Runs joins, the history of a query and a join of streams, and asserts their results."""
    rows = (
        "SELECT id, id % 7 AS k, id % 500 AS ts, id % 500 + 1 + id % 20 AS te FROM range({0}, {1})"
    )
    spark.sql(rows.format(0, 400)).createOrReplaceTempView("r")
    spark.sql(rows.format(300, 900)).createOrReplaceTempView("s")
    assert relations(spark, "r", "s") > 10000
    marked = "SELECT * FROM validtime(TABLE(r), 'ts', 'te')"
    grouped = f"SELECT k, sum(id) AS n FROM ({marked}) GROUP BY k"
    history = f"SELECT * FROM sequenced(TABLE({grouped}), at => {{0}})"
    for instant in (0, 17, 300):
        own = f"SELECT k, sum(id) FROM r WHERE ts <= {instant} AND te > {instant} GROUP BY k"
        found = bag(spark.sql(history.format(instant)))
        assert found, instant
        assert found == bag(spark.sql(own)), instant
    for name in "rs":
        times = spark.sql(f"SELECT id, k, timestamp_seconds(1700000000 + ts) AS ts FROM {name}")
        times.write.parquet(f"{folder}/{name}")
        read = spark.readStream.schema("id LONG, k LONG, ts TIMESTAMP").parquet(f"{folder}/{name}")
        read.withWatermark("ts", "1 second").createOrReplaceTempView(name + "_times")
    join = (
        "SELECT a.id, b.id AS other FROM r_times a JOIN s_times b ON a.k = b.k AND b.ts BETWEEN "
        "a.ts AND a.ts + INTERVAL '9' SECONDS"
    )
    writer = spark.sql(join).writeStream.format("memory").queryName("pairs")
    writer.trigger(availableNow=True).start().awaitTermination()
    for name in "rs":
        spark.read.parquet(f"{folder}/{name}").createOrReplaceTempView(name + "_times")
    pairs = bag(spark.table("pairs"))
    assert len(pairs) > 100
    assert pairs == bag(spark.sql(join))
