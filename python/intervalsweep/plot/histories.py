# SPDX-License-Identifier: Apache-2.0
"""Draws a history as bars: which rows are valid when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intervalsweep._instants import instant
from intervalsweep.arrow.encoding import Encoding
from intervalsweep.arrow.tables import as_table
from intervalsweep.columns import check_columns, listed
from intervalsweep.plot.matching import Places, is_open, name_time, places_of
from intervalsweep.plot.style import INK, LEFT, axes_of


def history(
    data: Any,
    label: str | Sequence[str] | None = None,
    *,
    on: tuple[str, str] = ("ts", "te"),
    span: tuple[Any, Any] | None = None,
    until: Any = None,
    color: str = LEFT,
    limit: int = 60,
    ax: Any | None = None,
) -> Any:
    """Draw the rows of a history as bars, with the rows of equal values next to their name.

    Rows of equal values that are valid at the same time are drawn below each other. The bar of a
    row without a start or an end reaches the edge of the picture. Rows with an empty or reversed
    period, or outside of `span`, are not drawn. Two pictures with the same `span`, one below the
    other, show the effect of an operator on a history.

    Parameters
    ----------
    data
        A table that :func:`intervalsweep.arrow.join` takes, a Spark DataFrame, or a relation of
        :mod:`intervalsweep.temporal`.
    label
        The columns whose values name the bars. None means all columns except the period; an empty
        list means no names.
    on
        The columns of start and end. Those of a relation are known.
    span
        The first and the last instant of the axis. None means the range of all starts and ends,
        without ends that mean "no end", such as 9999-12-31.
    until
        An instant, such as the watermark of a stream: a line is drawn there, and rows that end
        later, or have no end, are left out. None draws all rows.
    color
        The color of the bars.
    limit
        The largest number of rows that are drawn: those that start first. If there are more, the
        title says so.
    ax
        The matplotlib Axes to draw on; None for a new picture.

    Returns
    -------
    matplotlib.axes.Axes
        Its `containers` are the bars of each value, from top to bottom.

    Raises
    ------
    ColumnError
        If a column does not exist.

    Examples
    --------
    >>> w = pa.table({"skill": ["SP", "SP", "NS"], "ts": [3, 8, 8], "te": [10, 16, None]})
    >>> ax = history(w, span=(0, 20))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['NS', 'SP']
    """
    if type(data).__module__.startswith("intervalsweep.temporal"):  # a Relation
        data = data.frame
        on = tuple(data.columns[-2:]) if not {*on} <= {*data.columns} else on
    if hasattr(data, "sparkSession"):
        data = _first_rows(data, on, span, until, limit)
    table = as_table(data)
    check_columns("given", table.column_names, *on, *listed(label or ()))
    names = [name for name in table.column_names if name not in on]
    values = table.select(listed(label) if label is not None else names).to_pylist()
    columns = [table.column(name) for name in on]
    encoding = Encoding([one.type for one in columns])
    low, high = (places_of(encoding, one) for one in columns)
    low = np.where(np.isnan(low) | is_open(encoding, columns[0], low), -np.inf, low)
    high = np.where(np.isnan(high) | is_open(encoding, columns[1], high), np.inf, high)
    last = np.inf if until is None else _place(encoding, "until", until)
    order = [k for k in np.lexsort((high, low)).tolist() if low[k] < high[k] <= last]
    edges = _edges(encoding, span, low[order[:limit]], high[order[:limit]])
    order = [k for k in order if low[k] < edges[1] and edges[0] < high[k]]
    has_more, order = len(order) > limit, order[:limit]
    lanes = _lanes({k: tuple(values[k].values()) for k in order}, low, high)
    height = sum(len(rows) for _, rows in lanes)
    ax = axes_of(ax, (8.0, 1.2 + 0.28 * height))
    ticks: dict[float, str] = {}
    top = 0
    for value, rows in lanes:
        some = [(top + n, k) for n, lane in enumerate(rows) for k in lane]
        at, numbers = (list(part) for part in zip(*some, strict=True))
        from_, to = np.maximum(low[numbers], edges[0]), np.minimum(high[numbers], edges[1])
        ax.barh(at, to - from_, 0.7, from_, color=color, ec="white", lw=1.2)
        ticks[top + (len(rows) - 1) / 2] = ", ".join("NULL" if v is None else str(v) for v in value)
        top += len(rows)
    ax.set_yticks(list(ticks), list(ticks.values()), fontsize="small")
    ax.set_ylim(max(top, 1) - 0.4, -0.6)
    name_time(ax, encoding.type)
    ax.set_xlim(*edges)
    if until is not None:
        ax.axvline(last, color=INK, lw=1, ls="--")
    if has_more:
        ax.set_title(f"the {limit} rows that start first", fontsize="medium")
    return ax


def _first_rows(data: Any, on: tuple[str, str], span: Any, until: Any, limit: int) -> Any:
    """Return the rows of a Spark DataFrame that are drawn, and one more if there are more."""
    from pyspark.sql import functions as sf

    from intervalsweep.dataframe.interval_columns import column

    check_columns("given", data.columns, *on)
    start, end = (column(name) for name in on)
    data = data.where(start.isNull() | end.isNull() | (start < end))
    if span is not None:
        first, last = (sf.lit(instant(limit)) for limit in span)
        data = data.where(sf.coalesce(start < last, sf.lit(True)))
        data = data.where(sf.coalesce(first < end, sf.lit(True)))
    if until is not None:
        data = data.where(end <= sf.lit(instant(until)))
    return data.orderBy(start.asc_nulls_first(), end).limit(limit + 1).toArrow()


def _edges(encoding: Encoding, span: Any, low: Places, high: Places) -> tuple[float, float]:
    """Return the first and the last value of the axis of time."""
    if span is not None:
        first, last = (_place(encoding, "span", limit) for limit in span)
        return first, last
    some = np.concatenate([low, high])
    some = some[np.isfinite(some)]
    if not some.size:
        return 0.0, 1.0
    room = 0.05 * (some.max() - some.min() or 1.0)
    return float(some.min() - room), float(some.max() + room)


def _place(encoding: Encoding, what: str, value: Any) -> float:
    """Return the place of an instant on the axis of time."""
    import pyarrow as pa

    (place,) = places_of(encoding, pa.chunked_array([encoding.instant(what, value)]))
    return float(place)


def _lanes(
    values: dict[int, tuple[Any, ...]], low: Places, high: Places
) -> list[tuple[tuple[Any, ...], list[list[int]]]]:
    """Return the rows of each value in lanes without overlaps, with the values in order."""
    found: dict[tuple[Any, ...], list[list[int]]] = {}
    for row, value in values.items():
        lanes = found.setdefault(value, [])
        free = next((lane for lane in lanes if high[lane[-1]] <= low[row]), None)
        if free is None:
            lanes.append([row])
        else:
            free.append(row)
    return sorted(found.items(), key=lambda item: tuple(_in_order(value) for value in item[0]))


def _in_order(value: Any) -> tuple[int, Any]:
    """Return a sort key for values of a column: numbers as numbers, NULL last."""
    if value is None:
        return 2, ""
    return (0, value) if isinstance(value, (int, float)) else (1, str(value))
