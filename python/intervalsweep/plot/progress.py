# SPDX-License-Identifier: Apache-2.0
"""How a streaming query gets on, micro-batch by micro-batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from intervalsweep._errors import IntervalSweepError
from intervalsweep.columns import check_choice
from intervalsweep.plot.style import bars

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

# What is measured: how it is called, and how it is read of a micro-batch's progress.
MEASURES: dict[str, tuple[str, Callable[[Any], float]]] = {
    "rate": ("rows a second", lambda p: p["processedRowsPerSecond"]),
    "seconds": ("seconds", lambda p: p["batchDuration"] / 1000),
    "state": ("rows of state", lambda p: _summed(p, "storedRows")),
    "late": ("late rows", lambda p: _summed(p, "lateRows") + _dropped(p)),
}


def batches(query: StreamingQuery, *, measure: str = "rate", ax: Any | None = None) -> Any:
    """Draw a bar for each micro-batch of a streaming query that had new rows, and their median.

    The figures are those of the query's progress, of which Spark keeps the newest hundred;
    `spark.sql.streaming.numRecentProgressUpdates` says how many.

    Parameters
    ----------
    query
        A query that runs, or has run, with any sink.
    measure
        ``rate``: how many new rows a second it took in. ``seconds``: how long it took, for which a
        row waits that comes meanwhile. ``state``: how many rows the window unions and joins of
        intervals kept behind it. ``late``: how many rows came too late for them.
    ax
        The Axes to draw on.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
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
        raise IntervalSweepError("no micro-batch with new rows has ended yet: wait for one")
    name, value = MEASURES[measure]
    return bars(ax, [p["batchId"] for p in some], [value(p) for p in some], "micro-batch", name)


def _summed(progress: Any, name: str) -> float:
    """Of all operators of ours in the query."""
    rows = (row.asDict() for row in progress["observedMetrics"].values())
    return float(sum(row.get(name) or 0 for row in rows))


def _dropped(progress: Any) -> float:
    """By Spark's own operators."""
    return float(sum(o["numRowsDroppedByWatermark"] for o in progress["stateOperators"]))
