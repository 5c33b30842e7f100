# SPDX-License-Identifier: Apache-2.0
"""Random queries: a join of one of the types, around it filters, a third table, aggregates."""

from __future__ import annotations

import random
from dataclasses import dataclass

from fuzz.conditions import Conditions, Predicate, Scope

BOTH = "SELECT {hint}{columns} FROM {left} r "
LEFT = "SELECT {hint}{columns} FROM {left} r WHERE "
WITHIN = "(SELECT {hint}1 FROM {right} s WHERE {on})"
# By name: the query with {on} between `r` and `s`, and the aliases that may be projected.
SHAPES = {
    "INNER": (BOTH + "JOIN {right} s ON {on}{more}{where}", "rs"),
    "LEFT": (BOTH + "LEFT JOIN {right} s ON {on}{more}{where}", "rs"),
    "RIGHT": (BOTH + "RIGHT JOIN {right} s ON {on}{more}{where}", "rs"),
    "FULL": (BOTH + "FULL JOIN {right} s ON {on}{more}{where}", "rs"),
    "LEFT SEMI": (BOTH + "LEFT SEMI JOIN {right} s ON {on}{where}", "r"),
    "LEFT ANTI": (BOTH + "LEFT ANTI JOIN {right} s ON {on}{where}", "r"),
    "CROSS": (BOTH + "CROSS JOIN {right} s WHERE {on}", "rs"),
    "comma": ("SELECT {hint}{columns} FROM {left} r, {right} s WHERE {on}", "rs"),
    "EXISTS": (LEFT + "EXISTS " + WITHIN, "r"),
    "NOT EXISTS": (LEFT + "NOT EXISTS " + WITHIN, "r"),
    "EXISTS or": (LEFT + "EXISTS " + WITHIN + " OR r.x = 2", "r"),
    "NOT EXISTS or": (LEFT + "r.k2 = 'b' OR NOT EXISTS " + WITHIN, "r"),
    "IN": (LEFT + "r.x IN (SELECT s.x FROM {right} s WHERE {on})", "r"),
    "NOT IN": (LEFT + "r.x NOT IN (SELECT s.x FROM {right} s WHERE {on})", "r"),
    "IN or": (LEFT + "r.x IN (SELECT s.x FROM {right} s WHERE {on}) OR r.k2 = 'b'", "r"),
    "LATERAL": (
        "SELECT {hint}{columns} FROM {left} r, LATERAL (SELECT * FROM {right} s WHERE {on}) s",
        "rs",
    ),
    "LEFT LATERAL": (
        BOTH + "LEFT JOIN LATERAL (SELECT * FROM {right} s WHERE {on}) s{where}",
        "rs",
    ),
}
THIRD = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")
WITH_THIRD = ("INNER", "LEFT", "RIGHT", "FULL")

# Around the query, whose columns are c0, c1, ..., {last}; c0 is an id.
WRAPS = {
    "rows": "{query}",
    "distinct": "SELECT DISTINCT * FROM ({query})",
    "count": "SELECT count(*), sum(c0) FROM ({query})",
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
    "window": "SELECT c0, count(*) OVER (PARTITION BY c0) FROM ({query})",
    "rank": "SELECT c0, rank() OVER (ORDER BY c0) FROM ({query})",
    "joined": "SELECT q.*, z.x FROM ({query}) q JOIN s z ON q.c0 = z.id",
    "order": "SELECT * FROM ({query}) ORDER BY c0",
    "twice": "{query} UNION ALL {query}",
}
SOURCES = (
    "{0}",
    "(SELECT * FROM {0} WHERE x > 0)",
    "(SELECT /*+ REPARTITION(3) */ * FROM {0})",
    "(SELECT DISTINCT * FROM {0})",
    # The row with the largest id: -0.0 and 0.0 are equal, so that `max` may return either.
    "(SELECT max(id) AS id, k1, max_by(k2, id) AS k2, max_by(x, id) AS x, max_by(y, id) AS y, "
    "max_by(v, id) AS v, max_by(ts, id) AS ts, max_by(te, id) AS te FROM {0} GROUP BY k1)",
    "(SELECT * FROM {0} UNION ALL SELECT * FROM {0} WHERE x = 1)",
)
HINTS = (
    *("BROADCAST(r)", "BROADCAST(s)", "MERGE(r)", "SHUFFLE_HASH(s)", "SHUFFLE_REPLICATE_NL(r)"),
    *("BROADCAST(s), MERGE(r)", "SHUFFLE_HASH(r, s)"),
)
COLUMNS = ("id", "k1", "k2", "x", "y", "v", "ts", "te")


@dataclass(frozen=True)
class Query:
    """A query over the views `r` and `s`."""

    shape: str
    on: tuple[Predicate, ...]
    columns: tuple[str, ...]
    left: str = "r"
    right: str = "s"
    third: str = ""
    third_on: tuple[Predicate, ...] = ()
    hint: str = ""
    where: tuple[Predicate, ...] = ()
    wrap: str = "rows"

    def sql(self, written: bool = False) -> str:
        """The query, or the one that the oracle runs."""

        def conjunction(predicates: tuple[Predicate, ...]) -> str:
            texts = [p.written if written else p.called for p in predicates]
            return " AND ".join(texts) or "true"

        more = f" {self.third} r t ON {conjunction(self.third_on)}" if self.third else ""
        template, _ = SHAPES[self.shape]
        query = template.format(
            hint=f"/*+ {self.hint} */ " if self.hint else "",
            columns=", ".join(f"{name} AS c{i}" for i, name in enumerate(self.columns)),
            left=self.left,
            right=self.right,
            on=conjunction(self.on),
            more=more,
            where=f" WHERE {conjunction(self.where)}" if self.where else "",
        )
        return WRAPS[self.wrap].format(query=query, last=f"c{len(self.columns) - 1}")


def query(rng: random.Random, scope: Scope) -> Query:
    shape = rng.choice(list(SHAPES))
    aliases = SHAPES[shape][1]
    conditions = Conditions(rng, scope, "r", "s")
    third, third_on = "", ()
    if shape in WITH_THIRD and rng.random() < 0.15:
        third = rng.choice(THIRD)
        third_on = Conditions(rng, scope, rng.choice("rs"), "t").all()
        if third in THIRD[:4]:
            aliases += "t"
    where = ()
    if "{where}" in SHAPES[shape][0] and rng.random() < 0.2:
        where = (conditions.one_sided(rng.choice(aliases)),)
    left, right = (rng.choice(SOURCES) if rng.random() < 0.15 else "{0}" for _ in "rs")
    same = scope.kinds["r"] == scope.kinds["s"] and scope.keys["r"] == scope.keys["s"]
    return Query(
        shape,
        conditions.all(),
        columns(rng, aliases),
        left=left.format("r"),
        right=right.format("r" if same and rng.random() < 0.08 else "s"),
        third=third,
        third_on=third_on,
        hint=rng.choice(HINTS) if rng.random() < 0.2 else "",
        where=where,
        wrap=rng.choice(list(WRAPS)) if rng.random() < 0.35 else "rows",
    )


def columns(rng: random.Random, aliases: str) -> tuple[str, ...]:
    """An id first, and some more."""
    all_columns = [f"{alias}.{name}" for alias in aliases for name in COLUMNS]
    return (f"{rng.choice(aliases)}.id", *rng.sample(all_columns, rng.choice((0, 1, 1, 2, 4))))
