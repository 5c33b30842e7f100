# SPDX-License-Identifier: Apache-2.0
"""Draws how the work of a join is distributed over its tasks."""

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
    """Draw a bar for each task of the newest query's join, and the median as a line.

    In a join by ranges, task 0 has the first range, and so on. If a range has many more rows than
    the others, the whole join waits for its task. Joins that return unmatched rows, or rows instead
    of pairs, have the same number of tasks again, for the rows that are in several ranges.

    The figures are those that Spark keeps for its UI, even without the UI. Settings such as
    `spark.ui.retainedTasks` limit how many it keeps.

    Parameters
    ----------
    spark
        A classic session.
    measure
        ``rows``: the rows of both sides that a task reads from shuffles and files; a broadcast side
        does not count. ``seconds``: the run time of the task.
    join
        The number of the IntervalSweepJoin in the query, from 1, from the top of EXPLAIN.
    ax
        The matplotlib Axes to draw on; None for a new picture.

    Returns
    -------
    matplotlib.axes.Axes
        One bar per task, with the number of the task on the x axis.

    Raises
    ------
    ArgumentError
        If `measure` is unknown.
    IntervalSweepError
        If no query with such a join has run, or on Spark Connect, whose client does not see tasks.

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
    """The work of a task."""

    rows: int
    seconds: float


def _loads(spark: Any, join: int) -> list[_Load]:
    if not hasattr(spark, "_jsparkSession"):
        raise IntervalSweepError("tasks() needs a classic session: Spark Connect shows no tasks.")
    context: Any = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    execution, scope = _newest(spark._jsparkSession.sharedState().statusStore(), join)
    store = context.statusStore()
    # Earlier stages, for samples and shuffles, also have the name of the join: take the last stage.
    # A stage that was skipped because its output existed is listed twice.
    for stage in sorted(_each(execution.stages()), reverse=True):
        attempt = store.lastStageAttempt(stage)
        if attempt.status().toString() == "COMPLETE" and scope in _scopes(store, stage):
            return [_load(task) for task in _tasks(store, attempt)]
    raise IntervalSweepError(
        "Spark no longer has the tasks of the newest query's join: run the query again."
    )


def _newest(store: Any, join: int) -> tuple[Any, str]:
    """Return the newest execution with the join, and the name of the stage or node that runs it."""
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
