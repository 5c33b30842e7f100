# SPDX-License-Identifier: Apache-2.0
"""Turns events and logs of changes into periods that last until the next event of the key."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from intervalsweep._errors import ArgumentError
from intervalsweep._signatures import ArrowFunctions, Frame, Names, implements
from intervalsweep.arrow.dictionaries import sort_values
from intervalsweep.arrow.encoding import Encoding
from intervalsweep.arrow.tables import RowNumbers, as_table, groups_in, like
from intervalsweep.columns import check_columns, check_unique, listed


@implements(ArrowFunctions.until_next)
def until_next(
    data: Frame, *, on: str, by: Names, order: Names, deleted: str | None, end: str
) -> Frame:
    """
    Notes
    -----
    Among rows that `order` does not decide, the last one of the table is returned.

    Examples
    --------
    >>> log = pa.table({"k": ["a", "b", "a"], "ts": [1, 2, 5], "price": [10, 7, 11]})
    >>> until_next(log, by="k").to_pydict()
    {'k': ['a', 'b', 'a'], 'ts': [1, 2, 5], 'price': [10, 7, 11], 'te': [5, None, None]}
    """
    table = as_table(data)
    keys, ties = listed(by), listed(order)
    check_columns(
        "given", table.column_names, on, *keys, *ties, *([] if deleted is None else [deleted])
    )
    check_unique([*table.column_names, end])
    instants, known = Encoding([table.column(on).type]).encode(table.column(on))
    groups = groups_in(table, keys)
    ranks = [_ranks(table.column(name)) for name in reversed(ties)]
    rows = np.lexsort((np.arange(instants.size), *ranks, instants, groups))
    rows = rows[known[rows]]
    groups, instants = groups[rows], instants[rows]

    # A run has the rows of a key at one instant. Its end is the instant of the next run of the key.
    is_first = np.ones(rows.size, dtype=np.bool_)
    is_first[1:] = (groups[1:] != groups[:-1]) | (instants[1:] != instants[:-1])
    run, starts = np.cumsum(is_first) - 1, np.flatnonzero(is_first)
    following = np.full(rows.size, -1, dtype=np.int64)
    has_next = run + 1 < starts.size
    after = starts[np.minimum(run + 1, max(starts.size - 1, 0))] if rows.size else starts
    has_next &= groups[after] == groups if rows.size else has_next
    following[has_next] = rows[after[has_next]]

    kept = np.ones(rows.size, dtype=np.bool_)
    if ties:  # the last row of each run
        kept[:-1] = is_first[1:]
    if deleted is not None:
        kept &= ~_truths(deleted, table.column(deleted))[rows]
    wanted = np.flatnonzero(kept)
    wanted = wanted[np.argsort(rows[wanted])]  # in the order of the table
    return like(data, _with_ends(table, on, end, rows[wanted], following[wanted]))


def _with_ends(table: Any, on: str, end: str, rows: RowNumbers, following: RowNumbers) -> Any:
    ends = table.column(on).take(pa.array(following, mask=following < 0))
    return table.take(pa.array(rows)).append_column(end, ends)


def _ranks(column: Any) -> RowNumbers:
    ranks = pc.rank(sort_values(column), sort_keys="ascending", tiebreaker="dense")
    return np.asarray(ranks.to_numpy()).astype(np.int64)


def _truths(name: str, column: Any) -> Any:
    if not pa.types.is_boolean(column.type):
        raise ArgumentError(f"`deleted` must be a column of booleans; {name} is {column.type}.")
    return column.fill_null(False).to_numpy()
