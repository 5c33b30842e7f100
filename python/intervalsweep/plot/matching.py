# SPDX-License-Identifier: Apache-2.0
"""Draws the intervals of two tables and their matches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from intervalsweep._errors import ColumnError
from intervalsweep.arrow.encoding import Encoding, largest_of
from intervalsweep.arrow.search.matches import Matches
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
    """Draw the intervals of two tables as bars, with a line for each match.

    The left rows are on top, in blue; the right rows are below, in orange. Unmatched rows are pale.
    The line of a match is in the middle of the intersection of the two intervals. If they do not
    intersect, it runs from the end of the earlier interval to the start of the later one.

    From each side, only the `limit` rows that start first are drawn and matched. If there are more,
    the legend says so. Rows with an endpoint that is NULL, NaN or infinite are not drawn.

    Parameters
    ----------
    left, right
        Tables that :func:`intervalsweep.arrow.join` takes, or Spark DataFrames. From a Spark
        DataFrame at most `limit` + 1 rows are sent to the driver.
    relation, on, left_on, right_on, by, delta, epsilon
        The same as in :func:`intervalsweep.arrow.join`.
    label
        A column whose values name the bars; at least one side must have it.
    limit
        The largest number of rows that are drawn of each side.
    ax
        The matplotlib Axes to draw on; None for a new picture.

    Returns
    -------
    matplotlib.axes.Axes
        Its `containers` are the bars of the left and of the right side, from top to bottom.
        Timestamps with a time zone are drawn in UTC, durations in seconds.

    Raises
    ------
    ArgumentError, EndpointTypeError
        The same as in :func:`intervalsweep.arrow.join`.
    ColumnError
        If a column does not exist, or neither side has the column `label`.

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
        raise ColumnError(f"Neither side has a column {label}. {suggestion(label, known)}")
    encoding = Encoding([column.type for pair in columns for column in pair])
    r, s = (
        _Side.of(table, [places_of(encoding, column) for column in pair], limit)
        for table, pair in zip(tables, columns, strict=True)
    )
    ends = {"on": on, "left_on": left_on, "right_on": right_on}
    found = Matches.of(r.rows, s.rows, relation, **ends, by=by, delta=delta, epsilon=epsilon)
    rows, other_rows = _all_pairs(found)
    ax = axes_of(ax, (8.0, 1.6 + 0.22 * (r.size + s.size)))
    _draw_bars(ax, r, 0.0, rows, LEFT)
    _draw_bars(ax, s, r.size + _GAP, other_rows, RIGHT)
    _draw_lines(ax, r, s, rows, other_rows)
    _name_rows(ax, r, s, label)
    _name_sides(ax, r, s)
    name_time(ax, encoding.type)
    _cut_open_ends(ax, encoding, r, s)
    ax.set_title(f"{found.relation.name}: {rows.size} {'match' if rows.size == 1 else 'matches'}")
    return ax


def _all_pairs(found: Matches) -> tuple[RowNumbers, RowNumbers]:
    parts = found.pairs(lambda rows, other_rows: np.stack([rows, other_rows]))
    rows, other_rows = np.concatenate([np.empty((2, 0), np.int32), *parts], axis=1)
    return rows, other_rows


_GAP = 1.0  # rows between the two sides


@dataclass(frozen=True)
class _Side:
    """The drawn rows of a side in the order of their starts, with endpoints as axis values."""

    rows: Any
    start: Places
    end: Places
    has_more: bool

    @property
    def size(self) -> int:
        return int(self.start.size)

    def span(self, rows: RowNumbers) -> tuple[Places, Places]:
        """Return the left and right ends of the bars of some rows, also for reversed intervals."""
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
    """Return a pyarrow table; of a Spark DataFrame, only the rows that start first."""
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
    """Return values as positions on matplotlib's axis, NaN for NULL."""
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


def is_open(encoding: Encoding, column: Any, places: Places) -> npt.NDArray[np.bool_]:
    """Return which positions stand for "no end" or "no start".

    They are the largest value of the column's type, and the first and last day of the calendar.
    """
    values, valid = encoding.encode(column)
    if pa.types.is_date(encoding.type) or pa.types.is_timestamp(encoding.type):
        return np.asarray((places >= _LAST_DAY) | (places <= _FIRST_DAY))
    if pa.types.is_duration(encoding.type):
        return np.zeros(len(values), dtype=np.bool_)
    return np.asarray(
        valid & (Encoding([column.type]).encode(column)[0] == largest_of(column.type))
    )


# Days since 1970-01-01 of 9999-12-31 and of 0001-01-01, as matplotlib counts.
_LAST_DAY, _FIRST_DAY = 2_932_896, -719_162


def _cut_open_ends(ax: Any, encoding: Encoding, *sides: _Side) -> None:
    """End the axis near the other instants if an interval goes on until 9999-12-31."""
    places = np.concatenate([ends for side in sides for ends in (side.start, side.end)])
    if not (pa.types.is_date(encoding.type) or pa.types.is_timestamp(encoding.type)):
        return
    is_far = (places >= _LAST_DAY) | (places <= _FIRST_DAY)
    if is_far.any() and not is_far.all():
        near = places[~is_far]
        room = 0.05 * (near.max() - near.min() or 1.0)
        ax.set_xlim(near.min() - room, near.max() + room)


def _draw_bars(ax: Any, side: _Side, top: float, matched: RowNumbers, color: str) -> None:
    heights = top + np.arange(side.size)
    length = side.end - side.start
    bars = ax.barh(heights, length, 0.7, side.start, color=color, ec=color)
    for row in np.setdiff1d(np.arange(side.size), matched):
        bars[row].set_alpha(0.3)


def _draw_lines(ax: Any, r: _Side, s: _Side, rows: RowNumbers, other_rows: RowNumbers) -> None:
    """Draw a line between the nearest places of two bars: one place if the bars intersect."""
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
    # Bars that are sorted by start leave room there.
    ax.legend(handles=handles, loc="upper right", fontsize="small")


def name_time(ax: Any, kind: Any) -> None:
    """Format the axis of time for its type."""
    ax.use_sticky_edges = False  # some room to the left of the first bar
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
