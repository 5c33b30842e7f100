# SPDX-License-Identifier: Apache-2.0
"""Every relation on generated tables, compared with its formula in Spark's own plan.

A Spark job costs more than a small join, so one query combines several joins by UNION ALL. Each
join has its own relation and parameters, and its rows carry its number. Keys, residual condition,
operand order and call style rotate over the joins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from support.joins import oracle
from support.joins.generated import TYPES, Endpoint, Rows, draw_tables, register
from support.joins.oracle import Limit, Variant
from support.spark.comparison import (
    BROADCAST,
    EXCLUDED_RULES,
    FOLDING,
    OWN_PLAN,
    SMALL_GROUPS,
    batches,
    configured,
    physical,
    sweeps,
)

VARIANTS = oracle.variants()
KEYS = ("", "r.k1 = s.k1", "r.k1 = s.k1 AND r.k2 <=> s.k2")
RESIDUALS = ("", "(r.x <> s.x OR s.k2 = 'a')")
STYLES = ("named", "positional", "structs")
DISTRIBUTIONS = {
    "broadcast": {BROADCAST: "10MB"},
    "distributed": {BROADCAST: "-1"},
    # Few rows suffice for several ranges, chunks and batches.
    "in small parts": {
        BROADCAST: "-1",
        "spark.sql.intervalsweep.rangeRows": "5",
        "spark.sql.intervalsweep.batchRows": "3",
    },
    "without a worker": {BROADCAST: "10MB", SMALL_GROUPS: "1000000"},
    "some without a worker": {
        BROADCAST: "-1",
        SMALL_GROUPS: "20",
        "spark.sql.intervalsweep.rangeRows": "5",
        "spark.sql.intervalsweep.batchRows": "9",
    },
}
OTHERS = ("distributed", "in small parts", "without a worker", "some without a worker")

matched: Counter[str] = Counter()


@dataclass(frozen=True)
class Case:
    """A join: a relation with its parameters, and the parts that rotate."""

    number: int
    variant: Variant
    limits: tuple[Limit, ...]
    keys: str
    residual: str
    tables: str
    style: str

    @property
    def is_swept(self) -> bool:
        return not (self.keys and self.variant.relation.is_equality)

    def sql(self, written: bool) -> str:
        chosen = dict(zip(self.variant.parameters, self.limits, strict=True))
        name = self.variant.relation.name
        predicate = (
            oracle.formula(name, **chosen)
            if written
            else oracle.call(name, **chosen, style=self.style)
        )
        condition = " AND ".join(filter(None, (self.keys, predicate, self.residual)))
        columns = f"{self.number} AS c, r.id AS rid, s.id AS sid"
        return f"SELECT {columns} FROM {self.tables} ON {condition}"


def cases(endpoint: Endpoint, turn: int, calendar: bool) -> list[Case]:
    limits = endpoint.limits + (endpoint.calendar if calendar else ())
    found = []
    for number, variant in enumerate(VARIANTS):
        mix = number * 5 + turn * 7
        found.append(
            Case(
                number,
                variant,
                tuple(limits[(mix + i) % len(limits)] for i in range(len(variant.parameters))),
                KEYS[mix % 3],
                RESIDUALS[mix // 3 % 2],
                ("r JOIN s", "s JOIN r")[mix // 6 % 2],
                STYLES[(number + turn) % 3],
            )
        )
    return found


def frames(spark: Any, all_cases: list[Case], written: bool) -> Iterator[tuple[Any, int]]:
    """Queries that combine several cases, each with its expected number of sweeps."""
    for some in batches(all_cases):
        frame = spark.sql("\nUNION ALL\n".join(case.sql(written) for case in some))
        yield frame, 0 if written else sum(case.is_swept for case in some)


def pairs(spark: Any, some: list[Case], written: bool) -> dict[int, Counter[tuple[int, int]]]:
    """The pairs of row numbers, by case."""
    found: dict[int, Counter[tuple[int, int]]] = {}
    for frame, swept in frames(spark, some, written):
        if sweeps(plan := physical(frame)) != swept:
            expect_sweeps(spark, some)
            raise AssertionError(f"{swept} sweeps are expected in one query\n{plan}")
        table = frame.toArrow()
        columns = [table.column(name).to_numpy().astype(np.int64) for name in ("c", "rid", "sid")]
        for case, rid, sid in zip(*(column.tolist() for column in columns), strict=True):
            found.setdefault(case, Counter())[rid, sid] += 1
    return found


def expect_sweeps(spark: Any, some: list[Case]) -> None:
    """Checks each case by itself, so that the error names the wrong one."""
    for case in some:
        plan = physical(spark.sql(case.sql(written=False)))
        assert sweeps(plan) == case.is_swept, f"{case.sql(False)}\n{plan}"


def explain(case: Case, want: Counter[Any], got: Counter[Any], r: Rows, s: Rows) -> str:
    lines = [case.sql(written=False)]
    for what, rest in (("missing", want - got), ("too many", got - want)):
        shown = [f"{r[i]} with {s[j]}" for i, j in list(rest)[:3]]
        lines += [f"  {what} {rest.total()}: {'; '.join(shown)}"] if rest else []
    return "\n".join(lines)


def compare(
    spark: Any, endpoint: Endpoint, r: Rows, s: Rows, turn: int, some: list[Case], label: str
) -> None:
    register(spark, "r", endpoint, r)
    register(spark, "s", endpoint, s)
    excluded = {EXCLUDED_RULES: FOLDING}
    with configured(spark, {**excluded, **OWN_PLAN}):
        expected = pairs(spark, some, written=True)
    for distribution in ("broadcast", OTHERS[turn % 4]):
        with configured(spark, {**excluded, **DISTRIBUTIONS[distribution]}):
            got = pairs(spark, some, written=False)
        wrong = [
            explain(case, want, have, r, s)
            for case in some
            if (want := expected.get(case.number, Counter()))
            != (have := got.get(case.number, Counter()))
        ]
        shown = "\n".join(wrong[:8])
        assert not wrong, f"{len(wrong)} of {len(some)} wrong, {label}, {distribution}:\n{shown}"
    for case in some:
        matched[str(case.variant)] += expected.get(case.number, Counter()).total()


# Shape -> (left rows, right rows, True if some endpoints are extreme).
SHAPES = {
    "ordinary": (26, 22, False),
    "extreme": (24, 26, True),
    "one": (1, 20, False),
    "few": (20, 1, True),
    "none": (0, 9, False),
    "nothing": (9, 0, False),
}
SMALL = ("one", "few", "none", "nothing")
# Each type has both large shapes and one small shape, in turn.
RUNS = [
    (endpoint, shape, number)
    for number, endpoint in enumerate(TYPES)
    for shape in ("ordinary", "extreme", SMALL[number % 4])
]


@pytest.mark.parametrize(
    ("endpoint", "shape", "number"), RUNS, ids=[f"{e.id}-{shape}" for e, shape, _ in RUNS]
)
def test_same_rows_as_the_formula(
    spark: Any, drawn: Any, endpoint: Endpoint, shape: str, number: int
) -> None:
    left, right, extremes = SHAPES[shape]

    r, s = draw_tables(endpoint, left, right, extremes)
    turn = number + 3 * list(SHAPES).index(shape)
    every = cases(endpoint, turn, calendar=not extremes)
    some = drawn(every, len(every) // 2)
    compare(spark, endpoint, r, s, turn, some, f"{endpoint.sql} {shape}")


def test_every_relation_had_rows(request: pytest.FixtureRequest) -> None:
    names = [item.name for item in request.session.items]
    run = sum(name.startswith("test_same_rows_as_the_formula") for name in names)
    if run < len(RUNS):
        pytest.skip("only a part of the generated tests was selected")
    assert [str(variant) for variant in VARIANTS if not matched[str(variant)]] == []
