# SPDX-License-Identifier: Apache-2.0
"""Operators that change each row's period: split, window, clip to a period or an instant."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pyarrow as pa

from intervalsweep._errors import ArgumentError, EndpointTypeError, EndpointValueError
from intervalsweep._signatures import Frame
from intervalsweep.arrow.tables import like
from intervalsweep.arrow.temporal.rows import NO_END, NO_START, Histories, Names, Rows
from intervalsweep.columns import check_choice

# The treatment of rows that already have an end.
OnBounded: TypeAlias = Literal["replace", "error"]


def split(data: Frame, max_length: Any, *, on: Names = ("ts", "te")) -> Frame:
    """Cut each row, from its start on, into rows of at most `max_length` (Alg. 11).

    Parameters
    ----------
    data
        A table with a period.
    max_length
        A number in the unit of the period, or a timedelta.
    on
        The columns of start and end.

    Raises
    ------
    ArgumentError
        If `max_length` is not positive.
    EndpointTypeError
        If the period consists of floating-point numbers.
    EndpointValueError
        If a row has no start or no end.

    Examples
    --------
    >>> w = pa.table({"name": ["Ann"], "ts": [3], "te": [8]})
    >>> split(w, 2).to_pydict()
    {'name': ['Ann', 'Ann', 'Ann'], 'ts': [3, 5, 7], 'te': [5, 7, 8]}
    """
    one = Histories((data, on))
    return _of(data, one, pieces(one, one.rows(), max_length))


def window(
    data: Frame,
    sliding: Any = None,
    *,
    fixed: Any = None,
    origin: Any = None,
    on_bounded: OnBounded = "replace",
    on: Names = ("ts", "te"),
) -> Frame:
    """Replace the end of each row by the end of a window that contains its start (9, 10).

    Parameters
    ----------
    data
        A table with a period.
    sliding
        The row is valid for this length from its start on: a number in the unit of the period, or a
        timedelta.
    fixed
        The row is valid to the end of the fixed window that contains its start. Fixed windows have
        this length and follow each other without gaps.
    origin
        The start of one of the fixed windows. The default is 0, or 1970-01-01.
    on_bounded
        For a row that already has an end: ``replace`` the end, or raise an ``error``.
    on
        The columns of start and end.

    Raises
    ------
    ArgumentError
        If not exactly one of `sliding` and `fixed` is given, or it is not positive.
    EndpointTypeError
        If the period consists of floating-point numbers.
    EndpointValueError
        If a row has no start, or has an end with ``on_bounded="error"``.

    Examples
    --------
    >>> w = pa.table({"name": ["Ann", "Joe"], "ts": [3, 9], "te": [8, 9]})
    >>> window(w, 4).to_pydict()
    {'name': ['Ann'], 'ts': [3], 'te': [7]}
    >>> window(w, fixed=4).column("te").to_pylist()
    [4]
    """
    if (sliding is None) == (fixed is None):
        raise ArgumentError("window() needs one of sliding and fixed: the length of the windows.")
    check_choice("on_bounded", on_bounded, get_args(OnBounded))
    one = Histories((data, on))
    rows = one.rows()
    if on_bounded == "error" and np.any(rows.end != NO_END):
        raise EndpointValueError(
            "A row has an end already: set on_bounded='replace' to replace it by the window's end."
        )
    if np.any(rows.start == NO_START):
        raise EndpointValueError("A row has no start, so it has no window: remove such rows first.")
    name, given = ("sliding", sliding) if fixed is None else ("fixed", fixed)
    length = length_of(one, name, given)
    rest = np.full(rows.start.size, length, dtype=np.int64)
    if fixed is not None:
        zero = one.bound("origin", origin, 0)
        # The remainders are taken first, because the difference itself might exceed 64 bits.
        rest -= (rows.start % length - zero % length) % length
    end = np.where(rows.start > NO_END - rest, NO_END, rows.start + rest)
    return _of(data, one, Rows(rows.numbers, rows.start, end))


def period(data: Frame, start: Any, end: Any, *, on: Names = ("ts", "te")) -> Frame:
    """Return the history from `start` to before `end`; None means no limit.

    Periods are clipped to this range, and rows outside of it are dropped.

    Raises
    ------
    ArgumentError
        If `end` is before `start`.

    Examples
    --------
    >>> w = pa.table({"name": ["Ann", "Joe"], "ts": [3, 9], "te": [8, None]})
    >>> period(w, 5, 12).to_pydict()
    {'name': ['Ann', 'Joe'], 'ts': [5, 9], 'te': [8, 12]}
    """
    one = Histories((data, on))
    return _of(data, one, clipped(one, one.rows(), start, end))


def at(data: Frame, instant: Any, *, on: Names = ("ts", "te")) -> Frame:
    """Return the rows that are valid at an instant (17), without their periods.

    Raises
    ------
    ArgumentError
        If `instant` is None.
    EndpointTypeError
        If `instant` does not have the type of the period.

    Examples
    --------
    >>> w = pa.table({"name": ["Ann", "Joe"], "ts": [3, 9], "te": [8, None]})
    >>> at(w, 10).to_pylist()
    [{'name': 'Joe'}]
    """
    if instant is None:
        raise ArgumentError("`instant` must not be None.")
    one = Histories((data, on))
    rows, when = one.rows(), one.bound("instant", instant, 0)
    valid = rows.take((rows.start <= when) & (when < rows.end))
    return like(data, one.values[0].take(pa.array(valid.numbers)))


def clipped(one: Histories, rows: Rows, start: Any, end: Any) -> Rows:
    """Return the parts of rows from `start` to before `end`; None means no limit."""
    first, last = one.bound("start", start, NO_START), one.bound("end", end, NO_END)
    if last < first:
        raise ArgumentError(f"`end` must not be before `start`; got {start!r} and {end!r}.")
    from_, to = np.maximum(rows.start, first), np.minimum(rows.end, last)
    return Rows(rows.numbers, from_, to).take(from_ < to)


def pieces(one: Histories, rows: Rows, max_length: Any) -> Rows:
    """Cut rows that have a start and an end into fragments of at most `max_length`."""
    length = length_of(one, "max_length", max_length)
    if np.any((rows.start == NO_START) | (rows.end == NO_END)):
        raise EndpointValueError(
            "A row without a start or an end cannot be split: clip the history with period() first."
        )
    # ceil(size / length). As an unsigned number the size cannot overflow.
    size = rows.end.view(np.uint64) - rows.start.view(np.uint64)
    count = ((size - np.uint64(1)) // np.uint64(length) + np.uint64(1)).astype(np.int64)
    row = np.repeat(np.arange(count.size), count)
    number = np.arange(row.size) - np.repeat(np.cumsum(count) - count, count)
    start = rows.start[row] + number * length
    is_last = number == count[row] - 1
    end = np.where(is_last, rows.end[row], start + np.where(is_last, 0, length))
    return Rows(rows.numbers[row], start, end)


def length_of(one: Histories, name: str, value: Any) -> int:
    """Return a length in the unit of the integers. Raises ArgumentError if it is not positive."""
    if one.encoding.is_float:
        raise EndpointTypeError(
            f"{name}={value!r}: periods of floating-point numbers cannot be split: cast them to "
            "integers or decimals."
        )
    return one.encoding.length(name, value)


def _of(data: Frame, one: Histories, rows: Rows) -> Frame:
    values = one.values[0].take(pa.array(rows.numbers))
    return like(data, one.table(values, rows.start, rows.end))
