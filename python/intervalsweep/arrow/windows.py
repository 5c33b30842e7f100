# SPDX-License-Identifier: Apache-2.0
"""Aggregates over a window of another table for each row: a window is a run of sorted rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from intervalsweep._errors import ArgumentError, EndpointTypeError, EndpointValueError
from intervalsweep._signatures import (
    ArrowFunctions,
    Emit,
    Frame,
    implements,
    named_aggregates,
    revision_columns,
)
from intervalsweep.arrow.dictionaries import plain, sort_values
from intervalsweep.arrow.encoding import Encoding
from intervalsweep.arrow.search.islands import in_order
from intervalsweep.arrow.sides import STARTS, Side, TwoTables
from intervalsweep.arrow.tables import column_of, like
from intervalsweep.columns import check_choice, check_columns, check_count, check_unique
from intervalsweep.kernels import Bounds, Boxes, Int64Array, PointIndex, RunSweep, group_offsets
from intervalsweep.relations import suggestion

# Over tables each row is returned once, so its revision is 1 and final.
_OF_TABLES = {"revision": pa.scalar(1, pa.int32()), "is_final": pa.scalar(True)}
_CALL = re.compile(r"\s*(\w+)\s*\(\s*(\*|`[^`]+`|[\w.]+)\s*\)\s*")


@implements(ArrowFunctions.window_union)
def window_union(
    base: Frame,
    probe: Any,
    *,
    aggs: Mapping[str, Any] | None,
    pre: Any,
    fol: Any,
    max_rows: int | None,
    emit: Emit,
    named: Any,
    **names: Any,
) -> Frame:
    """
    Notes
    -----
    No pairs are built. The cost for each row of `base` is at most logarithmic in the number of rows
    in its window, except for ``list``.

    Examples
    --------
    >>> cards = pa.table({"card": ["x", "x"], "ts": [10, 14]})
    >>> paid = pa.table({"card": ["x"] * 3, "ts": [9, 12, 13], "v": [5, 7, 1]})
    >>> aggs = {"s": "sum(v)", "c": "count(*)"}
    >>> window_union(cards, paid, by="card", pre=2, aggs=aggs).select(["s", "c"]).to_pylist()
    [{'s': 5, 'c': 1}, {'s': 8, 'c': 2}]
    """
    check_choice("emit", emit, get_args(Emit))
    both = TwoTables.with_instants(base, probe, ("base", "probe"), **names)
    ours, theirs = both.left, both.right
    marks = revision_columns(emit)
    given = named_aggregates(aggs, named)
    check_unique([*ours.column_names, *given, *marks])
    asked = {name: _read(name, text, theirs.column_names) for name, text in given.items()}

    r, s = both.sides(STARTS)
    s = in_order(Side(s.numbers, s.groups, {"ts": s.ends["ts"], "te": s.ends["ts"]}))
    windows = _Windows.of(ours.num_rows, r, s, both.encoding, pre, fol)
    if max_rows is not None:
        windows = windows.last(check_count("max_rows", max_rows))
    result = ours
    for name, (function, column) in asked.items():
        values = None if column is None else column_of(theirs, column, s.rows).combine_chunks()
        result = result.append_column(name, _AGGREGATES[function](windows, values))
    for name in marks:
        result = result.append_column(name, pa.repeat(_OF_TABLES[name], result.num_rows))
    return like(base, result)


def _read(name: str, text: str, known: list[str]) -> tuple[str, str | None]:
    """Return the function and the column of an aggregate; the column is None for `count(*)`."""
    call = _CALL.fullmatch(text) if isinstance(text, str) else None
    if call is None:
        raise ArgumentError(
            f"aggs[{name!r}] must be an aggregate of one column, such as 'sum(v)'; got {text!r}."
        )
    function, column = call[1].lower(), call[2].strip("`")
    if function not in _AGGREGATES:
        raise ArgumentError(
            f"aggs[{name!r}] has the unknown function {call[1]!r}. "
            f"{suggestion(function, _AGGREGATES)}"
        )
    if column == "*":
        if function != "count":
            raise ArgumentError(f"aggs[{name!r}] is {text!r}: only count accepts *.")
        return function, None
    check_columns("probe", known, column)
    return function, column


@dataclass(frozen=True)
class _Windows:
    """The window of each base row: a run of the sorted probe rows."""

    first: Int64Array
    count: Int64Array

    @staticmethod
    def of(size: int, r: Side, s: Side, encoding: Encoding, pre: Any, fol: Any) -> _Windows:
        asked, some = r.ends["ts"], np.ones(r.size, dtype=np.bool_)
        lower = upper = None
        if pre is not None:
            # A lower bound: negate after rounding down, so that the bound is rounded up.
            back = encoding.difference("pre", pre)
            lower, is_any = encoding.moved(asked, -back)
            some &= is_any | (back > 0)
        if fol is not None:
            ahead = encoding.difference("fol", fol)
            upper, is_any = encoding.moved(asked, ahead)
            some &= is_any | (ahead > 0)
        index = PointIndex(s.ends["ts"], offsets=group_offsets(s.groups))
        boxes = Boxes(r.size, Bounds(lower, upper), group=r.groups)
        first, count = (np.zeros(size, dtype=np.int64) for _ in range(2))
        for batch in RunSweep(index, boxes):
            rows = r.rows[batch.box]
            first[rows] = batch.first
            count[rows] = np.where(some[batch.box], batch.count, 0)
        return _Windows(first, count)

    def last(self, most: int) -> _Windows:
        """Return the windows with their last rows only, at most `most`."""
        kept = np.minimum(self.count, most)
        return _Windows(self.first + self.count - kept, kept)

    @cached_property
    def largest(self) -> int:
        return int(self.count.max(initial=0))

    def differences(self, sums: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the differences of running sums, which begin with 0, over each window."""
        return np.asarray(sums[self.first + self.count] - sums[self.first])

    def fold(
        self, values: npt.NDArray[Any], of_two: Callable[..., npt.NDArray[Any]], empty: Any
    ) -> npt.NDArray[Any]:
        """Combine the values of each window with `of_two`, in blocks of 1, 2, 4, ... values.

        No value is ever subtracted. So sums of floats do not lose digits to large sums, and
        functions without an inverse, such as minimum, are possible. O(log n) steps over all windows
        for windows of up to n values.
        """
        result = np.full(self.first.size, empty, dtype=values.dtype)
        start, block = self.first.copy(), 1
        while block <= self.largest:
            rows = np.flatnonzero(self.count & block)
            result[rows] = of_two(result[rows], values[start[rows]])
            start[rows] += block
            values = of_two(values[:-block], values[block:])
            block *= 2
        return result


def _count(windows: _Windows, values: Any) -> Any:
    if values is None or not values.null_count:
        return pa.array(windows.count)
    valid = pc.is_valid(values).to_numpy(zero_copy_only=False)
    return pa.array(windows.differences(_running(valid.astype(np.int64))))


def _running(values: Int64Array) -> Int64Array:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(values)])


def _sum(windows: _Windows, values: Any) -> Any:
    values = plain(values)
    kind, none = values.type, _is_none(windows, values)
    if pa.types.is_floating(kind):
        floats = values.cast(pa.float64()).fill_null(0.0).to_numpy()
        return pa.array(windows.fold(floats, np.add, 0.0), mask=none)
    scale = kind.scale if pa.types.is_decimal(kind) else None
    sums = _whole_sums(windows, _whole(values))
    if scale is None:
        return pa.array(sums, mask=none)
    wide = np.stack([sums, sums >> 63], axis=1)
    exact = pa.Array.from_buffers(pa.decimal128(38, scale), len(sums), [None, pa.py_buffer(wide)])
    return pc.if_else(pa.array(~none), exact, None)


def _whole(values: Any) -> Int64Array:
    kind = values.type
    if not (pa.types.is_integer(kind) or pa.types.is_decimal(kind)):
        raise EndpointTypeError(f"sum and avg need numbers; got a column of {kind}.")
    numbers, valid = Encoding([kind]).encode(values)
    return np.where(valid, numbers, 0)


def _whole_sums(windows: _Windows, values: Int64Array) -> Int64Array:
    """Return exact sums: upper and lower halves are added separately, so neither can overflow."""
    half = np.int64(32)
    high = windows.differences(_running(values >> half))
    low = windows.differences(_running(values & np.int64(0xFFFFFFFF)))
    high = high + (low >> half)
    if np.any((high < -(1 << 31)) | (high >= 1 << 31)):
        raise EndpointValueError(
            "A sum exceeds 64 bits: cast the column to a floating-point type first."
        )
    return np.asarray((high << half) | (low & np.int64(0xFFFFFFFF)))


def _average(windows: _Windows, values: Any) -> Any:
    counts = _count(windows, values).to_numpy()
    sums = _sum(windows, values).cast(pa.float64(), safe=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = sums.fill_null(0.0).to_numpy() / counts
    return pa.array(means, mask=counts == 0)


def _extreme(windows: _Windows, values: Any, *, least: bool) -> Any:
    """Fold the ranks of the values, for any type; `place` maps a rank back to its position."""
    ranks = pc.rank(sort_values(values), sort_keys="ascending", tiebreaker="first")
    order = ranks.to_numpy().astype(np.int64)
    of_two, empty = (np.minimum, len(values) + 1) if least else (np.maximum, 0)
    if values.null_count:
        order[pc.is_null(values).to_numpy(zero_copy_only=False)] = empty
    found = windows.fold(order, of_two, empty)
    place = np.full(len(values) + 2, -1, dtype=np.int64)
    place[order] = np.arange(len(values))
    place[empty] = -1
    positions = place[found]
    return values.take(pa.array(positions, mask=positions < 0))


def _end(windows: _Windows, values: Any, *, last: bool) -> Any:
    positions = windows.first + (windows.count - 1 if last else 0)
    return values.take(pa.array(positions, mask=windows.count == 0))


def _list(windows: _Windows, values: Any) -> Any:
    valid = pc.is_valid(values).to_numpy(zero_copy_only=False)
    known = _running(valid.astype(np.int64))
    count = windows.differences(known)
    offsets = _running(count)
    first = np.repeat(known[windows.first] - offsets[:-1], count)
    values = values.drop_null().take(pa.array(first + np.arange(offsets[-1])))
    return pa.LargeListArray.from_arrays(pa.array(offsets), values)


def _is_none(windows: _Windows, values: Any) -> npt.NDArray[np.bool_]:
    return np.asarray(_count(windows, values).to_numpy() == 0)


_AGGREGATES: dict[str, Callable[[_Windows, Any], Any]] = {
    "count": _count,
    "sum": _sum,
    "avg": _average,
    "min": lambda windows, values: _extreme(windows, values, least=True),
    "max": lambda windows, values: _extreme(windows, values, least=False),
    "first": lambda windows, values: _end(windows, values, last=False),
    "last": lambda windows, values: _end(windows, values, last=True),
    "list": _list,
}
