# SPDX-License-Identifier: Apache-2.0
"""Lateral subqueries with GROUP BY: an interval join, and a group for each outer row and key."""

from __future__ import annotations

from typing import Any

import pytest

from support.spark.comparison import BROADCAST, Both, physical

TABLE = (
    "SELECT CAST(id AS INT) AS id, CAST(id % 3 AS INT) AS k, "
    "if(id % 11 = 0, NULL, id * {0} % 97) AS t, nullif(id % 4, 3) AS g, id % 5 AS x, "
    "if(id % 2 = 0, 0.0D, -0.0D) AS z FROM range({1})"
)
WITHIN = "b.k = a.k AND b.t BETWEEN a.t - 9 AND a.t"


@pytest.fixture(scope="module", autouse=True)
def views(spark: Any) -> None:
    for name, step, rows in (("a", 7, 70), ("b", 11, 90)):
        spark.sql(TABLE.format(step, rows)).createOrReplaceTempView(name)


def grouped(select: str, by: str, join: str = "JOIN", above: str = "", within: str = WITHIN) -> str:
    on = " ON true" if join == "LEFT JOIN" else ""
    return (
        f"SELECT a.id, a.z, w.* FROM a {join} LATERAL "
        f"(SELECT {select} FROM b WHERE {within} GROUP BY {by} {above}) w{on}"
    )


QUERIES = {
    "a key": ("g, count(*) n, sum(x) s, max_by(id, t) last", "g"),
    "an expression": ("upper(CAST(g AS STRING)) u, count(DISTINCT x) + 1 n", "g % 2, g"),
    "two keys": ("x + g AS y, min(t) m, first(k) k", "x, g"),
    "no function": ("g", "g"),
    "a key with a sign": ("z, collect_list(id) ids", "z"),
}


@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN"])
@pytest.mark.parametrize("name", QUERIES)
def test_groups(both: Both, name: str, join: str) -> None:
    select, by = QUERIES[name]
    sort = select.replace("collect_list(id)", "sort_array(collect_list(id))")
    rows = both(grouped(sort, by, join), swept=1, ways=[{BROADCAST: "-1"}, {}])
    assert rows > 40
    assert "IntervalSweepJoin" in physical(both.frame)


def test_rows_without_a_match_are_null(spark: Any) -> None:
    """A group whose key is NULL is not a row without a match: it has a count."""
    found = spark.sql(grouped("g, count(*) AS n", "g", "LEFT JOIN")).collect()
    assert {(row.g is None, row.n is None) for row in found} == {
        *((False, False), (True, False), (True, True))
    }


def test_having_and_columns_above(both: Both) -> None:
    having = grouped("g, count(*) n", "g", above="HAVING count(*) > 1 AND sum(x) > 2")
    assert both(having, swept=1) > 10
    above = f"SELECT id, n + 1 AS m FROM ({having}) WHERE g = 1 ORDER BY id LIMIT 5"
    assert both(above, swept=1) > 2
    renamed = (
        "SELECT a.id, w.* FROM a LEFT JOIN LATERAL (SELECT n * 2 AS twice, g FROM "
        f"(SELECT g, count(*) n FROM b WHERE {WITHIN} GROUP BY g)) w ON true"
    )
    assert both(renamed, swept=1) > 40
    condition = grouped("g, count(*) n", "g") + " ON w.n > a.x"
    assert both(condition, swept=1) > 10


def test_groups_of_the_last_rows(both: Both) -> None:
    last = (
        "SELECT a.id, w.* FROM a, LATERAL (SELECT g, sum(x) s FROM "
        "(SELECT g, x FROM b WHERE b.t < a.t AND b.k = a.k ORDER BY b.t DESC, b.id LIMIT 4) "
        "GROUP BY g) w"
    )
    assert both(last, swept=1) > 100
    assert "last 4" in physical(both.frame)


@pytest.mark.parametrize(
    "text",
    [
        # An outer row whose groups are all dropped has a row with NULLs.
        grouped("g, count(*) n", "g", "LEFT JOIN", "HAVING count(*) > 1"),
        grouped("g, count(*) n", "g", "LEFT JOIN").replace("ON true", "ON w.n > 1"),
        grouped("g, count(*) n", "g", within="b.k = a.k"),
    ],
)
def test_forms_that_stay_sparks(both: Both, text: str) -> None:
    assert both(text, swept=None) > 0
    plan = physical(both.frame)
    assert "row#" not in plan or "IntervalSweepJoin" not in plan
