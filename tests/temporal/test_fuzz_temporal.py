# SPDX-License-Identifier: Apache-2.0
"""Some of the random histories of `make fuzz-temporal`, and bugs that its oracle must detect."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from fuzz.temporal.compare import (
    Asked,
    Case,
    Report,
    case,
    compare,
    difference,
    in_duckdb,
    sliced,
    what_failed,
)
from fuzz.temporal.queries import KINDS, Query, query
from fuzz.temporal.run import Totals, run, smallest, write
from fuzz.temporal.tables import INSTANTS, Row, Tables, tables
from support.spark.comparison import BROADCAST, TEMPORAL_RULES

SEED, QUERIES = 4, 48


@pytest.mark.extended
def test_random_histories_are_those_of_their_slices(spark: Any, tmp_path: Any) -> None:
    totals = run(spark, SEED, QUERIES, tmp_path)
    assert totals.programs == [], "what they show is above"
    assert totals.with_rows * 2 > totals.queries, totals


def test_cases_turn_rules_off_and_are_distributed() -> None:
    """Of a hundred cases, a third runs in several tasks, and each rule is off in some."""
    totals = Totals()
    for number in range(100):
        found = case(f"5/{number}", 1)
        totals.add(found, Report())
        if found.distributed:
            assert int(found.settings["spark.sql.shuffle.partitions"]) > 1
            assert found.settings[BROADCAST] == "-1"
    assert 20 < totals.distributed < 50
    assert 30 < totals.without_rules < 80
    assert sorted(totals.rules_off) == sorted(rule.rpartition(".")[2] for rule in TEMPORAL_RULES)
    assert f"{totals.distributed} by several tasks" in str(totals)


def test_the_seed_decides() -> None:
    assert repr(case("1/2", 5)) == repr(case("1/2", 5))
    assert repr(case("1/2", 5)) != repr(case("1/3", 5))


def test_errors_are_alike_by_what_they_name() -> None:
    first = (
        "  an error: An error occurred while calling o1.collectToPython.\n: x.SparkException: Job 7"
    )
    cast = f"{first}: java.lang.ClassCastException: class A cannot be cast (TID 3)"
    assert what_failed(cast) == what_failed(cast.replace("o1", "o2").replace("TID 3", "TID 4"))
    assert what_failed(cast) != what_failed(
        f"{first}: [INTERNAL_ERROR] Cannot evaluate expression: outer(k#1)"
    )
    assert what_failed("  DuckDB at 0: missing") == what_failed("  DuckDB at 1: too many") == ""


def test_the_grammar_has_all_constructs() -> None:
    rng = random.Random(3)
    seen = {part.kind for _ in range(600) for part in query(rng, 2).all()}
    assert {
        *("r", "s", "b", "u", "sliding", "fixed", "projection", "selection", "join", "left join"),
        *("right join", "full join", "using", "cross", "semi", "anti", "exists", "not exists"),
        *("in", "not in", "scalar", "distinct", "union all", "union", "except", "except all"),
        *("intersect", "intersect all", "except_strict", "union_max", "coalesce", "split"),
        *("group by", "grouping sets", "total", "window", "top k", "with", "python"),
        *("row number", "top 1"),
    } == seen
    assert len(KINDS) > 25


@dataclass(frozen=True)
class Bug:
    """A wrong history: of other rows, of another query, or with wrong periods."""

    right: Query
    wrong: Query | None = None
    of_rows: Callable[[Tables], Tables] | None = None
    of_history: Callable[[list[Row]], list[Row]] | None = None


R, S = (Query(name, "SELECT k, v, t FROM {0}", leaf=name) for name in "rs")


def over(text: str, *, swept: bool = False) -> Query:
    return Query("text", text, (R, S), swept=swept)


LEFT = over("SELECT a.k, b.v, a.t FROM ({0}) a LEFT JOIN ({1}) b ON a.k = b.k")
EXCEPT = over("SELECT * FROM ({0}) a EXCEPT ALL SELECT * FROM ({1}) b", swept=True)
COUNT = over("SELECT CAST(count(*) AS INT) AS k, 0 AS v, '' AS t FROM ({0}) a", swept=True)


def only_bounded(given: Tables) -> Tables:
    return Tables(
        *(tuple(row for row in given.rows(n) if None not in row[-2:]) for n in "rsb"), given.u
    )


def last_in_first_out(rows: list[Row]) -> list[Row]:
    """Swaps the ends of the first two equal rows that overlap."""
    rows = list(rows)
    for i, one in enumerate(rows):
        for j in range(i + 1, len(rows)):
            other = rows[j]
            if one[:3] == other[:3] and _holds(one, other[3]) and one[3:] != other[3:]:
                rows[i], rows[j] = (*one[:4], other[4]), (*other[:4], one[4])
                return rows
    return rows


def _holds(row: Row, instant: int | None) -> bool:
    return instant is not None and (row[3] is None or row[3] < instant) and (
        row[4] is None or instant < row[4])  # fmt: skip


def with_seam(rows: list[Row]) -> list[Row]:
    """Cuts rows at 5, as if a range of time ended there."""
    found = []
    for row in rows:
        found += [(*row[:4], 5), (*row[:3], 5, row[4])] if _holds(row, 5) else [row]
    return found


BUGS = {
    "LIFO": Bug(EXCEPT, of_history=last_in_first_out),
    "start before end at one t": Bug(
        EXCEPT,
        of_history=lambda rows: [
            (*row[:3], row[3], row[4] + 1) if row[4] is not None else row for row in rows
        ],
    ),
    "(12) times matches": Bug(
        over("SELECT * FROM ({0}) a SEMI JOIN ({1}) b ON a.k = b.k"),
        over("SELECT a.* FROM ({0}) a JOIN ({1}) b ON a.k = b.k"),
    ),
    "NULL key <> NULL": Bug(
        EXCEPT,
        over("SELECT * FROM ({0}) a EXCEPT ALL SELECT * FROM ({1}) b WHERE k IS NOT NULL"),
    ),
    "unbounded = never": Bug(EXCEPT, EXCEPT, of_rows=only_bounded),
    "no gap for absent keys": Bug(
        LEFT,
        over(
            "SELECT a.k, b.v, a.t FROM ({0}) a LEFT JOIN ({1}) b ON a.k = b.k "
            "WHERE a.k IN (SELECT k FROM ({1}) c)"
        ),
    ),
    "no count 0": Bug(COUNT, of_history=lambda rows: [row for row in rows if row[0] != 0]),
    "seam left": Bug(COUNT, of_history=with_seam),
    "clip by least": Bug(
        over("SELECT a.k, b.v, a.t FROM ({0}) a JOIN ({1}) b ON a.k = b.k"),
        of_history=lambda rows: [
            (*row[:3], row[3] - 1, row[4]) if row[3] is not None else row for row in rows
        ],
    ),
    "carry lost": Bug(
        EXCEPT, of_history=lambda rows: [row for row in rows if not _holds(row, 5)]
    ),
    "no row for empty input": Bug(
        COUNT,
        over("SELECT CAST(count(*) AS INT) AS k, 0 AS v, '' AS t FROM ({0}) a HAVING count(*) > 0"),
    ),
}  # fmt: skip


def history(given: Tables, asked: Query) -> list[Row]:
    """The canonical form of the snapshots: the n-th start of a value has its n-th end."""
    with in_duckdb(given) as connection:
        bags = [Counter(sliced(connection, asked, i)) for i in INSTANTS]
    starts: dict[Row, list[int | None]] = {}
    ends: dict[Row, list[int | None]] = {}
    for number, (before, now) in enumerate(zip([Counter[Row](), *bags], bags, strict=False)):
        instant = None if number == 0 else INSTANTS[number]
        for row in now - before:
            starts.setdefault(row, []).extend([instant] * (now - before)[row])
        for row in before - now:
            ends.setdefault(row, []).extend([instant] * (before - now)[row])
    return [
        (*row, start, end)
        for row, some in starts.items()
        for start, end in zip(
            some, ends.get(row, []) + [None] * (len(some) - len(ends.get(row, []))), strict=True
        )
    ]


def some_tables() -> list[Tables]:
    rng = random.Random(11)
    return [tables(rng) for _ in range(60)]


@pytest.mark.parametrize("name", BUGS)
def test_a_bug_is_noticed(name: str) -> None:
    bug = BUGS[name]
    noticed = 0
    for given in some_tables():
        with in_duckdb(given) as connection:
            expected = {i: sliced(connection, bug.right, i) for i in INSTANTS}
        right = history(given, bug.right)
        # The periods of other queries are free, so the canonical ones are right for any query.
        assert difference(Asked(bug.right), right, expected) == ""
        rows = bug.of_rows(given) if bug.of_rows else given
        wrong = history(rows, bug.wrong or bug.right)
        wrong = bug.of_history(wrong) if bug.of_history else wrong
        noticed += bool(difference(Asked(bug.right), wrong, expected))
        if noticed:
            return
    pytest.fail(f"no table shows it: {name}")


def forget(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Makes functions of snapshots lose the rows of one key."""
    from fuzz.temporal import compare

    for name in names:
        right = getattr(compare, name)

        def wrong(*arguments: Any, right: Any = right) -> list[Row]:
            return [row for row in right(*arguments) if row[0] != 2]

        monkeypatch.setattr(compare, name, wrong)


UNION = Query("union all", "SELECT * FROM ({0}) a UNION ALL SELECT * FROM ({1}) b", (R, S))
KEYS = tuple((k, 10, "a", 1, 5) for k in (1, 2, 3))


def test_where_duckdb_is_wrong_spark_decides(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark decides if DuckDB is wrong, as DuckDB 2.0 is for a FULL JOIN above a LIMIT."""
    forget(monkeypatch, "sliced")
    report = compare(spark, Case(Tables(KEYS, KEYS, (), ()), {}, (Asked(UNION),)))
    assert (report.different, list(report.as_spark), report.in_spark) == ({}, [0], 4)


def test_an_error_that_spark_raises_by_itself_is_no_difference(spark: Any) -> None:
    fails = "SELECT k, v, CAST(raise_error('no') AS STRING) AS t FROM ({0})"
    both = Query("text", fails, (R,))
    only_history = Query("text", fails, (R,), in_duckdb="SELECT k, v, t FROM ({0})")
    report = compare(
        spark, Case(Tables(KEYS, KEYS, (), ()), {}, (Asked(both, ", at => 3"), Asked(only_history)))
    )
    assert (list(report.as_spark), list(report.different)) == ([0], [1])


@pytest.mark.extended
def test_what_fails_is_made_small_and_written(
    spark: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Snapshots lose the rows of one key. One row is enough to show the difference."""
    forget(monkeypatch, "sliced", "slice_in_spark")
    found = Case(Tables(KEYS, KEYS, (), ()), {}, (Asked(UNION),))
    small = smallest(spark, found)
    assert small.asked == (Asked(R),)
    assert small.tables.r == ((2, 10, "a", 1, 5),)
    text = write(spark, small, tmp_path, "found").read_text(encoding="utf-8")
    assert "sequenced(TABLE(SELECT k, v, t FROM r))" in text
    assert "too many" in text
