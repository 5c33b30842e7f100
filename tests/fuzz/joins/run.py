# SPDX-License-Identifier: Apache-2.0
"""Runs many cases, counts what they cover, and writes a program for each failure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz import loop
from fuzz.joins.cases import Case, case
from fuzz.joins.compare import RefusedError, Report, compare
from fuzz.joins.queries import Query
from fuzz.joins.script import write
from fuzz.joins.smaller import STEPS
from fuzz.shrink import shrink

BATCH = 10  # Queries of one case, which share tables and settings.


@dataclass
class Totals(loop.Totals):
    """What the queries of a run covered."""

    with_rows: int = 0
    raised: int = 0
    wrong_in_spark: int = 0
    shapes: Counter[str] = field(default_factory=Counter)  # all queries
    swept: Counter[str] = field(default_factory=Counter)  # queries with a sweep, by shape
    swept_with_rows: int = 0
    joins: Counter[str] = field(default_factory=Counter)  # sweeps by join type
    above: Counter[str] = field(default_factory=Counter)  # swept queries, by operators above

    def add(self, done: Case, report: Report) -> None:
        self.queries += len(done.queries)
        self.with_rows += sum(rows > 0 for rows in report.rows.values())
        self.raised += report.raised
        self.wrong_in_spark += report.wrong_in_spark
        for number, query in enumerate(done.queries):
            self.shapes[query.shape] += 1
            if sweeps := report.sweeps.get(number):
                self.swept[query.shape] += 1
                self.joins.update(sweeps)
                self.above.update(query.above.parts)
                self.swept_with_rows += report.rows[number] > 0

    def __str__(self) -> str:
        shapes = ", ".join(f"{s} {self.swept[s]}/{n}" for s, n in sorted(self.shapes.items()))
        return (
            f"{self.queries} queries, {self.with_rows} of them with rows; "
            f"{self.swept.total()} swept, {self.swept_with_rows} of them with rows; "
            f"{self.raised} raise an error by Spark's own plan, {self.wrong_in_spark} are wrong by "
            f"it; {len(self.programs)} differ\n"
            f"  swept of all, by shape: {shapes}\n"
            f"  sweeps by join type: {loop.listed(self.joins)}\n"
            f"  swept, by what stands above: {loop.listed(self.above)}"
        )


def run(
    spark: Any,
    seed: int,
    queries: int,
    folder: Path,
    say: loop.Say = print,
    size: int = BATCH,
) -> Totals:
    """Run at least `queries` queries; the same seed and size give the same queries."""
    totals = Totals()

    def one(number: int) -> None:
        done = case(f"{seed}/{number}", size)
        report = compare(spark, done)
        totals.add(done, report)
        for query, difference in report.different.items():
            say(f"\nseed {seed}, case {number}, query {query}:\n{_text(done.queries[query])}")
            say(f"{dict(done.settings)}\n{difference}")
            name = f"seed-{seed}-case-{number}-query-{query}"
            totals.programs.append(smallest(spark, done, query, folder, name))
            say(f"  reproduced by {totals.programs[-1]}")

    loop.run_cases(one, totals, queries, say)
    return totals


def _text(query: Query) -> str:
    return "\n".join((*query.prepared(), query.sql()))


def smallest(spark: Any, done: Case, query: int, folder: Path, name: str) -> Path:
    """Shrinks a failure and writes it: one query, or several if it fails only with the others."""

    def fails(smaller: Case) -> bool:
        try:
            return bool(compare(spark, smaller).different)
        except RefusedError:  # shrinking removed something that the query needs
            return False

    alone = done.only(done.queries[query])
    found = shrink(alone if fails(alone) else done, fails, STEPS)
    return write(found, folder, name, "A swept query with other rows than Spark's own plan")
