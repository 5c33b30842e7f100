# SPDX-License-Identifier: Apache-2.0
"""For each row, the row of another table that is nearest in time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from intervalsweep._signatures import Direction, Distance, Frame, LookUpHow, documented
from intervalsweep.arrow.encoding import Encoding
from intervalsweep.arrow.islands import LookUp, in_order, latest_so_far
from intervalsweep.arrow.tables import (
    RowNumbers,
    Side,
    as_table,
    groups_of,
    like,
    sides_of,
    take,
)
from intervalsweep.columns import Ends, Keys, Naming, check_choice, check_columns, chosen, key_pairs
from intervalsweep.kernels import Int64Array


@documented
def nearest(
    left: Frame,
    right: Any,
    *,
    on: Ends = ("ts", "te"),
    left_on: Ends | None = None,
    right_on: Ends | None = None,
    by: Keys | str = (),
    max_distance: Distance = None,
    how: LookUpHow = "left",
    columns: Sequence[str] | None = None,
    suffix: str = "_right",
    distance: str = "distance",
) -> Frame:
    """
    Examples
    --------
    >>> r = pa.table({"ts": [10], "te": [12]})
    >>> s = pa.table({"ts": [1, 15], "te": [8, 20]})
    >>> nearest(r, s).to_pylist()
    [{'ts': 10, 'te': 12, 'ts_right': 1, 'te_right': 8, 'distance': 2}]
    """
    check_choice("how", how, get_args(LookUpHow))
    ours, theirs, keys = as_table(left), as_table(right), key_pairs(by)
    encoding, r, s = sides_of(ours, theirs, left_on or on, right_on or on, keys)
    Naming.of([*ours.column_names, distance], theirs.column_names, keys, suffix)
    naming = Naming.of(ours.column_names, theirs.column_names, keys, suffix)
    r, s = (side.where(side.ends["ts"] <= side.ends["te"]) for side in (r, s))
    s = in_order(s)
    starts = LookUp(s.groups, s.ends["ts"])
    # The nearest of the intervals that start up to the end of r is the one that ends last.
    before = starts.last_up_to(r.groups, r.ends["te"])
    before = np.where(
        before < 0, -1, latest_so_far(s.groups, s.ends["te"])[before] if s.size else -1
    )
    after = starts.first_from(r.groups, r.ends["te"])
    gap_before = _gap(encoding, r.ends["ts"], s.ends["te"], before)
    gap_after = _gap(encoding, s.ends["ts"], r.ends["te"], after, flipped=True)
    is_before = (before >= 0) & ((after < 0) | (gap_before <= gap_after))
    found, gap = np.where(is_before, before, after), np.where(is_before, gap_before, gap_after)
    if max_distance is not None:
        found = np.where(gap <= encoding.limit("max_distance", max_distance), found, -1)

    rows = np.full(ours.num_rows, -1, dtype=np.int64)
    gaps = np.zeros(ours.num_rows, dtype=gap.dtype)
    rows[r.rows] = np.where(found < 0, -1, s.rows[found] if s.size else -1)
    gaps[r.rows] = gap
    result = _looked_up(ours, theirs, naming, rows)
    result = result.append_column(distance, encoding.lengths(gaps, rows >= 0))
    return like(left, _finished(result, rows, how, columns))


@documented
def as_of_join(
    left: Frame,
    right: Any,
    *,
    on: str = "ts",
    left_on: str | None = None,
    right_on: str | None = None,
    by: Keys | str = (),
    direction: Direction = "backward",
    tolerance: Any = None,
    how: LookUpHow = "left",
    columns: Sequence[str] | None = None,
    suffix: str = "_right",
) -> Frame:
    """
    Notes
    -----
    Among right rows of the same instant, the result has the last row of the table.

    Examples
    --------
    >>> trades = pa.table({"at": [3, 9], "sym": ["x", "x"]})
    >>> quotes = pa.table({"at": [1, 2], "sym": ["x", "x"], "price": [10, 11]})
    >>> as_of_join(trades, quotes, on="at", by="sym", tolerance=5).column("price").to_pylist()
    [11, None]
    """
    check_choice("direction", direction, get_args(Direction))
    check_choice("how", how, get_args(LookUpHow))
    ours, theirs, keys = as_table(left), as_table(right), key_pairs(by)
    at, at_right = left_on or on, right_on or on
    check_columns("left", ours.column_names, at, *(one for one, _ in keys))
    check_columns("right", theirs.column_names, at_right, *(other for _, other in keys))
    naming = Naming.of(ours.column_names, theirs.column_names, keys, suffix)
    instants = ours.column(at), theirs.column(at_right)
    encoding = Encoding([column.type for column in instants])
    r, s = (
        Side.of(encoding, (column, column), groups, {"ts"})
        for column, groups in zip(instants, groups_of(ours, theirs, keys), strict=True)
    )
    asked = r.ends["ts"]
    is_backward = direction == "backward"
    # Among right rows of one instant, the last one of the table is next to the left row.
    order = np.arange(s.size) if is_backward else -np.arange(s.size)
    s = s.take(np.lexsort((order, s.ends["ts"], s.groups)))
    look_up = LookUp(s.groups, s.ends["ts"])
    found = (look_up.last_up_to if is_backward else look_up.first_from)(r.groups, asked)
    if tolerance is not None and s.size:
        limit = encoding.limit("tolerance", tolerance)
        move = encoding.at_most_earlier if is_backward else encoding.at_most_later
        farthest, some = move(asked, limit)
        there = s.ends["ts"][found]
        is_near = some & ((there >= farthest) if is_backward else (there <= farthest))
        # Infinity and NaN have no distance, not even to themselves: `some` is False for them.
        found = np.where(is_near, found, -1)
    rows = np.full(ours.num_rows, -1, dtype=np.int64)
    rows[r.rows] = np.where(found < 0, -1, s.rows[found] if s.size else -1)
    return like(left, _finished(_looked_up(ours, theirs, naming, rows), rows, how, columns))


def _looked_up(ours: Any, theirs: Any, naming: Naming, rows: RowNumbers) -> Any:
    """Return the left rows, each with the right row of its number in `rows`; -1 means NULLs."""
    matched = take(theirs, rows)
    found = {name: ours.column(name) for name in naming.left}
    return pa.table(found | {new: matched.column(name) for name, new in naming.right.items()})


def _finished(result: Any, rows: RowNumbers, how: str, columns: Sequence[str] | None) -> Any:
    result = result.select(chosen(columns, result.column_names))
    return result.filter(pa.array(rows >= 0)) if how == "inner" else result


def _gap(
    encoding: Encoding,
    later: Int64Array,
    earlier: Int64Array,
    found: RowNumbers,
    *,
    flipped: bool = False,
) -> npt.NDArray[Any]:
    """Return the distances to the rows that were found, at least 0; 0 if no row was found."""
    if flipped:
        later = later[found] if later.size else earlier
    else:
        earlier = earlier[found] if earlier.size else later
    apart = (found >= 0) & (later > earlier)
    distance = encoding.minus(np.where(apart, later, 0), np.where(apart, earlier, 0))
    return np.where(apart, distance, 0)
