# SPDX-License-Identifier: Apache-2.0
"""Rows that are shuffled by keys for a sweep are packed: the rows and the plans stay the same."""

from __future__ import annotations

from typing import Any

import pytest

from support.spark.comparison import BROADCAST, EXCLUDED_RULES, FOLDING, Both, bag
from support.spark.metrics import metric

PACKED = "spark.sql.intervalsweep.packedExchange"
ADAPTIVE = "spark.sql.adaptive.enabled"
CODEGEN = "spark.sql.codegen.wholeStage"
PARTITIONS = "spark.sql.shuffle.partitions"
ROWS = 200
# Keys with NULLs, and with values that are equal although their bits differ.
KEYS = {
    "i": "nullif(id % 7, 3)",
    "s": "nullif(repeat('äx', cast(id % 5 AS INT)), 'äx')",
    "f": "CASE id % 5 WHEN 0 THEN NULL WHEN 1 THEN double('NaN') WHEN 2 THEN -0.0d "
    "WHEN 3 THEN 0.0d ELSE id % 3 END",
    "d": "cast(id % 6 * 1e30BD AS DECIMAL(38, 2))",
    "b": "nullif(id % 3 = 0, false)",
    "t": "named_struct('a', id % 2, 's', string(id % 3))",
    "l": "array(id % 2, null, id % 3)",
}
# A join by keys; a set operation, which sweeps over all columns; and an aggregate.
JOIN = (
    "SELECT r.*, s.id AS other FROM r LEFT JOIN s ON r.{0} = s.{0} AND r.ts < s.te AND s.ts < r.te"
)
MARKED = "validtime(TABLE(SELECT * FROM {0} WHERE ts < te), 'ts', 'te')"
DISTINCT = f"SELECT DISTINCT {{0}}, l, s FROM {MARKED.format('r')}"
EXCEPT = f"SELECT {{0}} FROM {MARKED.format('r')} EXCEPT ALL SELECT {{0}} FROM {MARKED.format('s')}"
AVERAGE = f"SELECT {{0}}, avg(id) AS a, max(s) AS m FROM {MARKED.format('r')} GROUP BY {{0}}"


@pytest.fixture(autouse=True)
def views(spark: Any, conf: Any) -> None:
    conf({BROADCAST: "-1", PARTITIONS: "3", EXCLUDED_RULES: FOLDING})
    keys = [f"{value} AS {name}" for name, value in KEYS.items()]
    for name, length, step in (("r", 5, 3), ("s", 7, 2)):
        start = f"id * {step} % 211"
        spark.range(0, ROWS, 1, 3).selectExpr(
            "id", *keys, f"{start} AS ts", f"{start} + id % {length} AS te"
        ).createOrReplaceTempView(name)


def executed(frame: Any) -> str:
    """The executed plan, without the plan as it was before adaptive execution changed it."""
    plan = str(frame._jdf.queryExecution().executedPlan().toString())
    return plan.partition("== Initial Plan ==")[0]


@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize("codegen", ["true", "false"])
@pytest.mark.parametrize("key", KEYS)
def test_a_join_of_packed_rows(
    both: Both, conf: Any, key: str, codegen: str, adaptive: str
) -> None:
    conf({ADAPTIVE: adaptive, CODEGEN: codegen})
    for packed in ("true", "false"):
        conf({PACKED: packed})
        assert both(JOIN.format(key)) >= ROWS
        sides = executed(both.frame).count("PackedExchange hashpartitioning")
        assert sides == (2 if packed == "true" else 0)


@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize("codegen", ["true", "false"])
@pytest.mark.parametrize("query", [DISTINCT, EXCEPT, AVERAGE])
@pytest.mark.parametrize("key", KEYS)
def test_histories_of_packed_rows(
    spark: Any, conf: Any, key: str, query: str, codegen: str, adaptive: str
) -> None:
    conf({ADAPTIVE: adaptive, CODEGEN: codegen})
    found = {}
    for packed in ("true", "false"):
        conf({PACKED: packed})
        frame = spark.sql(f"SELECT * FROM sequenced(TABLE({query.format(key)}))")
        found[packed] = bag(frame.collect())
        assert ("PackedExchange" in executed(frame)) == (packed == "true")
    assert found["true"] == found["false"]
    assert found["true"].total() > 20


def test_spark_learns_how_many_rows_and_bytes_were_packed(spark: Any, conf: Any) -> None:
    frame = spark.sql(JOIN.format("i"))
    frame.collect()
    written = metric(frame, "shuffleRecordsWritten", of="PackedExchange")
    assert written == ROWS, "not one for each pack"
    assert metric(frame, "recordsRead", of="PackedExchange") == ROWS
    packed = metric(frame, "dataSize", of="PackedExchange")
    conf({PACKED: "false"})
    frame = spark.sql(JOIN.format("i"))
    frame.collect()
    assert packed == metric(frame, "dataSize", of="Exchange"), (
        "of rows as Spark's exchange has them"
    )


def test_many_small_partitions_are_coalesced(both: Both, conf: Any) -> None:
    conf({ADAPTIVE: "true", PARTITIONS: "200"})
    assert both(JOIN.format("i")) >= ROWS
    assert executed(both.frame).count("AQEShuffleRead coalesced") == 2


def test_too_many_partitions_are_not_packed(both: Both, conf: Any) -> None:
    conf({PARTITIONS: "2001"})
    assert both(JOIN.format("i")) >= ROWS
    assert "PackedExchange" not in executed(both.frame)


def test_an_exchange_that_is_read_twice_is_packed_once(spark: Any, conf: Any) -> None:
    conf({ADAPTIVE: "false"})
    of_keys = "SELECT i, {0} AS v FROM validtime(TABLE(SELECT * FROM r WHERE ts < te), 'ts', 'te')"
    history = "SELECT i, v FROM sequenced(TABLE({0} GROUP BY i)) WHERE ts < 50"
    query = " UNION ALL ".join(history.format(of_keys.format("max(id)")) for _ in range(2))
    frame = spark.sql(query)
    assert len(frame.collect()) > 20
    plan = executed(frame)
    assert plan.count("PackedExchange") == 2, plan
    assert plan.count("ReusedExchange") == 1, "the text of the second one names the first one"


def test_the_keys_of_a_sweep_stay_together_for_a_group_by(spark: Any, conf: Any) -> None:
    conf({ADAPTIVE: "false"})
    history = f"sequenced(TABLE(SELECT i, max(id) AS m FROM {MARKED.format('r')} GROUP BY i))"
    frame = spark.sql(f"SELECT i, count(*) AS n FROM {history} GROUP BY i")
    assert {row.i for row in frame.collect()} == {None, 0, 1, 2, 4, 5, 6}
    assert executed(frame).count("Exchange") == 1


def test_rows_that_are_already_together_by_key_are_not_sent(spark: Any, conf: Any) -> None:
    conf({ADAPTIVE: "false"})
    by_key = spark.sql("SELECT /*+ REPARTITION(3, i) */ * FROM r")
    by_key.createOrReplaceTempView("by_key")
    marked = MARKED.format("by_key")
    history = spark.sql(f"SELECT * FROM sequenced(TABLE(SELECT DISTINCT i FROM {marked}))")
    assert history.count() > 7
    assert "PackedExchange" not in executed(history)


@pytest.mark.parametrize("empty", ["r", "s"])
@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_packed_rows_of_an_empty_side(
    spark: Any, both: Both, conf: Any, empty: str, adaptive: str
) -> None:
    conf({ADAPTIVE: adaptive})
    spark.table(empty).where("id < 0").createOrReplaceTempView(empty)
    assert both(JOIN.format("s"), swept=None) == (0 if empty == "r" else ROWS)
    both(JOIN.format("s") + " ORDER BY r.id, other LIMIT 7", swept=None)


def test_long_rows_and_one_key(spark: Any, both: Both, conf: Any) -> None:
    conf({PARTITIONS: "2"})
    for name in ("r", "s"):
        spark.range(0, 60, 1, 2).selectExpr(
            "id", "id DIV 100 AS k", "id AS ts", "id + 2 AS te", "repeat(string(id), 20000) AS text"
        ).createOrReplaceTempView(name)
    on = "r.k = s.k AND r.ts < s.te AND s.ts < r.te"
    assert both(f"SELECT r.id, s.id, s.text FROM r JOIN s ON {on}") == 178
    assert "PackedExchange" in executed(both.frame)
