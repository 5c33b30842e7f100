# SPDX-License-Identifier: Apache-2.0
"""The part of each interval that the intervals of another table cover, and the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from intervalsweep._signatures import ArrowFunctions, Frame, implements
from intervalsweep.arrow.search.islands import LookUp, Merged
from intervalsweep.arrow.sides import TwoTables
from intervalsweep.arrow.tables import like, with_ends
from intervalsweep.columns import check_unique
from intervalsweep.kernels import Int64Array


@implements(ArrowFunctions.coverage)
def coverage(left: Frame, right: Any, *, covered: str, **names: Any) -> Frame:
    """
    Examples
    --------
    >>> r = pa.table({"ts": [1], "te": [9]})
    >>> s = pa.table({"ts": [0, 2, 8], "te": [3, 4, 20]})
    >>> coverage(r, s).to_pylist()
    [{'ts': 1, 'te': 9, 'covered': 4}]
    """
    both = TwoTables.with_intervals(left, right, **names)
    ours, encoding = both.left, both.encoding
    r, s = both.sides()
    check_unique([*ours.column_names, covered])
    merged = Merged.of(s, encoding)
    starts = LookUp(merged.groups, merged.ts)
    lengths = encoding.minus(merged.te, merged.ts)
    # An endless interval is the last of its group. Its length must not enter the sums of later
    # groups.
    lengths = np.where(np.isfinite(lengths), lengths, 0)
    # up_to(x) is the covered length before x in group g. Let m be the last merged interval that
    # starts up to x: up_to(x) = lengths of the group's merged intervals before m + min(x, m's end)
    # - m's start. `sums` runs over all groups, so the sum at the start of the group is subtracted.
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
    for column in both.ends[0]:
        known &= np.asarray(pc.is_valid(column))
    return like(left, ours.append_column(covered, encoding.lengths(totals, known)))


@implements(ArrowFunctions.subtract)
def subtract(left: Frame, right: Any, **names: Any) -> Frame:
    """
    Notes
    -----
    If the endpoints have different types, they are converted to the common type of both tables.

    Examples
    --------
    >>> r = pa.table({"id": ["a"], "ts": [1], "te": [9]})
    >>> s = pa.table({"ts": [0, 4], "te": [2, 6]})
    >>> subtract(r, s).to_pydict()
    {'id': ['a', 'a'], 'ts': [2, 6], 'te': [4, 9]}
    """
    both = TwoTables.with_intervals(left, right, **names)
    ours, encoding = both.left, both.encoding
    r, s = both.sides(keep_null_keys=True)
    r = r.where(r.ends["ts"] < r.ends["te"])
    merged = Merged.of(s, encoding)
    # A row intersects the merged intervals from the first that ends after its start ...
    first = LookUp(merged.groups, merged.te).first_from(r.groups, r.ends["ts"], strict=True)
    # ... to the last that starts before its end.
    last = LookUp(merged.groups, merged.ts).last_up_to(r.groups, r.ends["te"], strict=True)
    count = np.where((first < 0) | (last < first), 0, last - first + 1)
    # There may be a result before each of these, and one after the last.
    row = np.repeat(np.arange(r.size), count + 1)
    number = np.arange(row.size) - np.repeat(np.cumsum(count + 1) - (count + 1), count + 1)
    met = first[row] + number  # the merged interval after the result
    columns = [column for pair in both.ends for column in pair]
    pool = pa.concat_arrays([encoding.cast(column) for column in columns])
    left_size, right_size = ours.num_rows, both.right.num_rows
    values, _ = encoding.encode(pool)
    start, stop = r.rows[row], r.rows[row] + left_size
    if merged.ts.size:
        behind = merged.last_rows[np.maximum(met - 1, 0)] + 2 * left_size + right_size
        start = np.where(number > 0, behind, start)
        ahead = merged.first_rows[np.minimum(met, merged.ts.size - 1)] + 2 * left_size
        stop = np.where(number < count[row], ahead, stop)
    some = values[start] < values[stop]
    found = ours.take(pa.array(r.rows[row[some]]))
    kinds = {column.type for column in columns}
    parts = [pool.take(pa.array(place[some])) for place in (start, stop)]
    if len(kinds) == 1:
        parts = [part.cast(next(iter(kinds))) for part in parts]
    return like(left, with_ends(found, both.names.left_on, *parts))
