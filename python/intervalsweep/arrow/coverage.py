# SPDX-License-Identifier: Apache-2.0
"""What the intervals of another table cover of each interval, and what they leave."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from intervalsweep._signatures import Frame, documented
from intervalsweep.arrow.islands import LookUp, Merged
from intervalsweep.arrow.tables import as_table, ends_of, like, sides_of, with_ends
from intervalsweep.columns import Ends, Keys, Naming, key_pairs
from intervalsweep.kernels import Int64Array


@documented
def coverage(
    left: Frame,
    right: Any,
    *,
    on: Ends = ("ts", "te"),
    left_on: Ends | None = None,
    right_on: Ends | None = None,
    by: Keys | str = (),
    covered: str = "covered",
) -> Frame:
    """
    >>> r = pa.table({"ts": [1], "te": [9]})
    >>> s = pa.table({"ts": [0, 2, 8], "te": [3, 4, 20]})
    >>> coverage(r, s).to_pylist()
    [{'ts': 1, 'te': 9, 'covered': 4}]
    """
    ours, theirs, ends = as_table(left), as_table(right), left_on or on
    encoding, r, s = sides_of(ours, theirs, ends, right_on or on, key_pairs(by))
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
        known &= np.asarray(pc.is_valid(column))
    return like(left, ours.append_column(covered, encoding.lengths(totals, known)))


@documented
def subtract(
    left: Frame,
    right: Any,
    *,
    on: Ends = ("ts", "te"),
    left_on: Ends | None = None,
    right_on: Ends | None = None,
    by: Keys | str = (),
) -> Frame:
    """Ends that are not of one type are brought to the common one of both tables.

    >>> r = pa.table({"id": ["a"], "ts": [1], "te": [9]})
    >>> s = pa.table({"ts": [0, 4], "te": [2, 6]})
    >>> subtract(r, s).to_pydict()
    {'id': ['a', 'a'], 'ts': [2, 6], 'te': [4, 9]}
    """
    ours, theirs, ends = as_table(left), as_table(right), left_on or on
    encoding, r, s = sides_of(ours, theirs, ends, right_on or on, key_pairs(by), keyless=True)
    r = r.where(r.ends["ts"] < r.ends["te"])
    merged = Merged.of(s, encoding)
    # Which of the merged intervals a row meets: from the first that ends after its start ...
    first = LookUp(merged.groups, merged.te).first_from(r.groups, r.ends["ts"], strict=True)
    # ... to the last that starts before its end.
    last = LookUp(merged.groups, merged.ts).last_up_to(r.groups, r.ends["te"], strict=True)
    count = np.where((first < 0) | (last < first), 0, last - first + 1)
    # Before each of these there may be a part, and one behind the last.
    row = np.repeat(np.arange(r.size), count + 1)
    number = np.arange(row.size) - np.repeat(np.cumsum(count + 1) - (count + 1), count + 1)
    met = first[row] + number  # the one behind the part
    columns = ends_of(ours, "left", ends), ends_of(theirs, "right", right_on or on)
    pool = pa.concat_arrays([encoding.cast(column) for pair in columns for column in pair])
    left_size, right_size = ours.num_rows, theirs.num_rows
    values, _ = encoding.encode(pool)
    start, stop = r.rows[row], r.rows[row] + left_size
    if merged.ts.size:
        behind = merged.last_rows[np.maximum(met - 1, 0)] + 2 * left_size + right_size
        start = np.where(number > 0, behind, start)
        ahead = merged.first_rows[np.minimum(met, merged.ts.size - 1)] + 2 * left_size
        stop = np.where(number < count[row], ahead, stop)
    some = values[start] < values[stop]
    found = ours.take(pa.array(r.rows[row[some]]))
    kinds = {column.type for pair in columns for column in pair}
    parts = [pool.take(pa.array(place[some])) for place in (start, stop)]
    if len(kinds) == 1:
        parts = [part.cast(next(iter(kinds))) for part in parts]
    return like(left, with_ends(found, ends, *parts))
