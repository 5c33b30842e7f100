# SPDX-License-Identifier: Apache-2.0
"""How the work of a join is spread over its tasks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from intervalsweep._errors import IntervalSweepError
from intervalsweep.columns import check_choice
from intervalsweep.plot.style import bars

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MEASURES = ("rows", "seconds")
_JOIN = "IntervalSweepJoin"


def tasks(
    spark: SparkSession, *, measure: str = "rows", join: int = 1, ax: Any | None = None
) -> Any:
    """Draw how the work of the newest query's join is spread over its tasks, a bar for each.

    In a join by ranges, task 0 has the first range, and so on; a range with many more rows than
    the others is what the whole join waits for. (Joins that return rows without a match, or rows
    instead of pairs, have as many tasks again, for the rows that were in several ranges.) The line
    is the median.

    The figures are those that Spark keeps of its tasks, where its UI finds them; also without the
    UI. `spark.ui.retainedTasks` and the like say how many it keeps.

    Parameters
    ----------
    measure
        ``rows``: the rows that a task reads, of both sides, from shuffles and from files. (Of a
        side that is broadcast, it reads none.) ``seconds``: the time that it runs.
    join
        Which IntervalSweepJoin of the query, counted from the top as in EXPLAIN.
    ax
        The Axes to draw on.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    IntervalSweepError
        If no query with that join has run, and on Spark Connect, whose client does not see tasks.

    Examples
    --------
    >>> frame = spark.sql(
    ...     "SELECT r.id FROM range(9) r JOIN range(9) s ON r.id <= s.id AND s.id < r.id + 2"
    ... )
    >>> len(frame.collect())
    17
    >>> ax = tasks(spark)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('task', 'rows read')
    """
    check_choice("measure", measure, MEASURES)
    loads = [load.rows if measure == "rows" else load.seconds for load in _loads(spark, join)]
    return bars(
        ax, range(len(loads)), loads, "task", "rows read" if measure == "rows" else "seconds"
    )


@dataclass(frozen=True)
class _Load:
    """What a task has done."""

    rows: int
    seconds: float


def _loads(spark: Any, join: int) -> list[_Load]:
    if not hasattr(spark, "_jsparkSession"):
        raise IntervalSweepError("tasks() needs the driver's own session, not one of Spark Connect")
    context: Any = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    execution, scope = _newest(spark._jsparkSession.sharedState().statusStore(), join)
    store = context.statusStore()
    # Stages before the join's own have its name as well: samples, shuffles. Those that were not
    # run again are there twice.
    for stage in sorted(_each(execution.stages()), reverse=True):
        attempt = store.lastStageAttempt(stage)
        if attempt.status().toString() == "COMPLETE" and scope in _scopes(store, stage):
            return [_load(task) for task in _tasks(store, attempt)]
    raise IntervalSweepError("Spark has no finished tasks of the newest query's join any more.")


def _newest(store: Any, join: int) -> tuple[Any, str]:
    """Return the newest execution with a join, and the name of what the join was compiled into."""
    for execution in reversed(list(_each(store.executionsList()))):
        graph = store.planGraph(execution.executionId())
        scopes = []
        for node in _each(graph.nodes()):
            inner = [each.name() for each in _each(node.nodes())] if _is_cluster(node) else []
            scopes += [node.name()] * [node.name(), *inner].count(_JOIN)
        if len(scopes) >= join:
            return execution, scopes[join - 1]
    raise IntervalSweepError("No query with such an IntervalSweepJoin has run in this session.")


def _is_cluster(node: Any) -> bool:
    return str(node.getClass().getSimpleName()) == "SparkPlanGraphCluster"


def _scopes(store: Any, stage: int) -> set[str]:
    root = store.operationGraphForStage(stage).rootCluster()
    return {cluster.name() for cluster in _each(root.childClusters())}


def _tasks(store: Any, stage: Any) -> list[Any]:
    most = 1 << 30
    found = _each(store.taskList(stage.stageId(), stage.attemptId(), most))
    done = [task for task in found if task.status() == "SUCCESS"]
    return sorted(done, key=lambda task: int(task.index()))


def _load(task: Any) -> _Load:
    metrics = task.taskMetrics().get()
    rows = metrics.shuffleReadMetrics().recordsRead() + metrics.inputMetrics().recordsRead()
    return _Load(int(rows), metrics.executorRunTime() / 1000)


def _each(found: Any) -> Iterator[Any]:
    iterator = found.iterator()
    while iterator.hasNext():
        yield iterator.next()
