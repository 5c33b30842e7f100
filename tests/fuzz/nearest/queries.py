# SPDX-License-Identifier: Apache-2.0
"""Random queries for the last, first or nearest rows, and a slow, obvious answer to each."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from fuzz.nearest.tables import Row, Tables

Pair: TypeAlias = tuple[Row, Row | None]
Found: TypeAlias = "Counter[tuple[Any, ...]]"

KEYS = {
    "": lambda a, b: True,
    "r.k = l.k": lambda a, b: a[1] is not None and a[1] == b[1],
    "l.k <=> r.k": lambda a, b: a[1] == b[1],
    "l.k = r.k AND r.id % 2 = l.id % 2": lambda a, b: (
        a[1] is not None and a[1] == b[1] and a[0] % 2 == b[0] % 2
    ),
}
RESIDUALS = {
    "": lambda a, b: True,
    "r.v <> l.v": lambda a, b: None not in (a[3], b[3]) and a[3] != b[3],
    "(r.id + l.id) % 3 > 0": lambda a, b: (a[0] + b[0]) % 3 > 0,
    "r.v IS NOT NULL": lambda a, b: b[3] is not None,
    "(r.v < 'c' OR l.id > 5)": lambda a, b: a[0] > 5 or (b[3] is not None and b[3] < "c"),
}
OPERATORS = {
    ">=": (True, lambda a, b: not b > a),
    ">": (True, lambda a, b: b < a),
    "<=": (False, lambda a, b: not b < a),
    "<": (False, lambda a, b: b > a),
}
# Each form that the extension rewrites; NEAREST BY from Spark 4.2 on, ASOF from 4.3 on.
FORMS = (
    *("lateral", "lateral", "lateral of columns", "scalar", "max_by", "aggregate"),
    *("grouped", "ranked", "asof", "nearest"),
)
ABOVE = ("", "", "", "filter", "order", "count", "join", "distinct")
# Spark's order: NULL, then numbers, then NaN.
_WITHOUT_TEXT = (0, "")


def spark_order(t: float) -> tuple[bool, float]:
    """The place of a value in Spark's order, in which NaN is greatest."""
    return (True, 0.0) if math.isnan(t) else (False, t + 0.0)


def text_order(text: str | None) -> tuple[int, str]:
    return _WITHOUT_TEXT if text is None else (1, text)


@dataclass(frozen=True)
class Query:
    """One query, as SQL text and as functions of rows."""

    form: str
    key: str
    operator: str
    length: int | None
    residual: str
    ties: str
    count: int
    outer: bool
    column: str
    above: str
    # Whether all columns of a match are read, as the plan is made before the query is known.
    reads_all: bool = False

    def sql(self, tables: Tables) -> str:
        """A query with two columns, a and b."""
        return self._above(getattr(self, f"_{self.form.partition(' ')[0]}")(tables))

    def _condition(self, tables: Tables) -> str:
        parts = [self.key, f"l.t {self.operator} r.t", self._within(tables), self.residual]
        return " AND ".join(filter(None, parts))

    def _within(self, tables: Tables) -> str:
        if self.length is None or not tables.kind.has_length:
            return ""
        step = tables.kind.step.format(self.length * tables.kind.unit)
        if self.looks_back:
            return f"r.t >= l.t - {step}"
        return f"r.t <= l.t + {step}"

    @property
    def looks_back(self) -> bool:
        return OPERATORS[self.operator][0]

    def _limited(self, tables: Tables, columns: str) -> str:
        order = f"r.t {'DESC' if self.looks_back else 'ASC'}{self.ties}"
        return (
            f"SELECT {columns} FROM r WHERE {self._condition(tables)} "
            f"ORDER BY {order} LIMIT {self.count}"
        )

    def _lateral(self, tables: Tables) -> str:
        columns = f"r.{self.column} AS b" if self.form == "lateral of columns" else "*"
        name = "b" if self.form == "lateral of columns" else self.column
        text = self._limited(tables, columns)
        join, on = ("LEFT JOIN", " ON true") if self.outer else ("JOIN", "")
        return f"SELECT l.id AS a, w.{name} AS b FROM l {join} LATERAL ({text}) w{on}"

    def _scalar(self, tables: Tables) -> str:
        return f"SELECT l.id AS a, ({self._limited(tables, f'r.{self.column}')}) AS b FROM l"

    def _max_by(self, tables: Tables) -> str:
        function = "max_by" if self.looks_back else "min_by"
        text = f"SELECT {function}(r.id, r.t) FROM r WHERE {self._condition(tables)}"
        return f"SELECT l.id AS a, ({text}) AS b FROM l"

    def _aggregate(self, tables: Tables) -> str:
        text = self._limited(tables, "*")
        values = "concat_ws(' ', count(*), sum(w.id))"
        return (
            f"SELECT l.id AS a, x.b FROM l LEFT JOIN LATERAL "
            f"(SELECT {values} AS b FROM ({text}) w) x ON true"
        )

    def _grouped(self, tables: Tables) -> str:
        text = self._limited(tables, "*")
        join, on = ("LEFT JOIN", " ON true") if self.outer else ("JOIN", "")
        values = "concat_ws(' ', coalesce(w.v, '-'), count(*), sum(w.id)) AS b"
        return (
            f"SELECT l.id AS a, x.b FROM l {join} LATERAL "
            f"(SELECT {values} FROM ({text}) w GROUP BY w.v) x{on}"
        )

    def _ranked(self, tables: Tables) -> str:
        order = f"r.t {'DESC' if self.looks_back else 'ASC'}{self.ties}, r.id DESC"
        join = "LEFT JOIN" if self.outer else "JOIN"
        return (
            f"SELECT a, b FROM (SELECT l.id AS a, r.{self.column} AS b, row_number() OVER "
            f"(PARTITION BY l.id ORDER BY {order}) AS n FROM l {join} r "
            f"ON {self._condition(tables)}) WHERE n <= {self.count}"
        )

    def _asof(self, tables: Tables) -> str:
        others = " AND ".join(filter(None, [self.key, self._within(tables), self.residual]))
        on = f" ON {others}" if others else ""
        join = "LEFT ASOF JOIN" if self.outer else "ASOF JOIN"
        return (
            f"SELECT l.id AS a, r.{self.column} AS b FROM l {join} r "
            f"MATCH_CONDITION (l.t {self.operator} r.t){on}"
        )

    def _nearest(self, tables: Tables) -> str:
        del tables
        join = "LEFT JOIN" if self.outer else "JOIN"
        ranking = "DISTANCE abs(l.t - r.t)" if self.looks_back else "SIMILARITY -abs(r.t - l.t)"
        return (
            f"SELECT l.id AS a, r.{self.column} AS b FROM l {join} r "
            f"EXACT NEAREST {self.count} BY {ranking}"
        )

    def _above(self, text: str) -> str:
        return {
            "": text,
            "filter": f"SELECT * FROM ({text}) WHERE a % 2 = 0",
            "order": f"SELECT * FROM ({text}) ORDER BY a, b LIMIT 1000",
            "count": f"SELECT a, count(b) AS b FROM ({text}) GROUP BY a",
            "join": f"SELECT x.a, x.b FROM ({text}) x JOIN (SELECT id FROM l) y ON x.a = y.id",
            "distinct": f"SELECT DISTINCT * FROM ({text})",
        }[self.above]

    def answer(self, tables: Tables) -> Found:
        """The rows of the query, by comparing each pair of rows."""
        pairs: list[Pair] = []
        texts: list[tuple[Any, ...]] = []
        for a in tables.left:
            matches = [b for b in tables.right if self._matches(a, b, tables)]
            matches.sort(key=lambda b, a=a: self._rank(a, b))  # type: ignore[misc]
            kept = matches[: self.count]
            if self.form == "aggregate":
                sums = [str(len(kept)), *([str(sum(b[0] for b in kept))] if kept else [])]
                texts.append((a[0], " ".join(sums)))
                continue
            if self.form == "grouped":
                groups: dict[str, list[int]] = {}
                for b in kept:
                    groups.setdefault(b[3] or "-", []).append(b[0])
                texts += [(a[0], f"{v} {len(ids)} {sum(ids)}") for v, ids in groups.items()]
                texts += [(a[0], None)] if self.outer and not groups else []
                continue
            pairs += [(a, b) for b in kept]
            if not kept and (self.outer or self.form in ("scalar", "max_by")):
                pairs.append((a, None))
        at = ["id", "k", "t", "v"].index(self.column)
        rows = [(a[0], None if b is None or b[at] is None else str(b[at])) for a, b in pairs]
        return Counter(self._of_above(texts + rows))

    def _of_above(self, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        if self.above == "filter":
            return [row for row in rows if row[0] % 2 == 0]
        if self.above == "distinct":
            return list(set(rows))
        if self.above == "count":
            counts: Counter[int] = Counter()
            for a, b in rows:
                counts[a] += b is not None
            return [(a, str(n)) for a, n in counts.items()]
        return rows

    def _matches(self, a: Row, b: Row, tables: Tables) -> bool:
        if a[2] is None or b[2] is None:
            return False
        if self.form == "nearest":
            return True
        compare: Callable[[Any, Any], bool] = OPERATORS[self.operator][1]
        near = True
        if self.length is not None and tables.kind.has_length:
            near = abs(a[2] - b[2]) <= self.length
        return (
            compare(spark_order(a[2]), spark_order(b[2]))
            and near
            and KEYS[self.key](a, b)
            and RESIDUALS[self.residual](a, b)
        )

    def _rank(self, a: Row, b: Row) -> tuple[Any, ...]:
        """The least rank is preferred."""
        assert a[2] is not None
        assert b[2] is not None
        is_by_text = self.column == "v" and not self.reads_all
        by_column = (_backwards(text_order(b[3])) if is_by_text else (), -b[0])
        if self.form == "nearest":
            distance = spark_order(abs(a[2] - b[2]))
            is_above = spark_order(b[2]) > spark_order(a[2])
            return (distance, is_above, _outwards(b[2], is_above), by_column)
        by_time = _outwards(b[2], not self.looks_back)
        own = {"": (), ", r.id": (b[0],), ", r.v DESC, r.id": (_backwards(text_order(b[3])), b[0])}
        return (by_time, own[self.ties], by_column)


def _outwards(t: float, is_up: bool) -> tuple[bool, float]:
    """The place of a value in Spark's order, or in the opposite order."""
    is_nan, value = spark_order(t)
    return (is_nan, value) if is_up else (not is_nan, -value)


def _backwards(text: tuple[int, str]) -> tuple[int, int]:
    """The opposite order of texts of one letter; NULL comes last."""
    return (-text[0], -ord(text[1] or "\0"))


def query(rng: random.Random, tables: Tables, forms: tuple[str, ...]) -> Query:
    """A random query that a version of Spark with these forms reads."""
    form = rng.choice([f for f in FORMS if f in forms])
    residuals = ["", "", "", *RESIDUALS]
    takes_any = form.startswith("lateral") or form in ("aggregate", "grouped", "ranked", "nearest")
    return Query(
        form,
        key=rng.choice(list(KEYS)),
        operator=rng.choice(list(OPERATORS)),
        length=rng.choice((None, None, 0, 1, 3)),
        residual=rng.choice(residuals),
        ties="" if form in ("asof", "max_by", "nearest") else rng.choice(_TIES),
        count=rng.choice((1, 1, 2, 3, 7)) if takes_any else 1,
        outer=rng.random() < 0.5,
        column="id"
        if form in ("max_by", "aggregate", "grouped")
        else rng.choice(("id", "id", "v")),
        above=rng.choice(ABOVE),
        reads_all=form == "ranked",
    )


_TIES = ("", "", ", r.id", ", r.v DESC, r.id")
