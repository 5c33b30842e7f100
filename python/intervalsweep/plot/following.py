# SPDX-License-Identifier: Apache-2.0
"""Draws the history that a streaming query writes, as a moving picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from intervalsweep.plot.histories import history
from intervalsweep.plot.style import axes_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery


def follow(
    query: StreamingQuery,
    rows: DataFrame,
    label: str | Sequence[str] | None = None,
    *,
    on: tuple[str, str] = ("ts", "te"),
    span: tuple[Any, Any],
    limit: int = 60,
    milliseconds: int = 500,
    ax: Any | None = None,
) -> Any:
    """Follow the history that a streaming query writes into a sink, by a moving picture.

    Each step is a micro-batch that moved the watermark. A line is at the watermark, and the bars
    are the rows of the sink that had ended there. After the micro-batches whose progress Spark
    still has, the picture goes on while the query runs.

    Parameters
    ----------
    query
        A query that writes the history of streams with ``emit => 'final'``, or has written it.
    rows
        The rows of its sink, as a table.
    label, on, limit
        As in :func:`history`.
    span
        The first and the last instant of the axis.
    milliseconds
        The time between two steps.
    ax
        The matplotlib Axes to draw on; None for a new picture.

    Returns
    -------
    matplotlib.animation.FuncAnimation
        Keep it as long as it shall move. `save` writes it to a file, and `to_jshtml` returns it for
        a notebook, up to the end of the query.

    Examples
    --------
    >>> from datetime import date
    >>> rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 3).load()
    >>> rows = rate.withWatermark("timestamp", "0 seconds").selectExpr(
    ...     "value AS id", "timestamp AS ts", "timestamp + INTERVAL 1 SECOND AS te")
    >>> writer = rows.writeStream.format("memory").queryName("rows")
    >>> query = writer.trigger(availableNow=True).start()
    >>> query.awaitTermination(60)
    True
    >>> days = date(1970, 1, 1), date(1970, 1, 2)
    >>> moving = follow(query, spark.table("rows"), span=days, milliseconds=100)
    >>> "frames" in moving.to_jshtml()
    True
    """
    from matplotlib.animation import FuncAnimation

    ax = axes_of(ax, (8.0, 3.0))

    def draw(watermark: datetime) -> None:
        ax.clear()
        history(rows, label, on=on, span=span, until=watermark, limit=limit, ax=ax)

    frames = _watermarks(query)
    return FuncAnimation(
        ax.figure,
        draw,
        frames=frames,
        init_func=lambda: None,
        interval=milliseconds,
        repeat=False,
        cache_frame_data=False,
        save_count=None,
    )


def _watermarks(query: StreamingQuery) -> Iterator[datetime]:
    """Return the watermarks of micro-batches, then the newest one as long as the query runs."""
    last = None
    while True:
        is_active = query.isActive
        for progress in query.recentProgress:
            text = progress["eventTime"].get("watermark")
            found = None if text is None else datetime.fromisoformat(text)
            if found is not None and (last is None or found > last):
                last = found
                yield found
        if not is_active:
            return
        if last is not None:
            yield last
