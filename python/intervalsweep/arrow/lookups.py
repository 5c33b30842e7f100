# SPDX-License-Identifier: Apache-2.0
"""The nearest interval of another table, and how much of an interval another table covers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from intervalsweep._naming import Keys, Naming, check_choice, check_columns
from intervalsweep._naming import key_pairs as pairs_of
from intervalsweep.arrow.encoding import Encoding
from intervalsweep.arrow.merged import LookUp, Merged, in_order, latest_so_far
from intervalsweep.arrow.tables import RowNumbers, Side, as_table, ends_of, groups_of, like, take
from intervalsweep.kernels import Int64Array

Ends = tuple[str, str]


def nearest(
    left: Any,
    right: Any,
    *,
    on: Ends = ("ts", "te"),
    left_on: Ends | None = None,
    right_on: Ends | None = None,
    by: Keys | str = (),
    max_distance: float | None = None,
    how: str = "left",
    suffix: str = "_right",
    distance: str = "distance",
) -> Any:
    """Join each row with the one of the right side whose interval is nearest.

        right   [----)              [------)         distance of l1 from the left one: 2,
        left            [-----)                      from the right one: 3
                     ..2       ...3

    Parameters
    ----------
    on, left_on, right_on, by
        As of :func:`join`; each interval is two columns.
    max_distance
        What is farther away is not found.
    how
        ``left`` keeps rows for which there is none, ``inner`` does not.

    Returns
    -------
    A table of the left one's kind
        As many rows as the left side has, or fewer, named as by :func:`join`; and the column
        `distance`: ``greatest(0, s.ts - r.te, r.ts - s.te)``, in whole days between dates and in
        the unit of timestamps. It is 0 where the two overlap or meet. Of several that are equally
        near it is one. An interval with a NULL end or key, or that ends before it starts, finds
        nothing and is not found.

    Examples
    --------
    >>> r = pa.table({"ts": [10], "te": [12]})
    >>> s = pa.table({"ts": [1, 15], "te": [8, 20]})
    >>> nearest(r, s).to_pylist()
    [{'ts': 10, 'te': 12, 'ts_right': 1, 'te_right': 8, 'distance': 2}]
    """
    check_choice("how", how, ("inner", "left"))
    ours, theirs = as_table(left), as_table(right)
    keys = pairs_of(by)
    encoding, r, s = _sides(ours, theirs, left_on or on, right_on or on, keys)
    Naming.of([*ours.column_names, distance], theirs.column_names, keys, suffix)
    naming = Naming.of(ours.column_names, theirs.column_names, keys, suffix)
    r, s = (side.where(side.ends["ts"] <= side.ends["te"]) for side in (r, s))
    s = in_order(s)
    starts = LookUp(s.groups, s.ends["ts"])
    # Of those that start before r ends, the nearest is the one that ends last.
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
        found = np.where(gap <= max_distance * _scale(encoding), found, -1)

    rows = np.full(ours.num_rows, -1, dtype=np.int64)
    gaps = np.zeros(ours.num_rows, dtype=gap.dtype)
    rows[r.rows] = np.where(found < 0, -1, s.rows[found] if s.size else -1)
    gaps[r.rows] = gap
    matched = take(theirs, rows)
    columns = {name: ours.column(name) for name in naming.left}
    columns |= {new: matched.column(name) for name, new in naming.right.items()}
    columns[distance] = encoding.lengths(gaps, rows >= 0)
    result = pa.table(columns)
    return like(left, result.filter(pa.array(rows >= 0)) if how == "inner" else result)


def coverage(
    left: Any,
    right: Any,
    *,
    on: Ends = ("ts", "te"),
    left_on: Ends | None = None,
    right_on: Ends | None = None,
    by: Keys | str = (),
    covered: str = "covered",
) -> Any:
    """Return how much of each interval is held by some interval of the right side.

        left    [-----------)             covered 7 of 12: what the right side has twice
        right     [---)  [-----)          counts once
                   [--)

    Parameters
    ----------
    on, left_on, right_on, by
        As of :func:`join`; each interval is two columns.

    Returns
    -------
    A table of the left one's kind
        The rows of the left side with the column `covered`: a number, of days between dates and in
        the unit of timestamps. It is 0 for an interval that is empty or ends before it starts, NULL
        for one with a NULL end.

    Examples
    --------
    >>> r = pa.table({"ts": [1], "te": [9]})
    >>> s = pa.table({"ts": [0, 2, 8], "te": [3, 4, 20]})
    >>> coverage(r, s).to_pylist()
    [{'ts': 1, 'te': 9, 'covered': 4}]
    """
    ours, theirs = as_table(left), as_table(right)
    ends = left_on or on
    encoding, r, s = _sides(ours, theirs, ends, right_on or on, pairs_of(by))
    Naming.of([*ours.column_names, covered], [], [], "")
    merged = Merged.of(s, encoding)
    starts = LookUp(merged.groups, merged.ts)
    lengths = encoding.minus(merged.te, merged.ts)
    # An endless interval is the last of its group; it is not to be in the sums of the next ones.
    lengths = np.where(np.isfinite(lengths), lengths, 0)
    # Up to an x of group g: all merged intervals before the last that starts before x, and a part
    # of that one. What the groups before g have is in both sums of a row, and in none if none is
    # found: so it is taken off.
    sums = np.concatenate([np.zeros(1, dtype=lengths.dtype), np.cumsum(lengths)])
    group_start = np.searchsorted(merged.groups, merged.groups)

    def up_to(values: Int64Array) -> npt.NDArray[Any]:
        last = starts.last_up_to(r.groups, values)
        if not merged.ts.size:
            return np.zeros(values.size, dtype=lengths.dtype)
        part = encoding.minus(np.minimum(values, merged.te[last]), merged.ts[last])
        return np.where(last < 0, 0, sums[last] - sums[group_start[last]] + part)

    between = np.maximum(up_to(r.ends["te"]) - up_to(r.ends["ts"]), 0)
    totals = np.zeros(ours.num_rows, dtype=between.dtype)
    totals[r.rows] = between
    known = np.ones(ours.num_rows, dtype=np.bool_)
    for column in ends_of(ours, "left", ends):
        known &= column.is_valid().to_numpy()
    return like(left, ours.append_column(covered, encoding.lengths(totals, known)))


def _sides(
    left: Any, right: Any, left_on: Ends, right_on: Ends, keys: list[tuple[str, str]]
) -> tuple[Encoding, Side, Side]:
    check_columns("left", left.column_names, *(one for one, _ in keys))
    check_columns("right", right.column_names, *(other for _, other in keys))
    ends = ends_of(left, "left", left_on), ends_of(right, "right", right_on)
    encoding = Encoding([column.type for pair in ends for column in pair])
    groups = groups_of(left, right, keys)
    both = {"ts", "te"}
    r, s = (Side.of(encoding, *side, both) for side in zip(ends, groups, strict=True))
    return encoding, r, s


def _gap(
    encoding: Encoding,
    later: Int64Array,
    earlier: Int64Array,
    found: RowNumbers,
    *,
    flipped: bool = False,
) -> npt.NDArray[Any]:
    """The distances to the rows that were found, at least 0; 0 where none was."""
    if flipped:
        later = later[found] if later.size else earlier
    else:
        earlier = earlier[found] if earlier.size else later
    apart = (found >= 0) & (later > earlier)
    distance = encoding.minus(np.where(apart, later, 0), np.where(apart, earlier, 0))
    return np.where(apart, distance, 0)


def _scale(encoding: Encoding) -> int:
    return 10**encoding.type.scale if pa.types.is_decimal(encoding.type) else 1
