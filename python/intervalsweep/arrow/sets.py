# SPDX-License-Identifier: Apache-2.0
"""Intervals of one table taken together: merged, split, and their gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from intervalsweep._naming import Naming, check_columns, listed
from intervalsweep.arrow.encoding import Encoding
from intervalsweep.arrow.merged import Merged
from intervalsweep.arrow.tables import RowNumbers, Side, as_table, ends_of, groups_of, like

Ends = tuple[str, str]


def merge(
    data: Any,
    *,
    on: Ends = ("ts", "te"),
    by: str | Sequence[str] = (),
    gap: Any = None,
    count: str = "count",
) -> Any:
    """Merge intervals that overlap or meet (or are no more than `gap` apart) into one.

        [-----)  [--)                     count 1, 1, 2
            [------)     [----)
        ------------------------
        [----------)     [----)           count 3, 1

    Parameters
    ----------
    on
        The columns of start and end.
    by
        Columns within whose equal values intervals are merged; NULL equals NULL.
    gap
        A number, of days between dates; a timedelta between timestamps.

    Returns
    -------
    A table of the same kind
        The columns `by`, start, end, and `count`, the number of intervals that were merged. Those
        that are empty, end before they start or have a NULL end take no part.

    Examples
    --------
    >>> merge(pa.table({"ts": [1, 3, 8], "te": [4, 6, 9]})).to_pydict()
    {'ts': [1, 8], 'te': [6, 9], 'count': [2, 1]}
    """
    one = _Intervals(data, on, by)
    merged = Merged.of(one.side, one.encoding, 0 if gap is None else one.encoding.limit("gap", gap))
    return one.result(
        merged.first_rows,
        one.starts.take(pa.array(merged.first_rows)),
        one.ends.take(pa.array(merged.last_rows)),
        {count: merged.count},
    )


def split(
    data: Any, *, on: Ends = ("ts", "te"), by: str | Sequence[str] = (), count: str = "count"
) -> Any:
    """Split the time at every start and end: disjoint intervals, with how many hold each.

        [---------)
            [---------)
        ----------------
        [--)[----)[---)                   count 1, 2, 1

    Returns
    -------
    A table of the same kind
        The columns `by`, start, end, and `count`, which is never 0. Parameters, and which intervals
        take part, are as of :func:`merge`.

    Examples
    --------
    >>> split(pa.table({"ts": [1, 3], "te": [4, 6]})).to_pydict()
    {'ts': [1, 3, 4], 'te': [3, 4, 6], 'count': [1, 2, 1]}
    """
    one = _Intervals(data, on, by)
    side = one.side.where(one.side.ends["ts"] < one.side.ends["te"])
    values = np.concatenate([side.ends["ts"], side.ends["te"]])
    groups = np.tile(side.groups, 2)
    order = np.lexsort((values, groups))
    values, groups = values[order], groups[order]
    is_new = np.ones(values.size, dtype=np.bool_)
    is_new[1:] = (values[1:] != values[:-1]) | (groups[1:] != groups[:-1])
    cuts = np.flatnonzero(is_new)
    steps = np.where(order < side.size, 1, -1)
    # The steps of a group add up to 0, so that the sum begins anew with each.
    stops = np.append(cuts[1:], values.size)[: cuts.size]
    depth = np.cumsum(steps)[stops - 1]
    held = np.flatnonzero(depth > 0)
    pool = pa.concat_arrays([one.starts, one.ends])
    place = np.concatenate([side.rows, side.rows + len(one.starts)])[order[cuts]]
    return one.result(
        np.tile(side.rows, 2)[order[cuts[held]]],
        pool.take(pa.array(place[held])),
        pool.take(pa.array(place[held + 1])),
        {count: depth[held]},
    )


def complement(
    data: Any,
    *,
    on: Ends = ("ts", "te"),
    by: str | Sequence[str] = (),
    within: tuple[Any, Any] | None = None,
) -> Any:
    """Return the gaps: what no interval holds, between the first start and the last end.

        [---)     [----)      [--)
        ---------------------------
             [---)      [----)

    Parameters
    ----------
    on, by
        As of :func:`merge`.
    within
        A start and an end, between which the gaps are to be, instead of the first start and the
        last end. Keys without any interval have no row here.

    Returns
    -------
    A table of the same kind
        The columns `by`, start and end.

    Examples
    --------
    >>> complement(pa.table({"ts": [1, 6], "te": [4, 8]}), within=(0, 8)).to_pydict()
    {'ts': [0, 4], 'te': [1, 6]}
    """
    one = _Intervals(data, on, by)
    merged = Merged.of(one.side, one.encoding)
    limits = pa.array(within or (None, None)).cast(one.encoding.type)
    pool = pa.concat_arrays([one.starts, one.ends, limits])
    rows, low, high = len(one.starts), len(pool) - 2, len(pool) - 1
    # The places in the pool of each gap's ends: before every interval, and after a group's last.
    is_first = np.ones(merged.groups.size, dtype=np.bool_)
    is_first[1:] = merged.groups[1:] != merged.groups[:-1]
    tails = np.flatnonzero(np.roll(is_first, -1))
    start = np.where(is_first, low, np.roll(merged.last_rows, 1) + rows)
    start = np.concatenate([start, merged.last_rows[tails] + rows])
    stop = np.concatenate([merged.first_rows, np.full(tails.size, high)])
    if within is None:
        inside = (start != low) & (stop != high)
    else:
        values, _ = one.encoding.encode(pool)
        start = np.where(values[start] < values[low], low, start)
        stop = np.where(values[stop] > values[high], high, stop)
        inside = values[start] < values[stop]
    return one.result(
        np.concatenate([merged.first_rows, merged.first_rows[tails]])[inside],
        pool.take(pa.array(start[inside])),
        pool.take(pa.array(stop[inside])),
    )


class _Intervals:
    """The intervals of one table, and how its results are made."""

    def __init__(self, data: Any, on: Ends, by: str | Sequence[str]) -> None:
        self._data, self._on = data, on
        self._table = as_table(data)
        self._by = listed(by)
        check_columns("given", self._table.column_names, *self._by)
        columns = ends_of(self._table, "given", on)
        self.encoding = Encoding([column.type for column in columns])
        self.starts, self.ends = map(self.encoding.cast, columns)
        pairs = [(key, key) for key in self._by]
        groups, _ = groups_of(self._table, self._table.slice(0, 0), pairs, null_equals_null=True)
        self.side = Side.of(self.encoding, columns, groups, {"ts", "te"})

    def result(
        self, rows: RowNumbers, starts: Any, ends: Any, more: dict[str, Any] | None = None
    ) -> Any:
        """Return a table of the keys of these rows, with starts, ends and what more there is."""
        keys = self._table.select(self._by).take(pa.array(rows))
        more = more or {}
        Naming.of([*self._by, *self._on, *more], [], [], "")
        columns = {name: keys.column(name) for name in self._by}
        kinds = (self._table.schema.field(name).type for name in self._on)
        for name, column, kind in zip(self._on, (starts, ends), kinds, strict=True):
            columns[name] = column.cast(kind) if self._keeps(kind) else column
        columns |= {name: pa.array(values) for name, values in more.items()}
        return like(self._data, pa.table(columns))

    def _keeps(self, kind: Any) -> bool:
        """Whether both ends are of one type, which then is that of the result."""
        return all(self._table.schema.field(name).type == kind for name in self._on)
