# SPDX-License-Identifier: Apache-2.0
"""Window unions that emit each base row once, without grouping, and the exceptions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from support.spark.comparison import ANSI, BROADCAST, Both, physical
from support.spark.metrics import metric
from support.streams.window_queries import KEYED
from support.streams.window_rows import SCHEMA, rows

pytestmark = pytest.mark.usefixtures("two_partitions")

ADAPTIVE = "spark.sql.adaptive.enabled"
CODEGEN = "spark.sql.codegen.wholeStage"
BATCH = "spark.sql.intervalsweep.batchRows"
WAYS = {
    "broadcast": {},
    "broadcast, not adaptive": {ADAPTIVE: "false"},
    "by keys": {BROADCAST: "-1"},
    "by keys, not adaptive": {BROADCAST: "-1", ADAPTIVE: "false"},
    "interpreted": {CODEGEN: "false"},
}
SIMPLE = "count(*) c, count(v) n, sum(v) s, avg(v) a, min(k) lo, max(v) hi, sum(x) d"
DECIMALS = "sum(CAST(v AS DECIMAL(9, 2))) s, avg(CAST(v AS DECIMAL(9, 2))) a, max(day) l"


def lateral(what: str, condition: str = KEYED, more: str = "", of: str = "probe") -> str:
    return f"LEFT JOIN LATERAL (SELECT {what} FROM {of} WHERE {condition} {more}) w ON true"


ABOVE = {
    "the first rows": f"SELECT * FROM base {lateral(SIMPLE)} ORDER BY base.ts, k, c, v, n LIMIT 7",
    "having": f"SELECT * FROM base {lateral(SIMPLE, more='HAVING count(*) > 2')}",
    "columns pruned": f"SELECT w.s FROM base {lateral(SIMPLE)}",
    "none of the aggregates": f"SELECT base.v, w.c FROM base {lateral(DECIMALS + ', count(*) c')}",
    "totals": f"SELECT sum(c), max(s), count(*) FROM base {lateral(SIMPLE)} WHERE base.v > 1",
    "values that are not exact": f"SELECT d, x, w.c FROM base {lateral('count(*) c, max(x) m')}",
    "scalar": f"SELECT base.*, (SELECT max(v) FROM probe WHERE {KEYED}) m FROM base",
    "by keys again": f"SELECT k, sum(c) FROM base {lateral(SIMPLE)} GROUP BY k",
    "of both": f"SELECT ts, u FROM base {lateral('sum(coalesce(probe.v, 1)) u')} UNION ALL "
    f"SELECT v, m FROM base {lateral('count(*) m')}",
}


BASE = rows(40, 40)


@pytest.fixture(scope="module", autouse=True)
def tables(spark: Any) -> None:
    for name, some in (("base", BASE), ("probe", rows(60, 60)), ("many", rows(900, 900))):
        spark.createDataFrame(some, SCHEMA).createOrReplaceTempView(name)


@pytest.mark.parametrize("way", WAYS)
def test_no_groups(spark: Any, both: Both, conf: Any, way: str) -> None:
    conf(WAYS[way])
    for what in (SIMPLE, DECIMALS):
        query = f"SELECT * FROM base {lateral(what)}"
        plan = physical(spark.sql(query))
        assert "StreamingGroupAggregate" in plan, plan
        assert "HashAggregate" not in plan, plan
        assert "rowidentity" not in plan, plan
        assert both(query) == len(BASE)


@pytest.mark.parametrize("name", ABOVE)
def test_what_is_above(spark: Any, both: Both, conf: Any, name: str) -> None:
    conf({BROADCAST: "-1"} if len(name) % 2 else {})
    plan = physical(spark.sql(ABOVE[name]))
    assert "StreamingGroupAggregate" in plan
    assert name != "columns pruned" or re.search(r"Project \[k#\d+, ts#\d+\]", plan), plan
    assert both(ABOVE[name], swept=None)


def test_several(spark: Any, both: Both) -> None:
    near = "probe.n = base.n AND probe.ts BETWEEN base.ts AND base.ts + 2"
    second = f"JOIN LATERAL (SELECT count(*) c2 FROM probe WHERE {near}) z"
    query = f"SELECT base.*, w.c, z.c2 FROM base {lateral(SIMPLE)} {second}"
    assert physical(spark.sql(query)).count("StreamingGroupAggregate") == 2
    assert both(query, swept=2) == len(BASE)


def test_groups_where_a_row_is_in_several_tasks(spark: Any, both: Both, conf: Any) -> None:
    """In a join by ranges, and with two axes, a base row has several runs."""
    conf({BROADCAST: "-1"})
    for condition in ("probe.ts BETWEEN base.ts - 3 AND base.ts", f"{KEYED} AND probe.v < base.v"):
        query = f"SELECT * FROM base {lateral('count(*) c', condition)}"
        plan = physical(spark.sql(query))
        assert "StreamingGroupAggregate" not in plan, plan
        assert "Aggregate" in plan, plan
        assert both(query)


def test_nothing_to_match(spark: Any, both: Both, conf: Any) -> None:
    """Adaptive execution learns that a side is empty, and plans the rest again."""
    conf({BROADCAST: "-1"})
    none = "(SELECT * FROM probe WHERE v * 7 = 5) probe"
    query = f"SELECT * FROM base {lateral(SIMPLE, of=none)}"
    assert "StreamingGroupAggregate" in physical(spark.sql(query))
    assert both(query) == len(BASE)


@pytest.mark.parametrize("way", ["by keys", "by keys, not adaptive", "interpreted"])
def test_groups_too_large_for_memory(both: Both, conf: Any, way: str) -> None:
    """A base row meets its matches in several chunks."""
    conf(WAYS[way] | {BROADCAST: "-1", BATCH: "2"})
    for what in (SIMPLE, DECIMALS):
        query = f"SELECT * FROM base {lateral(what, of='many probe')}"
        assert both(query) == len(BASE)
    assert metric(both.frame, "partialRows", of="StreamingGroupAggregate") > 0


@pytest.mark.parametrize("way", WAYS)
def test_sums_that_leave_64_bits(spark: Any, both: Both, conf: Any, way: str) -> None:
    conf(WAYS[way] | {ANSI: "false"})
    large = "(SELECT k, ts, v * 2000000000000000000L v FROM probe) probe"
    query = f"SELECT * FROM base {lateral('sum(v) s, count(*) c, max(v) m', of=large)}"
    assert both(query) == len(BASE)
    conf({ANSI: "true"})
    with pytest.raises(Exception, match="ARITHMETIC_OVERFLOW"):
        spark.sql(query).collect()


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT base.*, w.c, 1 AS part FROM base {lateral('count(*) c, max(v) m')}",
        f"SELECT base.k, count(probe.n) c, 1 AS part FROM base JOIN probe ON {KEYED} "
        "GROUP BY base.k",
    ],
)
def test_rows_that_are_written_in_an_order(spark: Any, tmp_path: Path, query: str) -> None:
    """For a sorted write, Spark removes column names from nodes that it does not know."""
    frame = spark.sql(query)
    assert re.search("StreamingGroupAggregate|runs", physical(frame))
    frame.write.partitionBy("part").parquet(str(tmp_path / "written"))
    written = spark.read.parquet(str(tmp_path / "written"))
    assert sorted(map(repr, written.collect())) == sorted(map(repr, frame.collect())) != []
