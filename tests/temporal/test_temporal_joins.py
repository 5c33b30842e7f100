# SPDX-License-Identifier: Apache-2.0
"""Outer, semi and anti joins of histories: one join with keys, else a sweep of unmatched rows."""

from __future__ import annotations

from typing import Any

import pytest

import intervalsweep
from support.spark.comparison import BROADCAST, EXCLUDED_RULES, FOLDING, configured
from support.temporal.snapshots import Snapshots, Table

NAN = float("nan")
TABLES = {
    "r": Table(
        "k INT, x DOUBLE, v INT",
        [
            (1, 0.0, 10, 0, 9), (1, -0.0, 10, 2, 6), (1, NAN, 20, None, None),
            (2, 1.5, 10, None, 3), (2, NAN, 30, 5, None), (None, None, 30, 1, 8),
            (None, 0.0, 30, 1, 8), (3, 1.5, 5, 7, 7), (4, 2.5, 40, 3, 5), (4, 2.5, 40, 5, 7),
            (5, 1.5, 50, 2, 4),
        ],
    ),
    "s": Table(
        "k INT, x DOUBLE, w INT",
        [
            (1, -0.0, 10, 1, 3), (1, 0.0, 50, 2, 5), (1, NAN, 15, 7, 8), (1, NAN, None, 8, 10),
            (2, NAN, 30, None, None), (None, None, 30, 2, 6), (4, 2.5, 15, 4, 6),
            (6, 7.5, 1, 0, 4), (2, 1.5, 5, 6, 6), (2, 1.5, 30, None, 1), (4, 2.5, 15, 6, None),
        ],
    ),
    "c": Table("k INT, name STRING", [(1, "one"), (2, "two"), (9, "nine")], False),
}  # fmt: skip
BY_KEYS = [
    "r.k = s.k",
    "s.k <=> r.k",
    "r.x = s.x",
    "r.x <=> s.x AND r.k = s.k",
    "r.k = s.k AND r.v > 10",
    "r.k = s.k AND s.w > 10 AND r.v > 10",
    "abs(r.k) + 1 = s.k",
]
OTHERS = ["r.k = s.k AND r.v < s.w", "r.v < s.w", "r.k = s.k OR r.v = s.w"]
JOINS = {
    "left": "SELECT r.v, s.w, s.k FROM r LEFT JOIN s ON {}",
    "right": "SELECT r.v, s.w, r.k FROM r RIGHT JOIN s ON {}",
    "full": "SELECT r.v, s.w, r.k, s.k AS l FROM r FULL JOIN s ON {}",
    "semi": "SELECT * FROM r WHERE EXISTS (SELECT 1 FROM s WHERE {})",
    "anti": "SELECT * FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE {})",
    "existence": "SELECT v, EXISTS (SELECT 1 FROM s WHERE {}) AS e FROM r",
}
# Join -> (number of IntervalSweepJoins, sweeps over periods). A full join adds an anti join.
PLANS = {
    "left": (1, ["gaps"]),
    "right": (1, ["gaps"]),
    "full": (2, ["gaps", "values"]),
    "semi": (1, ["distinct"]),
    "anti": (1, ["values"]),
    "existence": (1, ["values"]),
}


@pytest.fixture(scope="module")
def some_snapshots(spark: Any) -> Snapshots:
    return Snapshots(spark, TABLES)


@pytest.fixture
def snapshots(some_snapshots: Snapshots) -> Snapshots:
    some_snapshots.use()
    return some_snapshots


def parts(frame: Any) -> tuple[int, list[str]]:
    """The number of IntervalSweepJoins, and the sweeps over periods."""
    text = frame._jdf.queryExecution().executedPlan().toString().split("== Initial Plan ==")[0]
    sweeps = sorted(part.split(",")[0] for part in text.split("PeriodSweep ")[1:])
    return text.count("IntervalSweepJoin"), sweeps


def duck(query: str) -> str:
    return query.replace("s.k <=> r.k", "s.k IS NOT DISTINCT FROM r.k").replace(
        "r.x <=> s.x", "r.x IS NOT DISTINCT FROM s.x"
    )


@pytest.mark.parametrize("condition", BY_KEYS)
@pytest.mark.parametrize("join", JOINS)
def test_a_join_by_keys_is_one_join(snapshots: Snapshots, join: str, condition: str) -> None:
    query = JOINS[join].format(condition)
    for broadcast in ("-1", "10MB"):
        settings = {EXCLUDED_RULES: FOLDING, BROADCAST: broadcast}
        with configured(snapshots.spark, settings):
            frame = snapshots.check(query, duck(query))
            assert parts(frame) == PLANS[join], frame._jdf.queryExecution().toString()


def test_null_safe_keys_match_where_both_are_null(snapshots: Snapshots) -> None:
    query = JOINS["left"].format("s.k <=> r.k")
    with configured(snapshots.spark, {EXCLUDED_RULES: FOLDING, BROADCAST: "-1"}):
        frame = snapshots.check(query, duck(query))
        assert parts(frame) == PLANS["left"], frame._jdf.queryExecution().toString()
        assert any((row.k, row.w) == (None, 30) for row in frame.collect())


@pytest.mark.parametrize("condition", OTHERS)
@pytest.mark.parametrize("join", JOINS)
def test_a_join_by_more_than_keys(snapshots: Snapshots, join: str, condition: str) -> None:
    query = JOINS[join].format(condition)
    with configured(snapshots.spark, {EXCLUDED_RULES: FOLDING}):
        frame = snapshots.check(query)
        assert not {"gaps", "values", "distinct"} & set(parts(frame)[1])


@pytest.mark.parametrize(("join", "small"), [("LEFT", "s"), ("RIGHT", "r")])
def test_the_side_that_a_hint_names_is_broadcast(
    snapshots: Snapshots, join: str, small: str
) -> None:
    query = f"SELECT /*+ BROADCAST({small}) */ r.v, s.w FROM r {join} JOIN s ON r.k = s.k"
    with configured(snapshots.spark, {EXCLUDED_RULES: FOLDING, BROADCAST: "-1"}):
        frame = snapshots.check(query)
        assert "broadcast right" in frame._jdf.queryExecution().executedPlan().toString()


@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize("join", JOINS)
def test_sides_without_rows(spark: Any, join: str, adaptive: str) -> None:
    for empty in ("r", "s"):
        tables = {**TABLES, empty: Table(TABLES[empty].columns, [])}
        snapshots = Snapshots(spark, tables)
        query = JOINS[join].format("r.k = s.k")
        with configured(spark, {"spark.sql.adaptive.enabled": adaptive}):
            if (empty == "r" and join in ("left", "semi", "anti", "existence")) or (
                empty == "s" and join in ("right", "semi")
            ):
                assert not snapshots.history(query).collect()
            else:
                snapshots.check(query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM (SELECT r.v, s.w FROM r LEFT JOIN s ON r.k = s.k) WHERE w > 10",
        "SELECT k, count(s.w) AS n, count(*) AS m FROM r LEFT JOIN s USING (k) GROUP BY k",
        "SELECT r.v, s.w, c.name FROM c LEFT JOIN r ON r.k = c.k LEFT JOIN s ON s.k = c.k",
        "SELECT r.v, s.w, c.name FROM r LEFT JOIN (s JOIN c USING (k)) ON s.k = r.k",
        "SELECT a.v, b.v AS w FROM r a LEFT JOIN r b ON a.k = b.k AND b.v > 10",
        "SELECT a.v FROM r a WHERE NOT EXISTS (SELECT 1 FROM r b WHERE a.k = b.k AND b.v > 10)",
        "SELECT r.v, s.w FROM r LEFT JOIN s USING (k) EXCEPT ALL SELECT v, 10 FROM r",
        "SELECT v FROM r WHERE k IN (SELECT k FROM s WHERE w > 10) OR v > 30",
        "SELECT k, w FROM (SELECT k FROM r) LEFT JOIN s USING (k) ORDER BY w NULLS LAST, "
        "k NULLS LAST LIMIT 3",
    ],
)
def test_what_is_around_a_join_by_keys(snapshots: Snapshots, query: str) -> None:
    snapshots.check(query)


def test_why_a_join_inside_is_not_swept(spark: Any, snapshots: Snapshots) -> None:
    """A join with a table that is always valid has no periods to compare."""
    query = "SELECT r.v, name FROM r JOIN c ON r.k = c.k AND r.v > c.k"
    history = snapshots.check(query)
    [report] = intervalsweep.why_not(history)
    assert (report.swept, report.reason) == (False, "WeakRange")
    assert "other end" in (report.advice or "")
    swept = snapshots.history(f"{query} JOIN s ON s.k = r.k")
    found = [(one.swept, one.reason) for one in intervalsweep.why_not(swept)]
    assert sorted(found, key=repr) == [(False, "WeakRange"), (True, None)]
