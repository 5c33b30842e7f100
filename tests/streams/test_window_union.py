# SPDX-License-Identifier: Apache-2.0
"""Aggregates over a window of another table for each row: the lateral text, by a swept join."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta
from typing import Any

import pytest

from comparison import BROADCAST, Both, physical

SCHEMA = "k STRING, n INT, ts INT, at TIMESTAMP, day DATE, v INT, d DOUBLE, x DOUBLE"
WAYS = {
    "broadcast": {},
    "by keys": {BROADCAST: "-1"},
    "not adaptive": {BROADCAST: "-1", "spark.sql.adaptive.enabled": "false"},
}
WINDOW = "probe.ts BETWEEN base.ts - 3 AND base.ts + 1"
KEYED = f"probe.k = base.k AND {WINDOW}"
# (the query, how many joins are swept)
QUERIES = {
    "keyed": f"{{base}} LEFT JOIN LATERAL (SELECT sum(v) s, count(*) c, avg(v) a, min(v) lo, max(v) hi "
    f"FROM probe WHERE {KEYED}) w ON true",
    "keyless": f"{{base}} LEFT JOIN LATERAL (SELECT count(*) c, sum(v) s FROM probe WHERE {WINDOW}) w ON true",
    "inner": f"{{base}} JOIN LATERAL (SELECT count(*) c, max(v) m FROM probe WHERE {KEYED}) w",
    "cross": f"{{base}} CROSS JOIN LATERAL (SELECT count(*) c, min(k) m FROM probe WHERE {KEYED}) w",
    "comma": f"{{base}}, LATERAL (SELECT count(*) c FROM probe WHERE {KEYED}) w",
    "flipped": "{base} LEFT JOIN LATERAL (SELECT count(v) c FROM probe WHERE base.ts >= probe.ts "
    "AND base.k = probe.k AND probe.ts + 3 > base.ts) w ON true",
    "tables joined by a comma": f"{{base}} LEFT JOIN LATERAL (SELECT count(*) c, sum(probe.v * names.f) s "
    f"FROM probe, names WHERE names.k = probe.k AND {KEYED}) w ON true",
    "subqueries and columns": "{base} LEFT JOIN LATERAL (SELECT sum(y) s, count(*) c FROM (SELECT v + 1 y, z, kk FROM "
    "(SELECT *, ts * 2 z, k kk FROM probe WHERE v > 1) p WHERE z >= base.ts * 2 - 6) q "
    "WHERE kk = base.k AND z <= base.ts * 2) w ON true",
    "not NULL of NULL": f"{{base}} LEFT JOIN LATERAL (SELECT sum(coalesce(v, 7)) s, count(coalesce(v, 7)) c, "
    f"max(1) one, count(1) n, count(v, x) two FROM probe WHERE {KEYED}) w ON true",
    "any function": f"{{base}} LEFT JOIN LATERAL (SELECT sort_array(collect_list(v)) l, count(DISTINCT v) u, "
    f"count(*) FILTER (WHERE v > 3) f, bool_or(v > 3) b, count_if(v > 3) i, max_by(ts, v * 100 + ts) y, "
    f"any_value(probe.k) e, median(v) m FROM probe WHERE {KEYED}) w ON true",
    "of both sides": f"{{base}} LEFT JOIN LATERAL (SELECT base.v + count(*) c, "
    f"base.v + 1 o, base.k || max(probe.k) k2 FROM probe WHERE {KEYED}) w ON true",
    "having, left": f"{{base}} LEFT JOIN LATERAL (SELECT count(*) c, sum(v) s FROM probe WHERE {KEYED} "
    f"HAVING count(*) > 2) w ON true",
    "having, inner": f"{{base}} JOIN LATERAL (SELECT count(*) c, sum(v) s FROM probe WHERE {KEYED} "
    f"HAVING sum(v) > base.v) w ON true",
    "on, left": f"{{base}} LEFT JOIN LATERAL (SELECT count(*) c, sum(v) s FROM probe WHERE {KEYED}) w "
    f"ON w.s > base.v",
    "residual": f"{{base}} LEFT JOIN LATERAL (SELECT count(*) c, sum(v) s FROM probe WHERE {KEYED} "
    f"AND (probe.v + base.v) % 3 = 1) w ON true",
    "a double key": "{base} LEFT JOIN LATERAL (SELECT count(*) c, sum(v) s FROM probe WHERE probe.d = base.d "
    f"AND {WINDOW}) w ON true",
    "a key that is NULL": "{base} LEFT JOIN LATERAL (SELECT count(*) c, sum(v) s FROM probe WHERE probe.k <=> base.k "
    f"AND {WINDOW}) w ON true",
    "behind": "{base} LEFT JOIN LATERAL (SELECT count(*) c, sum(v) s FROM probe WHERE probe.k = base.k "
    "AND probe.ts BETWEEN base.ts - 9 AND base.ts - 4) w ON true",
    "nowhere": "{base} LEFT JOIN LATERAL (SELECT count(*) c, sum(v) s FROM probe WHERE probe.k = base.k "
    "AND probe.ts BETWEEN base.ts + 4 AND base.ts - 4) w ON true",
    "timestamps": "{base} LEFT JOIN LATERAL (SELECT count(*) c, max(probe.at) l FROM probe WHERE probe.k = base.k "
    "AND probe.at BETWEEN base.at - INTERVAL 3 MINUTES AND base.at) w ON true",
    "dates": "{base} LEFT JOIN LATERAL (SELECT count(*) c, min(probe.day) l FROM probe WHERE probe.n = base.n "
    "AND probe.day BETWEEN base.day - INTERVAL 3 DAYS AND base.day) w ON true",
    "doubles": "{base} LEFT JOIN LATERAL (SELECT count(*) c, max(x) l FROM probe WHERE probe.n = base.n "
    "AND probe.x BETWEEN base.x - 0.5D AND base.x) w ON true",
    "a function": "{base} LEFT JOIN LATERAL (SELECT count(*) c, sum(v) s FROM probe WHERE probe.k = base.k "
    "AND INTERVAL_INTERSECTS(base.ts, base.ts + 3, probe.ts, probe.ts + 1)) w ON true",
    "itself": "{base} LEFT JOIN LATERAL (SELECT count(*) c, sum(v) s FROM base b WHERE b.k = base.k "
    "AND b.ts BETWEEN base.ts - 3 AND base.ts) w ON true",
}


def rows(number: int, seed: int) -> list[tuple[Any, ...]]:
    """Rows with few values, so that some are equal in all columns; a tenth of the values are NULL."""
    draw = random.Random(seed)

    def maybe(value: Any) -> Any:
        return None if draw.random() < 0.1 else value

    def row() -> tuple[Any, ...]:
        ts = draw.randrange(20)
        return (
            maybe(draw.choice("ab")),
            maybe(draw.randrange(2)),
            maybe(ts),
            maybe(datetime(2024, 1, 1) + timedelta(minutes=ts)),
            maybe(date(2024, 1, 1) + timedelta(days=ts)),
            maybe(draw.randrange(6)),
            maybe(draw.choice([0.0, -0.0, 1.5, float("nan")])),
            maybe(ts / 4),
        )

    some = [row() for _ in range(number)]
    return some + some[: number // 4]


@pytest.fixture(scope="module", autouse=True)
def tables(spark: Any) -> None:
    for name, number in (("base", 40), ("probe", 60)):
        frame = spark.createDataFrame(rows(number, number), SCHEMA)
        frame.createOrReplaceTempView(name)
    spark.sql("SELECT * FROM VALUES ('a', 2), ('b', 3), ('b', 5) t(k, f)").createOrReplaceTempView(
        "names"
    )


@pytest.mark.parametrize("name", QUERIES)
def test_the_rows_of_the_text(both: Both, conf: Any, name: str) -> None:
    way = random.Random(name).choice(list(WAYS.values()))
    conf(way)
    assert both(f"SELECT * FROM {QUERIES[name].format(base='base')}") >= 5


@pytest.mark.parametrize("way", WAYS)
def test_from_runs(spark: Any, both: Both, conf: Any, way: str) -> None:
    """Each row of `base` once, its aggregates without a pair, and its key in the join."""
    conf(WAYS[way])
    query = f"SELECT * FROM {QUERIES['keyed'].format(base='base')}"
    plan = physical(spark.sql(query))
    assert "runs [" in plan
    assert "keys [base.k = probe.k]" in plan
    assert both(query) == spark.table("base").count()


def test_empty_and_one_row(both: Both) -> None:
    for base, probe in (
        ("base", "false"),
        ("base", "v = 5"),
        ("(SELECT * FROM base LIMIT 1)", "true"),
    ):
        query = (
            f"SELECT * FROM {base} base LEFT JOIN LATERAL (SELECT count(*) c, sum(v) s FROM probe "
            f"WHERE {probe} AND {KEYED}) w ON true"
        )
        assert both(query, swept=None) > 0
    assert (
        both(
            "SELECT * FROM (SELECT * FROM base WHERE false) base LEFT JOIN LATERAL (SELECT count(*) c "
            f"FROM probe WHERE {KEYED}) w ON true",
            swept=None,
        )
        == 0
    )


def test_scalar_subqueries(both: Both) -> None:
    def of(what: str, more: str = "") -> str:
        return f"(SELECT {what} FROM probe WHERE {KEYED} {more})"

    assert both(f"SELECT base.*, {of('sum(v)')} s, 1 + {of('count(*)')} c FROM base", swept=2)
    assert both(f"SELECT * FROM base WHERE v > 1 AND {of('count(*)')} > 2", swept=1)
    assert both(
        f"SELECT k, coalesce({of('max(v)', 'HAVING count(*) > 3')}, -1) m FROM base", swept=1
    )


def test_below_and_above_others(both: Both) -> None:
    inner = QUERIES["keyed"].format(base="base")
    assert both(f"SELECT k, sum(c), max(s) FROM {inner} WHERE ts > 4 AND k = 'a' GROUP BY k")
    assert both(f"SELECT w.c, count(*) FROM {inner} GROUP BY w.c HAVING count(*) > 1")
    assert both(
        f"SELECT * FROM {inner} LEFT JOIN LATERAL (SELECT count(*) c2 FROM probe WHERE {WINDOW}) w2 ON true",
        swept=2,
    )
    assert both(
        f"SELECT * FROM names WHERE EXISTS (SELECT 1 FROM {inner} WHERE base.k = names.k AND w.c > 3)"
    )
    assert both(
        "WITH b AS (SELECT * FROM base DISTRIBUTE BY v) SELECT b.ts, w.* FROM b LEFT JOIN LATERAL "
        "(SELECT count(*) c FROM probe WHERE probe.k = b.k AND probe.ts BETWEEN b.ts - 2 AND b.ts) w ON true"
    )


def test_filters_reach_the_table(spark: Any) -> None:
    query = f"SELECT * FROM {QUERIES['keyed'].format(base='base')} WHERE ts > 4"
    plan = str(spark.sql(query)._jdf.queryExecution().optimizedPlan().toString())
    assert plan.index("rowidentity") < plan.index("(ts#")
    assert plan.index("Join LeftOuter") < plan.index("> 4")


def test_left_to_spark(both: Both) -> None:
    """What is no window, and what is no aggregate of all its rows."""
    for query in (
        "SELECT * FROM base LEFT JOIN LATERAL (SELECT count(*) c FROM probe WHERE probe.k = base.k) w ON true",
        f"SELECT * FROM base JOIN LATERAL (SELECT v, count(*) c FROM probe WHERE {KEYED} GROUP BY v) w",
    ):
        assert both(query, swept=None)


def test_columns_that_cannot_be_grouped(both: Both) -> None:
    """Values that Spark's groups would change, or that it has no groups of."""
    base = (
        "(SELECT *, struct(d, k) st, map(k, d) mp, array(d) ar FROM base WHERE k IS NOT NULL) base"
    )
    assert both(f"SELECT * FROM {QUERIES['keyless'].format(base=base)}")
