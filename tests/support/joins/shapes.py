# SPDX-License-Identifier: Apache-2.0
"""Shapes of queries over `r` and `s`; {rs} is a predicate between `r` and `s`, and so on."""

# Queries with one swept join.
SHAPES = {
    "join on": "SELECT r.id, s.id FROM r JOIN s ON {rs}",
    "join on, keys": "SELECT r.id, s.id FROM r JOIN s ON r.k = s.k AND {rs}",
    "join using": "SELECT k, r.id, s.id FROM r JOIN s USING (k) WHERE {rs}",
    "comma": "SELECT r.id, s.id FROM r, s WHERE {rs}",
    "comma, keys": "SELECT r.id, s.id FROM r, s WHERE r.k = s.k AND {rs} AND r.x > 0",
    "cross join": "SELECT r.id, s.id FROM r CROSS JOIN s WHERE {rs}",
    "where with more": "SELECT r.id, s.id FROM r, s WHERE r.x < 3 AND {rs} AND s.k IS NOT NULL",
    "self join": "SELECT a.id, b.id FROM r a JOIN r b ON {ab}",
    "self join, other ids": "SELECT a.id, b.id FROM r a JOIN r b ON a.id < b.id AND {ab}",
    "lateral": "SELECT r.id, t.id FROM r, LATERAL (SELECT * FROM s WHERE {rs}) t",
    "lateral join": "SELECT r.id, t.x FROM r JOIN LATERAL (SELECT s.id, s.x FROM s WHERE {rs}) t",
    "view": "SELECT a.id, b.id FROM wr a JOIN vs b ON {ab}",
    "cte": (
        "WITH a AS (SELECT * FROM r WHERE x > 0), b AS (SELECT id, ts, te FROM s) SELECT a.id, "
        "b.id FROM a JOIN b ON {ab}"
    ),
    "cte twice": "WITH a AS (SELECT * FROM r WHERE x > 0) SELECT a.id, b.id FROM a, a b WHERE {ab}",
    "subqueries": "SELECT a.id, b.id FROM (SELECT * FROM r) a JOIN (SELECT * FROM s) b ON {ab}",
    "renamed": "SELECT a.i, b.id FROM (SELECT id AS i, ts, te + 1 AS te FROM r) a JOIN s b ON {ab}",
    "below an aggregate": (
        "SELECT r.k, count(*), sum(s.x), min(s.te) FROM r JOIN s ON {rs} GROUP BY r.k"
    ),
    "above an aggregate": (
        "SELECT a.k, b.id FROM (SELECT k, min(ts) AS ts, min(te) + 3 AS te FROM r GROUP BY k) a "
        "JOIN s b ON {ab}"
    ),
    "aggregates on both sides": (
        "SELECT a.k, b.k FROM (SELECT k, min(ts) AS ts, max(te) AS te FROM r GROUP BY k) a JOIN "
        "(SELECT x AS k, max(ts) AS ts, max(te) AS te FROM s GROUP BY x) b ON {ab}"
    ),
    "count": "SELECT count(*) FROM r JOIN s ON {rs}",
    "count, keys": "SELECT count(*) FROM r JOIN s ON r.k = s.k AND {rs}",
    "count distinct": "SELECT count(DISTINCT r.id), count(DISTINCT s.id) FROM r JOIN s ON {rs}",
    "distinct": "SELECT DISTINCT r.k, s.x FROM r JOIN s ON {rs}",
    "constant": "SELECT 'x' AS c FROM r JOIN s ON {rs}",
    "star": "SELECT * FROM r JOIN s ON {rs}",
    "star, keys": "SELECT * FROM r JOIN s ON r.k = s.k AND r.x <> s.x AND {rs}",
    "expression of both": (
        "SELECT r.x + s.x, greatest(r.ts, s.ts), least(r.te, s.te), concat(r.name, s.name) FROM "
        "r JOIN s ON {rs}"
    ),
    "ordered with limit": "SELECT r.id AS a, s.id AS b FROM r JOIN s ON {rs} ORDER BY a, b LIMIT 9",
    "limited count": "SELECT count(*) FROM (SELECT 1 FROM r JOIN s ON {rs} LIMIT 7)",
    "window above": (
        "SELECT r.id, row_number() OVER (PARTITION BY r.id ORDER BY s.id) FROM r JOIN s ON {rs}"
    ),
    "explode above": "SELECT r.id, explode(s.list) FROM r JOIN s ON {rs}",
    "case in the condition": (
        "SELECT r.id, s.id FROM r JOIN s ON {rs} AND CASE WHEN r.x > 1 THEN s.x > 1 ELSE true END"
    ),
    "semi above": "SELECT r.id, s.id FROM r JOIN s ON {rs} WHERE r.x IN (SELECT max(x) FROM s)",
    "hint": "SELECT /*+ BROADCAST(r) */ r.id, s.id FROM r JOIN s ON {rs}",
    "hint, keys": "SELECT /*+ BROADCAST(s) */ r.id, s.id FROM r JOIN s ON r.k = s.k AND {rs}",
    "scalar subquery": "SELECT r.id, s.id FROM r JOIN s ON {rs} AND r.x < (SELECT max(x) FROM s)",
    "left join above": (
        "SELECT a.id, t.x FROM r a LEFT JOIN (SELECT r.id, s.x FROM r JOIN s ON {rs}) t ON a.id "
        "= t.id"
    ),
    "exists": "SELECT id FROM r WHERE EXISTS (SELECT 1 FROM s WHERE {rs})",
    "not exists": "SELECT id FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE r.k = s.k AND {rs})",
    "left": "SELECT r.id, s.id FROM r LEFT JOIN s ON {rs}",
    "full": "SELECT r.id, s.id FROM r FULL JOIN s ON r.k = s.k AND {rs}",
}
# Queries with two swept joins.
SWEPT_TWICE = {
    "three-way": "SELECT r.id, s.id, b.id FROM r JOIN s ON {rs} JOIN r b ON {sb}",
    "three-way, keys": (
        "SELECT r.id, s.id, b.id FROM r JOIN s ON r.k = s.k AND {rs} JOIN r b ON s.x = b.x AND {sb}"
    ),
    "three-way comma": "SELECT count(*) FROM r, s, r b WHERE {rs} AND {sb} AND r.id < b.id",
    "union": (
        "SELECT r.id, s.id FROM r JOIN s ON {rs} UNION ALL SELECT a.id, b.id FROM s a JOIN r b "
        "ON a.k = b.k AND {ab}"
    ),
    "except": (
        "SELECT r.id, s.id FROM r JOIN s ON {rs} EXCEPT ALL SELECT a.id, b.id FROM s a JOIN r b "
        "ON {ab}"
    ),
    "aggregate between": (
        "SELECT t.k, b.id FROM (SELECT r.k, min(s.ts) AS ts, max(s.te) AS te FROM r JOIN s ON "
        "{rs} GROUP BY r.k) t JOIN s b ON {tb}"
    ),
    "semi inside": (
        "SELECT id FROM r WHERE id IN (SELECT a.id FROM r a JOIN s b ON {ab}) AND x IN (SELECT "
        "a.x FROM s a JOIN r b ON a.k = b.k AND {ab})"
    ),
}
# Queries whose joins may be swept or not; only their rows are compared.
MIXED = {
    "constant side": "SELECT r.id, b.id FROM r JOIN (SELECT 1 AS id, 4 AS ts, 9 AS te) b ON {rb}",
    "equi join below": (
        "SELECT a.id, b.id FROM (SELECT r.*, s.x AS y FROM r JOIN s ON r.id = s.id) a JOIN s b "
        "ON {ab}"
    ),
    "equi join above": "SELECT r.id, s.id, b.name FROM r JOIN s ON {rs} JOIN r b ON b.id = s.id",
    "or": "SELECT r.id, s.id FROM r JOIN s ON {rs} OR r.x = s.x",
    "merge hint": "SELECT /*+ MERGE(r) */ r.id, s.id FROM r JOIN s ON r.k = s.k AND {rs}",
    "random side": "SELECT r.id, b.id FROM r JOIN (SELECT *, rand(1) AS z FROM s) b ON {rb}",
    "no pair": "SELECT r.id, s.id FROM r JOIN s ON {rs} AND r.x > 100 AND s.x < -100",
}
