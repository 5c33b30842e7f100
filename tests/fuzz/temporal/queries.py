# SPDX-License-Identifier: Apache-2.0
"""A grammar of queries. All have the columns k INT, v INT, t STRING, so that a query can be a part
of any other, and stays valid when a part replaces it in shrinking.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fuzz.temporal.tables import LEAVES

ORDER = "ORDER BY {v} NULLS FIRST, {k} NULLS FIRST, {t} NULLS FIRST"


@dataclass(frozen=True)
class Query:
    """A query with placeholders for its parts, such as `{0}`; a leaf has a name and no parts."""

    kind: str
    text: str
    parts: tuple[Query, ...] = ()
    leaf: str = ""
    # The text for DuckDB, if it differs.
    in_duckdb: str = ""
    # True if the history of the query is in canonical form.
    swept: bool = False

    def spark(self) -> str:
        if self.leaf:
            return self.text.format(LEAVES[self.leaf][0])
        return self.text.format(*(part.spark() for part in self.parts))

    def duckdb(self, instant: int) -> str:
        if self.leaf:
            return self.text.format(view(self.leaf, instant))
        return (self.in_duckdb or self.text).format(*(p.duckdb(instant) for p in self.parts))

    def all(self) -> Iterator[Query]:
        yield self
        for part in self.parts:
            yield from part.all()


def view(leaf: str, instant: int) -> str:
    return f"{leaf}_{instant + 1}"


def query(rng: random.Random, depth: int) -> Query:
    """A random query of a depth, which reads a marked relation."""
    while True:
        found = _query(rng, depth)
        if any(part.leaf not in ("", "u") for part in found.all()):
            return found


def _query(rng: random.Random, depth: int) -> Query:
    if depth == 0 or rng.random() < 0.1:
        leaf = rng.choice(("r", "r", "r", "s", "s", "s", "b", "u", "sliding", "fixed"))
        return Query(leaf, "SELECT k, v, t FROM {0}", leaf=leaf)
    make = rng.choice(KINDS)
    return make(rng, lambda: _query(rng, depth - 1 - (rng.random() < 0.3 and depth > 1)))


Part = Callable[[], Query]


def predicate(rng: random.Random, a: str) -> str:
    return rng.choice(
        (
            f"{a}.v >= 20", f"{a}.k = 1", f"{a}.k <> 2", f"{a}.t = 'a'", f"{a}.v IS NULL",
            f"{a}.k IS NOT NULL", f"({a}.v < 30 OR {a}.t IS NULL)", f"{a}.v % 20 = 10",
            f"{a}.k IN (1, 3)", f"NOT ({a}.k = 1 AND {a}.v = 10)", "true",
        )
    )  # fmt: skip


def condition(rng: random.Random, a: str = "a", b: str = "b") -> str:
    """The condition of a join: with keys or without, and sometimes a predicate."""
    keys = ("{a}.k = {b}.k", "{a}.k = {b}.k AND {a}.t = {b}.t", "{a}.k + 1 = {b}.k",
            "{a}.k IS NOT DISTINCT FROM {b}.k", "{a}.v = {b}.v")  # fmt: skip
    thetas = ("{a}.v < {b}.v", "{a}.k <> {b}.k", "({a}.v > {b}.v OR {a}.t = {b}.t)")
    found = [rng.choice(keys).format(a=a, b=b)] if rng.random() < 0.75 else []
    if not found or rng.random() < 0.35:
        found.append(rng.choice(thetas).format(a=a, b=b))
    if rng.random() < 0.25:
        found.append(predicate(rng, rng.choice((a, b))))
    return " AND ".join(found)


def _columns(rng: random.Random, a: str = "a", b: str = "b") -> str:
    one, two = rng.sample((a, b), 2)
    return rng.choice(
        (
            f"{one}.k, {two}.v, coalesce({one}.t, {two}.t) AS t",
            f"{one}.k, {one}.v, {two}.t",
            f"{one}.k, coalesce({two}.v, -1) AS v, {one}.t",
        )
    )


def in_python(rng: random.Random, part: Part) -> Query:
    """A query with a Python function, of rows or of groups."""
    text = rng.choice(
        (
            "SELECT {python_after(k)|k + 1} AS k, v, t FROM ({0}) a",
            "SELECT k, {pandas_doubled(v)|v * 2} AS v, t FROM ({0}) a",
            "SELECT k, {pandas_total(v)|CAST(coalesce(sum(v), 0) AS INT)} AS v, '' AS t "
            "FROM ({0}) a GROUP BY k",
        )
    )
    called, plain = (re.sub(r"{(.*)\|(.*?)}", rf"\{n}", text) for n in (1, 2))
    return Query("python", called, (part(),), in_duckdb=plain)


def projection(rng: random.Random, part: Part) -> Query:
    if rng.random() < 0.15:  # rarely, as it starts a process
        return in_python(rng, part)
    columns = rng.choice(
        (
            "k, v + 1 AS v, t", "v AS k, k AS v, t", "k, v, upper(t) AS t", "k, 0 AS v, 'x' AS t",
            "coalesce(k, 9) AS k, v, t", "k, CASE WHEN v > 15 THEN v ELSE k END AS v, t",
            "k, CAST(NULL AS INT) AS v, t", "abs(k) AS k, v, t || 'z' AS t",
        )
    )  # fmt: skip
    return Query("projection", f"SELECT {columns} FROM ({{0}}) a", (part(),))


def selection(rng: random.Random, part: Part) -> Query:
    return Query("selection", f"SELECT * FROM ({{0}}) a WHERE {predicate(rng, 'a')}", (part(),))


def join(rng: random.Random, part: Part) -> Query:
    kind = rng.choice(("JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
    on = condition(rng)
    text = f"SELECT {_columns(rng)} FROM ({{0}}) a {kind} ({{1}}) b ON {on}"
    return Query(kind.lower(), text, (part(), part()))


def join_using(rng: random.Random, part: Part) -> Query:
    kind = rng.choice(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
    text = f"SELECT k, a.v, b.t FROM ({{0}}) a {kind} ({{1}}) b USING (k)"
    return Query("using", text, (part(), part()))


def cross(rng: random.Random, part: Part) -> Query:
    text = f"SELECT {_columns(rng)} FROM ({{0}}) a, ({{1}}) b WHERE {predicate(rng, 'b')}"
    return Query("cross", text, (part(), part()))


def semi(rng: random.Random, part: Part) -> Query:
    kind = rng.choice(("SEMI", "ANTI"))
    text = f"SELECT * FROM ({{0}}) a {kind} JOIN ({{1}}) b ON {condition(rng)}"
    return Query(kind.lower(), text, (part(), part()))


def exists(rng: random.Random, part: Part) -> Query:
    negated = rng.choice(("", "NOT "))
    inner = condition(rng) if rng.random() < 0.85 else predicate(rng, "b")
    test = f"{negated}EXISTS (SELECT 1 FROM ({{1}}) b WHERE {inner})"
    if rng.random() < 0.25:
        test = f"({predicate(rng, 'a')} OR {test})"
    return Query(f"{negated}exists".lower(), f"SELECT * FROM ({{0}}) a WHERE {test}",
                 (part(), part()))  # fmt: skip


def within(rng: random.Random, part: Part) -> Query:
    negated = rng.choice(("", "NOT "))
    where = rng.choice(("", " WHERE b.k = a.k", f" WHERE {predicate(rng, 'b')}"))
    text = f"SELECT * FROM ({{0}}) a WHERE a.v {negated}IN (SELECT b.v FROM ({{1}}) b{where})"
    return Query(f"{negated}in".lower(), text, (part(), part()))


def scalar(rng: random.Random, part: Part) -> Query:
    value = rng.choice(("max(b.v)", "CAST(count(*) AS INT)", "CAST(sum(b.v) AS INT)", "min(b.k)"))
    where = rng.choice((" WHERE b.k = a.k", " WHERE b.k = a.k AND b.v >= 20", ""))
    found = f"(SELECT {value} FROM ({{1}}) b{where})"
    text = rng.choice(
        (
            f"SELECT k, {found} AS v, t FROM ({{0}}) a",
            f"SELECT * FROM ({{0}}) a WHERE a.v <= {found}",
            f"SELECT {found} AS k, CAST(count(*) AS INT) AS v, min(t) AS t FROM ({{0}}) a "
            "GROUP BY 1",
        )
    )
    return Query("scalar", text, (part(), part()))


def distinct(rng: random.Random, part: Part) -> Query:
    return Query("distinct", "SELECT DISTINCT k, v, t FROM ({0}) a", (part(),), swept=True)


def set_operation(rng: random.Random, part: Part) -> Query:
    kind = rng.choice(
        ("UNION ALL", "UNION", "EXCEPT", "EXCEPT ALL", "EXCEPT ALL", "INTERSECT", "INTERSECT ALL")
    )
    text = f"SELECT * FROM ({{0}}) a {kind} SELECT * FROM ({{1}}) b"
    return Query(kind.lower(), text, (part(), part()), swept=kind != "UNION ALL")


def except_strict(rng: random.Random, part: Part) -> Query:
    text = "SELECT * FROM temporal_except_strict(TABLE({0}), TABLE({1}))"
    same = " AND ".join(f"a.{c} IS NOT DISTINCT FROM b.{c}" for c in "kvt")
    plain = f"SELECT * FROM ({{0}}) a WHERE NOT EXISTS (SELECT 1 FROM ({{1}}) b WHERE {same})"
    return Query("except_strict", text, (part(), part()), in_duckdb=plain, swept=True)


def union_max(rng: random.Random, part: Part) -> Query:
    text = "SELECT * FROM temporal_union_max(TABLE({0}), TABLE({1}))"
    # max(a, b) = a + max(b - a, 0)
    plain = ("SELECT * FROM ({0}) a UNION ALL (SELECT * FROM ({1}) b EXCEPT ALL "
             "SELECT * FROM ({0}) c)")  # fmt: skip
    return Query("union_max", text, (part(), part()), in_duckdb=plain, swept=True)


def coalesce(rng: random.Random, part: Part) -> Query:
    text = "SELECT * FROM temporal_coalesce(TABLE({0}))"
    return Query("coalesce", text, (part(),), in_duckdb="{0}", swept=True)


def split(rng: random.Random, part: Part) -> Query:
    # Only rows with both ends can be split.
    leaf = Query("b", "SELECT k, v, t FROM {0}", leaf="b")
    length = rng.choice((1, 2, 5))
    function = rng.choice(("temporal_split", "temporal_coalesce"))
    return Query("split", f"SELECT * FROM {function}(TABLE({{0}}), {length})", (leaf,),
                 in_duckdb="{0}")  # fmt: skip


AGGREGATES = (
    "CAST(count(*) AS INT)", "CAST(sum(a.v) AS INT)", "min(a.v)", "max(a.v)",
    "CAST(count(a.v) AS INT)",
    "CAST(floor(avg(a.v)) AS INT)", "CAST(count(DISTINCT a.v) AS INT)",
    "CAST(count(*) FILTER (WHERE a.v > 10) AS INT)", "CAST(sum(DISTINCT a.k) AS INT)",
)  # fmt: skip


def grouped(rng: random.Random, part: Part) -> Query:
    value = rng.choice(AGGREGATES)
    having = rng.choice(("", "", " HAVING count(*) > 1", " HAVING max(a.v) >= 20"))
    text = rng.choice(
        (
            f"SELECT a.k, {value} AS v, max(a.t) AS t FROM ({{0}}) a GROUP BY a.k{having}",
            f"SELECT a.k, {value} AS v, a.t FROM ({{0}}) a GROUP BY a.k, a.t{having}",
            f"SELECT a.k % 2 AS k, {value} AS v, min(a.t) AS t FROM ({{0}}) a "
            f"GROUP BY a.k % 2{having}",
        )
    )
    return Query("group by", text, (part(),), swept=not having)


def grouping_sets(rng: random.Random, part: Part) -> Query:
    by = rng.choice(("ROLLUP (a.k, a.t)", "CUBE (a.k, a.t)", "GROUPING SETS ((a.k), (a.t), ())"))
    # Over no rows, DuckDB returns a grand total and Spark does not.
    text = (f"SELECT a.k, {rng.choice(AGGREGATES[:5])} AS v, a.t FROM ({{0}}) a GROUP BY {by} "
            "HAVING count(*) > 0")  # fmt: skip
    return Query("grouping sets", text, (part(),))


def total(rng: random.Random, part: Part) -> Query:
    value, other = rng.sample(AGGREGATES, 2)
    having = rng.choice(("", "", "", " HAVING count(*) > 1"))
    text = f"SELECT {value} AS k, {other} AS v, max(a.t) AS t FROM ({{0}}) a{having}"
    return Query("total", text, (part(),), swept=not having)


def window(rng: random.Random, part: Part) -> Query:
    by = rng.choice(("", "PARTITION BY a.k ", "PARTITION BY a.t "))
    order = ORDER.format(v="a.v", k="a.k", t="a.t")
    function = rng.choice(
        (
            f"row_number() OVER ({by}{order})",
            f"rank() OVER ({by}ORDER BY a.v NULLS FIRST)",
            f"dense_rank() OVER ({by}ORDER BY a.v DESC NULLS LAST)",
            f"sum(a.v) OVER ({by}ORDER BY a.v NULLS FIRST)",
            f"count(*) OVER ({by})",
            f"lag(a.v) OVER ({by}{order})",
        )
    )
    text = f"SELECT a.k, CAST({function} AS INT) AS v, a.t FROM ({{0}}) a"
    return Query("window", text, (part(),))


def top(rng: random.Random, part: Part) -> Query:
    order = ORDER.format(v="a.v", k="a.k", t="a.t")
    offset = rng.choice(("", "", " OFFSET 1"))
    limit = f"LIMIT {rng.randint(1, 3)}{offset}"
    text = f"SELECT * FROM (SELECT a.k, a.v, a.t FROM ({{0}}) a {order} {limit}) a"
    return Query("top k", text, (part(),))


def first(rng: random.Random, part: Part) -> Query:
    order = ORDER.format(v="a.v", k="a.k", t="a.t")
    number = f"row_number() OVER ({order}) AS n"
    test = rng.choice(("n <= 2", "n < 3", "n = 1", "n BETWEEN 2 AND 3"))
    rows = f"SELECT a.*, {number} FROM ({{0}}) a"
    text = f"SELECT k, CAST(n AS INT) AS v, t FROM ({rows}) a WHERE {test}"
    return Query("row number", text, (part(),))


def ordered_scalar(rng: random.Random, part: Part) -> Query:
    order = rng.choice(("b.v DESC NULLS LAST", "b.v NULLS FIRST"))
    found = f"(SELECT b.v + 0 FROM ({{1}}) b WHERE b.k = a.k ORDER BY {order} LIMIT 1)"
    return Query("top 1", f"SELECT k, {found} AS v, t FROM ({{0}}) a", (part(), part()))


def cte(rng: random.Random, part: Part) -> Query:
    text = (f"SELECT * FROM (WITH q AS ({{0}}) SELECT {_columns(rng)} FROM q a JOIN q b "
            f"ON {condition(rng)}) a")  # fmt: skip
    return Query("with", text, (part(),))


KINDS: tuple[Callable[[random.Random, Part], Query], ...] = (
    projection, selection, join, join, join, join_using, cross, semi, exists, exists, within,
    within, scalar, scalar, distinct, set_operation, set_operation, set_operation, except_strict,
    union_max, coalesce, split, grouped, grouped, grouped, grouping_sets, total, total, window, top,
    first, ordered_scalar, cte,
)  # fmt: skip
