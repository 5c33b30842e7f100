# SPDX-License-Identifier: Apache-2.0
"""Operators above a random join: limits, orders, aggregates, windows, set operations, joins."""

from __future__ import annotations

import random
from dataclasses import dataclass

# Queries around {query}, whose columns are {columns}: c0, an id, c1, ..., {last}. {total} is a
# total order, {other} is the query with other conditions, {n} and {m} are small numbers.
# The first group returns the same columns, so that other queries can use it.
SAME_COLUMNS = {
    "distinct": "SELECT DISTINCT * FROM ({query})",
    "top": "SELECT * FROM ({query}) ORDER BY {total} LIMIT {n}",
    "top offset": "SELECT * FROM ({query}) ORDER BY {total} LIMIT {n} OFFSET {m}",
    "order offset": "SELECT * FROM ({query}) ORDER BY {total} OFFSET {m}",
    "order": "SELECT * FROM ({query}) ORDER BY {total}",
    "sort": "SELECT * FROM ({query}) SORT BY c0",
    "repartition": "SELECT /*+ REPARTITION(3, c0) */ * FROM ({query})",
    "twice": "({query}) UNION ALL ({query})",
    "union all": "({query}) UNION ALL ({other})",
    "union": "({query}) UNION ({other})",
    "except": "({query}) EXCEPT ({other})",
    "except all": "({query}) EXCEPT ALL ({other})",
    "intersect": "({other}) INTERSECT ({query})",
    "intersect all": "({other}) INTERSECT ALL ({query})",
    "first of each": (
        "SELECT {columns} FROM (SELECT *, row_number() OVER (PARTITION BY c0 % 3 ORDER BY {total})"
        " AS n FROM ({query})) WHERE n <= {n}"
    ),
    "exists": "SELECT * FROM ({query}) q WHERE EXISTS (SELECT 1 FROM s z WHERE z.id = q.c0)",
    "exists other": "SELECT * FROM ({query}) WHERE EXISTS ({other})",
    "not in": "SELECT * FROM ({query}) WHERE c0 NOT IN (SELECT c0 + {n} FROM ({other}))",
}
OTHER_COLUMNS = {
    "count": "SELECT count(*), sum(c0) FROM ({query})",
    "count of some": "SELECT count(*) FROM (SELECT * FROM ({query}) LIMIT {n})",
    "count after some": "SELECT count(*) FROM (SELECT * FROM ({query}) LIMIT {n} OFFSET {m})",
    "group": "SELECT c0 % 4, count(*), max(c0) FROM ({query}) GROUP BY c0 % 4",
    "aggregates": (
        "SELECT count(*), count({last}), sum(c0), min(c0), max(c0), avg(c0) FROM ({query})"
    ),
    "aggregates of rows": (
        "SELECT c0, count(*), count({last}), sum(c0), max(c0) FROM ({query}) GROUP BY c0"
    ),
    "aggregates of others": (
        "SELECT {last}, count(*), sum(c0), min(c0), avg(c0) FROM ({query}) GROUP BY {last}"
    ),
    "count of different": "SELECT count(DISTINCT c0), count(*) FROM ({query})",
    "rollup": "SELECT c0 % 3 AS k, {last} AS l, count(*) FROM ({query}) GROUP BY ROLLUP (k, l)",
    "window": "SELECT c0, count(*) OVER (PARTITION BY c0) FROM ({query})",
    "rank": "SELECT c0, rank() OVER (ORDER BY c0) FROM ({query})",
    "running sum": (
        "SELECT {columns}, sum(c0) OVER (ORDER BY {total} ROWS {n} PRECEDING) FROM ({query})"
    ),
    "lag": "SELECT {columns}, lag(c0) OVER (PARTITION BY c0 % 2 ORDER BY {total}) FROM ({query})",
    "joined": "SELECT q.*, z.x FROM ({query}) q JOIN s z ON q.c0 = z.id",
    "left joined": "SELECT q.*, z.x FROM s z LEFT JOIN ({query}) q ON q.c0 = z.id",
    "swept again": "SELECT q.*, z.x FROM ({query}) q JOIN s z ON q.c0 BETWEEN z.id AND z.id + {n}",
    "swept again, full": (
        "SELECT q.*, z.x FROM s z FULL JOIN ({query}) q ON q.c0 >= z.id AND q.c0 < z.id + {n}"
    ),
    "inside exists": (
        "SELECT z.id, z.x FROM r z WHERE EXISTS (SELECT 1 FROM ({query}) q WHERE q.c0 = z.id)"
    ),
    "inside not exists": (
        "SELECT z.id FROM r z WHERE NOT EXISTS (SELECT 1 FROM ({query}) q WHERE q.c0 = z.id)"
    ),
    "inside exists alone": "SELECT z.id FROM r z WHERE EXISTS ({query})",
    "inside scalar": "SELECT z.id, (SELECT max(c0) FROM ({query})) FROM s z",
}
WRAPS = {**SAME_COLUMNS, **OTHER_COLUMNS}
ORDERED = ("order", "order offset", "top", "top offset")
LIMITS = (*ORDERED, "count of some", "count after some", "first of each")
# Outermost limits without an order: the number of rows is defined, but not which rows.
SOME = ("limit", "offset", "limit offset")
# Ways to store rows before they are read: `cache` stores the join, the others the whole query.
KEPT = {
    "": (),
    "cache": ("CACHE LAZY TABLE {name} AS {query}",),
    "cache all": ("CACHE LAZY TABLE {name} AS {query}",),
    "write": ("CREATE TABLE {name} USING parquet AS {query}",),
}
REMOVED = {
    "": (),
    "cache": ("UNCACHE TABLE IF EXISTS {name}", "DROP VIEW IF EXISTS {name}"),
    "cache all": ("UNCACHE TABLE IF EXISTS {name}", "DROP VIEW IF EXISTS {name}"),
    "write": ("DROP TABLE IF EXISTS {name}",),
}


@dataclass(frozen=True)
class Above:
    """All operators above a join, from the innermost: `wraps`, then `some`."""

    wraps: tuple[str, ...] = ()
    some: str = ""
    kept: str = ""
    order: str = "c0"  # the beginning of {total}
    n: int = 1
    m: int = 1

    @property
    def ordered(self) -> bool:
        """True if the order of the rows is defined; stored tables have no defined order."""
        table = self.kept in ("cache all", "write")
        return bool(self.wraps) and self.wraps[-1] in ORDERED and not self.some and not table

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(filter(None, (*self.wraps, self.some, self.kept)))

    @property
    def names_other(self) -> bool:
        return any("{other}" in WRAPS[wrap] for wrap in self.wraps)

    def wrapped(self, query: str, other: str, width: int) -> str:
        names = [f"c{i}" for i in range(width)]
        columns = ", ".join(names)
        for wrap in self.wraps:
            query = WRAPS[wrap].format(
                query=query,
                other=other,
                columns=columns,
                last=names[-1],
                # The cast to a string distinguishes -0.0 and 0.0, which compare as equal.
                total=f"{self.order}, {columns}, CAST(struct({columns}) AS STRING)",
                n=self.n,
                m=self.m,
            )
        return query

    def limited(self, query: str) -> str:
        if not self.some:
            return query
        limit = f" LIMIT {self.n}" if "limit" in self.some else ""
        offset = f" OFFSET {self.m}" if "offset" in self.some else ""
        return f"SELECT * FROM ({query}){limit}{offset}"

    @property
    def taken(self) -> slice | None:
        """The range of rows that is returned, in any order; None for all rows."""
        if not self.some:
            return None
        start = self.m if "offset" in self.some else 0
        return slice(start, start + self.n if "limit" in self.some else None)


NOTHING = Above()


def above(rng: random.Random, width: int) -> Above:
    """Random operators; some two fifths of the queries have none."""
    wraps: tuple[str, ...] = ()
    if (chosen := rng.random()) < 0.15:
        wraps = (rng.choice(LIMITS),)
    elif chosen < 0.5:
        wraps = (rng.choice(list(WRAPS)),)
    if wraps and rng.random() < 0.2:
        wraps = (rng.choice(list(SAME_COLUMNS)), *wraps)
    order = f"c{rng.randrange(width)}{rng.choice(('', '', ' DESC', ' DESC NULLS FIRST'))}"
    return Above(
        wraps,
        some=rng.choice(SOME) if rng.random() < 0.15 else "",
        kept=rng.choices(list(KEPT), (94, 2.5, 2.5, 1))[0],
        order=order,
        n=rng.choice((0, 1, 2, 3, 3, 5, 9, 30)),
        m=rng.choice((0, 1, 2, 5)),
    )
