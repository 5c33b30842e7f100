# SPDX-License-Identifier: Apache-2.0
"""Keys with most of the rows, intervals that cover everything, and starts that are all equal."""

from __future__ import annotations

from typing import Any

import pytest

from support.joins import oracle
from support.joins.join_types import QUERIES
from support.spark.comparison import BROADCAST, OF_MANY_ROWS, Both
from support.spark.metrics import metric

SKEW = {
    BROADCAST: "-1",
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "2KB",
    "spark.sql.adaptive.skewJoin.skewedPartitionFactor": "2",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "3KB",
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
    "spark.sql.shuffle.partitions": "5",
}
TABLE = """
SELECT id, if(id % 10 < 9, 1, id % 40) AS k1, id % 4 AS x, 'a' AS k2,
  id * {0} % 3001 AS ts, id * {0} % 3001 + 1 + id % 13 AS te FROM range(0, {1}, 1, 6)
"""
# Join types in which a side may be split: the other side is copied, and its unmatched rows are not
# returned.
SPLIT = ["inner", "left", "right", "semi", "anti", "exists or"]


@pytest.fixture
def tables(spark: Any, conf: Any, both: Both) -> None:
    conf(SKEW)
    both.own = OF_MANY_ROWS
    for name, step, rows in (("r", 7, 3000), ("s", 11, 2500)):
        spark.sql(TABLE.format(step, rows)).createOrReplaceTempView(name)


def query(kind: str, relation: Any, more: str = "") -> str:
    template = QUERIES.get(kind, QUERIES["left"].replace("LEFT", "INNER"))
    return template.format(n=0, on="r.k1 = s.k1 AND " + relation("ALLEN_OVERLAPS") + more)


@pytest.mark.parametrize("kind", [*SPLIT, "full"])
def test_same_rows(spark: Any, both: Both, tables: None, kind: str) -> None:
    called = query(kind, oracle.call)
    assert both(called, query(kind, oracle.formula)) > 500
    plan = both.executed()
    assert ("large partitions split" in plan) == (kind != "full"), plan
    assert ("AQEShuffleRead skewed" in plan) == (kind != "full"), plan


def test_an_aggregate_that_needs_the_keys_together_gets_them(
    spark: Any, both: Both, tables: None
) -> None:
    for key in ("r.k1", "r.x"):
        template = (
            "SELECT {0}, count(*), sum(s.x) FROM r JOIN s ON r.k1 = s.k1 AND {1} GROUP BY {0}"
        )
        called, written = (
            template.format(key, f("ALLEN_OVERLAPS")) for f in (oracle.call, oracle.formula)
        )
        assert both(called, written) > 3


def test_not_if_it_is_switched_off(spark: Any, conf: Any, tables: None) -> None:
    conf({"spark.sql.adaptive.skewJoin.enabled": "false"})
    frame = spark.sql(query("inner", oracle.call))
    assert len(frame.collect()) > 500
    plan = str(frame._jdf.queryExecution().executedPlan().toString())
    assert "by keys" in plan
    assert "partitions split" not in plan


SHAPES = {
    "a tenth covers everything": ("id * {0} % 4001", "if(id % 10 = 0, 5000, id * {0} % 4001 + 3)"),
    "all cover everything": ("id % 2", "5000 + id"),
    "all starts equal": ("7", "7 + id % 5"),
    "crowded": ("CAST(4000 / (1 + id * {0} % 4001) AS LONG)", "4000 / (1 + id * {0} % 4001) + 2"),
}


@pytest.mark.extended
@pytest.mark.parametrize("shape", list(SHAPES))
@pytest.mark.parametrize("kind", ["inner", "full"])
def test_long_and_crowded_intervals_are_not_copied_to_all_ranges(
    spark: Any, conf: Any, both: Both, shape: str, kind: str
) -> None:
    """The join may use a hundred ranges, but a row goes to a few of them on average."""
    conf(
        {
            BROADCAST: "-1",
            "spark.sql.shuffle.partitions": "100",
            "spark.sql.intervalsweep.rangeRows": "10",
        }
    )
    start, end = SHAPES[shape]
    for name, step in (("r", 7), ("s", 11)):
        spark.sql(
            f"SELECT id, {start.format(step)} AS ts, CAST({end.format(step)} AS LONG) AS te "
            "FROM range(0, 1500, 1, 3)"
        ).createOrReplaceTempView(name)
    join = "FULL JOIN" if kind == "full" else "JOIN"
    query = f"SELECT count(*), sum(r.id), sum(s.id) FROM r {join} s ON {{0}}"
    called, written = (query.format(f("ALLEN_OVERLAPS")) for f in (oracle.call, oracle.formula))
    assert both(called, written) == 1
    frame = spark.sql(called)
    assert frame.first()[0] > 0 or shape == "all starts equal"
    frame = spark.sql(called)
    frame.collect()
    assert metric(frame, "replicatedRows") <= 4 * 1500


EQUAL = """
SELECT id, id % 3 AS x, 'a' AS k2, if(id < 0, 1L, 7L) AS ts, 7 + id % {} AS te
FROM range(0, {}, 1, 3)
"""
STARTS = "r.ts <= s.ts AND s.ts < r.te"


@pytest.fixture
def equal_starts(spark: Any, conf: Any) -> None:
    conf({BROADCAST: "-1", "spark.sql.shuffle.partitions": "4"})
    for name, spread, rows in (("r", 5, 300), ("s", 40, 60)):
        spark.sql(EQUAL.format(spread, rows)).createOrReplaceTempView(name)


@pytest.mark.parametrize("kind", QUERIES)
def test_same_rows_of_points_that_are_all_equal(both: Both, equal_starts: None, kind: str) -> None:
    for on in (STARTS, f"{STARTS} AND r.id > s.id + 250"):
        assert both(QUERIES[kind].format(n=0, on=on)) > 0


def test_points_that_are_all_equal_are_dealt_out_to_several_tasks(
    spark: Any, equal_starts: None
) -> None:
    frame = spark.sql(f"SELECT spark_partition_id() AS p FROM r JOIN s ON {STARTS}")
    assert frame.distinct().count() >= 2
