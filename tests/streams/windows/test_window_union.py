# SPDX-License-Identifier: Apache-2.0
"""Window unions: for each row, aggregates over a window of another table, by a swept join."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from support.spark.comparison import BROADCAST, Both, physical
from support.streams.window_queries import BOTH, COUNT, KEYED, QUERIES, WINDOW, lateral
from support.streams.window_rows import SCHEMA, rows

pytestmark = pytest.mark.usefixtures("two_partitions")

WAYS = {
    "broadcast": {},
    "by keys": {BROADCAST: "-1"},
    "not adaptive": {BROADCAST: "-1", "spark.sql.adaptive.enabled": "false"},
}
PARTS = ("rangeRows", "batchRows")


BASE = rows(40, 40)


@pytest.fixture(scope="module", autouse=True)
def tables(spark: Any) -> None:
    for name, some in (("base", BASE), ("probe", rows(60, 60))):
        spark.createDataFrame(some, SCHEMA).createOrReplaceTempView(name)
    names = spark.sql("SELECT * FROM VALUES ('a', 2), ('b', 3), ('b', 5) t(k, f)")
    names.createOrReplaceTempView("names")


@pytest.mark.parametrize("name", QUERIES)
def test_the_rows_of_the_text(both: Both, conf: Any, name: str) -> None:
    way = random.Random(name).choice(list(WAYS.values()))
    conf(way)
    assert both(f"SELECT * FROM {QUERIES[name].format(base='base')}") >= 5


@pytest.mark.parametrize("way", WAYS)
def test_from_runs(spark: Any, both: Both, conf: Any, way: str) -> None:
    """Each row of `base` is returned once; aggregates come from runs, and the join has the key."""
    conf(WAYS[way])
    query = f"SELECT * FROM {QUERIES['keyed'].format(base='base')}"
    plan = physical(spark.sql(query))
    assert "runs [" in plan
    assert "keys [base.k = probe.k]" in plan
    assert both(query) == len(BASE)


def test_empty_and_one_row(both: Both) -> None:
    some = [
        f"SELECT * FROM {lateral(BOTH, condition).format(base=base)}"
        for base, condition in (
            ("base", f"false AND {KEYED}"),
            ("base", f"v = 5 AND {KEYED}"),
            ("(SELECT * FROM base LIMIT 1) base", KEYED),
        )
    ]
    assert both(" UNION ALL ".join(some), swept=None) == 2 * len(BASE) + 1
    nothing = "(SELECT * FROM base WHERE false) base"
    assert both(f"SELECT * FROM {QUERIES['keyed'].format(base=nothing)}", swept=None) == 0


def test_a_row_that_having_or_on_refuses_is_kept_with_nulls(spark: Any, both: Both) -> None:
    queries = [
        f"SELECT * FROM {QUERIES[name].format(base='base')}"
        for name in ("having, left", "on, left")
    ]
    assert both(" UNION ALL ".join(queries), swept=2) == 2 * spark.table("base").count()
    refused = sum(row.c is None for row in both.rows)
    assert 0 < refused < len(both.rows)


def test_scalar_subqueries(both: Both) -> None:
    def of(what: str, more: str = "") -> str:
        return f"(SELECT {what} FROM probe WHERE {KEYED} {more})"

    assert both(f"SELECT base.*, {of('sum(v)')} s, 1 + {of('count(*)')} c FROM base", swept=2)
    assert both(f"SELECT * FROM base WHERE v > 1 AND {of('count(*)')} > 2", swept=1)
    most = of("max(v)", "HAVING count(*) > 3")
    assert both(f"SELECT k, coalesce({most}, -1) m FROM base", swept=1)


def test_a_table_with_itself_of_which_a_column_is_computed(spark: Any, both: Both) -> None:
    """Only computed columns get new ids; the others have the same id on both sides."""
    spark.sql("SELECT k, ts, v + 1 AS v FROM base").createOrReplaceTempView("computed")
    text = lateral(BOTH, KEYED).replace("FROM probe", "FROM computed probe")
    assert both(f"SELECT * FROM {text.format(base='computed base')}") > 20


def test_below_and_above_others(both: Both) -> None:
    inner = QUERIES["keyed"].format(base="base")
    assert both(f"SELECT k, sum(c), max(s) FROM {inner} WHERE ts > 4 AND k = 'a' GROUP BY k")
    assert both(f"SELECT w.c, count(*) FROM {inner} GROUP BY w.c HAVING count(*) > 1")
    twice = f"JOIN LATERAL (SELECT count(*) c2 FROM probe WHERE {WINDOW}) w2"
    assert both(f"SELECT * FROM {inner} {twice}", swept=2)
    some = f"SELECT 1 FROM {inner} WHERE base.k = names.k AND w.c > 3"
    assert both(f"SELECT * FROM names WHERE EXISTS ({some})")
    shuffled = "WITH base AS (SELECT * FROM VALUES (1), (2) t(n) JOIN base USING (n))"
    assert both(f"{shuffled} SELECT * FROM {inner}", swept=None)


def test_filters_reach_the_table(spark: Any) -> None:
    query = f"SELECT * FROM {QUERIES['keyed'].format(base='base')} WHERE ts > 4"
    plan = str(spark.sql(query)._jdf.queryExecution().optimizedPlan().toString())
    assert re.search(r"WithRowId[^\n]*\n[^\n]*Filter[^\n]* > 4", plan), plan


def test_left_to_spark(both: Both) -> None:
    """Subqueries without a window, and subqueries that do not aggregate all rows of it."""
    for part in (lateral(COUNT, "probe.k = base.k"), lateral("v, count(*) c", more="GROUP BY v")):
        assert both(f"SELECT * FROM {part.format(base='base')}", swept=None)


def test_columns_that_cannot_be_grouped(both: Both) -> None:
    """Values that Spark's grouping would change, or that it cannot group."""
    base = (
        "(SELECT *, struct(d, k) st, map(k, d) mp, array(d) ar FROM base WHERE k IS NOT NULL) base"
    )
    assert both(f"SELECT * FROM {QUERIES['keyless'].format(base=base)}")


def test_rows_that_come_in_parts(spark: Any, both: Both, conf: Any) -> None:
    """A key has more rows than a chunk, and sums may exceed 64 bits."""
    conf({BROADCAST: "-1"} | {f"spark.sql.intervalsweep.{name}": "5" for name in PARTS})
    query = f"SELECT * FROM {QUERIES['keyed'].format(base='base')}"
    assert "runs [" in physical(spark.sql(query))
    assert both(query)
    conf({"spark.sql.ansi.enabled": "false"})
    large = "(SELECT k, ts, v * 2000000000000000000L v FROM probe) probe"
    some = lateral("sum(v) s, count(*) c, max(v) m", of=large)
    assert both(f"SELECT * FROM {some.format(base='base')}")
