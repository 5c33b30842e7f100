# SPDX-License-Identifier: Apache-2.0
"""`interval_join_report` of two streams contains the operators that the analyzer has created."""

from __future__ import annotations

from typing import Any

import pytest

import intervalsweep
from support.streams.arrivals import QUICKLY

WINDOW = """SELECT a.v, w.n FROM a LEFT JOIN LATERAL (
  SELECT count(*) n FROM b WHERE b.v = a.v AND b.ts BETWEEN a.ts - INTERVAL 5 SECONDS AND a.ts
) w ON true"""
JOIN = "SELECT a.v, b.v AS w FROM a {how} JOIN b ON ALLEN_OVERLAPS(a.ts, a.te, b.ts, b.te)"


@pytest.fixture(autouse=True)
def _streams(spark: Any, conf: Any) -> None:
    conf(QUICKLY)
    for name in "ab":
        rows = spark.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
        rows.selectExpr(
            "value AS v", "timestamp AS ts", "timestamp + INTERVAL 3 SECONDS AS te"
        ).createOrReplaceTempView(name)


def report(spark: Any, query: str) -> Any:
    frame = spark.sql(query)
    (found,) = intervalsweep.why_not(frame)
    text = query.replace("'", "''")
    (row,) = spark.sql(f"SELECT * FROM interval_join_report('{text}')").collect()
    assert tuple(row) == tuple(vars(found).values())
    assert (found.swept, found.reason, found.advice) == (True, None, None)
    plan = frame._jdf.queryExecution().analyzed().toString()
    assert found.how.split("[")[0] in plan
    return found


def test_a_window_union(spark: Any) -> None:
    found = report(spark, WINDOW)
    assert found.join_type == "LEFT OUTER"
    assert found.how.startswith("WindowUnion [v")
    assert "from -5.0 to 0.0 s around ts" in found.how
    assert found.how.endswith("time buckets of 1.015625 s]")


@pytest.mark.parametrize(
    ("how", "called"),
    [
        ("INNER", "INNER"),
        ("LEFT", "LEFT OUTER"),
        ("RIGHT", "RIGHT OUTER"),
        ("FULL", "FULL OUTER"),
        ("LEFT SEMI", "LEFT SEMI"),
        ("LEFT ANTI", "LEFT ANTI"),
    ],
)
def test_a_join(spark: Any, how: str, called: str) -> None:
    query = JOIN.format(how=how)
    found = report(spark, query.replace(", b.v AS w", "") if how.startswith("LEFT ") else query)
    assert found.join_type == called
    assert found.how.startswith("StreamJoin ")
    assert "boxes" in found.how
    assert "rows leave at" in found.how


def test_two_operators_and_a_join_of_tables_below(spark: Any) -> None:
    fixed = "SELECT id AS v FROM range(3)"
    frame = spark.sql(f"SELECT * FROM ({WINDOW}) x WHERE x.v IN ({fixed}) UNION ALL {WINDOW}")
    reports = intervalsweep.why_not(frame)
    assert [r.number for r in reports] == [1, 2, 3]
    assert [r.join_type for r in reports] == ["LEFT SEMI", "LEFT OUTER", "LEFT OUTER"]
    assert [r.swept for r in reports] == [False, True, True]
