# SPDX-License-Identifier: Apache-2.0
"""Runs many cases, counts what they cover, and writes each failure as a small SQL script."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz import loop
from fuzz.settings import SETTINGS
from fuzz.shrink import shorter, shrink
from fuzz.temporal.compare import ERROR, Asked, Case, Report, case, compare, what_failed
from fuzz.temporal.functions import name_functions
from fuzz.temporal.queries import Query
from fuzz.temporal.tables import stored, view_of

BATCH = 8  # Queries of one case, which share tables, settings and a job.
SPARK_SLICES = 0.02  # The share of queries for which Spark computes a snapshot, too.


@dataclass
class Totals(loop.Totals):
    """What the queries of a run covered."""

    with_rows: int = 0
    in_spark: int = 0
    as_spark: int = 0
    distributed: int = 0
    in_files: int = 0
    without_rules: int = 0  # queries with a rule of the algebra off; below, by rule
    rules_off: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)  # errors of Spark by kind

    def is_new(self, wrong: str) -> bool:
        """True for wrong rows, and for the first error of each kind."""
        if not wrong.startswith(ERROR):
            return True
        self.errors[what_failed(wrong)] += 1
        return self.errors[what_failed(wrong)] == 1

    def add(self, done: Case, report: Report) -> None:
        """Count a case."""
        count = len(done.asked)
        self.queries += count
        self.with_rows += sum(rows > 0 for rows in report.rows.values())
        self.in_spark += report.in_spark
        self.as_spark += len(report.as_spark)
        self.distributed += count * done.distributed
        self.in_files += count * done.files
        self.without_rules += count * bool(done.rules_off)
        self.rules_off.update(done.rules_off * count)
        self.kinds.update(part.kind for asked in done.asked for part in asked.query.all())

    def __str__(self) -> str:
        return (
            f"{self.queries} queries, {self.with_rows} of them with rows, {self.in_spark} slices "
            f"in Spark; {self.as_spark} are as Spark has it and not DuckDB; "
            f"{len(self.programs)} differ, {self.errors.total()} raise errors\n"
            f"  {self.distributed} by several tasks and ranges, {self.in_files} over files, "
            f"{self.without_rules} with rules turned off: {loop.listed(self.rules_off)}\n"
            f"  {loop.listed(self.kinds)}"
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
    name_functions(spark)
    totals = Totals()

    def one(number: int) -> None:
        name = f"{seed}/{number}"
        done = case(name, size)
        report = compare(spark, done, spark_slices=SPARK_SLICES, seed=name)
        totals.add(done, report)
        for which, wrong in report.different.items():
            if not totals.is_new(wrong):
                continue
            asked = done.asked[which]
            say(f"\nseed {seed}, case {number}, query {which}:\n{asked.sequenced()}\n{wrong}")
            small = smallest(spark, dataclasses.replace(done, asked=(asked,)))
            totals.programs.append(
                write(spark, small, folder, f"seed-{seed}-case-{number}-query-{which}")
            )
            say(f"  written to {totals.programs[-1]}")

    loop.run_cases(one, totals, queries, say)
    return totals


def smallest(spark: Any, found: Case, attempts: int = 120) -> Case:
    """The smallest failing case found: a part of the query, fewer rows, default settings."""

    def failure(smaller: Case) -> str | None:
        return next(map(what_failed, compare(spark, smaller).different.values()), None)

    kind = failure(found)
    if kind is None:  # fails only together with the other queries
        return found
    return shrink(found, lambda smaller: failure(smaller) == kind, (_smaller,), attempts)


def _smaller(found: Case) -> Iterator[Case]:
    if found.files:
        yield dataclasses.replace(found, files=False)
    usual = {key: choices[0] for key, choices in SETTINGS.items()}
    if found.settings != usual:
        yield dataclasses.replace(found, settings=usual)
    (asked,) = found.asked
    for query in _simpler(asked.query):
        yield dataclasses.replace(found, asked=(Asked(query, asked.options),))
    if asked.options:
        yield dataclasses.replace(found, asked=(Asked(asked.query),))
    for name in "rsbu":
        for rows in shorter(found.tables.rows(name)):
            smaller = dataclasses.replace(found.tables, **{name: tuple(rows)})
            yield dataclasses.replace(found, tables=smaller)


def _simpler(query: Query) -> Iterator[Query]:
    """The query's parts, and the query with one part replaced by a simpler one."""
    yield from query.parts
    for number, part in enumerate(query.parts):
        for simpler in _simpler(part):
            if query.kind != "split":
                parts = (*query.parts[:number], simpler, *query.parts[number + 1 :])
                yield dataclasses.replace(query, parts=parts)


def write(spark: Any, found: Case, folder: Path, name: str) -> Path:
    """Write a case as self-contained SQL."""
    (asked,) = found.asked
    wrong = next(iter(compare(spark, found).different.values()), "only beside other queries")
    lines = [f"SET {key}={value};" for key, value in found.settings.items()]
    for table in "rsbu":
        rows = found.tables.rows(table)
        statements = stored(table, rows) if found.files else ()
        lines += [f"{s};" for s in (*statements, view_of(table, rows, found.files))]
    lines += [f"{asked.sequenced()};", *(f"-- {line}" for line in wrong.splitlines())]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.sql"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
