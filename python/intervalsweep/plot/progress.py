# SPDX-License-Identifier: Apache-2.0
"""Draws the progress of a streaming query, micro-batch by micro-batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from intervalsweep._errors import IntervalSweepError
from intervalsweep.columns import check_choice
from intervalsweep.plot.style import bars

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

# Measures: the label of each, and a function that reads it from a micro-batch's progress.
MEASURES: dict[str, tuple[str, Callable[[Any], float]]] = {
    "rate": ("rows a second", lambda p: p["processedRowsPerSecond"]),
    "seconds": ("seconds", lambda p: p["batchDuration"] / 1000),
    "state": ("rows of state", lambda p: _summed(p, "storedRows")),
    "late": ("late rows", lambda p: _dropped(p)),
}


def batches(query: StreamingQuery, *, measure: str = "rate", ax: Any | None = None) -> Any:
    """Draw a bar for each micro-batch of a streaming query that had new rows, and their median.

    The figures come from the query's progress. By default Spark keeps the newest hundred reports;
    `spark.sql.streaming.numRecentProgressUpdates` changes that number.

    Parameters
    ----------
    query
        A query that is running or has ended, with any sink.
    measure
        ``rate``: new rows per second. ``seconds``: the duration of the micro-batch; a row that
        arrives meanwhile waits so long. ``state``: the rows that window unions and interval joins
        keep after the micro-batch. ``late``: the late rows that were dropped.
    ax
        The matplotlib Axes to draw on; None for a new picture.

    Returns
    -------
    matplotlib.axes.Axes
        One bar per micro-batch, with the number of the micro-batch on the x axis.

    Raises
    ------
    ArgumentError
        If `measure` is unknown.
    IntervalSweepError
        If no micro-batch with new rows has ended yet.

    Examples
    --------
    >>> frame = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 5).load()
    >>> query = frame.writeStream.format("noop").trigger(availableNow=True).start()
    >>> query.awaitTermination(60)
    True
    >>> ax = batches(query)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('micro-batch', 'rows a second')
    """
    check_choice("measure", measure, tuple(MEASURES))
    some = [p for p in query.recentProgress if p["numInputRows"]]
    if not some:
        raise IntervalSweepError("No micro-batch with new rows has ended yet: wait for one.")
    name, value = MEASURES[measure]
    return bars(ax, [p["batchId"] for p in some], [value(p) for p in some], "micro-batch", name)


def _summed(progress: Any, name: str) -> float:
    """Return the sum of a metric over all IntervalSweep operators of the query."""
    rows = (row.asDict() for row in progress["observedMetrics"].values())
    return float(sum(row.get(name) or 0 for row in rows))


def _dropped(progress: Any) -> float:
    """Return the number of late rows that were dropped."""
    return float(sum(o["numRowsDroppedByWatermark"] for o in progress["stateOperators"]))
