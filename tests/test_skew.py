"""A key that holds most of the rows is split over tasks, as Spark does for its own joins."""

from __future__ import annotations

from typing import Any

import pytest

import oracle
from comparison import BROADCAST, Both
from test_join_types import QUERIES

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
# The side whose rows go out alone may be split, as then the other one is copied.
SPLIT = ["inner", "left", "right", "semi", "anti", "exists or"]


@pytest.fixture
def tables(spark: Any, conf: Any) -> None:
    conf(SKEW)
    for name, step, rows in (("r", 7, 3000), ("s", 11, 2500)):
        spark.sql(TABLE.format(step, rows)).createOrReplaceTempView(name)


def query(kind: str, relation: Any, more: str = "") -> str:
    template = QUERIES.get(kind, QUERIES["left"].replace("LEFT", "INNER"))
    return template.format(n=0, on="r.k1 = s.k1 AND " + relation("ALLEN_OVERLAPS") + more)


@pytest.mark.parametrize("kind", [*SPLIT, "full"])
def test_same_rows(spark: Any, both: Both, tables: None, kind: str) -> None:
    called = query(kind, oracle.call)
    assert both(called, query(kind, oracle.formula)) > 500
    frame = spark.sql(called)
    frame.collect()
    plan = str(frame._jdf.queryExecution().executedPlan().toString())
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
