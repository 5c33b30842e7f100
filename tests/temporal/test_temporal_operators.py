# SPDX-License-Identifier: Apache-2.0
"""Each operator inside `sequenced`: at each instant, the plain query over the snapshot."""

from __future__ import annotations

from typing import Any

import pytest

from support.spark.comparison import (
    BROADCAST,
    EXCLUDED_RULES,
    FOLDING,
    configured,
    physical,
    sweeps,
)
from support.temporal.snapshots import Snapshots, Table, assert_canonical

# Values are NULL or repeated; periods touch, nest or repeat, are empty, reversed or unbounded.
TABLES = {
    "r": Table(
        "k INT, v INT",
        [
            (1, 10, 0, 4),
            (1, 10, 2, 6),
            (1, 20, 4, 9),
            (2, 10, None, 3),
            (2, 30, 5, None),
            (None, 30, 1, 8),
            (None, 30, 1, 8),
            (3, None, 7, 7),
            (3, 10, 9, 2),
            (4, 40, 3, 5),
            (4, 40, 5, 7),
        ],
    ),
    "s": Table(
        "k INT, w INT",
        [
            (1, 10, 1, 3),
            (1, 10, 3, 5),
            (1, 50, 0, 11),
            (2, 30, None, None),
            (None, 30, 2, 6),
            (4, 15, 4, 6),
            (5, 60, 0, 3),
        ],
    ),
    "c": Table("k INT, name STRING", [(1, "one"), (2, "two"), (2, "zwei"), (9, "nine")], False),
    "empty": Table("k INT, v INT", []),
}

FLAT = [
    "SELECT * FROM r",
    "SELECT v + 1 AS x, k FROM r WHERE k = 1 OR v > 20",
    "SELECT k, v FROM r UNION ALL SELECT k, w FROM s",
    "SELECT k FROM r UNION ALL SELECT k FROM c",
    "WITH q AS (SELECT k FROM r WHERE v = 10) SELECT * FROM q a JOIN q b ON a.k = b.k",
    "SELECT x.k FROM (SELECT k, v FROM r ORDER BY v) x WHERE x.v = 10",
    "SELECT k, v FROM r ORDER BY v, k",
    "SELECT k FROM r ORDER BY v",
]

INNER = [
    "SELECT r.k, v, w FROM r JOIN s ON r.k = s.k",
    "SELECT * FROM r JOIN s USING (k)",
    "SELECT v, w FROM r, s",
    "SELECT v, w FROM r JOIN s ON r.v < s.w",
    "SELECT a.v, b.v AS u FROM r a JOIN r b ON a.k = b.k AND a.v <> b.v",
    "SELECT a.v, b.w, c.v AS u FROM r a JOIN s b ON a.k = b.k JOIN r c ON c.k = b.k",
]

SETS = [
    "SELECT DISTINCT v FROM r",
    "SELECT k, v FROM r UNION SELECT k, w FROM s",
    "SELECT v FROM r EXCEPT ALL SELECT w FROM s",
    "SELECT v FROM r EXCEPT SELECT w FROM s",
    "SELECT k, v FROM r INTERSECT ALL SELECT k, w FROM s",
    "SELECT v FROM r INTERSECT SELECT w FROM s",
    "SELECT k FROM c EXCEPT SELECT k FROM r",
    "SELECT k FROM r EXCEPT ALL SELECT k FROM c",
    "SELECT v FROM r EXCEPT ALL SELECT v FROM empty",
    "SELECT CAST(v AS DOUBLE) / 10 AS x FROM r EXCEPT ALL SELECT CAST(w AS DOUBLE) / 10 FROM s",
]

AGGREGATES = [
    "SELECT count(*) AS n FROM r",
    "SELECT count(*) AS n, sum(v) AS t, max(k) AS m FROM empty",
    "SELECT k, count(*) AS n, sum(v) AS t FROM r GROUP BY k",
    "SELECT count(*) AS n FROM r GROUP BY k",
    "SELECT k % 2 AS odd, min(v) AS a, max(v) AS b, avg(v) AS m FROM r GROUP BY k % 2",
    "SELECT k, count(DISTINCT v) AS d, count(*) FILTER (WHERE v > 10) AS f FROM r GROUP BY k",
    "SELECT k, count(*) AS n FROM r GROUP BY k HAVING count(*) > 1",
    "SELECT sum(v) AS t FROM r HAVING count(*) > 3",
    "SELECT k, sum(w) AS t FROM (SELECT r.k, w FROM r JOIN s ON r.k = s.k) GROUP BY k",
    "SELECT max(n) AS m FROM (SELECT k, count(*) AS n FROM r GROUP BY k)",
    "SELECT k FROM r GROUP BY k",
    "SELECT r.k, count(*) AS n FROM r JOIN c ON r.k = c.k GROUP BY r.k",
]

GROUPING_SETS = [
    "SELECT k, v, count(*) AS n FROM r GROUP BY ROLLUP (k, v)",
    "SELECT k, v, grouping(k) AS g, sum(v) AS n FROM r GROUP BY CUBE (k, v)",
    "SELECT k, v, count(*) AS n FROM r GROUP BY GROUPING SETS ((k), (v))",
]

PARTNERS = [
    "SELECT r.k, v, w FROM r LEFT JOIN s ON r.k = s.k",
    "SELECT r.k, v, w FROM r LEFT JOIN s ON r.k = s.k AND v <= w AND v > 5",
    "SELECT r.v, s.w FROM r RIGHT JOIN s ON r.k = s.k",
    "SELECT r.k, v, s.k AS sk, w FROM r FULL JOIN s ON r.k = s.k",
    "SELECT k, v, w FROM r FULL JOIN s USING (k)",
    "SELECT v, w FROM r LEFT JOIN s ON v < w",
    "SELECT r.k, name FROM r LEFT JOIN c ON r.k = c.k",
    "SELECT c.k, v FROM r RIGHT JOIN c ON r.k = c.k",
    "SELECT r.k, c.k AS ck FROM r FULL JOIN c ON r.k = c.k",
    "SELECT * FROM r LEFT JOIN empty USING (k)",
    "SELECT a.k, b.w, d.v AS u FROM r a LEFT JOIN s b ON a.k = b.k LEFT JOIN r d ON b.w = d.v",
    "SELECT * FROM r WHERE EXISTS (SELECT 1 FROM s WHERE s.k = r.k)",
    "SELECT * FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.k = r.k AND s.w > r.v)",
    "SELECT * FROM r WHERE v IN (SELECT w FROM s)",
    "SELECT * FROM r WHERE v NOT IN (SELECT w FROM s)",
    "SELECT * FROM r WHERE v NOT IN (SELECT w FROM s WHERE s.k = r.k)",
    "SELECT * FROM r WHERE v > 25 OR EXISTS (SELECT 1 FROM s WHERE s.k = r.k)",
    "SELECT * FROM r WHERE EXISTS (SELECT 1 FROM s WHERE w > 55)",
    "SELECT * FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE w > 55)",
    "SELECT * FROM c WHERE EXISTS (SELECT 1 FROM s WHERE s.k = c.k)",
    "SELECT * FROM c WHERE k NOT IN (SELECT k FROM r WHERE k IS NOT NULL)",
]

IN_GROUPS = (
    "SELECT k IN (SELECT k FROM s) AS x, v > (SELECT min(w) FROM s WHERE s.k = r.k) AS y, "
    "count(*) AS n FROM r GROUP BY CUBE (1, 2)"
)
SCALARS = [
    "SELECT k, v, (SELECT max(w) FROM s) AS m FROM r",
    "SELECT k, v FROM r WHERE v >= (SELECT avg(v) FROM r)",
    "SELECT k, v, (SELECT sum(w) FROM s WHERE s.k = r.k) AS m FROM r",
    "SELECT k, v, (SELECT count(*) FROM s WHERE s.k = r.k) AS m FROM r",
    "SELECT k, v FROM r WHERE v < (SELECT max(w) FROM s WHERE s.k = r.k)",
    "SELECT k, count(*) + (SELECT count(*) FROM s) AS n FROM r GROUP BY k",
    "SELECT k, sum(v - (SELECT min(w) FROM s)) AS n FROM r GROUP BY k",
    "SELECT k, count(*) AS n FROM r GROUP BY k HAVING count(*) > (SELECT count(*) - 3 FROM s)",
    "SELECT v > (SELECT avg(w) FROM s) AS x, count(*) AS n FROM r GROUP BY 1",
    "SELECT (SELECT max(w) FROM s WHERE s.k = r.k) AS x, count(*) AS n FROM r GROUP BY 1",
    IN_GROUPS,
    "SELECT k, (SELECT w FROM s WHERE w > 55) AS x FROM r",
    "SELECT k, (SELECT max(k) FROM c) AS x FROM r",
]

# Spark's pipe syntax -> standard SQL.
PIPES = {
    "FROM r |> WHERE v > 5 |> AGGREGATE count(*) AS n, sum(v) AS t GROUP BY k":
        "SELECT k, count(*) AS n, sum(v) AS t FROM r WHERE v > 5 GROUP BY k",
    "FROM r |> JOIN s ON r.k = s.k |> SELECT r.k, v |> EXTEND v + 1 AS u |> SET u = -u |> DROP v":
        "SELECT r.k, -(v + 1) AS u FROM r JOIN s ON r.k = s.k",
    "FROM r |> SELECT v |> UNION ALL (SELECT w FROM s) |> ORDER BY v |> LIMIT 2":
        "SELECT v FROM r UNION ALL SELECT w FROM s ORDER BY v LIMIT 2",
}  # fmt: skip

LATERALS = [
    "SELECT r.k, v, l.w FROM r, LATERAL (SELECT w FROM s WHERE s.k = r.k ORDER BY w LIMIT 1) l",
    "SELECT r.k, v, l.n FROM r, LATERAL (SELECT count(*) AS n FROM s WHERE s.w < r.v) l",
    "SELECT r.k, l.x FROM r LEFT JOIN LATERAL (SELECT r.v + s.w AS x FROM s WHERE s.k = r.k) l "
    "ON true",
]

# Correlated subqueries that order by a column which they do not return.
ORDERED = [
    "SELECT k, v, (SELECT s.w + 1 FROM s WHERE s.k = r.k ORDER BY s.w DESC LIMIT 1) AS m FROM r",
    "SELECT r.k, v, l.x FROM r, LATERAL (SELECT -w AS x FROM s WHERE s.k = r.k ORDER BY w LIMIT 1) "
    "l",
    "SELECT * FROM r WHERE EXISTS (SELECT s.k FROM s WHERE s.k = r.k ORDER BY w LIMIT 1)",
    "SELECT * FROM r WHERE v IN (SELECT w + 0 FROM s WHERE s.k = r.k ORDER BY w DESC LIMIT 1)",
]

WINDOWS = [
    "SELECT k, v, count(*) OVER (PARTITION BY k) AS n FROM r",
    "SELECT k, v, rank() OVER (PARTITION BY k ORDER BY v) AS n, sum(v) OVER () AS t FROM r",
    "SELECT v, sum(v) OVER (ORDER BY v) AS t FROM r",
    "SELECT * FROM (SELECT k, v, dense_rank() OVER (ORDER BY v DESC) AS d FROM r) WHERE d <= 2",
    "SELECT v FROM r ORDER BY v DESC LIMIT 2",
    "SELECT v FROM (SELECT k, v FROM r ORDER BY v, k LIMIT 3 OFFSET 1)",
    "SELECT sum(v) AS t FROM (SELECT v FROM r ORDER BY v LIMIT 2)",
]

# The first rows by a sweep, with ties that are equal rows.
FIRST = [
    "SELECT v FROM r ORDER BY v DESC LIMIT 3 OFFSET 1",
    "SELECT v + 1 AS x FROM r ORDER BY -v, k LIMIT 2",
    "SELECT v, k FROM r WHERE v > 10 ORDER BY v NULLS LAST, k DESC LIMIT 1",
    "SELECT sum(w) AS t FROM (SELECT w FROM s ORDER BY w LIMIT 64)",
    "SELECT v FROM (SELECT v, row_number() OVER (ORDER BY v DESC, k) AS n FROM r) WHERE n <= 2",
    "SELECT * FROM (SELECT v, k, row_number() OVER (ORDER BY v, k) AS n FROM r) WHERE n < 4",
    "SELECT v, n FROM (SELECT v, row_number() OVER (ORDER BY v) AS n FROM r) WHERE n = 2 AND v > 9",
    "SELECT v, w FROM (SELECT v FROM r ORDER BY v LIMIT 2) JOIN s ON v < w",
]

# Aggregates of distinct values, alone and with others.
DISTINCT = [
    "SELECT count(DISTINCT v) AS n FROM r",
    "SELECT k, count(DISTINCT v) AS n, sum(DISTINCT v) AS t FROM r GROUP BY k",
    "SELECT k, count(DISTINCT v) AS n, count(*) AS m, sum(v) AS t FROM r GROUP BY k",
    "SELECT count(DISTINCT k) AS a, count(DISTINCT v) AS b, max(v) AS c FROM r",
    "SELECT count(DISTINCT k, v) AS n, count(DISTINCT v) FILTER (WHERE k = 1) AS f FROM r",
    "SELECT k % 2 AS odd, 1 + count(DISTINCT v) AS n FROM r GROUP BY k % 2 HAVING count(*) > 1",
    "SELECT count(DISTINCT v) AS n, count(*) AS m FROM empty",
    "SELECT v, (SELECT count(DISTINCT w) FROM s WHERE s.k = r.k) AS n FROM r",
]

CANONICAL = [*SETS, *AGGREGATES[:6], *WINDOWS[:3], *FIRST[:2], *FIRST[4:6], *DISTINCT[:5]]

# DuckDB orders NULL last, and returns a grand total over no rows. As a value, NULL IN (query) is
# NULL in DuckDB and false in Spark.
NOT_FOR_DUCKDB = {*GROUPING_SETS, *WINDOWS, *ORDERED, *FIRST, DISTINCT[4], IN_GROUPS}


@pytest.fixture(scope="module")
def snapshots(spark: Any) -> Snapshots:
    return Snapshots(spark, TABLES)


@pytest.mark.parametrize(
    "query",
    [
        *FLAT,
        *INNER,
        *SETS,
        *AGGREGATES,
        *GROUPING_SETS,
        *PARTNERS,
        *SCALARS,
        *LATERALS,
        *ORDERED,
        *FIRST,
        *DISTINCT,
        *WINDOWS,
    ],
)
def test_history_is_the_query_at_each_instant(snapshots: Snapshots, query: str) -> None:
    snapshots.check(query, duck=None if query in NOT_FOR_DUCKDB else "")
    if query in CANONICAL:
        assert_canonical(snapshots.rows)


@pytest.mark.parametrize("query", PIPES)
def test_pipes(snapshots: Snapshots, query: str) -> None:
    snapshots.check(query, duck=PIPES[query])


@pytest.mark.parametrize("query", [*INNER, *PARTNERS[:6]])
def test_joins_are_swept(spark: Any, snapshots: Snapshots, query: str) -> None:
    with configured(spark, {EXCLUDED_RULES: FOLDING}):
        plan = physical(snapshots.history(query))
        assert sweeps(plan) >= 1, plan
        assert "NestedLoop" not in plan, plan
        snapshots.check(query)


@pytest.mark.parametrize("query", [*FIRST[:2], *FIRST[4:6], *DISTINCT[:6]])
def test_rows_are_not_repeated_for_each_fragment(snapshots: Snapshots, query: str) -> None:
    assert "PeriodSweep cuts" not in physical(snapshots.history(query))


@pytest.mark.parametrize("aqe", ["true", "false"])
@pytest.mark.parametrize(
    "query", [INNER[0], SETS[2], AGGREGATES[0], AGGREGATES[2], PARTNERS[3], SCALARS[2], WINDOWS[1]]
)
def test_distributed(spark: Any, snapshots: Snapshots, query: str, aqe: str) -> None:
    settings = {
        "spark.sql.adaptive.enabled": aqe,
        BROADCAST: "-1",
        EXCLUDED_RULES: FOLDING,
    }
    with configured(spark, settings):
        snapshots.check(query, duck=None if query in NOT_FOR_DUCKDB else "")


@pytest.mark.parametrize(
    "query", [*SETS[2:4], *AGGREGATES[:6], *PARTNERS[:5], *SCALARS[:4], *LATERALS, *WINDOWS[:5]]
)
def test_an_instant_is_the_slice(snapshots: Snapshots, query: str) -> None:
    from support.temporal.snapshots import bag

    for instant, slice_of in snapshots.slices(query, (0, 3, 5)).items():
        rows = snapshots.history(query, f", at => {instant}").collect()
        assert rows
        assert bag(map(tuple, rows)) == bag(slice_of)


@pytest.mark.parametrize(
    "query",
    [FLAT[0], INNER[0], *SETS[:5], *AGGREGATES[:4], *PARTNERS[:4], *SCALARS[:3], *WINDOWS[:5]],
)
def test_a_period_clips_the_history(snapshots: Snapshots, query: str) -> None:
    from support.temporal.snapshots import bag, is_valid

    whole = [tuple(row) for row in snapshots.history(query).collect()]
    part = [tuple(row) for row in snapshots.history(query, ", period => array(2, 6)").collect()]
    assert part
    assert all(2 <= row[-2] < row[-1] <= 6 for row in part)
    for instant in range(2, 6):
        expected = bag(row[:-2] for row in whole if is_valid(row, instant))
        assert bag(row[:-2] for row in part if is_valid(row, instant)) == expected


@pytest.mark.parametrize("query", [FLAT[0], FLAT[2], INNER[0], PARTNERS[0]])
def test_coalesce_gives_the_fewest_rows(snapshots: Snapshots, query: str) -> None:
    snapshots.check(query, options=", coalesce => true")
    assert_canonical(snapshots.rows)


def test_two_rows_of_a_scalar_subquery_at_an_instant_are_an_error(snapshots: Snapshots) -> None:
    with pytest.raises(Exception, match="SCALAR_SUBQUERY_TOO_MANY_ROWS"):
        snapshots.history("SELECT k, (SELECT w FROM s) AS x FROM r").collect()
