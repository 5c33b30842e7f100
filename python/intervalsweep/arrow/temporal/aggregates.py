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
from intervalsweep.arrow.encoding import Encoding, decode_floats
from intervalsweep.arrow.tables import groups_of, like
from intervalsweep.arrow.temporal.rows import NO_START, Histories, Names, Rows
from intervalsweep.columns import Naming, check_choice, check_columns, listed
from intervalsweep.kernels import Int64Array
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
    one = Histories((data, on))
    values, keys = one.values[0], listed(by)
    check_columns("given", values.column_names, *keys)
    groups, _ = groups_of(
        values, values.slice(0, 0), [(key, key) for key in keys], null_equals_null=True
    )
    rows = one.rows()
    order = np.lexsort((rows.start, groups[rows.numbers]))
    rows = rows.take(order)
    some = values.take(pa.array(rows.numbers))
    wanted = {name: _Wanted.of(name, given, some) for name, given in aggregates.items()}
    measures = [m for one_of in wanted.values() for m in one_of.integers]
    numbers = [m for one_of in wanted.values() for m in one_of.floats]
    sweep = ValueSweep([kind for kind, _ in measures], len(numbers), empty=not keys)
    sorted_groups = groups[rows.numbers]
    if not keys and not rows.numbers.size:  # without rows the result still has one row
        rows = Rows(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64))
        sorted_groups = np.zeros(1, dtype=np.int32)
        measures = [(kind, np.zeros(1, dtype=np.int64)) for kind, _ in measures]
        numbers = [np.zeros(1) for _ in numbers]
    batches = sweep.feed(
        sorted_groups,
        rows.start,
        rows.end,
        _stacked([column for _, column in measures], rows.start.size, np.int64),
        _stacked(numbers, rows.start.size, np.float64),
    )
    parts = [(b.row, b.start, b.end, *b.values, *b.floats) for b in batches]
    row, start, end, *swept = joined(parts, 3 + len(measures) + len(numbers))
    ints, floats = swept[: len(measures)], swept[len(measures) :]
    of_row = pa.array(rows.numbers[row])
    found = {key: values.column(key).take(of_row) for key in keys}
    Naming.of([*keys, *wanted], [], [], "")
    at = [0, 0]
    for name, one_of in wanted.items():
        more = len(one_of.integers), len(one_of.floats)
        columns = ints[at[0] : at[0] + more[0]], floats[at[1] : at[1] + more[1]]
        found[name] = one_of.result(*columns)
        at = [at[0] + more[0], at[1] + more[1]]
    return like(data, _merged(one, pa.table(found), start, end, row))


def _merged(one: Histories, values: Any, start: Int64Array, end: Int64Array, row: Any) -> Any:
    """Return the rows as a table; equal rows whose periods touch become one.

    The sweep cuts a period when a swept value changes. The result may stay the same, for example
    the average of a new sum and a new count.
    """
    keys = [(name, name) for name in values.column_names]
    codes, _ = groups_of(values, values.slice(0, 0), keys, null_equals_null=True)
    is_new = np.ones(start.size, dtype=np.bool_)
    touches = (start[1:] == end[:-1]) & (row[1:] == row[:-1])
    is_new[1:] = ~(touches & (codes[1:] == codes[:-1]))
    first = np.flatnonzero(is_new)
    last = np.append(first[1:], start.size)[: first.size] - 1
    return one.table(values.take(pa.array(first)), start[first], end[last])


@dataclass(frozen=True)
class _Wanted:
    """An aggregate: the measures that the sweep keeps for it, and how they become its column."""

    function: str
    kind: Any
    integers: list[tuple[str, Int64Array]]
    floats: list[_Numbers]
    # For min and max: decodes the integers.
    decoded: Callable[[Int64Array, Any], Any] | None = None

    @staticmethod
    def of(name: str, given: Aggregate, table: Any) -> _Wanted:
        function, column = (given, None) if isinstance(given, str) else given
        check_choice(name, function, FUNCTIONS)
        if column is None:
            if function != "count":
                raise ArgumentError(f'{name}="{function}" needs a column: ("{function}", "pay").')
            ones = np.ones(table.num_rows, dtype=np.int64)
            return _Wanted(function, pa.int64(), [("sum", ones)], [])
        check_columns("given", table.column_names, column)
        values = table.column(column)
        there = np.asarray(values.is_valid()).astype(np.int64)
        known = ("sum", there)
        if function == "count":
            return _Wanted(function, pa.int64(), [known], [])
        is_number = pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
        if function in ("sum", "avg") and not is_number:
            raise EndpointTypeError(
                f"{name}: {function} needs whole or floating-point numbers, but {column} is "
                f"{values.type}: cast it."
            )
        if function in ("min", "max"):
            encoded, decoded = _ordered(values)
            kind, neutral = ("least", _LARGEST) if function == "min" else ("greatest", NO_START)
            measure = kind, np.where(there > 0, encoded, neutral)
            return _Wanted(function, values.type, [known, measure], [], decoded)
        encoding = Encoding([values.type])
        encoded, valid = encoding.encode(values)
        if encoding.is_float:
            floats = np.where(valid, decode_floats(encoded), 0.0)
            return _Wanted(function, pa.float64(), [known], [floats])
        return _Wanted(function, pa.int64(), [known, ("sum", _summed(name, encoded, valid))], [])

    def result(self, integers: list[_Numbers], floats: list[_Numbers]) -> Any:
        if self.function == "count":
            return pa.array(integers[0])
        some = integers[0] > 0
        if self.function in ("min", "max"):
            assert self.decoded is not None
            return self.decoded(integers[1], some).cast(self.kind)
        total = floats[0] if floats else integers[1]
        if self.function == "avg":
            total = total / np.where(some, integers[0], 1)
        return pa.array(total, mask=~some)


def _ordered(values: Any) -> tuple[Int64Array, Callable[[Int64Array, Any], Any]]:
    """Return values as integers in the same order, and a function that decodes them."""
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        known = values.unique().drop_null()
        known = known.take(pc.sort_indices(known))
        ranks = pc.index_in(values, known).fill_null(0).cast(pa.int64()).to_numpy()
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
