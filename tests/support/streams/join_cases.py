# SPDX-License-Identifier: Apache-2.0
"""Random joins of streams, as SQL for Spark and as written-out formulas for DuckDB."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from support.joins.oracle import RELATIONS, Relation
from support.streams.joined import ENDS, FAR, Arrivals

HOW = ["INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI"]
# The number of matches of each left row, in a window of rows.
COUNT = "COUNT"
KEYS = ["a.k = b.k", "a.k IS NOT DISTINCT FROM b.k", "a.k = b.k AND a.g = b.g", "a.g = b.g"]
RESIDUALS = ["a.v + b.v < 6", "a.v <> b.v", "a.v > 1", "(b.w < 9 OR a.w IS NULL)", "a.k < b.k"]
PAGE = Path(__file__).parents[3] / "docs" / "streams" / "relations.md"
INEQUALITIES = ["a.v < b.v AND a.w > b.w", "a.w <= b.w AND a.v >= b.v", "a.w > b.v AND a.v <= b.w"]


def seconds(number: float) -> str:
    return f"INTERVAL '{number}' SECOND"


@dataclass(frozen=True)
class Case:
    """A join of `a` and `b`: its condition for Spark, and the same condition as a formula.

    `by_number`: rows arrive in the order of their numbers. `reversed`: the sides whose rows are
    dropped if they end before they start.
    """

    how: str
    condition: str
    formula: str
    by_number: bool = False
    reversed: frozenset[str] = frozenset()

    def sql(self, number: int) -> str:
        """The join as a query whose rows carry its number; without the rows that are far away."""
        a, b = ("an AS a", "bn AS b") if self.by_number else ("a", "b")
        if self.how == COUNT:
            return (
                f"SELECT {number} AS n, a.id AS x, w.c AS y FROM {a} JOIN LATERAL (SELECT count(*) "
                f"AS c FROM {b} WHERE {self.condition}) w ON true WHERE a.id < {FAR}"
            )
        near = [f"coalesce({s}.id, 0) < {FAR}" for s in ("a" if self._is_half() else "ab")]
        y = "CAST(NULL AS INT)" if self._is_half() else "b.id"
        return (
            f"SELECT {number} AS n, a.id AS x, {y} AS y FROM {a} {self.how} JOIN {b} "
            f"ON {self.condition} WHERE {' AND '.join(near)}"
        )

    def plain(self, number: int) -> str:
        """The join as a query for DuckDB."""
        a, b = (f"{s}_ordered {s}" if s in self.reversed else s for s in "ab")
        if self.how == COUNT:
            count = f"(SELECT count(*) FROM {b} WHERE {self.formula})"
            return f"SELECT {number}, a.id, {count} FROM {a} WHERE a.id < {FAR}"
        if self._is_half():
            exists = f"EXISTS (SELECT 1 FROM {b} WHERE {self.formula})"
            no = "" if self.how == "LEFT SEMI" else "NOT "
            return f"SELECT {number}, a.id, NULL FROM {a} WHERE a.id < {FAR} AND {no}{exists}"
        return (
            f"SELECT {number}, a.id, b.id FROM {a} {self.how} JOIN {b} ON {self.formula} "
            f"WHERE coalesce(a.id, 0) < {FAR} AND coalesce(b.id, 0) < {FAR}"
        )

    def _is_half(self) -> bool:
        return self.how in ("LEFT SEMI", "LEFT ANTI")


def random_cases(rng: random.Random, count: int, clock: str = "ts") -> list[Case]:
    """`count` random joins, which take the join types in turn."""
    return [_case(rng, HOW[number % len(HOW)], clock) for number in range(count)]


def _case(rng: random.Random, how: str, clock: str) -> Case:
    kind = rng.random()
    if kind < 0.7:
        condition, formula = _relation(rng, rng.choice(list(RELATIONS.values())), clock)
    elif kind < 0.8:
        low, high = rng.choice([-9, -3, 0]), rng.choice([0, 2, 6])
        condition = formula = (
            f"a.{clock} BETWEEN b.{clock} + {seconds(low)} AND b.{clock} + {seconds(high)}"
        )
        if rng.random() < 0.5:
            condition = formula = f"{condition} AND {rng.choice(INEQUALITIES)}"
    elif kind < 0.9:
        near = rng.choice([3, 9.5, 30])
        condition = formula = (
            f"{rng.choice(INEQUALITIES)} AND a.{clock} < b.{clock} + {seconds(near)} AND "
            f"b.{clock} < a.{clock} + {seconds(near)}"
        )
    else:
        return _by_number(rng, how)
    if kind < 0.7 and rng.random() < 0.5:
        keys = rng.choice(KEYS)
        condition, formula = f"{keys} AND {condition}", f"{keys} AND {formula}"
    if rng.random() < 0.25:
        residual = rng.choice(RESIDUALS)
        condition, formula = f"{condition} AND {residual}", f"{formula} AND {residual}"
    # A row without an event time never matches, even if the formula does not use the time.
    known = f"{formula} AND a.{clock} IS NOT NULL AND b.{clock} IS NOT NULL"
    return Case(how, condition, known)


def _relation(rng: random.Random, relation: Relation, clock: str) -> tuple[str, str]:
    """A call and a formula, with the limits that its rows need to expire.

    The documented table lists these limits. Some calls have more limits than they need.
    """
    of_r, of_s = bounds()[clock][relation.name]
    wanted = {p for p in relation.parameters if f"+ {p}" in of_r + of_s or rng.random() < 0.3}
    formula = re.sub(r"\b([rs])\.", lambda m: "a." if m[1] == "r" else "b.", relation.formula)
    arguments, parts = ENDS, [formula]
    for name in sorted(wanted):
        distance, limit = getattr(relation, name), seconds(rng.choice([0, 1, 4, 11]))
        arguments += f", {name} => {limit}"
        later, earlier = (
            d.replace("r.", "a.").replace("s.", "b.") for d in (distance.later, distance.earlier)
        )
        parts.append(f"{later} - {earlier} <= {limit}")
    more = []
    for cell, own, partner in ((of_r, "a", "b"), (of_s, "b", "a")):
        if "never" in cell:
            more.append(f"{partner}.{clock} <= {own}.te + {seconds(9)}")
        if "max_length" in cell:
            more.append(f"{partner}.te <= {partner}.ts + {seconds(rng.choice([8, 40]))}")
    call = f"{relation.name}({arguments})"
    return " AND ".join([call, *more]), " AND ".join(parts + more)


def _by_number(rng: random.Random, how: str) -> Case:
    inequalities, near = rng.choice(INEQUALITIES), rng.choice([2, 7, 20])
    slide, wide = rng.choice([None, 2, 5]), rng.choice(["", "L"])
    if slide is None:
        window = f"abs(a.seq - b.seq) < {near}{wide}"
    else:
        slices = f"abs(a.seq div {slide}{wide} - b.seq div {slide}{wide}) < {near}"
        window = f"{slices} AND abs(a.seq - b.seq) < {(near + 1) * slide}{wide}"
    condition = f"{inequalities} AND {window}"
    if rng.random() < 0.5:
        # Counts come from sorted rows; a residual condition compares each pair.
        more = rng.choice(["", f" AND {rng.choice(KEYS)}", f" AND {rng.choice(RESIDUALS)}"])
        condition, how = condition + more, COUNT
    formula = re.sub(r"(\d)L\b", r"\1", condition.replace(" div ", " // "))
    return Case(how, condition, formula, by_number=True)


def bounds() -> dict[str, dict[str, tuple[str, str]]]:
    """The expiry of rows of r and of s, by the column with the watermark and by the relation."""
    found: dict[str, dict[str, tuple[str, str]]] = {"ts": {}, "te": {}}
    clock = ""
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            clock = line.split("`")[1]
        elif match := re.fullmatch(r"\| `(\w+)` \| (.*) \| (.*) \|", line):
            found[clock][match[1]] = (match[2], match[3])
    return found


def union(cases: list[Case], first: int = 0) -> str:
    """All joins in one query, numbered from `first` on."""
    return " UNION ALL ".join(case.sql(number) for number, case in enumerate(cases, first))


def as_planned(cases: list[Case], plan: str) -> list[Case]:
    """The cases with `reversed` as the plan reports it, which the oracle needs."""
    parts = re.split(r"\b(\d+) AS n#", plan)
    said = dict(zip(map(int, parts[1::2]), parts[2::2], strict=True))
    sides = {"a": "reversed left rows", "b": "reversed right rows"}
    return [
        replace(case, reversed=frozenset(s for s, text in sides.items() if text in said[number]))
        for number, case in enumerate(cases)
    ]


def wanted(arrivals: Arrivals, cases: list[Case]) -> Counter[Any]:
    """The rows of the formulas, computed by DuckDB."""
    database = duckdb.connect()
    for side in "ab":
        columns = zip(*arrivals.rows(side), strict=True)
        values = dict(zip(arrivals.columns, map(list, columns), strict=True))
        database.register(f"{side}_rows", pa.table(values))
        database.execute(f"CREATE TABLE {side} AS SELECT * FROM {side}_rows")
        ordered = "coalesce(ts <= te, true)"
        database.execute(f"CREATE VIEW {side}_ordered AS SELECT * FROM {side} WHERE {ordered}")
    found: Counter[Any] = Counter()
    for number, case in enumerate(cases):
        found.update(database.execute(case.plain(number)).fetchall())
    return found
