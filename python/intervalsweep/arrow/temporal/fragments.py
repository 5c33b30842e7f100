# SPDX-License-Identifier: Apache-2.0
"""Row by row another period: windows, pieces, a part of the history, an instant."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pyarrow as pa

from intervalsweep._errors import ArgumentError, EndpointTypeError, EndpointValueError
from intervalsweep._signatures import Frame
from intervalsweep.arrow.tables import like
from intervalsweep.arrow.temporal.rows import NO_END, NO_START, Histories, Names, Rows
from intervalsweep.columns import check_choice

# What a window does with a row that has an end.
OnBounded: TypeAlias = Literal["replace", "error"]


def split(data: Frame, max_length: Any, *, on: Names = ("ts", "te")) -> Frame:
    """Cut the rows, from their starts on, so that none is longer than `max_length` (Alg. 11).

    `max_length` is a number in the unit of the period, or a timedelta. Raises EndpointValueError
    for a row that has no start or no end.

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
    """Have each row valid as long as a window that has its start (9, 10).

    With `sliding` it is valid so long, from its start on; with `fixed` to the end of the window
    that its start is in, of windows of that length beside each other, of which one begins at
    `origin`: 0, or 1970-01-01. An end that a row has already is replaced, or is an error with
    `on_bounded="error"`. Raises EndpointValueError for such a row, and for one without a start.

    >>> w = pa.table({"name": ["Ann", "Joe"], "ts": [3, 9], "te": [8, 9]})
    >>> window(w, 4).to_pydict()
    {'name': ['Ann'], 'ts': [3], 'te': [7]}
    >>> window(w, fixed=4).column("te").to_pylist()
    [4]
    """
    if (sliding is None) == (fixed is None):
        raise ArgumentError("window takes one of sliding and fixed: the length of the windows.")
    check_choice("on_bounded", on_bounded, get_args(OnBounded))
    one = Histories((data, on))
    rows = one.rows()
    if on_bounded == "error" and np.any(rows.end != NO_END):
        raise EndpointValueError(
            "A window over a row that has an end: say on_bounded='replace' to give it the window's."
        )
    if np.any(rows.start == NO_START):
        raise EndpointValueError(
            "A row has no start, and a window begins with it: leave such rows out."
        )
    name, given = ("sliding", sliding) if fixed is None else ("fixed", fixed)
    length = _length(one, name, given)
    rest = np.full(rows.start.size, length, dtype=np.int64)
    if fixed is not None:
        zero = one.bound("origin", origin, 0)
        # In two steps: the difference itself might leave 64 bits.
        rest -= (rows.start % length - zero % length) % length
    end = np.where(rows.start > NO_END - rest, NO_END, rows.start + rest)
    return _of(data, one, Rows(rows.numbers, rows.start, end))


def period(data: Frame, start: Any, end: Any, *, on: Names = ("ts", "te")) -> Frame:
    """Return the history from `start` to before `end`; None is no bound.

    >>> w = pa.table({"name": ["Ann", "Joe"], "ts": [3, 9], "te": [8, None]})
    >>> period(w, 5, 12).to_pydict()
    {'name': ['Ann', 'Joe'], 'ts': [5, 9], 'te': [8, 12]}
    """
    one = Histories((data, on))
    rows = one.rows()
    from_ = np.maximum(rows.start, one.bound("start", start, NO_START))
    to = np.minimum(rows.end, one.bound("end", end, NO_END))
    return _of(data, one, Rows(rows.numbers, from_, to).take(from_ < to))


def at(data: Frame, instant: Any, *, on: Names = ("ts", "te")) -> Frame:
    """Return the rows that are valid at an instant (17), without their periods.

    >>> w = pa.table({"name": ["Ann", "Joe"], "ts": [3, 9], "te": [8, None]})
    >>> at(w, 10).to_pylist()
    [{'name': 'Joe'}]
    """
    if instant is None:
        raise ArgumentError("instant=None is no instant.")
    one = Histories((data, on))
    rows, when = one.rows(), one.bound("instant", instant, 0)
    valid = rows.take((rows.start <= when) & (when < rows.end))
    return like(data, one.values[0].take(pa.array(valid.numbers)))


def pieces(one: Histories, rows: Rows, max_length: Any) -> Rows:
    """Cut rows that have both ends into pieces of that length at most."""
    length = _length(one, "max_length", max_length)
    if np.any((rows.start == NO_START) | (rows.end == NO_END)):
        raise EndpointValueError(
            "A row without a start or an end cannot be cut into pieces: take a part of the history "
            "by period() first."
        )
    # Up from the difference, which as an unsigned number does not overflow.
    size = rows.end.view(np.uint64) - rows.start.view(np.uint64)
    count = ((size - np.uint64(1)) // np.uint64(length) + np.uint64(1)).astype(np.int64)
    row = np.repeat(np.arange(count.size), count)
    number = np.arange(row.size) - np.repeat(np.cumsum(count) - count, count)
    start = rows.start[row] + number * length
    is_last = number == count[row] - 1
    end = np.where(is_last, rows.end[row], start + np.where(is_last, 0, length))
    return Rows(rows.numbers[row], start, end)


def _length(one: Histories, name: str, value: Any) -> int:
    """Return a length in the unit of the integers; raises for one that is not positive."""
    if one.encoding.is_float:
        raise EndpointTypeError(
            f"{name}={value!r}: periods of floating-point numbers have no pieces: cast them."
        )
    length = int(one.encoding.limit(name, value))
    if not 0 < length <= NO_END:
        raise ArgumentError(f"{name}={value!r} is no length of more than 0.")
    return length


def _of(data: Frame, one: Histories, rows: Rows) -> Frame:
    values = one.values[0].take(pa.array(rows.numbers))
    return like(data, one.table(values, rows.start, rows.end))
