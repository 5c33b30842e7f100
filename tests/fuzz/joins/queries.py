# SPDX-License-Identifier: Apache-2.0
"""Random queries: a join of any type, with filters and sometimes a third table."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from fuzz.joins.above import KEPT, NOTHING, REMOVED, Above, above
from fuzz.joins.conditions import Conditions, Predicate, Scope, plain

BOTH = "SELECT {hint}{columns} FROM {left} r "
LEFT = "SELECT {hint}{columns} FROM {left} r WHERE "
WITHIN = "(SELECT {hint}1 FROM {right} s WHERE {on})"
# Aggregates for each row of `r`, named like a table's columns, so that queries can select either.
# All are exact and do not depend on the order of rows.
VALUES = (
    "(SELECT count(*) AS id, count(s.k1) AS k1, count(s.k2) AS k2, sum(s.id) AS x, avg(s.id) AS y, "
    "count(s.v) AS v, max(s.id) AS ts, min(s.id) AS te FROM {right} s WHERE {on}) w"
)
# Name -> (query with the condition {on} between `r` and `s`, aliases that may be selected).
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
    "LATERAL values": ("SELECT {hint}{columns} FROM {left} r, LATERAL " + VALUES, "rw"),
    "LEFT LATERAL values": (BOTH + "LEFT JOIN LATERAL " + VALUES + " ON true", "rw"),
}
THIRD = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")
WITH_THIRD = ("INNER", "LEFT", "RIGHT", "FULL")

SOURCES = (
    "{0}",
    "(SELECT * FROM {0} WHERE x > 0)",
    "(SELECT /*+ REPARTITION(3) */ * FROM {0})",
    "(SELECT DISTINCT * FROM {0})",
    # The row with the largest id. `max` of the column may return -0.0 or 0.0, which are equal.
    "(SELECT max(id) AS id, k1, max_by(k2, id) AS k2, max_by(x, id) AS x, max_by(y, id) AS y, "
    "max_by(v, id) AS v, max_by(ts, id) AS ts, max_by(te, id) AS te FROM {0} GROUP BY k1)",
    "(SELECT * FROM {0} ORDER BY id LIMIT 1)",
    "(SELECT * FROM {0} ORDER BY id DESC LIMIT 3)",
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
    other_on: tuple[Predicate, ...] = ()  # in place of `on`, for {other} in `above`
    above: Above = NOTHING

    def sql(self, number: int = 0) -> str:
        """The query; it reads the tables of `prepared(number)`."""
        if not self.above.kept:
            return self.above.limited(self._wrapped(self._join(False), False))
        kept = f"SELECT * FROM kept_{number}"
        return self.above.limited(self._wrapped(kept, False)) if self._kept_below else kept

    def written(self) -> str:
        """The oracle's query: relations are written out, all rows returned, and nothing stored."""
        return self._wrapped(self._join(True), True)

    def spelled_out(self) -> Query:
        """The query with written-out formulas in place of the functions."""

        def written(predicates: tuple[Predicate, ...]) -> tuple[Predicate, ...]:
            return tuple(plain(predicate.written) for predicate in predicates)

        return replace(
            self,
            on=written(self.on),
            third_on=written(self.third_on),
            where=written(self.where),
            other_on=written(self.other_on),
        )

    def prepared(self, number: int = 0) -> list[str]:
        """Statements that run before the query."""
        name, query = f"kept_{number}", self.kept()
        return [text.format(name=name, query=query) for text in KEPT[self.above.kept]]

    def kept(self) -> str:
        """The query whose rows `prepared` stores."""
        join = self._join(False)
        return join if self._kept_below else self.above.limited(self._wrapped(join, False))

    def removed(self, number: int = 0) -> list[str]:
        """Statements that run after the query."""
        return [text.format(name=f"kept_{number}") for text in REMOVED[self.above.kept]]

    @property
    def _kept_below(self) -> bool:
        return self.above.kept == "cache"

    def _wrapped(self, query: str, written: bool) -> str:
        other = replace(self, on=self.other_on or self.on)._join(written)
        return self.above.wrapped(query, other, len(self.columns))

    def _join(self, written: bool) -> str:
        def conjunction(predicates: tuple[Predicate, ...]) -> str:
            texts = [p.written if written else p.called for p in predicates]
            return " AND ".join(texts) or "true"

        more = f" {self.third} r t ON {conjunction(self.third_on)}" if self.third else ""
        template, _ = SHAPES[self.shape]
        return template.format(
            hint=f"/*+ {self.hint} */ " if self.hint else "",
            columns=", ".join(f"{name} AS c{i}" for i, name in enumerate(self.columns)),
            left=self.left,
            right=self.right,
            on=conjunction(self.on),
            more=more,
            where=f" WHERE {conjunction(self.where)}" if self.where else "",
        )


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
    chosen = columns(rng, aliases)
    over = above(rng, len(chosen))
    return Query(
        shape,
        conditions.all(),
        chosen,
        left=left.format("r"),
        right=right.format("r" if same and rng.random() < 0.08 else "s"),
        third=third,
        third_on=third_on,
        hint=rng.choice(HINTS) if rng.random() < 0.2 else "",
        where=where,
        other_on=conditions.all() if over.names_other else (),
        above=over,
    )


def columns(rng: random.Random, aliases: str) -> tuple[str, ...]:
    """Random columns; the first is an id."""
    all_columns = [f"{alias}.{name}" for alias in aliases for name in COLUMNS]
    return (f"{rng.choice(aliases)}.id", *rng.sample(all_columns, rng.choice((0, 1, 1, 2, 4))))
