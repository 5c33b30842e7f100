# SPDX-License-Identifier: Apache-2.0
"""Totals of a swept join: the results of all tasks are gathered in the same job."""

from __future__ import annotations

from typing import Any

import pytest

from support.spark.comparison import (
    AGGREGATE_RUNS,
    BROADCAST,
    EXCLUDED_RULES,
    FOLDING,
    Both,
    physical,
    sweeps,
)

ADAPTIVE = "spark.sql.adaptive.enabled"
ON = "r.ts < s.te AND s.ts < r.te"
TOTAL = f"SELECT count(*), sum(r.id + s.id) FROM r JOIN s ON {ON}"
SEMI = f"SELECT count(*), sum(id) FROM r LEFT SEMI JOIN s ON r.k = s.k AND {ON}"
ANTI = f"SELECT count(*), sum(id) FROM r LEFT ANTI JOIN s ON {ON}"
BY_KEYS = f"SELECT count(*), max(s.id) FROM r LEFT JOIN s ON r.k = s.k AND {ON}"
OF_GROUPS = f"""
SELECT count(*), sum(n), max(n)
FROM (SELECT r.id, count(*) AS n FROM r JOIN s ON {ON} GROUP BY r.id)
"""
FUNCTIONS = {
    "count(DISTINCT s.id), sum(DISTINCT r.id)": True,
    "count(DISTINCT s.k), count(*), avg(r.id)": True,
    "sum(cast(s.id AS DECIMAL(30, 2))), avg(cast(r.id AS DECIMAL(9, 2)))": True,
    "min(s.id), max(r.k), bool_or(s.k = 1), stddev(cast(s.id AS DOUBLE)) > 0": True,
    "max(struct(s.id, r.name)), min(s.name), first(s.k IS NULL OR TRUE)": False,
    "sort_array(collect_list(s.name)), percentile(r.id, 0.5)": False,
    "map_from_entries(sort_array(collect_set(struct(r.id AS key, 0 AS value))))": False,
}


@pytest.fixture(autouse=True)
def views(spark: Any) -> None:
    for name, length, step in (("r", 5, 3), ("s", 7, 2)):
        spark.range(0, 60, 1, 5).selectExpr(
            "id", f"id * {step} AS ts", f"id * {step} + id % {length} AS te",
            "nullif(id % 4, 3) AS k", "repeat('x', cast(id % 3 AS INT)) AS name",
        ).createOrReplaceTempView(name)  # fmt: skip


def plan_of(spark: Any, query: str) -> str:
    """The executed plan."""
    frame = spark.sql(query)
    assert frame.collect()
    return physical(frame).partition("== Initial Plan ==")[0]


@pytest.mark.parametrize("threshold", ["10MB", "-1"])
@pytest.mark.parametrize("query", [TOTAL, SEMI, ANTI, BY_KEYS, OF_GROUPS])
def test_totals_are_gathered(spark: Any, conf: Any, both: Both, threshold: str, query: str) -> None:
    conf({BROADCAST: threshold})
    assert both(query) == 1
    plan = plan_of(spark, query)
    assert sweeps(plan) == 1
    assert plan.count("Gather") == 1, plan
    assert "SinglePartition" not in plan


@pytest.mark.parametrize("runs", ["true", "false"])
@pytest.mark.parametrize(("functions", "of_fixed_size"), list(FUNCTIONS.items()))
def test_only_numbers_are_gathered(
    spark: Any, conf: Any, both: Both, functions: str, of_fixed_size: bool, runs: str
) -> None:
    conf({AGGREGATE_RUNS: runs})
    query = f"SELECT {functions} FROM r JOIN s ON {ON}"
    assert both(query) == 1
    assert ("Gather" in plan_of(spark, query)) == of_fixed_size


@pytest.mark.parametrize("empty", ["r", "s"])
@pytest.mark.parametrize("threshold", ["10MB", "-1"])
def test_totals_of_nothing(spark: Any, conf: Any, both: Both, empty: str, threshold: str) -> None:
    conf({BROADCAST: threshold, EXCLUDED_RULES: FOLDING})
    spark.table(empty).where("id < 0").createOrReplaceTempView(empty)
    assert both(TOTAL) == 1
    assert spark.sql(TOTAL).first() == (0, None)


def test_totals_in_subqueries_and_next_to_each_other(both: Both) -> None:
    average = f"(SELECT avg(r.id) FROM r JOIN s ON {ON})"
    assert both(f"SELECT id FROM r WHERE id > {average} AND id < 2 * {average}", swept=None) > 5
    assert both(f"{TOTAL} UNION ALL {TOTAL}", swept=None) == 2


@pytest.mark.parametrize(
    ("settings", "query"),
    [
        ({ADAPTIVE: "false"}, TOTAL),
        ({"spark.sql.intervalsweep.enabled": "false"}, TOTAL),
        ({}, f"SELECT r.k, count(*) FROM r JOIN s ON {ON} GROUP BY r.k"),
        ({}, "SELECT count(*) FROM r JOIN s USING (k)"),
        ({}, f"SELECT row_number() OVER (ORDER BY r.id) FROM r JOIN s ON {ON}"),
    ],
)
def test_nothing_else_is(spark: Any, conf: Any, settings: dict[str, str], query: str) -> None:
    conf(settings)
    plan = plan_of(spark, query)
    assert "Gather" not in plan
    assert "Exchange" in plan
