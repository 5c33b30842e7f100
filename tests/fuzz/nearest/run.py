# SPDX-License-Identifier: Apache-2.0
"""Runs many cases, and counts what they cover."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz import loop
from fuzz.nearest.queries import FORMS, Query, query
from fuzz.nearest.tables import tables
from fuzz.settings import SETTINGS, SHUFFLED
from support.spark.comparison import configured

BATCH = 6  # Queries of one case, which share tables, settings and a job.
LIMITED = re.compile(r"IntervalSweepJoin [^\n]*, (?:last|first|nearest) \d+")


@dataclass
class Totals(loop.Totals):
    """What the queries of a run covered."""

    with_rows: int = 0
    swept: int = 0
    forms: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        return (
            f"{self.queries} queries, {self.with_rows} of them with rows, {self.swept} joins swept "
            f"with a limit; {len(self.programs)} differ\n"
            f"  {loop.listed(self.forms)}\n  {loop.listed(self.kinds)}"
        )


def known_forms(version: str) -> tuple[str, ...]:
    """The forms that a version of Spark reads."""
    major, minor = map(int, version.split(".")[:2])
    wanted = {"asof": (4, 3), "nearest": (4, 2)}
    return tuple(f for f in FORMS if (major, minor) >= wanted.get(f, (4, 0)))


def run(
    spark: Any, seed: int, queries: int, folder: Path, say: loop.Say = print, size: int = BATCH
) -> Totals:
    """Run at least `queries` queries; the same seed and size give the same queries."""
    del folder
    totals = Totals()
    forms = known_forms(spark.version)

    def one(number: int) -> None:
        rng = random.Random(f"{seed}/{number}")
        shuffled = SHUFFLED if rng.random() < 0.3 else {}
        settings = {k: rng.choice(some) for k, some in (SETTINGS | shuffled).items()}
        given = tables(rng)
        asked = [query(rng, given, forms) for _ in range(size)]
        totals.queries += len(asked)
        totals.forms.update(q.form for q in asked)
        totals.kinds[given.kind.name] += len(asked)
        with configured(spark, {**settings, "spark.sql.join.asofJoin.enabled": "true"}):
            for name in "lr":
                spark.sql(given.sql(name)).createOrReplaceTempView(name)
            found, swept = rows_of(spark, [q.sql(given) for q in asked])
        totals.swept += swept
        for which, one_query in enumerate(asked):
            expected = one_query.answer(given)
            totals.with_rows += bool(expected)
            if found[which] != expected:
                text = one_query.sql(given)
                say(
                    f"\nseed {seed}, case {number}, query {which}:\n{text}\n"
                    f"missing {expected - found[which]}, too many {found[which] - expected}"
                )
                totals.programs.append(f"seed {seed}, case {number}, query {which}")

    loop.run_cases(one, totals, queries, say)
    return totals


def rows_of(spark: Any, texts: list[str]) -> tuple[list[Counter[tuple[Any, ...]]], int]:
    """The rows of each query, and the number of joins with a limit in the plan of all."""
    parts = (f"SELECT {q} AS q, a, CAST(b AS STRING) AS b FROM ({t})" for q, t in enumerate(texts))
    frame = spark.sql(" UNION ALL ".join(parts))
    found: list[Counter[tuple[Any, ...]]] = [Counter() for _ in texts]
    for q, a, b in frame.collect():
        found[q][(a, b)] += 1
    plan = frame._jdf.queryExecution().executedPlan().toString()
    final = plan.partition("+- == Initial Plan ==")[0]
    return found, len(LIMITED.findall(final))


__all__ = ["Query", "Totals", "run"]
