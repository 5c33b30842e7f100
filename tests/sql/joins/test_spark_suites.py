# SPDX-License-Identifier: Apache-2.0
"""The joins and subqueries of Spark's own suites, with interval conditions.

Subjects come from OuterJoinSuite, ExistenceJoinSuite and JoinSuite, and from the inputs of
SQLQueryTestSuite for joins, EXISTS and IN. Tables and queries are our own.
"""

from __future__ import annotations

from typing import Any

import pytest

from support.spark.comparison import (
    BROADCAST,
    EXCLUDED_RULES,
    FOLDING,
    Both,
)

# Rows (id, k, x, ts, te): NULLs in every column, duplicates except for the id, empty and reversed
# intervals, rows far from all others.
TABLES = {
    "r": """
        (1, 1, 10, 0, 5), (2, 1, 10, 0, 5), (3, 1, 20, 3, 8), (4, 2, 20, 3, 3), (5, 2, NULL, 6, 12),
        (6, 2, 30, 9, 4), (7, 3, 30, 10, 20), (8, NULL, 10, 2, 9), (9, NULL, NULL, 1, 30),
        (10, 4, 40, NULL, 7), (11, 4, 40, 5, NULL), (12, NULL, NULL, NULL, NULL),
        (13, 5, 50, 100, 110), (14, 1, 20, 3, 8), (15, 3, 10, -5, 1)""",
    "s": """
        (1, 1, 10, 1, 3), (2, 1, 10, 1, 3), (3, 1, NULL, 4, 9), (4, 2, 20, 3, 7), (5, 2, 30, 5, 5),
        (6, 3, 30, 11, 15), (7, 3, 60, 8, 2), (8, NULL, 20, 0, 10), (9, 6, 10, 6, 40),
        (10, 2, 20, NULL, 9), (11, 1, 10, 2, NULL), (12, NULL, NULL, NULL, NULL),
        (13, 7, 70, 200, 210), (14, 4, NULL, 5, 6)""",
    # x is not NULL, so that NOT IN has rows.
    "t": """
        (1, 1, 10, 2, 6), (2, 1, 30, 2, 6), (3, 2, 20, 4, 11), (4, 3, 30, 12, 13),
        (5, 9, 80, 300, 301), (6, NULL, 10, 7, 9), (7, 4, 40, NULL, 3)""",
    # x is always NULL, and so is one endpoint of each row.
    "n": "(1, 1, CAST(NULL AS INT), CAST(NULL AS INT), 5), (2, NULL, NULL, 3, NULL)",
}

# Placeholders for conditions that two rows intersect, such as {rs} for r and s.
SHARE = {
    a + b: f"{a}.ts < {b}.te AND {b}.ts < {a}.te"
    for a, b in ("rs", "rt", "rn", "st", "ab", "ub", "re", "ra", "tu")
}
# Placeholders such as {k_rs}: the rows intersect and have the same key.
SHARE |= {f"k_{pair}": f"{pair[0]}.k = {pair[1]}.k AND {on}" for pair, on in SHARE.items()}

OUTER_JOINS = {
    f"{kind} JOIN {what}": f"SELECT * FROM r {kind} JOIN {on}"
    for kind in ("LEFT", "RIGHT", "FULL")
    for what, on in {
        "without keys": "s ON {rs}",
        "with keys": "s ON {k_rs}",
        "with a condition on each side alone": "s ON r.x < 30 AND s.x > 10 AND {rs}",
        "with keys and a rest": "s ON {k_rs} AND r.x + s.x <> 30",
        "with keys that are equal if NULL": "s ON r.k <=> s.k AND {rs}",
        "with unique keys": "(SELECT max(k) k, ts, max(te) te FROM s GROUP BY ts) s ON {k_rs}",
    }.items()
}
OUTER_JOINS |= {
    "LEFT JOIN of an empty table": "SELECT * FROM r LEFT JOIN e ON {re}",
    "RIGHT JOIN of an empty table": "SELECT * FROM e RIGHT JOIN r ON {k_re}",
    "FULL JOIN of an empty table": "SELECT * FROM e FULL JOIN r ON {re}",
    "FULL JOIN of nothing but NULLs": "SELECT * FROM r FULL JOIN n ON {rn}",
    "FULL JOIN with no match": "SELECT * FROM r FULL JOIN s ON {rs} AND r.id + s.id > 99",
}

EXISTENCE_JOINS = {
    f"{kind} JOIN {what}": f"SELECT * FROM r {kind} JOIN {on}"
    for kind in ("LEFT SEMI", "LEFT ANTI")
    for what, on in {
        "by a range": "s ON r.ts <= s.ts AND s.ts < r.te",
        "by one inequality": "t ON r.te < t.ts",
        "by a key and a range": "s ON {k_rs}",
        "by a key, a range and a rest": "s ON {k_rs} AND (r.x <> s.x OR s.x IS NULL)",
        "with itself": "r b ON r.id <> b.id AND r.ts <= b.ts AND b.te <= r.te",
        "of an aggregate": "(SELECT k, min(ts) ts, max(te) te FROM s GROUP BY k) s ON {rs}",
    }.items()
}

JOINS = {
    "rows that are there twice on both sides": "SELECT r.x, s.x FROM r JOIN s ON {k_rs}",
    "three tables": "SELECT r.id, s.id, t.id FROM r JOIN s ON {rs} JOIN t ON {st}",
    "a left join of a left join": (
        "SELECT r.id, s.id, t.id FROM r LEFT JOIN s ON {k_rs} LEFT JOIN t ON {st}"
    ),
    "a full join of a full join": (
        "SELECT r.id, s.id, t.id FROM r FULL JOIN s ON {rs} FULL JOIN t ON {rt}"
    ),
    "an inner join that an outer one has on its right": (
        "SELECT * FROM r LEFT JOIN (s JOIN t ON {st}) ON {rs}"
    ),
    "groups of an outer join, with those that are NULL": (
        "SELECT s.k, count(*), count(r.id), sum(s.x) FROM r LEFT JOIN s ON {rs} GROUP BY s.k"
    ),
    "groups of a full join by both keys": (
        "SELECT r.k, s.k, count(*) FROM r FULL JOIN s ON {k_rs} GROUP BY r.k, s.k"
    ),
    "rows without a match, by WHERE": (
        "SELECT r.* FROM r LEFT JOIN s ON {rs} WHERE s.id IS NULL AND r.ts IS NOT NULL"
    ),
    "an outer join that WHERE makes inner": "SELECT * FROM r LEFT JOIN s ON {rs} WHERE s.x = 20",
    "a full join that WHERE makes left": "SELECT * FROM r FULL JOIN s ON {rs} WHERE r.x > 10",
    "a filter of the side that is kept": "SELECT * FROM r LEFT JOIN s ON {k_rs} AND r.x > 10",
    "USING": "SELECT k, r.id, s.id FROM r FULL JOIN s USING (k) WHERE {rs}",
    "NATURAL": (
        "SELECT * FROM (SELECT k, ts rs, te re FROM r) NATURAL JOIN (SELECT k, ts ss, te se FROM s)"
        " WHERE rs < se AND ss < re"
    ),
    "CROSS JOIN and WHERE": "SELECT r.id, s.id FROM r CROSS JOIN s WHERE {rs} AND r.x <> s.x",
    "a product of three": "SELECT count(*) FROM r, s, t WHERE {rs} AND {st} AND {rt}",
    "the same key twice": "SELECT * FROM r JOIN s ON r.k = s.k AND {k_rs}",
    "a key that is computed": "SELECT * FROM r JOIN s ON r.k + 1 = s.k * 2 AND {rs}",
    "keys of two types": "SELECT * FROM r JOIN s ON CAST(r.k AS BIGINT) = s.x / 10 AND {rs}",
    "0.0 and -0.0 are one key, and NaN is one": (
        "SELECT * FROM (SELECT *, CASE WHEN id < 4 THEN 0.0D WHEN id < 8 THEN double('NaN') END d "
        "FROM r) r JOIN (SELECT *, if(x < 30, -0.0D, double('NaN')) d FROM s) s "
        "ON r.d = s.d AND {rs}"
    ),
    "fields of structs": (
        "SELECT r.p.b, s.p.b FROM (SELECT struct(k a, struct(ts, te) b) p FROM r) r JOIN (SELECT "
        "struct(k a, struct(ts, te) b) p FROM s) s ON r.p.a = s.p.a AND r.p.b.ts < s.p.b.te "
        "AND s.p.b.ts < r.p.b.te"
    ),
    "no column": "SELECT count(*) FROM r JOIN s ON {rs}",
    "LIMIT over an outer join": (
        "SELECT count(*) FROM (SELECT r.id FROM r FULL JOIN s ON {rs} LIMIT 9)"
    ),
    "EXCEPT and INTERSECT": (
        "SELECT r.k, s.k FROM r JOIN s ON {rs} EXCEPT SELECT r.k, s.k FROM r JOIN s ON {k_rs} "
        "INTERSECT SELECT s.k, r.k FROM s RIGHT JOIN r ON {rs}"
    ),
    "LATERAL": "SELECT r.id, u.* FROM r, LATERAL (SELECT s.id, s.x FROM s WHERE {rs}) u",
    "LEFT JOIN LATERAL": "SELECT r.id, u.* FROM r LEFT JOIN LATERAL (SELECT * FROM s WHERE {rs}) u",
    "LATERAL of an aggregate": (
        "SELECT r.id, u.* FROM r, LATERAL (SELECT count(*), max(s.x) FROM s WHERE {rs}) u"
    ),
    "LATERAL in LATERAL": (
        "SELECT r.id, u.* FROM r, LATERAL (SELECT s.id i, v.id j FROM s, LATERAL (SELECT id FROM t "
        "WHERE {st}) v WHERE {rs}) u"
    ),
    "a CTE that is read twice": (
        "WITH a AS (SELECT * FROM r WHERE x < 40), b AS (SELECT a.id, a.ts, a.te, s.x FROM a JOIN "
        "s ON a.ts < s.te AND s.ts < a.te) SELECT a.id, b.x FROM a JOIN b ON {ab}"
    ),
}

EXISTS = {
    "EXISTS": "SELECT * FROM r WHERE EXISTS (SELECT 1 FROM s WHERE {rs})",
    "NOT EXISTS": "SELECT * FROM r WHERE NOT EXISTS (SELECT * FROM s WHERE {k_rs})",
    "EXISTS and a filter outside": (
        "SELECT * FROM r WHERE x < 30 AND "
        "EXISTS (SELECT s.id + r.id FROM s WHERE {rs} AND s.x > 10)"
    ),
    "EXISTS and NOT EXISTS": (
        "SELECT * FROM r WHERE EXISTS (SELECT 1 FROM s WHERE {rs}) "
        "AND NOT EXISTS (SELECT 1 FROM t WHERE {k_rt})"
    ),
    "EXISTS OR EXISTS": (
        "SELECT * FROM r WHERE EXISTS (SELECT 1 FROM s WHERE {k_rs}) "
        "OR EXISTS (SELECT 1 FROM t WHERE {rt} AND t.x > 20)"
    ),
    "NOT EXISTS OR a column": (
        "SELECT * FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE {rs}) OR r.x = 20"
    ),
    "EXISTS in SELECT": "SELECT id, EXISTS (SELECT 1 FROM s WHERE {rs}) FROM r",
    "EXISTS in CASE": (
        "SELECT id, CASE WHEN EXISTS (SELECT 1 FROM s WHERE {k_rs}) THEN 'both' WHEN EXISTS "
        "(SELECT 1 FROM t WHERE {rt}) THEN 't' END FROM r"
    ),
    "EXISTS in a condition of ON": (
        "SELECT r.id, t.id FROM r JOIN t ON {rt} AND EXISTS (SELECT 1 FROM s WHERE {rs})"
    ),
    "EXISTS below an aggregate": (
        "SELECT k, count(*) FROM r WHERE EXISTS (SELECT 1 FROM s WHERE {rs}) GROUP BY k"
    ),
    "EXISTS in HAVING": (
        "SELECT a.k, min(a.ts) FROM r a GROUP BY a.k HAVING EXISTS "
        "(SELECT 1 FROM s b WHERE min(a.ts) <= b.ts AND b.ts < max(a.te))"
    ),
    "EXISTS of groups": (
        "SELECT * FROM r WHERE EXISTS (SELECT s.k, max(s.x) FROM s WHERE {rs} GROUP BY s.k)"
    ),
    "EXISTS of a count, which there always is": (
        "SELECT * FROM r WHERE EXISTS (SELECT count(*) FROM s WHERE {rs})"
    ),
    "EXISTS with ORDER BY and LIMIT": (
        "SELECT * FROM r WHERE EXISTS (SELECT s.x FROM s WHERE {rs} ORDER BY s.x LIMIT 2)"
    ),
    "EXISTS of a join": (
        "SELECT * FROM r WHERE EXISTS (SELECT 1 FROM s JOIN t ON {st} WHERE {k_rs})"
    ),
    "EXISTS of an outer join": (
        "SELECT * FROM r WHERE EXISTS (SELECT 1 FROM s LEFT JOIN t ON {st} WHERE {rs})"
    ),
    "EXISTS of a UNION": (
        "SELECT * FROM r WHERE EXISTS (SELECT 1 FROM (SELECT ts, te FROM s UNION ALL SELECT ts, te "
        "FROM t) u WHERE r.ts < u.ts AND u.te <= r.te)"
    ),
    "EXISTS of a CTE": (
        "WITH u AS (SELECT ts, max(te) te FROM s GROUP BY ts) SELECT * FROM r WHERE "
        "EXISTS (SELECT 1 FROM u WHERE r.ts < u.te AND u.ts < r.te)"
    ),
    "EXISTS in EXISTS": (
        "SELECT * FROM r WHERE EXISTS (SELECT 1 FROM s WHERE {rs} AND "
        "NOT EXISTS (SELECT 1 FROM t WHERE {k_st}))"
    ),
    "EXISTS of an empty table": "SELECT * FROM r WHERE NOT EXISTS (SELECT 1 FROM e WHERE {re})",
    "EXISTS of nothing but NULLs": "SELECT * FROM r WHERE NOT EXISTS (SELECT 1 FROM n WHERE {rn})",
}

IN = {
    "IN": "SELECT * FROM r WHERE x IN (SELECT s.x FROM s WHERE {rs})",
    "IN with two columns": "SELECT * FROM r WHERE (k, x) IN (SELECT s.k, s.x FROM s WHERE {rs})",
    "IN of a join": "SELECT * FROM r WHERE x IN (SELECT t.x FROM s JOIN t ON {st} WHERE {rs})",
    "IN of groups": (
        "SELECT * FROM r WHERE x IN (SELECT max(a.x) FROM s a JOIN t b ON {ab} GROUP BY a.k)"
    ),
    "IN with ORDER BY and LIMIT": (
        "SELECT * FROM r WHERE k IN "
        "(SELECT a.k FROM t a JOIN s b ON {ab} ORDER BY a.k DESC LIMIT 3)"
    ),
    "IN in SELECT": "SELECT id, x IN (SELECT s.x FROM s WHERE {rs}) FROM r",
    "IN OR a column": "SELECT * FROM r WHERE x IN (SELECT s.x FROM s WHERE {rs}) OR k = 2",
    "IN AND NOT IN": (
        "SELECT * FROM r WHERE x IN (SELECT s.x FROM s WHERE {rs}) "
        "AND k NOT IN (SELECT t.k FROM t WHERE {rt} AND t.k IS NOT NULL)"
    ),
    "IN in HAVING": (
        "SELECT a.k, max(a.x) FROM r a JOIN s b ON {ab} GROUP BY a.k "
        "HAVING max(a.x) IN (SELECT x FROM t)"
    ),
    "IN in a CTE": (
        "WITH u AS (SELECT * FROM r WHERE x IN (SELECT s.x FROM s WHERE {rs})) "
        "SELECT u.id, b.id FROM u JOIN t b ON {ub}"
    ),
    "IN of a UNION": (
        "SELECT * FROM r WHERE x IN (SELECT a.x FROM s a JOIN t b ON {ab} UNION ALL "
        "SELECT a.x FROM t a WHERE {ra})"
    ),
    "IN in IN": (
        "SELECT * FROM r WHERE x IN (SELECT s.x FROM s WHERE {rs} AND s.k IN "
        "(SELECT t.k FROM t WHERE {st}))"
    ),
    "NOT IN": "SELECT * FROM r WHERE x NOT IN (SELECT t.x FROM t WHERE {rt})",
    "NOT IN of NULLs": "SELECT * FROM r WHERE x NOT IN (SELECT s.x FROM s WHERE {rs})",
    "NOT IN of nothing but NULLs": "SELECT * FROM r WHERE x NOT IN (SELECT n.x FROM n WHERE {rn})",
    "NOT IN of an empty table": "SELECT * FROM r WHERE x NOT IN (SELECT e.x FROM e WHERE {re})",
    "NOT IN without NULLs": (
        "SELECT * FROM r WHERE x IS NOT NULL AND x NOT IN "
        "(SELECT s.x FROM s WHERE {rs} AND s.x IS NOT NULL)"
    ),
    "NOT IN with two columns": (
        "SELECT * FROM r WHERE (k, x) NOT IN (SELECT s.k, s.x FROM s WHERE {rs})"
    ),
    "NOT IN with a key": "SELECT * FROM r WHERE x NOT IN (SELECT s.x FROM s WHERE {k_rs})",
    "NOT IN OR a column": "SELECT * FROM r WHERE x NOT IN (SELECT t.x FROM t WHERE {rt}) OR k = 1",
    "NOT IN of a join": (
        "SELECT * FROM r WHERE x NOT IN (SELECT a.x FROM t a JOIN s b ON {ab} WHERE a.id > 2)"
    ),
    "NOT IN in NOT IN": (
        "SELECT * FROM r WHERE x NOT IN (SELECT t.x FROM t WHERE {rt} AND t.k NOT IN "
        "(SELECT u.k FROM t u WHERE {tu} AND u.k > 1))"
    ),
}

QUERIES = {**OUTER_JOINS, **EXISTENCE_JOINS, **JOINS, **EXISTS, **IN}

# Queries whose number of swept joins is not one.
TWICE = (
    "three tables",
    "a left join of a left join",
    "a full join of a full join",
    "an inner join that an outer one has on its right",
    "a product of three",
    "LATERAL in LATERAL",
    "a CTE that is read twice",
    "EXISTS and NOT EXISTS",
    "EXISTS OR EXISTS",
    "EXISTS in CASE",
    "EXISTS in a condition of ON",
    "EXISTS of a join",
    "EXISTS of an outer join",
    "EXISTS in EXISTS",
    "IN of a join",
    "IN AND NOT IN",
    "IN in a CTE",
    "IN of a UNION",
    "IN in IN",
    "NOT IN in NOT IN",
)
SWEPT = dict.fromkeys(TWICE, 2) | {"EXCEPT and INTERSECT": 3}

COMPILED = {"spark.sql.adaptive.enabled": "true", "spark.sql.codegen.wholeStage": "true"}
INTERPRETED = dict.fromkeys(COMPILED, "false")


@pytest.fixture(scope="module")
def tables(spark: Any) -> None:
    for name, rows in TABLES.items():
        spark.sql(
            f"CREATE OR REPLACE TEMPORARY VIEW {name} AS "
            f"SELECT * FROM VALUES {rows} AS v (id, k, x, ts, te)"
        )
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW e AS SELECT * FROM s WHERE id < 0")


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.usefixtures("tables")
def test_rows_are_those_of_spark(conf: Any, both: Both, name: str) -> None:
    """Runs with and without a broadcast; one of the two is adaptive and has generated code."""
    conf({EXCLUDED_RULES: FOLDING, "spark.sql.shuffle.partitions": "2"})
    query = QUERIES[name].format(**SHARE)
    ways = (COMPILED, INTERPRETED)[:: 1 if list(QUERIES).index(name) % 2 == 0 else -1]
    settings = [{BROADCAST: size, **way} for size, way in zip(("10MB", "-1"), ways, strict=True)]
    assert both(query, swept=SWEPT.get(name, 1), ways=settings) > 0
