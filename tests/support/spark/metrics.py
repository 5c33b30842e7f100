# SPDX-License-Identifier: Apache-2.0
"""Metrics of a node: from the executed plan, and from the store that Spark's UI reads."""

from __future__ import annotations

from typing import Any


def metric(frame: Any, name: str, of: str = "IntervalSweepJoin") -> int:
    """A metric of a node, after the query has run."""
    return metric_of(frame._jdf.queryExecution().executedPlan(), name, of)


def metric_of_stream(query: Any, name: str, of: str) -> int:
    """A metric of a node in the last micro-batch."""
    return metric_of(query._jsq.streamingQuery().lastExecution().executedPlan(), name, of)


def metric_of(plan: Any, name: str, of: str) -> int:
    """A metric of the first node of a plan that has the name."""
    nodes = [plan.finalPhysicalPlan() if "Adaptive" in plan.nodeName() else plan]
    while of not in nodes[0].nodeName():
        node = nodes.pop(0)
        below = node.children()
        nodes += [below.apply(k) for k in range(below.size())]
        if "QueryStage" in node.nodeName():
            nodes.append(node.plan())
    return int(nodes[0].metrics().apply(name).value())


def metrics_of_last_query(spark: Any) -> dict[str, str]:
    """The metrics of the IntervalSweepJoin in the newest SQL execution, by name."""
    values, named = last_query(spark)
    return {
        metric.name(): values.apply(metric.accumulatorId())
        for metric in named
        if values.contains(metric.accumulatorId())
    }


def last_query(spark: Any) -> tuple[Any, list[Any]]:
    """The metric values of the newest SQL execution, and the metrics of its IntervalSweepJoin."""
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    store = spark._jsparkSession.sharedState().statusStore()
    executions = store.executionsList()
    newest = executions.apply(executions.size() - 1).executionId()
    values = store.executionMetrics(newest)
    nodes = store.planGraph(newest).allNodes()
    sweeps = [n for n in map(nodes.apply, range(nodes.size())) if n.name() == "IntervalSweepJoin"]
    assert sweeps, "the plan has an IntervalSweepJoin"
    metrics = sweeps[-1].metrics()
    return values, [metrics.apply(k) for k in range(metrics.size())]


def number(text: str) -> int:
    """Parses a count in Spark's format: `12,345`, with figures of the tasks after it or not."""
    return int(text.split("\n")[-1].split(" ")[0].replace(",", ""))
