# SPDX-License-Identifier: Apache-2.0
"""A stream joined with a table, in micro-batches, has the rows of the join of two tables."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import intervalsweep
from fuzz.nearest.run import known_forms
from support.spark.comparison import BROADCAST, bag, difference, physical, sweeps
from support.streams import micro_batches

pytestmark = pytest.mark.usefixtures("two_partitions")

SCHEMA = "id LONG, k LONG, ts LONG, te LONG"
BATCHES = 2
KEYED = "a.k = b.k AND INTERVAL_INTERSECTS(a.ts, a.te, b.ts, b.te)"
PLAIN = "INTERVAL_INTERSECTS(a.ts, a.te, b.ts, b.te)"
BEFORE = "b.k = a.k AND b.ts <= a.ts ORDER BY b.ts DESC, b.id LIMIT 2"
LAST = f"LATERAL (SELECT * FROM {{b}} WHERE {BEFORE}) w"
# (the join, with the stream as `a` on the left; settings)
JOINS = {
    "inner, broadcast": (f"SELECT a.id x, b.id y FROM {{a}} JOIN {{b}} ON {PLAIN}", "10MB"),
    "left, by keys": (f"SELECT a.id x, b.id y FROM {{a}} LEFT JOIN {{b}} ON {KEYED}", "-1"),
    "right, by keys": (f"SELECT a.id x, b.id y FROM {{b}} RIGHT JOIN {{a}} ON {KEYED}", "-1"),
    "semi, broadcast": (
        f"SELECT /*+ BROADCAST(b) */ a.* FROM {{a}} LEFT SEMI JOIN {{b}} ON {KEYED}",
        "10MB",
    ),
    "anti, by keys": (f"SELECT a.* FROM {{a}} LEFT ANTI JOIN {{b}} ON {KEYED}", "-1"),
    "the last rows, by keys": (f"SELECT a.id x, w.id y FROM {{a}} LEFT JOIN {LAST} ON true", "-1"),
    "the last rows, broadcast": (f"SELECT a.id x, w.id y FROM {{a}}, {LAST}", "10MB"),
    "the stream on the right": (f"SELECT a.id x, b.id y FROM {{b}} JOIN {{a}} ON {KEYED}", "-1"),
}


def rows(number: int, seed: int) -> list[tuple[Any, ...]]:
    """Intervals among 40 points; a tenth of keys and ends are NULL."""
    draw = random.Random(seed)

    def maybe(value: int) -> int | None:
        return None if draw.random() < 0.1 else value

    def row(number: int) -> tuple[Any, ...]:
        ts = draw.randrange(40)
        return (number, maybe(draw.randrange(5)), maybe(ts), maybe(ts + draw.randrange(-1, 9)))

    return [row(i) for i in range(number)]


@pytest.fixture(scope="module", autouse=True)
def tables(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("stream") / "in"
    micro_batches.views(spark, folder, SCHEMA, [rows(90, part) for part in range(BATCHES)])
    spark.createDataFrame(rows(80, 99), SCHEMA).createOrReplaceTempView("fixed")
    yield
    for name in ("incoming", "past", "fixed"):
        spark.catalog.dropTempView(name)


@pytest.mark.parametrize("name", JOINS)
def test_the_rows_of_the_table(spark: Any, conf: Any, tmp_path: Path, name: str) -> None:
    query, threshold = JOINS[name]
    conf({BROADCAST: threshold})
    got = micro_batches.run(spark, spark.sql(query.format(a="incoming a", b="fixed b")), tmp_path)
    assert got.batches == BATCHES
    assert sweeps(got.plan), got.plan
    assert ("by keys" in got.plan) == (threshold == "-1")
    # The join keeps no state between micro-batches.
    assert "StateStore" not in got.plan
    expected = spark.sql(query.format(a="past a", b="fixed b")).collect()
    assert len(expected) > 5
    assert not difference(bag(expected), bag(got.rows))


def test_asof_join_of_a_stream_with_a_table(spark: Any, conf: Any, tmp_path: Path) -> None:
    if "asof" not in known_forms(spark.version):
        pytest.skip("ASOF JOIN needs Spark 4.3")
    conf({"spark.sql.join.asofJoin.enabled": "true"})
    query = "SELECT a.id x, b.ts y FROM {} a LEFT ASOF JOIN fixed b MATCH_CONDITION (a.ts >= b.ts)"
    got = micro_batches.run(spark, spark.sql(query.format("incoming") + " ON a.k = b.k"), tmp_path)
    assert "last 1" in got.plan
    expected = spark.sql(query.format("past") + " ON a.k = b.k").collect()
    assert len(expected) > 5
    assert not difference(bag(expected), bag(got.rows))


def test_aggregates_above_take_pairs(spark: Any, conf: Any, tmp_path: Path) -> None:
    """Aggregates use pairs and not runs, as Spark's state has the columns of its own aggregates."""
    query = f"SELECT a.k, count(*) n, sum(b.id) s FROM {{a}} a JOIN fixed b ON {KEYED} GROUP BY a.k"
    frame = spark.sql(query.format(a="incoming"))
    got = micro_batches.run(spark, frame, tmp_path, mode="complete")
    assert sweeps(got.plan)
    assert "runs [" not in got.plan
    expected = spark.sql(query.format(a="past")).collect()
    assert expected
    assert not difference(bag(expected), bag(got.rows))


def test_reports(spark: Any, conf: Any) -> None:
    """A report describes a stream before it starts."""
    (report,) = intervalsweep.why_not(
        spark.sql(f"SELECT * FROM incoming a JOIN fixed b ON {KEYED}")
    )
    assert report.swept
    assert "keys [a.k = b.k]" in report.how
    conf({BROADCAST: "-1"})
    (report,) = intervalsweep.why_not(
        spark.sql(f"SELECT * FROM incoming a JOIN fixed b ON {PLAIN}")
    )
    assert (report.swept, report.reason) == (False, "StreamByRanges")
    assert "BROADCAST" in report.advice
    of_spark = "a.k = b.k AND a.ts < b.te AND b.ts < a.te"
    (report,) = intervalsweep.why_not(
        spark.sql(f"SELECT * FROM incoming a JOIN incoming b ON {of_spark}")
    )
    assert (report.swept, report.reason) == (False, "Streaming")


def test_a_table_is_no_stream(spark: Any) -> None:
    frame = spark.sql(f"SELECT * FROM past a JOIN fixed b ON {KEYED}")
    assert sweeps(physical(frame)) == 1
