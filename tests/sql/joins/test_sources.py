# SPDX-License-Identifier: Apache-2.0
"""Stored tables below a join, and uses of its rows: actions, UDFs, threads."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pyspark.sql.types import BooleanType

from support.joins.oracle import call, formula
from support.spark.comparison import BROADCAST, Both, physical, sweeps

QUERIES = {
    "partitioned": "SELECT r.id, s.id FROM parted r JOIN s ON r.k = s.k AND {0} "
    "WHERE s.id < 9 AND s.k IN (1, 2)",
    "bucketed": "SELECT r.id, s.id FROM buckets_r r JOIN buckets_s s ON r.k = s.k AND {0}",
    "bucketed, aggregated": "SELECT r.k, count(*) FROM buckets_r r JOIN buckets_s s "
    "ON r.k = s.k AND {0} GROUP BY r.k",
    "pushed down": "SELECT r.id, s.id FROM parted r JOIN buckets_s s ON {0} "
    "WHERE r.id > 5 AND s.te < 40",
    "coalesced": "SELECT r.id, s.id FROM (SELECT /*+ COALESCE(1) */ * FROM r) r JOIN s ON {0}",
    "repartitioned": "SELECT /*+ REPARTITION(3) */ r.id, s.id FROM r JOIN s ON {0}",
    "none on the left": "SELECT r.id, s.id FROM (SELECT * FROM parted WHERE id < 0) r "
    "JOIN s ON {0}",
    "none at all": "SELECT count(*), sum(r.id) FROM (SELECT * FROM parted WHERE id < 0) r "
    "JOIN (SELECT * FROM buckets_s WHERE id < 0) s ON r.k = s.k AND {0}",
    "cube": "SELECT r.k, s.k, count(*) FROM r JOIN s ON {0} GROUP BY CUBE (r.k, s.k)",
    "by the key, again": "SELECT k, n, sum(n) OVER (PARTITION BY k) FROM (SELECT r.k, s.id, "
    "count(*) AS n FROM r JOIN s ON r.k = s.k AND {0} GROUP BY r.k, s.id)",
    "udf": "SELECT r.id, s.id FROM r JOIN s ON {0} AND is_even(r.id + s.id)",
}


@pytest.fixture(scope="module", autouse=True)
def tables(spark: Any) -> Iterator[None]:
    for name, rows, shift in (("r", 60, 0), ("s", 50, 2)):
        spark.range(rows).selectExpr(
            "id", "id % 5 AS k", f"id + {shift} AS ts", f"id + {shift} + id % 9 AS te"
        ).createOrReplaceTempView(name)
    spark.table("r").write.partitionBy("k").saveAsTable("parted")
    for name in "rs":
        spark.table(name).write.bucketBy(4, "k").sortBy("k").saveAsTable(f"buckets_{name}")
    spark.udf.register("is_even", lambda number: number % 2 == 0, BooleanType())
    yield
    for name in ("parted", "buckets_r", "buckets_s"):
        spark.sql(f"DROP TABLE {name}")


@pytest.mark.parametrize("name", list(QUERIES))
@pytest.mark.parametrize("threshold", ["10MB", "-1"])
def test_query(conf: Any, both: Both, name: str, threshold: str) -> None:
    conf({BROADCAST: threshold})
    query, relation = QUERIES[name], "INTERVAL_INTERSECTS"
    rows = both(query.format(call(relation)), query.format(formula(relation)))
    assert rows > 0 or name == "none on the left"


def test_actions(spark: Any, tmp_path: Any) -> None:
    query = f"SELECT r.id AS a, s.id AS b FROM r JOIN s ON {call('INTERVAL_INTERSECTS')}"
    frame = spark.sql(query)
    assert sweeps(physical(frame)) == 1
    rows = sorted(frame.collect())
    assert len(rows) > 100
    assert sorted(frame.toLocalIterator()) == rows
    assert sorted(frame.localCheckpoint().collect()) == rows
    assert sorted(frame.rdd.map(tuple).collect()) == rows
    assert [len(frame.take(n)) for n in (1, 5, 1000)] == [1, 5, len(rows)]
    assert frame.where("is_even(a + b)").count() == sum((a + b) % 2 == 0 for a, b in rows)
    frame.write.parquet(str(tmp_path / "out"))
    assert sorted(spark.read.parquet(str(tmp_path / "out")).collect()) == rows


def test_threads(spark: Any) -> None:
    """Concurrent queries share the workers of the application."""

    def count(step: int) -> int:
        condition = f"{call('INTERVAL_INTERSECTS')} AND r.id % {step} = 0"
        return int(spark.sql(f"SELECT count(*) AS n FROM r JOIN s ON {condition}").first().n)

    steps = [1, 2, 3] * 4
    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(count, steps))
    assert counts == [count(step) for step in steps]
