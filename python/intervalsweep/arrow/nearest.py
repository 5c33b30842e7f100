# SPDX-License-Identifier: Apache-2.0
"""For each row, the row of another table that is nearest in time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from intervalsweep._signatures import (
    ArrowFunctions,
    Direction,
    Distance,
    Frame,
    LookUpHow,
    LookUpWord,
    NearestDirection,
    implements,
)
from intervalsweep.arrow.encoding import Encoding
from intervalsweep.arrow.search.islands import LookUp, in_order, latest_so_far
from intervalsweep.arrow.search.matches import Matches
from intervalsweep.arrow.search.neighbours import neighbours
from intervalsweep.arrow.sides import STARTS, Side, TwoTables, order_of
from intervalsweep.arrow.tables import RowNumbers, like, take
from intervalsweep.columns import Naming, check_choice, check_count, chosen, join_type
from intervalsweep.kernels import Int64Array

# For each left row the place of a right row in its side, or -1.
_Places: TypeAlias = RowNumbers
_Gaps = npt.NDArray[Any]


@implements(ArrowFunctions.nearest)
def nearest(
    left: Frame,
    right: Any,
    *,
    k: int,
    direction: NearestDirection,
    overlapping: bool,
    max_distance: Distance,
    how: LookUpWord,
    columns: Sequence[str] | None,
    suffix: str,
    distance: str,
    **names: Any,
) -> Frame:
    """
    Examples
    --------
    >>> r = pa.table({"ts": [10], "te": [12]})
    >>> s = pa.table({"ts": [1, 15], "te": [8, 20]})
    >>> nearest(r, s).to_pylist()
    [{'ts': 10, 'te': 12, 'ts_right': 1, 'te_right': 8, 'distance': 2}]
    >>> nearest(r, s, k=2, columns=["ts_right", "distance"]).to_pylist()
    [{'ts_right': 1, 'distance': 2}, {'ts_right': 15, 'distance': 3}]
    """
    how = join_type(how, get_args(LookUpHow))
    check_choice("direction", direction, get_args(NearestDirection))
    both = TwoTables.with_intervals(left, right, **names)
    naming = _naming(both, suffix, distance)
    r, s = (side.where(side.ends["ts"] <= side.ends["te"]) for side in both.sides())
    if (check_count("k", k), direction, overlapping) != (1, "both", True):
        shared = Matches.of(left, right, "interval_intersects", **names) if overlapping else None
        near = neighbours(both.encoding, r, s, shared, k, direction)
        if max_distance is not None:
            near = near.where(near.gap <= both.encoding.limit("max_distance", max_distance))
        near = near.or_none(both.left.num_rows)
        result = _looked_up(take(both.left, near.left), both, naming, near.right)
        gaps = both.encoding.lengths(near.gap, near.right >= 0)
        return like(left, _finished(result.append_column(distance, gaps), near.right, how, columns))
    s = in_order(s)
    found, gap = _nearest(both.encoding, r, s)
    if max_distance is not None:
        found = np.where(gap <= both.encoding.limit("max_distance", max_distance), found, -1)

    rows = _right_rows(both, r, s, found)
    gaps = np.zeros(rows.size, dtype=gap.dtype)
    gaps[r.rows] = gap
    result = _looked_up(both.left, both, naming, rows)
    result = result.append_column(distance, both.encoding.lengths(gaps, rows >= 0))
    return like(left, _finished(result, rows, how, columns))


@implements(ArrowFunctions.as_of_join)
def as_of_join(
    left: Frame,
    right: Any,
    *,
    direction: Direction,
    tolerance: Any,
    how: LookUpWord,
    columns: Sequence[str] | None,
    suffix: str,
    **names: Any,
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
    how = join_type(how, get_args(LookUpHow))
    both = TwoTables.with_instants(left, right, **names)
    naming = _naming(both, suffix)
    r, s = both.sides(STARTS)
    find, is_near = _BY_DIRECTION[direction]
    found = find(r, s)
    if tolerance is not None and s.size:
        limit = both.encoding.limit("tolerance", tolerance)
        near = is_near(both.encoding, r.ends["ts"], s.ends["ts"][found], limit)
        found = np.where(near, found, -1)
    rows = _right_rows(both, r, s, found)
    return like(left, _finished(_looked_up(both.left, both, naming, rows), rows, how, columns))


def _nearest(encoding: Encoding, r: Side, s: Side) -> tuple[_Places, _Gaps]:
    """Return the nearest interval of `s`, which is sorted, for each of `r`, and the distance."""
    starts = LookUp(s.groups, s.ends["ts"])
    before = starts.last_up_to(r.groups, r.ends["te"])
    if s.size:
        # The nearest of the intervals that start up to the end of r is the one that ends last.
        before = np.where(before < 0, -1, latest_so_far(s.groups, s.ends["te"])[before])
    gap_before = _gap(encoding, r.ends["ts"], _at(s.ends["te"], before), before)
    after = starts.first_from(r.groups, r.ends["te"])
    gap_after = _gap(encoding, _at(s.ends["ts"], after), r.ends["te"], after)
    is_before = (before >= 0) & ((after < 0) | (gap_before <= gap_after))
    return np.where(is_before, before, after), np.where(is_before, gap_before, gap_after)


def _gap(encoding: Encoding, later: Int64Array, earlier: Int64Array, found: _Places) -> _Gaps:
    """Return the distances to the rows that were found, at least 0; 0 if no row was found."""
    apart = (found >= 0) & (later > earlier)
    distance = encoding.minus(np.where(apart, later, 0), np.where(apart, earlier, 0))
    return np.where(apart, distance, 0)


def _at(values: Int64Array, places: _Places) -> Int64Array:
    """Return the values at these places; any values at the places -1."""
    return values[places] if values.size else np.zeros(places.size, dtype=np.int64)


def _latest_up_to(r: Side, s: Side) -> _Places:
    """Return for each instant of `r` the latest of `s` that is not later."""
    # Among rows of one instant, the last one of the table comes last.
    order = order_of(s.groups, s.ends["ts"])
    look_up = LookUp(s.groups[order], s.ends["ts"][order])
    return _back(order, look_up.last_up_to(r.groups, r.ends["ts"]))


def _earliest_from(r: Side, s: Side) -> _Places:
    """Return for each instant of `r` the earliest of `s` that is not earlier."""
    # Among rows of one instant, the last one of the table comes first.
    order = order_of(s.groups, s.ends["ts"], last_first=True)
    look_up = LookUp(s.groups[order], s.ends["ts"][order])
    return _back(order, look_up.first_from(r.groups, r.ends["ts"]))


def _back(order: Int64Array, places: _Places) -> _Places:
    """Return the places before the rows were put in order."""
    return np.where(places < 0, -1, _at(order, places))


# Infinity and NaN have no distance, not even to themselves, so no instant is near them.
def _is_near_before(
    encoding: Encoding, instants: Int64Array, found: Int64Array, limit: int | float
) -> Any:
    earliest, is_known = encoding.at_most_earlier(instants, limit)
    return is_known & (found >= earliest)


def _is_near_after(
    encoding: Encoding, instants: Int64Array, found: Int64Array, limit: int | float
) -> Any:
    latest, is_known = encoding.at_most_later(instants, limit)
    return is_known & (found <= latest)


_BY_DIRECTION = {
    "backward": (_latest_up_to, _is_near_before),
    "forward": (_earliest_from, _is_near_after),
}


def _naming(both: TwoTables, suffix: str, *added: str) -> Naming:
    left, right = both.left.column_names, both.right.column_names
    return Naming.of(left, right, both.names.keys, suffix, added)


def _right_rows(both: TwoTables, r: Side, s: Side, found: _Places) -> RowNumbers:
    """Return for each row of the left table the number of a row of the right table, or -1."""
    rows = np.full(both.left.num_rows, -1, dtype=np.int64)
    rows[r.rows] = np.where(found < 0, -1, _at(s.rows, found))
    return rows


def _looked_up(left: Any, both: TwoTables, naming: Naming, rows: RowNumbers) -> Any:
    """Return left rows, each with the right row of its number in `rows`; -1 means NULLs."""
    matched = take(both.right.select(list(naming.right)), rows)
    found = {name: left.column(name) for name in naming.left}
    return pa.table(found | {new: matched.column(name) for name, new in naming.right.items()})


def _finished(result: Any, rows: RowNumbers, how: str, columns: Sequence[str] | None) -> Any:
    result = result.select(chosen(columns, result.column_names))
    return result.filter(pa.array(rows >= 0)) if how == "inner" else result
