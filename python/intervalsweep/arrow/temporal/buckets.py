# SPDX-License-Identifier: Apache-2.0
"""Cuts each row's period at the edges of buckets, for aggregates over time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from intervalsweep._errors import EndpointValueError
from intervalsweep._signatures import Frame
from intervalsweep.arrow.tables import like
from intervalsweep.arrow.temporal.fragments import clipped, length_of
from intervalsweep.arrow.temporal.rows import NO_END, NO_START, Histories, Names, Rows
from intervalsweep.columns import check_unique
from intervalsweep.kernels import Int64Array

_Counts = npt.NDArray[np.uint64]


def resample(
    data: Frame,
    every: Any,
    *,
    origin: Any = None,
    period: tuple[Any, Any] = (None, None),
    on: Names = ("ts", "te"),
    names: tuple[str, str, str] = ("bucket_start", "bucket_end", "share"),
    max_buckets: int = 1_000_000,
) -> Frame:
    """Cut each row at the edges of buckets that follow each other without gaps.

    With the share of the bucket's time, the mean of a value, weighted by time, is
    ``sum(value * share) / sum(share)`` for each bucket. Calendar units such as months, whose
    lengths differ, need Spark: :meth:`intervalsweep.temporal.Relation.resample`.

    Parameters
    ----------
    data
        A table with a period.
    every
        The length of the buckets: a number in the unit of the period, or a timedelta.
    origin
        The start of one of the buckets. The default is 0, or 1970-01-01.
    period
        The start and the end of the time that is returned; None means no limit.
    on
        The columns of start and end.
    names
        The names of the columns that are added.
    max_buckets
        The most buckets of one row.

    Returns
    -------
    A table of the same kind as `data`
        The rows, for each bucket that they overlap: the values, their part of the bucket, the start
        and the end of the bucket, and the share of the bucket's time that the part covers. An edge
        that the type of the period does not have is NULL.

    Raises
    ------
    ArgumentError
        If `every` is not positive, or the period ends before it starts.
    ColumnError
        If a column does not exist, or two columns of the result would have the same name.
    EndpointTypeError
        If the period consists of floating-point numbers.
    EndpointValueError
        If a row has no start or no end, or more than `max_buckets` buckets.

    Examples
    --------
    >>> w = pa.table({"price": [3], "ts": [5], "te": [12]})
    >>> for row in resample(w, 10).to_pylist():
    ...     print(list(row.values()))
    [3, 5, 10, 0, 10, 0.5]
    [3, 10, 12, 10, 20, 0.2]
    """
    one = Histories((data, on))
    length = length_of(one, "every", every)
    rows = clipped(one, one.rows(), *period)
    if np.any((rows.start == NO_START) | (rows.end == NO_END)):
        raise EndpointValueError(
            "A row without a start or an end cannot be cut into buckets: set period=(start, end)."
        )
    check_unique([*one.values[0].column_names, *on, *names])
    zero = one.bound("origin", origin, 0)
    # The remainders are taken first, because the difference itself might exceed 64 bits.
    into = (rows.start % length - zero % length) % length
    count = _buckets(rows, length - into, length)
    _check(count, max_buckets)
    row = np.repeat(np.arange(count.size), count.astype(np.int64))
    number = np.arange(row.size) - np.repeat(np.cumsum(count) - count, count.astype(np.int64))
    # An edge beyond 64 bits is on the wrong side of the row's part.
    start = (rows.start - into)[row] + number.astype(np.int64) * length
    end = start + length
    start = np.where((number == 0) & (start > rows.start[row]), NO_START, start)
    ts = np.maximum(start, rows.start[row])
    end = np.where(end <= ts, NO_END, end)
    te = np.minimum(end, rows.end[row])
    values = one.values[0].take(pa.array(rows.numbers[row]))
    columns = (
        one.decoded(start),
        one.decoded(end),
        pa.array(_distance(ts, te) / _distance(start, end)),
    )
    table = one.table(values, ts, te)
    for name, column in zip(names, columns, strict=True):
        table = table.append_column(name, column)
    return like(data, table)


def _distance(start: Int64Array, end: Int64Array) -> _Counts:
    """Return distances as unsigned numbers, which cannot overflow."""
    return np.asarray(end.view(np.uint64) - start.view(np.uint64))


def _buckets(rows: Rows, rest: Int64Array, length: int) -> _Counts:
    """Return the number of buckets of each row, whose first one ends `rest` after its start."""
    first = np.where(rows.start > NO_END - rest, NO_END, rows.start + rest)
    more = _distance(np.minimum(first, rows.end), rows.end)
    # ceil(more / length) + 1
    return more // np.uint64(length) + (more % np.uint64(length) > 0) + np.uint64(1)


def _check(count: _Counts, most: int) -> None:
    if np.any(count > most):
        raise EndpointValueError(
            f"A row has {count.max()} buckets, and max_buckets is {most}: choose longer buckets, "
            "limit the rows by period=, or set max_buckets."
        )
