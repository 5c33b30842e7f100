# SPDX-License-Identifier: Apache-2.0
"""Aggregates of the valid rows, by time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from intervalsweep._errors import ArgumentError, EndpointTypeError, EndpointValueError
from intervalsweep._signatures import Frame
from intervalsweep._signatures import Names as Columns
from intervalsweep.arrow.dictionaries import plain, sort_values
from intervalsweep.arrow.encoding import Encoding, decode_floats
from intervalsweep.arrow.sides import order_of
from intervalsweep.arrow.tables import RowNumbers, groups_in, like
from intervalsweep.arrow.temporal.rows import NO_START, Histories, Names, Rows
from intervalsweep.columns import check_choice, check_columns, check_unique, listed
from intervalsweep.kernels import Int32Array, Int64Array
from intervalsweep.kernels.periods import ValueSweep, joined

# "count", or a pair of a function and a column.
Aggregate: TypeAlias = "str | tuple[str, str]"

FUNCTIONS = ("count", "sum", "avg", "min", "max")
_LARGEST = np.iinfo(np.int64).max
_Numbers = npt.NDArray[Any]


def aggregate(
    data: Frame, by: Columns = (), *, on: Names = ("ts", "te"), **aggregates: Aggregate
) -> Frame:
    """Return aggregates of the valid rows: a new row whenever one of them changes (6, 7).

    Parameters
    ----------
    data
        A table with a period.
    by
        Columns to group by. While a group has no valid rows, it has no row in the result. Without
        `by` the result has a row for each instant, also while no rows are valid.
    on
        The columns of start and end.
    aggregates
        The aggregates by the name of their result column: ``"count"`` for the number of rows, or a
        pair of a function and a column, such as ``("sum", "pay")``. The functions are `count`,
        `sum`, `avg`, `min` and `max`. As in SQL they ignore NULL, and are NULL (`count`: 0) without
        values. `sum` and `avg` need whole or floating-point numbers; `min` and `max` also work for
        dates, times and strings.

    Returns
    -------
    A table of the same kind as `data`
        The columns `by`, the aggregates and the period.

    Raises
    ------
    ArgumentError
        If no aggregate is given, or one is invalid.
    ColumnError
        If a column does not exist, or two columns of the result would have the same name.
    EndpointTypeError
        If a column has no sum, or the endpoints have no common order.
    EndpointValueError
        If a sum might exceed 64 bits.

    Examples
    --------
    >>> w = pa.table({"skill": ["SP", "SP"], "pay": [20, 30], "ts": [1, 3], "te": [5, 7]})
    >>> aggregate(w, "skill", people="count", most=("max", "pay")).to_pylist()[0]
    {'skill': 'SP', 'people': 1, 'most': 20, 'ts': 1, 'te': 3}
    >>> aggregate(w, people="count").to_pydict()
    {'people': [0, 1, 2, 1, 0], 'ts': [None, 1, 3, 5, 7], 'te': [1, 3, 5, 7, None]}
    """
    if not aggregates:
        raise ArgumentError('aggregate() needs at least one aggregate, such as people="count".')
    history = Histories((data, on))
    values, keys = history.values[0], listed(by)
    check_columns("given", values.column_names, *keys)
    rows, groups = _in_order(history, keys)
    some = values.take(pa.array(rows.numbers))
    measures = _Measures([], [])
    columns = {name: _column(name, one, some, measures) for name, one in aggregates.items()}
    check_unique([*keys, *columns])
    swept = measures.swept(groups, rows, is_grouped=bool(keys))
    found = {key: some.column(key).take(pa.array(swept.row)) for key in keys}
    found |= {name: column(swept) for name, column in columns.items()}
    return like(data, _merged(history, pa.table(found), swept))


def _in_order(history: Histories, keys: list[str]) -> tuple[Rows, Int32Array]:
    """Return the rows by group and start, and their groups."""
    rows = history.rows()
    groups = groups_in(history.values[0], keys)[rows.numbers]
    order = order_of(groups, rows.start)
    return rows.take(order), groups[order]


def _merged(history: Histories, values: Any, swept: _Swept) -> Any:
    """Return the rows as a table; equal rows whose periods touch become one.

    The sweep cuts a period when a swept value changes. The result may stay the same, for example
    the average of a new sum and a new count.
    """
    start, end, row = swept.start, swept.end, swept.row
    codes = groups_in(values, values.column_names)
    is_new = np.ones(start.size, dtype=np.bool_)
    touches = (start[1:] == end[:-1]) & (row[1:] == row[:-1])
    is_new[1:] = ~(touches & (codes[1:] == codes[:-1]))
    first = np.flatnonzero(is_new)
    last = np.append(first[1:], start.size)[: first.size] - 1
    return history.table(values.take(pa.array(first)), start[first], end[last])


@dataclass(frozen=True)
class _Swept:
    """The results of a sweep: a row of the group, a period, and the values of the measures."""

    row: RowNumbers
    start: Int64Array
    end: Int64Array
    integers: list[Int64Array]
    floats: list[_Numbers]


# Reads the values of a measure, or builds the column of an aggregate.
_Reader: TypeAlias = Callable[[_Swept], Any]


@dataclass(frozen=True)
class _Measures:
    """The measures that one sweep keeps for all aggregates: integers by kind, and float sums."""

    integers: list[tuple[str, Int64Array]]
    floats: list[_Numbers]

    def add(self, kind: str, values: Int64Array) -> _Reader:
        """Add a measure of integers: `sum`, `least` or `greatest`."""
        number = len(self.integers)
        self.integers.append((kind, values))
        return lambda swept: swept.integers[number]

    def add_float_sum(self, values: _Numbers) -> _Reader:
        """Add the sum of floating-point numbers."""
        number = len(self.floats)
        self.floats.append(values)
        return lambda swept: swept.floats[number]

    def swept(self, groups: Int32Array, rows: Rows, *, is_grouped: bool) -> _Swept:
        """Sweep the rows. Without groups there is a result for each instant, even without rows."""
        kinds = [kind for kind, _ in self.integers]
        sweep = ValueSweep(kinds, len(self.floats), empty=not is_grouped)
        integers = _stacked([values for _, values in self.integers], groups.size, np.int64)
        floats = _stacked(self.floats, groups.size, np.float64)
        if not is_grouped and not groups.size:
            # An empty period stands for the missing rows.
            groups, none = np.zeros(1, np.int32), np.zeros(1, np.int64)
            rows = Rows(none, none, none)
            integers, floats = np.zeros((len(integers), 1), np.int64), np.zeros((len(floats), 1))
        batches = sweep.feed(groups, rows.start, rows.end, integers, floats)
        parts = [(b.row, b.start, b.end, *b.values, *b.floats) for b in batches]
        row, start, end, *values = joined(parts, 3 + len(kinds) + len(self.floats))
        return _Swept(row, start, end, values[: len(kinds)], values[len(kinds) :])


def _column(name: str, given: Aggregate, table: Any, measures: _Measures) -> _Reader:
    """Add the measures of an aggregate, and return the function that builds its column."""
    function, column = (given, None) if isinstance(given, str) else given
    check_choice(name, function, FUNCTIONS)
    if column is None:
        if function != "count":
            raise ArgumentError(f'{name}="{function}" needs a column: ("{function}", "pay").')
        return _count(measures, np.ones(table.num_rows, dtype=np.int64))
    check_columns("given", table.column_names, column)
    values = table.column(column)
    known = np.asarray(values.is_valid()).astype(np.int64)
    if function == "count":
        return _count(measures, known)
    if function in ("min", "max"):
        return _extreme(function, values, known, measures)
    values = plain(values)
    if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        raise EndpointTypeError(
            f"{name}: {function} needs whole or floating-point numbers, but {column} is "
            f"{values.type}: cast it."
        )
    return _total(name, values, known, measures, is_average=function == "avg")


def _count(measures: _Measures, known: Int64Array) -> _Reader:
    count = measures.add("sum", known)
    return lambda swept: pa.array(count(swept))


def _extreme(function: str, values: Any, known: Int64Array, measures: _Measures) -> _Reader:
    count = measures.add("sum", known)
    encoded, decoded = _ordered(values)
    kind, neutral = ("least", _LARGEST) if function == "min" else ("greatest", NO_START)
    extreme = measures.add(kind, np.where(known > 0, encoded, neutral))
    return lambda swept: decoded(extreme(swept), count(swept) > 0).cast(values.type)


def _total(
    name: str, values: Any, known: Int64Array, measures: _Measures, *, is_average: bool
) -> _Reader:
    count = measures.add("sum", known)
    encoding = Encoding([values.type])
    encoded, valid = encoding.encode(values)
    if encoding.is_float:
        total = measures.add_float_sum(np.where(valid, decode_floats(encoded), 0.0))
    else:
        total = measures.add("sum", _summed(name, encoded, valid))

    def column(swept: _Swept) -> Any:
        counts, totals = count(swept), total(swept)
        some = counts > 0
        return pa.array(totals / np.where(some, counts, 1) if is_average else totals, mask=~some)

    return column


def _ordered(values: Any) -> tuple[Int64Array, Callable[[Int64Array, Any], Any]]:
    """Return values as integers in the same order, and a function that decodes them."""
    is_coded = pa.types.is_dictionary(values.type)
    if is_coded or pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        known = values.unique().drop_null()
        known = known.take(pc.sort_indices(sort_values(known)))
        ranks = pc.index_in(plain(values), plain(known)).fill_null(0).cast(pa.int64()).to_numpy()
        return ranks, lambda found, some: known.take(pa.array(np.where(some, found, 0), mask=~some))
    encoding = Encoding([values.type])
    return encoding.encode(values)[0], encoding.decode


def _summed(name: str, values: Int64Array, valid: Any) -> Int64Array:
    """Return values with 0 for NULL. Raises EndpointValueError if a sum might exceed 64 bits."""
    found = np.where(valid, values, 0)
    if np.abs(found.astype(np.float64)).sum() > 0.99 * _LARGEST:
        raise EndpointValueError(f"{name}: sums might exceed 64 bits: cast the column to a float.")
    return found


def _stacked(columns: list[_Numbers], size: int, dtype: Any) -> _Numbers:
    return np.stack(columns) if columns else np.empty((0, size), dtype=dtype)
