# SPDX-License-Identifier: Apache-2.0
"""Dynamic partition pruning below a broadcast join reads as few files as Spark's own plan."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from support.spark.comparison import BROADCAST, ENABLED, Both, configured, physical
from support.spark.metrics import metric

ADAPTIVE = "spark.sql.adaptive.enabled"
KEYS = {
    "int": "CAST(id % 8 AS INT)",
    "text": "concat('key ', id % 8)",
    "date": "date_add(DATE'2024-02-25', CAST(id % 8 AS INT))",
}
ON = "f.k = d.k AND INTERVAL_INTERSECTS(f.ts, f.te, d.ts, d.te)"
QUERIES = {
    "inner": f"SELECT f.id, d.id FROM fact f JOIN d ON {ON} WHERE d.x < 2",
    "comma": f"SELECT f.id, d.id FROM d, fact f WHERE {ON} AND d.x < 2",
    "semi": f"SELECT f.id FROM fact f LEFT SEMI JOIN (SELECT * FROM d WHERE x < 2) d ON {ON}",
    "two keys": f"SELECT f.id, d.id FROM fact f JOIN d ON {ON} AND f.l = d.l WHERE d.x < 2",
    "aggregate above": f"SELECT d.id, count(*) FROM fact f JOIN d ON {ON} WHERE d.x < 2 "
    "GROUP BY d.id",
    "totals": f"SELECT count(*), sum(f.id) FROM fact f JOIN d ON {ON} WHERE d.x < 2",
    "relation in the filter": f"SELECT f.id, d.id FROM fact f JOIN d ON {ON} "
    "WHERE INTERVAL_INTERSECTS(d.ts, d.te, 0, 1)",
    "aggregated fact": "SELECT f.k, d.id FROM (SELECT k, min(ts) AS ts, max(te) AS te FROM fact "
    f"GROUP BY k) f JOIN d ON {ON} WHERE d.x < 2",
    "aggregated dimension": "SELECT f.id, d.k FROM fact f JOIN (SELECT k, min(ts) AS ts, max(te) "
    f"AS te FROM d WHERE x < 2 GROUP BY k) d ON {ON}",
    "both aggregated": "SELECT f.k, f.ts FROM (SELECT k, min(ts) AS ts, max(te) AS te FROM fact "
    "GROUP BY k) f JOIN (SELECT k, min(ts) AS ts, max(te) AS te FROM d WHERE x < 2 GROUP BY k) d "
    f"ON {ON}",
    "two dimensions": f"SELECT f.id, d.id, e.id FROM fact f JOIN d ON {ON} JOIN d e ON f.l = e.l "
    "AND f.ts < e.te AND e.ts < f.te WHERE d.x < 2 AND e.x = 3",
}


@pytest.fixture(scope="module", params=list(KEYS))
def tables(spark: Any, request: Any, tmp_path_factory: Any) -> Iterator[str]:
    """A partitioned fact table, and a dimension in which a filter on `x` keeps some keys."""
    base = tmp_path_factory.mktemp("pruning")
    columns = f"id, {KEYS[request.param]} AS k, id % 3 AS l, id AS ts, id + 9 AS te, id % 8 AS x"
    fact = spark.sql(f"SELECT {columns} FROM range(400)")
    fact.repartition(2).write.partitionBy("k", "l").saveAsTable("fact")
    key, columns = KEYS[request.param], columns.partition(" AS k, ")[2]
    some = f"id, CASE WHEN id <> 9 THEN {key} END AS k, {columns}"
    spark.sql(f"SELECT {some} FROM range(24)").write.parquet(str(base / "d"))
    spark.read.parquet(str(base / "d")).createOrReplaceTempView("d")
    yield request.param
    spark.sql("DROP TABLE fact")


def read(frame: Any) -> dict[str, int]:
    """The numbers of files and partitions that the scan of the fact table has read."""
    frame.collect()
    return {m: metric(frame, m, of="default.fact") for m in ("numFiles", "numPartitions")}


@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize("name", list(QUERIES))
def test_partitions_without_a_key_of_the_broadcast_side_are_read(
    conf: Any, both: Both, tables: str, name: str, adaptive: str
) -> None:
    conf({ADAPTIVE: adaptive})
    query, spark = QUERIES[name], both.spark
    assert both(query, swept=2 if name == "two dimensions" else 1) > 0
    with configured(spark, {ENABLED: "false"}):
        expected = read(spark.sql(query))
    assert 0 < expected["numFiles"] < 30, "Spark does not prune either"
    assert read(spark.sql(query)) == expected, physical(spark.sql(query))


@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_the_broadcast_side_is_read_a_second_time_for_its_keys(
    spark: Any, conf: Any, tables: str, adaptive: str
) -> None:
    conf({ADAPTIVE: adaptive})
    frame = spark.sql(QUERIES["inner"])
    frame.collect()
    plan = physical(frame).partition("\n+- == Initial Plan ==")[0]
    assert plan.count("ReusedExchange") == 1
    assert plan.count("PackedKeys") == 1


@pytest.mark.extended
@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_what_is_not_broadcast_is_pruned_as_spark_does_it(
    conf: Any, both: Both, tables: str, adaptive: str
) -> None:
    reuse_only = "spark.sql.optimizer.dynamicPartitionPruning.reuseBroadcastOnly"
    right = f"SELECT f.id, d.id FROM fact f RIGHT JOIN d ON {ON} WHERE d.x < 2"
    for setting, query in itertools.product(("true", "false"), (QUERIES["inner"], right)):
        conf({ADAPTIVE: adaptive, BROADCAST: "-1", reuse_only: setting})
        assert both(query) > 0
        with configured(both.spark, {ENABLED: "false"}):
            expected = read(both.spark.sql(query))
        assert read(both.spark.sql(query)) == expected
