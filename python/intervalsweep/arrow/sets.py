# SPDX-License-Identifier: Apache-2.0
"""Set operations on the intervals of one table: merge, number, split, and find gaps."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pyarrow as pa

from intervalsweep._errors import ArgumentError
from intervalsweep._signatures import (
    ArrowFunctions,
    Distance,
    Frame,
    Names,
    Nulls,
    implements,
)
from intervalsweep.arrow.encoding import Encoding
from intervalsweep.arrow.search.islands import Merged, in_order, islands
from intervalsweep.arrow.sides import NO_END, NO_START, Side
from intervalsweep.arrow.tables import (
    RowNumbers,
    as_table,
    ends_in,
    ends_of,
    groups_in,
    has_pandas_intervals,
    like,
)
from intervalsweep.columns import Ends, check_choice, check_columns, check_unique, listed, names_of
from intervalsweep.kernels.periods import ValueSweep, joined


@implements(ArrowFunctions.merge)
def merge(data: Frame, *, gap: Distance, count: str, **intervals: Any) -> Frame:
    """
    Examples
    --------
    >>> merge(pa.table({"ts": [1, 3, 8], "te": [4, 6, 9]})).to_pydict()
    {'ts': [1, 8], 'te': [6, 9], 'count': [2, 1]}
    """
    one = _Intervals(data, **intervals)
    merged = Merged.of(one.side, one.encoding, one.limit(gap))
    found = one.result(
        merged.first_rows,
        one.starts.take(pa.array(merged.first_rows)),
        one.ends.take(pa.array(merged.last_rows)),
        {count: merged.count},
    )
    return like(data, found)


@implements(ArrowFunctions.cluster)
def cluster(data: Frame, *, gap: Distance, cluster: str, **intervals: Any) -> Frame:
    """
    Examples
    --------
    >>> cluster(pa.table({"ts": [1, 3, 8], "te": [4, 6, 9]})).column("cluster").to_pylist()
    [1, 1, 2]
    """
    one = _Intervals(data, **intervals)
    check_unique([*one.table.column_names, cluster])
    side, _, is_new = islands(one.side, one.encoding, one.limit(gap))
    number = np.cumsum(is_new)
    before = number[np.searchsorted(side.groups, side.groups)] - 1  # clusters of the groups before
    numbers = np.zeros(one.table.num_rows, dtype=np.int64)
    numbers[side.rows] = number - before
    return like(data, one.table.append_column(cluster, pa.array(numbers, mask=numbers == 0)))


@implements(ArrowFunctions.split)
def split(data: Frame, *, count: str, **intervals: Any) -> Frame:
    """
    Examples
    --------
    >>> split(pa.table({"ts": [1, 3], "te": [4, 6]})).to_pydict()
    {'ts': [1, 3, 4], 'te': [3, 4, 6], 'count': [1, 2, 1]}
    """
    one = _Intervals(data, **intervals)
    side = in_order(one.side.where(one.side.ends["ts"] < one.side.ends["te"]))
    sweep = ValueSweep(["sum"], ends="cuts")
    ones = np.ones((1, side.size), dtype=np.int64)
    parts = sweep.feed(side.groups, side.ends["ts"], side.ends["te"], ones)
    row, start, end, depth = joined([(b.row, b.start, b.end, b.values[0]) for b in parts], 4)
    starts = one.encoding.decode(start, start != NO_START)
    ends = one.encoding.decode(end, end != NO_END)
    found = one.result(side.rows[row], starts, ends, {count: depth})
    return like(data, found)


@implements(ArrowFunctions.complement)
def complement(data: Frame, *, within: tuple[Any, Any] | None, **intervals: Any) -> Frame:
    """
    Examples
    --------
    >>> complement(pa.table({"ts": [1, 6], "te": [4, 8]}), within=(0, 8)).to_pydict()
    {'ts': [0, 4], 'te': [1, 6]}
    """
    one = _Intervals(data, **intervals)
    merged = Merged.of(one.side, one.encoding)
    limits = [one.encoding.instant("within", limit) for limit in within or (None, None)]
    pool = pa.concat_arrays([one.starts, one.ends, *limits])
    rows, low, high = len(one.starts), len(pool) - 2, len(pool) - 1
    values, known = one.encoding.encode(pool)
    if within is not None and not (known[low] and known[high] and values[low] <= values[high]):
        raise ArgumentError(f"`within` must be two values in ascending order; got {within!r}.")
    values = np.where(known, values, np.where(np.arange(len(pool)) < rows, NO_START, NO_END))
    # Gaps lie before every interval and after the last interval of a group. `start` and `stop`
    # are the positions of their endpoints in `pool`.
    is_first = np.ones(merged.groups.size, dtype=np.bool_)
    is_first[1:] = merged.groups[1:] != merged.groups[:-1]
    tails = np.flatnonzero(np.roll(is_first, -1))
    start = np.where(is_first, low, np.roll(merged.last_rows, 1) + rows)
    start = np.concatenate([start, merged.last_rows[tails] + rows])
    stop = np.concatenate([merged.first_rows, np.full(tails.size, high)])
    if within is None:
        inside = (start != low) & (stop != high)
    else:
        start = np.where(values[start] < values[low], low, start)
        stop = np.where(values[stop] > values[high], high, stop)
        inside = values[start] < values[stop]
    found = one.result(
        np.concatenate([merged.first_rows, merged.first_rows[tails]])[inside],
        pool.take(pa.array(start[inside])),
        pool.take(pa.array(stop[inside])),
    )
    return like(data, found)


class _Intervals:
    """The intervals of one table, and the construction of results from them."""

    def __init__(self, data: Any, on: Ends, by: Names, nulls: Nulls) -> None:
        check_choice("nulls", nulls, get_args(Nulls))
        self._on = on
        self.table = as_table(data)
        self._by = listed(by)
        check_columns("given", self.table.column_names, *self._by)
        if nulls == "unbounded" and has_pandas_intervals(self.table, on):
            nulls = "drop"  # such a column has an interval with both ends, or none
        columns = ends_of(self.table, "given", on)
        self._kinds = {column.type for column in columns}
        self.encoding = Encoding([column.type for column in columns])
        self.starts, self.ends = map(self.encoding.cast, columns)
        self.side = Side.with_nulls(self.encoding, columns, groups_in(self.table, self._by), nulls)

    def limit(self, gap: Distance) -> int | float:
        """Return the largest gap between intervals that are merged, in the encoding's unit."""
        return 0 if gap is None else self.encoding.limit("gap", gap)

    def result(
        self, rows: RowNumbers, starts: Any, ends: Any, more: dict[str, Any] | None = None
    ) -> Any:
        """Return a table with the keys of these rows, starts, ends and the columns of `more`."""
        keys = self.table.select(self._by).take(pa.array(rows))
        more = more or {}
        names = names_of(self._on)
        check_unique([*self._by, *names, *more])
        if len(self._kinds) == 1:  # else they have the common type
            starts, ends = (column.cast(next(iter(self._kinds))) for column in (starts, ends))
        intervals = ends_in(self.table.schema, self._on, starts, ends)
        columns = {name: keys.column(name) for name in self._by}
        columns |= dict(zip(names, intervals, strict=True))
        columns |= {name: pa.array(values) for name, values in more.items()}
        return pa.table(columns)
