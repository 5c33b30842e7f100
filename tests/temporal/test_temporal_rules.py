# SPDX-License-Identifier: Apache-2.0
"""The paper's transformation rules: each fires only where it may, and keeps results."""

from __future__ import annotations

import re
from typing import Any

import pytest

from support.spark.comparison import EXCLUDED_RULES, FOLDING, TEMPORAL_RULES, configured
from support.temporal.snapshots import INSTANTS, Row, Snapshots, Table, bag, is_valid

TABLES = {
    "r": Table(
        "k INT, v INT",
        [(1, 10, 0, 4), (1, 10, 2, 6), (1, 20, 4, 9), (2, 10, None, 3), (2, 30, 5, None)],
    ),
    "s": Table(
        "k INT, v INT",
        [(1, 10, 1, 3), (1, 10, 3, 5), (1, 50, 0, 11), (2, 30, None, None), (None, 30, 2, 6)],
    ),
    "t": Table("k INT, v INT", [(1, 10, 2, 7), (1, 10, 4, 5), (2, 30, 4, 8), (2, 20, 0, 9)]),
}
A, B, C = (f"(SELECT k, v FROM {name})" for name in "rst")

# (rule, queries in which it fires, queries in which it must not); a query has a part of the plan
# that is counted, and the expected count.
CASES = [
    (
        "MergeSetOperations",
        [
            (f"({A} EXCEPT ALL {B}) EXCEPT ALL {C}", "PeriodSweep", 1),
            (f"({A} EXCEPT {B}) EXCEPT {C}", "PeriodSweep", 1),
            (f"{A} EXCEPT ALL ({A} EXCEPT ALL {B})", "PeriodSweep intersect_all", 1),
            (f"{A} UNION ALL ({B} EXCEPT ALL {A})", "PeriodSweep union_max", 1),
        ],
        [
            (f"{A} EXCEPT ALL ({B} EXCEPT ALL {C})", "PeriodSweep", 2),
            (f"({A} EXCEPT {B}) EXCEPT ALL {C}", "PeriodSweep", 2),
            (f"({A} EXCEPT ALL {B}) EXCEPT {C}", "PeriodSweep", 2),
            (f"{A} UNION ALL ({B} EXCEPT ALL {C})", "PeriodSweep union_max", 0),
        ],
    ),
    (
        "DropInnerSweep",
        [
            (f"SELECT DISTINCT * FROM (SELECT DISTINCT * FROM {A})", "PeriodSweep", 1),
            (f"SELECT * FROM temporal_coalesce(TABLE({A} EXCEPT ALL {B}))", "PeriodSweep", 1),
            (f"(SELECT DISTINCT * FROM {A}) INTERSECT {B}", "PeriodSweep", 1),
        ],
        [
            (f"(SELECT DISTINCT * FROM {A}) EXCEPT ALL {B}", "PeriodSweep", 2),
            (f"SELECT DISTINCT v FROM (SELECT DISTINCT k, v FROM {A})", "PeriodSweep", 2),
        ],
    ),
    (
        "PushDistinctThroughJoin",
        [
            (
                f"SELECT DISTINCT x.v, y.k FROM (SELECT DISTINCT v FROM {A}) x, "
                f"(SELECT k FROM {B}) y",
                r"distinct, by \[\w+#\d+\]",
                2,
            ),
        ],
        [
            (
                f"SELECT DISTINCT x.v, y.k FROM (SELECT v FROM {A}) x, (SELECT k FROM {B}) y",
                r"distinct, by \[\w+#\d+\]",
                0,
            ),
        ],
    ),
]


@pytest.fixture(scope="module")
def snapshots(spark: Any) -> Snapshots:
    return Snapshots(spark, TABLES)


def excluded(rule: str) -> dict[str, str]:
    [named] = [name for name in TEMPORAL_RULES if name.endswith(f".{rule}")]
    return {EXCLUDED_RULES: f"{FOLDING},{named}"}


def plan(frame: Any) -> str:
    return str(frame._jdf.queryExecution().sparkPlan())


def times_in(frame: Any, part: str) -> int:
    return len(re.findall(part, plan(frame)))


def history(frame: Any) -> list[Any]:
    return at_instants([tuple(row) for row in frame.collect()])


def at_instants(rows: list[Row]) -> list[Any]:
    return [bag(row[:-2] for row in rows if is_valid(row, instant)) for instant in INSTANTS]


def has_fired(frame: Any, rule: str) -> bool:
    return times_in(frame, rf"rules \[[^\]]*\b{rule}\b") > 0


def test_each_rule_fires_where_it_may_and_nowhere_else(spark: Any, snapshots: Snapshots) -> None:
    """Checks the plans of all cases. The tests below compare results, of some cases in a run."""
    with configured(spark, {EXCLUDED_RULES: FOLDING}):
        for rule, fires, must_not in CASES:
            for query, part, times in [*fires, *must_not]:
                frame = snapshots.history(query)
                assert times_in(frame, part) == times, plan(frame)
                if (query, part, times) in fires:
                    assert has_fired(frame, rule), plan(frame)
                else:
                    assert "rules [" not in plan(frame)


@pytest.mark.parametrize(
    ("rule", "query", "part", "times"),
    [(rule, *case) for rule, fires, _ in CASES for case in fires],
)
def test_the_rule_fires_and_results_stay(
    spark: Any, snapshots: Snapshots, rule: str, query: str, part: str, times: int
) -> None:
    with configured(spark, {EXCLUDED_RULES: FOLDING}):
        frame = snapshots.history(query)
        assert times_in(frame, part) == times, plan(frame)
        assert has_fired(frame, rule), plan(frame)
        result = history(frame)
    with configured(spark, excluded(rule)):
        other = snapshots.history(query)
        assert times_in(other, part) != times, plan(other)
        assert rule not in plan(other)
        assert history(other) == result
    assert any(result)


@pytest.mark.parametrize(
    ("query", "part", "times"), [case for _, _, must_not in CASES for case in must_not]
)
def test_the_rule_must_not_fire(
    spark: Any, snapshots: Snapshots, query: str, part: str, times: int
) -> None:
    with configured(spark, {EXCLUDED_RULES: FOLDING}):
        frame = snapshots.history(query)
        assert times_in(frame, part) == times, plan(frame)
        assert "rules [" not in plan(frame)
        snapshots.check(query)


def outside(spark: Any, query: str, condition: str) -> Any:
    return spark.sql(f"SELECT * FROM sequenced(TABLE({query})) WHERE {condition}")


def test_a_filter_of_keys_goes_below_the_sweep(spark: Any, snapshots: Snapshots) -> None:
    counts = "SELECT k, count(*) AS n, max(v) AS m FROM r GROUP BY k"
    with configured(spark, {EXCLUDED_RULES: FOLDING}):
        frame = outside(spark, counts, "k = 1 AND n > 1")
        text = frame._jdf.queryExecution().optimizedPlan().toString()
        sweep = text.index("PeriodSweep")
        assert "= 1)" in text[sweep:], text
        assert "> 1" in text[:sweep], text
        assert "rules [PushFilterThroughSweep]" in plan(frame)
        rows = sorted(map(tuple, frame.collect()))
    with configured(spark, excluded("PushFilterThroughSweep")):
        other = outside(spark, counts, "k = 1 AND n > 1")
        text = other._jdf.queryExecution().optimizedPlan().toString()
        assert "= 1)" in text[: text.index("PeriodSweep")], text
        assert sorted(map(tuple, other.collect())) == rows
    assert rows


def test_a_filter_of_values_stays_above_the_sweep(spark: Any, snapshots: Snapshots) -> None:
    counts = "SELECT k, count(*) AS n FROM r GROUP BY k"
    frame = outside(spark, counts, "n = 2 AND rand(1) < 2")
    text = frame._jdf.queryExecution().optimizedPlan().toString()
    assert "= 2)" in text[: text.index("PeriodSweep")], text
    expected = [row for row in map(tuple, snapshots.history(counts).collect()) if row[1] == 2]
    assert bag(map(tuple, frame.collect())) == bag(expected)
    assert expected


JOINS = "SELECT r.v, s.v AS w, t.v AS x FROM r JOIN s ON r.k = s.k JOIN t ON t.k = s.k"


def test_joins_of_three_compare_columns_of_tables(spark: Any, snapshots: Snapshots) -> None:
    with configured(spark, {EXCLUDED_RULES: FOLDING}):
        frame = snapshots.check(JOINS)
        text = frame._jdf.queryExecution().optimizedPlan().toString()
        below = text[text.index("Join Inner") :]
        assert "greatest" not in below, text
        assert times_in(frame, r"IntervalSweepJoin .*rules \[FlattenPeriodJoins\]"), plan(frame)
        result = at_instants(snapshots.rows)
    with configured(spark, excluded("FlattenPeriodJoins")):
        other = snapshots.history(JOINS)
        text = other._jdf.queryExecution().optimizedPlan().toString()
        assert "greatest" in text[text.index("Join Inner") :], text
        assert "rules [" not in plan(other)
        assert history(other) == result
    assert any(result)


def test_joins_with_an_outer_join_are_not_flattened(spark: Any, snapshots: Snapshots) -> None:
    query = "SELECT r.v, s.v AS w, t.v AS x FROM r LEFT JOIN s ON r.k = s.k JOIN t ON t.k = r.k"
    with configured(spark, {EXCLUDED_RULES: FOLDING}):
        frame = snapshots.check(query)
        text = frame._jdf.queryExecution().optimizedPlan().toString()
        assert "greatest" in text[text.index("Join Inner") :], text
        assert "FlattenPeriodJoins" not in plan(frame)
