# SPDX-License-Identifier: Apache-2.0
"""Some of the random queries of `make fuzz`, and the handling of failures."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any

import pytest

from fuzz.joins.above import NOTHING, Above
from fuzz.joins.cases import Case, case
from fuzz.joins.compare import compare
from fuzz.joins.conditions import Predicate, plain
from fuzz.joins.queries import Query
from fuzz.joins.run import Totals, run, smallest
from fuzz.joins.smaller import STEPS
from fuzz.shrink import shrink
from support.spark import applications

SEED, QUERIES, MORE = 1, 20, 450


@pytest.fixture(scope="module")
def totals(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Totals:
    return run(spark, SEED, QUERIES, tmp_path_factory.mktemp("fuzz"))


def test_random_queries_have_the_rows_of_sparks_own_plan(totals: Totals) -> None:
    assert totals.programs == [], "what they show is above"


def test_random_queries_are_swept_and_have_rows(totals: Totals) -> None:
    assert totals.queries >= QUERIES
    assert totals.swept_with_rows * 3 > totals.queries, totals


@pytest.mark.extended
def test_more_random_queries_are_swept_in_all_joins(spark: Any, tmp_path: Path) -> None:
    totals = run(spark, SEED, MORE, tmp_path)
    assert totals.programs == [], "what they show is above"
    assert totals.swept_with_rows * 3 > totals.queries, totals
    assert {"Inner", "LeftOuter", "FullOuter", "LeftSemi", "LeftAnti"} <= set(totals.joins), totals
    assert totals.raised * 20 < totals.queries, totals


def test_the_seed_decides() -> None:
    assert repr(case("1/2", 5)) == repr(case("1/2", 5))
    assert repr(case("1/2", 5)) != repr(case("1/3", 5))


WORKER = {"spark.sql.intervalsweep.smallGroupPairs": "0"}
WRONG = Predicate("ALLEN_BEFORE(r.ts, r.te, s.ts, s.te)", "r.te <= s.ts")


def wrong_case() -> Case:
    """A case in which the oracle's formula for BEFORE is wrong, in a query with other parts."""
    found = next(c for c in map(random_case, range(1000)) if big_enough(c))
    query = Query(
        "FULL",
        (plain("r.k2 = s.k2"), WRONG, plain("(r.x < 9 OR s.x < 9)")),
        ("r.id", "s.id", "r.v"),
        right="(SELECT DISTINCT * FROM s)",
        third="LEFT JOIN",
        third_on=(plain("r.id = t.id"),),
        hint="BROADCAST(s)",
        above=Above(("distinct", "order"), "limit", kept="cache", n=30),
    )
    return found.only(query)


def random_case(number: int) -> Case:
    return case(f"wrong/{number}", 1)


def big_enough(found: Case) -> bool:
    return all(len(table.rows) > 10 for table in found.tables.values())


@pytest.mark.extended
def test_a_failure_becomes_a_small_program_that_stands_alone(spark: Any, tmp_path: Path) -> None:
    wrong = wrong_case()
    assert compare(spark, wrong).different, "the fault in the oracle does not show"
    program = smallest(spark, wrong, 0, tmp_path, "wrong")
    text = program.read_text(encoding="utf-8")
    assert "fuzz" not in text
    assert "FULL JOIN" not in text, "a simpler join shows it as well"
    assert "BROADCAST" not in text
    assert "LEFT JOIN" not in text
    assert sum(line.startswith(" " * 12 + "(") for line in text.splitlines()) == 2, text
    done = applications.run(tmp_path, [sys.executable, str(program)])
    assert done.returncode == 1, done.stderr
    assert "missing:  {" in done.stdout
    assert "missing:  {}" not in done.stdout
    assert "too many: {}" in done.stdout
    assert "the rows differ" in done.stdout


def test_an_error_of_a_sweep_alone_is_a_difference(spark: Any) -> None:
    """The worker's interpreter does not exist. Spark's own plan does not need it."""
    broken = {"spark.sql.intervalsweep.python": "/no/such/python", **WORKER}
    tables = next(c for c in map(random_case, range(1000)) if big_enough(c)).tables
    query = Query("INNER", (plain("r.ts < s.te AND s.ts < r.te"),), ("r.id", "s.id"))
    for queries in ((query,), (query, query)):
        report = compare(spark, Case(tables, broken, queries))
        assert "Spark's own plan does not raise" in report.different[0], report


def test_shrinking_takes_away_what_does_not_matter() -> None:
    big = next(c for c in (case(f"shrink/{n}", 6) for n in range(1000)) if big_enough(c))

    def fails(smaller: Case) -> bool:
        ids = [row[0] for row in smaller.tables["r"].rows if len(row) == 8]
        return {3, 11} <= set(ids) and any(q.shape == big.queries[4].shape for q in smaller.queries)

    small = shrink(big, fails, STEPS, attempts=5000)
    assert fails(small)
    assert [row[0] for row in small.tables["r"].rows] == [3, 11]
    assert small.tables["s"].rows == ()
    assert small.tables["s"].columns == ()
    (query,) = small.queries
    assert (query.on, query.where, query.third, query.hint) == ((), (), "", "")
    assert query.above == dataclasses.replace(NOTHING, m=0)
    assert len(query.columns) == 1
    assert not any(fails(one) for steps in STEPS for one in steps(small))


def test_shrinking_ends_after_so_many_attempts() -> None:
    tried: list[Case] = []

    def fails(smaller: Case) -> bool:
        tried.append(smaller)
        return False

    big = case("shrink/0", 6)
    assert shrink(big, fails, STEPS, attempts=7) is big
    assert len(tried) == 7
