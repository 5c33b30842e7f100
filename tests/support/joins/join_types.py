# SPDX-License-Identifier: Apache-2.0
"""A query for each type of join between `r` and `s`; {on} is the condition, {n} a number."""

PAIRS = "SELECT {n} AS n, r.id AS a, r.x AS b, s.id AS c, s.k2 AS d FROM r {join} JOIN s ON {on}"
LEFT_ONLY = "SELECT {n} AS n, r.id AS a, r.k2 AS b FROM r "
QUERIES = {
    "left": PAIRS.replace("{join}", "LEFT"),
    "right": PAIRS.replace("{join}", "RIGHT"),
    "full": PAIRS.replace("{join}", "FULL"),
    "semi": LEFT_ONLY + "LEFT SEMI JOIN s ON {on}",
    "anti": LEFT_ONLY + "LEFT ANTI JOIN s ON {on}",
    "exists": LEFT_ONLY + "WHERE EXISTS (SELECT 1 FROM s WHERE {on})",
    "not exists": LEFT_ONLY + "WHERE NOT EXISTS (SELECT 1 FROM s WHERE {on})",
    "exists or": LEFT_ONLY + "WHERE r.id = 3 OR EXISTS (SELECT 1 FROM s WHERE {on})",
    "not exists or": LEFT_ONLY + "WHERE r.id = 3 OR NOT EXISTS (SELECT 1 FROM s WHERE {on})",
    "in": LEFT_ONLY + "WHERE r.x IN (SELECT s.x FROM s WHERE {on})",
    "not in": LEFT_ONLY + "WHERE r.x NOT IN (SELECT s.x FROM s WHERE {on})",
    "left lateral": (
        "SELECT {n} AS n, r.id AS a, t.id AS b FROM r LEFT JOIN LATERAL "
        "(SELECT s.id FROM s WHERE {on}) t"
    ),
}
