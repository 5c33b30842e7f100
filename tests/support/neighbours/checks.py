# SPDX-License-Identifier: Apache-2.0
"""Comparisons that a program of a neighbour's test makes in its own application."""

from __future__ import annotations

from typing import Any

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
ENABLED = "spark.sql.intervalsweep.enabled"


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
