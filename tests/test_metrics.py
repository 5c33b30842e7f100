"""What the SQL tab shows of a join, read where Spark's UI reads it."""

from __future__ import annotations

from typing import Any

import pytest


def metrics_of_last_query(spark: Any) -> dict[str, str]:
    """The metrics of the IntervalSweepJoin in the newest SQL execution, by name."""
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    store = spark._jsparkSession.sharedState().statusStore()
    executions = store.executionsList()
    newest = executions.apply(executions.size() - 1).executionId()
    values = store.executionMetrics(newest)
    nodes = store.planGraph(newest).allNodes()
    sweeps = [n for n in map(nodes.apply, range(nodes.size())) if n.name() == "IntervalSweepJoin"]
    assert sweeps, "the plan has an IntervalSweepJoin"
    metrics = sweeps[-1].metrics()
    named = [metrics.apply(k) for k in range(metrics.size())]
    return {
        metric.name(): values.apply(metric.accumulatorId())
        for metric in named
        if values.contains(metric.accumulatorId())
    }


def number(text: str) -> int:
    """A count as Spark writes it: `12,345`, perhaps with more about the tasks behind it."""
    return int(text.split("\n")[-1].split(" ")[0].replace(",", ""))


@pytest.mark.parametrize("broadcast", ["10m", "-1"])
def test_metrics_count_rows_candidates_runs_and_bytes(
    spark: Any, conf: Any, broadcast: str
) -> None:
    conf({"spark.sql.autoBroadcastJoinThreshold": broadcast})
    # Ten points to a box, of which the second axis leaves those that end late.
    rows = spark.sql(
        """
        SELECT a.id, b.id FROM range(1000) a
        JOIN (SELECT id, id + id % 30 AS till FROM range(1000)) b
        ON a.id < b.id AND b.id < a.id + 11 AND a.id + 20 < b.till
        """
    ).collect()
    metrics = metrics_of_last_query(spark)
    assert rows
    assert number(metrics["number of output rows"]) == len(rows)
    assert len(rows) <= number(metrics["candidates"]) <= 9945
    assert 0 < number(metrics["runs"]) <= len(rows)
    for name in ("data sent to Python workers", "data returned from Python workers"):
        assert "B" in metrics[name], name
    for name in ("time in Python", "time in kernels", "sort time"):
        assert "s" in metrics[name], name
    if broadcast == "-1":
        assert number(metrics["replicated rows"]) > 0, "boxes that touch two ranges"
