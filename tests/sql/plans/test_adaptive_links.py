# SPDX-License-Identifier: Apache-2.0
"""Adaptive execution must link a finished stage to its input, never to the join."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.spark.comparison import BROADCAST, physical, sweeps

FEW, MANY = 3, 1000
MODES = {
    "by keys": ("a.k = b.k AND", "-1"),
    "by ranges": ("", "-1"),
    "broadcast": ("", "10MB"),
    "broadcast, keys": ("a.k = b.k AND", "10MB"),
}
TYPES = ("INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI")
# Logical nodes that become an IntervalSweepJoin. Their rows differ from those of their inputs.
JOINS = {"Join", "MatchRuns"}


@pytest.fixture(scope="module")
def tables(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tables in files. For rows in memory, the optimizer knows the row count before it runs."""
    folder = tmp_path_factory.mktemp("tables")
    few = spark.range(FEW).selectExpr("id % 2 AS k", "id AS ts", f"id + {MANY} AS te")
    frames = {
        "few": few,
        "one": few.limit(1),
        "many": spark.range(MANY).selectExpr("id % 2 AS k", f"id + {FEW} AS ts", "id + 9 AS te"),
    }
    for name, frame in frames.items():
        path = str(Path(folder, name))
        frame.write.parquet(path)
        spark.read.parquet(path).createOrReplaceTempView(name)


def joined(few: str, how: str, mode: str) -> str:
    """A FROM clause that joins `few` rows, `a`, with many rows, `b`."""
    keys, _ = MODES[mode]
    return f"{few} a {how} JOIN many b ON {keys} a.ts <= b.ts AND b.ts < a.te"


def rows_of(spark: Any, query: str, swept: int = 1) -> list[tuple[Any, ...]]:
    frame = spark.sql(query)
    plan = physical(frame)
    assert sweeps(plan) == swept, plan
    return [tuple(row) for row in frame.collect()]


@pytest.mark.parametrize("mode", list(MODES))
@pytest.mark.parametrize("how", TYPES)
@pytest.mark.usefixtures("tables")
def test_limit_above_a_join_was_dropped(spark: Any, conf: Any, how: str, mode: str) -> None:
    conf({BROADCAST: MODES[mode][1]})
    query = f"SELECT a.ts FROM {joined('few', how, mode)}"
    limits = ("", "LIMIT 5", "LIMIT 5 OFFSET 2")
    counts = [f"(SELECT count(*) FROM ({query} {limit}))" for limit in limits]
    [(most, limited, skipped)] = rows_of(spark, f"SELECT {', '.join(counts)}", swept=3)
    assert most > 0 or how == "LEFT ANTI"
    assert limited == min(5, most)
    assert skipped == min(5, max(0, most - 2))


@pytest.mark.parametrize("mode", list(MODES))
@pytest.mark.parametrize("how", TYPES[:4])
@pytest.mark.usefixtures("tables")
def test_order_above_a_join_with_one_row_was_dropped(
    spark: Any, conf: Any, how: str, mode: str
) -> None:
    conf({BROADCAST: MODES[mode][1]})
    query = f"SELECT b.ts FROM {joined('one', how, mode)} ORDER BY b.ts DESC NULLS LAST"
    got = [ts for (ts,) in rows_of(spark, query)]
    assert len(got) > MANY // 3
    assert got == sorted(got, key=lambda ts: (ts is None, -(ts or 0)))


def stages(plan: Any) -> list[Any]:
    """The stages of an executed plan, including nested ones."""
    name = plan.getClass().getSimpleName()
    if name == "AdaptiveSparkPlanExec":
        return stages(plan.executedPlan())
    found = [plan] if name.endswith("QueryStageExec") else []
    inner = [plan.plan()] if found else []
    children = plan.children()
    inner += [children.apply(k) for k in range(children.size())]
    return found + [stage for p in inner for stage in stages(p)]


@pytest.mark.parametrize("mode", list(MODES))
@pytest.mark.parametrize("how", TYPES)
@pytest.mark.usefixtures("tables")
def test_a_stage_of_an_input_is_not_taken_for_the_join(
    spark: Any, conf: Any, how: str, mode: str
) -> None:
    """Otherwise its row count would count as the join's: in LIMIT, ORDER BY, broadcasts above."""
    conf({BROADCAST: MODES[mode][1]})
    # With a shuffle of its own, an input has a stage even in a join by ranges.
    deduplicated = "(SELECT DISTINCT k, ts, te FROM few)"
    query = f"SELECT a.ts, count(*) FROM {joined(deduplicated, how, mode)} GROUP BY a.ts"
    frame = spark.sql(query)
    frame.collect()
    found = stages(frame._jdf.queryExecution().executedPlan())
    assert found
    links = [stage.logicalLink() for stage in found]
    linked = {link.get().getClass().getSimpleName() for link in links if link.isDefined()}
    assert linked
    assert not linked & JOINS, linked
