# SPDX-License-Identifier: Apache-2.0
"""The intervals of two tables, and which of them match."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from intervalsweep._errors import ColumnError
from intervalsweep.arrow.encoding import Encoding
from intervalsweep.arrow.matches import Matches
from intervalsweep.arrow.tables import RowNumbers, as_table, ends_of
from intervalsweep.columns import Ends, Keys, check_columns, names_of
from intervalsweep.plot.style import INK, LEFT, RIGHT, axes_of
from intervalsweep.relations import suggestion

Places = npt.NDArray[np.float64]


def matches(
    left: Any,
    right: Any,
    relation: str,
    *,
    on: Ends = ("ts", "te"),
    left_on: Ends | None = None,
    right_on: Ends | None = None,
    by: Keys | str = (),
    delta: Any = None,
    epsilon: Any = None,
    label: str | None = None,
    limit: int = 25,
    ax: Any | None = None,
) -> Any:
    """Draw the intervals of two tables as bars, and a line between each two that match.

    The rows of the left side are above, blue; those of the right side are below, orange; rows
    without a match are pale. The line stands in the middle of what the two share, or goes from the
    end of the earlier one to the start of the later one.

    Of each side, the `limit` rows that start first are drawn, and matched with one another; if
    there are more, the legend says so. Rows with an end that is NULL, NaN or infinite are not
    drawn.

    Parameters
    ----------
    left, right
        Tables as :func:`intervalsweep.arrow.join` takes them, or DataFrames of Spark: of those,
        no more than `limit` + 1 rows come to the driver.
    relation, on, left_on, right_on, by, delta, epsilon
        As of :func:`intervalsweep.arrow.join`.
    label
        A column whose values name the bars, of whichever side has it.
    limit
        How many rows are drawn of each side.
    ax
        The Axes to draw on.

    Returns
    -------
    matplotlib.axes.Axes
        Its `containers` are the bars of the left and of the right side, from above. Timestamps
        with a time zone are drawn in UTC, durations in seconds.

    Raises
    ------
    ColumnError
        As of :func:`intervalsweep.arrow.join`; and for a `label` that neither side has.

    Examples
    --------
    >>> r = pa.table({"id": ["r1", "r2"], "ts": [1, 7], "te": [4, 9]})
    >>> s = pa.table({"id": ["s1"], "ts": [2], "te": [6]})
    >>> ax = matches(r, s, "allen_overlaps", label="id")
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['r1', 'r2', 's1']
    >>> ax.get_title()
    'ALLEN_OVERLAPS: 1 match'
    """
    left_on, right_on = left_on or on, right_on or on
    tables = _collected(left, "left", left_on, limit), _collected(right, "right", right_on, limit)
    columns = ends_of(tables[0], "left", left_on), ends_of(tables[1], "right", right_on)
    known = [*tables[0].column_names, *tables[1].column_names]
    if label is not None and label not in known:
        raise ColumnError(f"Neither side has a column {label}{suggestion(label, known)}")
    encoding = Encoding([column.type for pair in columns for column in pair])
    r, s = (
        _Side.of(table, [places_of(encoding, column) for column in pair], limit)
        for table, pair in zip(tables, columns, strict=True)
    )
    found = Matches.of(
        r.rows, s.rows, relation, left_on, right_on, by, delta=delta, epsilon=epsilon
    )
    rows, other_rows = _all_pairs(found)
    ax = axes_of(ax, (8.0, 1.6 + 0.22 * (r.size + s.size)))
    _draw_bars(ax, r, 0.0, rows, LEFT)
    _draw_bars(ax, s, r.size + _GAP, other_rows, RIGHT)
    _draw_lines(ax, r, s, rows, other_rows)
    _name_rows(ax, r, s, label)
    _name_sides(ax, r, s)
    name_time(ax, encoding.type)
    ax.set_title(f"{found.relation.name}: {rows.size} {'match' if rows.size == 1 else 'matches'}")
    return ax


def _all_pairs(found: Matches) -> tuple[RowNumbers, RowNumbers]:
    parts = found.pairs(lambda rows, other_rows: np.stack([rows, other_rows]))
    rows, other_rows = np.concatenate([np.empty((2, 0), np.int32), *parts], axis=1)
    return rows, other_rows


_GAP = 1.0  # rows between the two sides


@dataclass(frozen=True)
class _Side:
    """The rows of a side that are drawn, by start; their ends on the axis; if there are more."""

    rows: Any
    start: Places
    end: Places
    has_more: bool

    @property
    def size(self) -> int:
        return int(self.start.size)

    def span(self, rows: RowNumbers) -> tuple[Places, Places]:
        """Return where the bars of some rows begin and end, also if they end before they start."""
        start, end = self.start[rows], self.end[rows]
        return np.minimum(start, end), np.maximum(start, end)

    @staticmethod
    def of(table: Any, ends: list[Places], limit: int) -> _Side:
        start, end = ends
        some = np.flatnonzero(np.isfinite(start) & np.isfinite(end))
        order = some[np.argsort(start[some], kind="stable")]
        first = order[:limit]
        return _Side(table.take(pa.array(first)), start[first], end[first], order.size > limit)


def _collected(data: Any, side: str, ends: Ends, limit: int) -> Any:
    """Return a table as one of pyarrow; of Spark's DataFrames only the rows that start first."""
    if not hasattr(data, "sparkSession"):
        return as_table(data)
    from intervalsweep.dataframe.interval_columns import column

    names = names_of(ends)
    check_columns(side, data.columns, *names)
    values = [column(name) for name in names]
    if len(names) == 1:
        struct = data.schema[names[0]].dataType
        values = [values[0].getField(field) for field in getattr(struct, "names", ())]
    for value in values:
        data = data.where(value.isNotNull())
    return as_table(data.orderBy(*values).limit(limit + 1).toArrow())


def places_of(encoding: Encoding, column: Any) -> Places:
    """Return where values stand on matplotlib's axis; NULL is nowhere, NaN."""
    kind = encoding.type
    array = encoding.cast(column)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        from matplotlib.dates import date2num

        places = date2num(array.to_numpy(zero_copy_only=False))
    elif pa.types.is_duration(kind):
        places = array.to_numpy(zero_copy_only=False) / np.timedelta64(1, "s")
    else:
        places = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(places, dtype=np.float64)


def _draw_bars(ax: Any, side: _Side, top: float, matched: RowNumbers, color: str) -> None:
    heights = top + np.arange(side.size)
    length = side.end - side.start
    bars = ax.barh(heights, length, 0.7, side.start, color=color, ec=color)
    for row in np.setdiff1d(np.arange(side.size), matched):
        bars[row].set_alpha(0.3)


def _draw_lines(ax: Any, r: _Side, s: _Side, rows: RowNumbers, other_rows: RowNumbers) -> None:
    """Between the nearest places of two bars, which is one place where they share something."""
    from matplotlib.collections import LineCollection

    first, last = r.span(rows)
    other_first, other_last = s.span(other_rows)
    middle = (np.maximum(first, other_first) + np.minimum(last, other_last)) / 2
    x, other_x = np.clip(middle, first, last), np.clip(middle, other_first, other_last)
    ends = np.stack([x, rows, other_x, r.size + _GAP + other_rows], axis=1).reshape(-1, 2, 2)
    ax.add_collection(LineCollection(list(ends), colors=INK, lw=0.9, zorder=3))
    ax.plot(ends[:, :, 0].ravel(), ends[:, :, 1].ravel(), "o", color=INK, ms=3, zorder=3)


def _name_rows(ax: Any, r: _Side, s: _Side, label: str | None) -> None:
    ticks: dict[float, str] = {}
    for side, top in ((r, 0.0), (s, r.size + _GAP)):
        if label in side.rows.column_names:
            values = side.rows.column(label).to_pylist()
            ticks |= {top + row: str(value) for row, value in enumerate(values)}
    ax.set_yticks(list(ticks), list(ticks.values()), fontsize="small")
    ax.set_ylim(r.size + _GAP + s.size, -1)


def _name_sides(ax: Any, r: _Side, s: _Side) -> None:
    from matplotlib.patches import Patch

    handles = []
    for name, side, color in (("left", r, LEFT), ("right", s, RIGHT)):
        more = f": the {side.size} rows that start first" if side.has_more else ""
        handles.append(Patch(color=color, label=name + more))
    # Where bars sorted by start leave room.
    ax.legend(handles=handles, loc="upper right", fontsize="small")


def name_time(ax: Any, kind: Any) -> None:
    """Have the axis of time named as its type wants it."""
    ax.use_sticky_edges = False  # some room beside the first bar
    ax.autoscale_view(scaley=False)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        ax.xaxis_date("UTC")
        locator = AutoDateLocator(tz="UTC")
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(ConciseDateFormatter(locator, tz="UTC"))
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        ax.set_xlabel("UTC")
    if pa.types.is_duration(kind):
        ax.set_xlabel("seconds")
