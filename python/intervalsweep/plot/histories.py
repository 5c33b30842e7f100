# SPDX-License-Identifier: Apache-2.0
"""A history as bars: what is valid when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intervalsweep.arrow.encoding import Encoding
from intervalsweep.arrow.tables import as_table
from intervalsweep.columns import check_columns, listed
from intervalsweep.plot.matching import Places, name_time, places_of
from intervalsweep.plot.style import LEFT, axes_of


def history(
    data: Any,
    label: str | Sequence[str] | None = None,
    *,
    on: tuple[str, str] = ("ts", "te"),
    span: tuple[Any, Any] | None = None,
    color: str = LEFT,
    limit: int = 60,
    ax: Any | None = None,
) -> Any:
    """Draw the rows of a history as bars, those of one value beside its name.

    Rows of one value that are valid at one time are drawn below each other. A row without a start
    or an end goes to the edge of the picture; rows whose period is empty or reversed, or outside of
    it, are not drawn. Two pictures below each other, with one `span`, show what an
    operator makes of a history.

    Parameters
    ----------
    data
        A table as :func:`intervalsweep.arrow.join` takes it, or a DataFrame of Spark.
    label
        The columns whose values name the bars; without it all but the period. Without any, the
        bars have no names.
    on
        The columns of start and end.
    span
        The first and the last instant of the axis; without it as far as there are starts and ends.
    color
        Of the bars.
    limit
        How many rows are drawn: those that start first; the title says if there are more.
    ax
        The Axes to draw on.

    Returns
    -------
    matplotlib.axes.Axes
        Its `containers` are the bars of each value, from above.

    Raises
    ------
    ColumnError
        For a column that is not there.

    Examples
    --------
    >>> w = pa.table({"skill": ["SP", "SP", "NS"], "ts": [3, 8, 8], "te": [10, 16, None]})
    >>> ax = history(w, span=(0, 20))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['NS', 'SP']
    """
    start, end = on
    if hasattr(data, "sparkSession"):
        from intervalsweep.dataframe.interval_columns import column

        check_columns("given", data.columns, *on)
        data = data.orderBy(column(start).asc_nulls_first(), column(end)).limit(limit + 1).toArrow()
    table = as_table(data)
    check_columns("given", table.column_names, *on, *listed(label or ()))
    names = [name for name in table.column_names if name not in on]
    values = table.select(listed(label) if label is not None else names).to_pylist()
    columns = [table.column(name) for name in on]
    encoding = Encoding([one.type for one in columns])
    low, high = (places_of(encoding, one) for one in columns)
    low, high = np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
    order = [k for k in np.lexsort((high, low)).tolist() if low[k] < high[k]]
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
    if has_more:
        ax.set_title(f"the {limit} rows that start first", fontsize="medium")
    return ax


def _edges(encoding: Encoding, span: Any, low: Places, high: Places) -> tuple[float, float]:
    """Return where the picture begins and ends."""
    if span is not None:
        import pyarrow as pa

        first, last = places_of(encoding, pa.chunked_array([pa.array(list(span))]))
        return float(first), float(last)
    some = np.concatenate([low, high])
    some = some[np.isfinite(some)]
    if not some.size:
        return 0.0, 1.0
    room = 0.05 * (some.max() - some.min() or 1.0)
    return float(some.min() - room), float(some.max() + room)


def _lanes(
    values: dict[int, tuple[Any, ...]], low: Places, high: Places
) -> list[tuple[tuple[Any, ...], list[list[int]]]]:
    """Return the rows of each value in lanes in which none overlap, the values by their names."""
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
    """Return what orders values of one column: numbers as numbers, NULL last."""
    if value is None:
        return 2, ""
    return (0, value) if isinstance(value, (int, float)) else (1, str(value))
