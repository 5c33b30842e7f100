# SPDX-License-Identifier: Apache-2.0
"""The two sides of a function of two tables, with endpoints as integers and keys as numbers."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from intervalsweep._errors import EndpointValueError
from intervalsweep._signatures import Nulls
from intervalsweep.arrow.encoding import Encoding, Mask
from intervalsweep.arrow.tables import (
    RowNumbers,
    as_table,
    ends_of,
    groups_of,
    with_group_of_nulls,
)
from intervalsweep.arrow.threads import sort
from intervalsweep.columns import SideNames
from intervalsweep.kernels import Int32Array, Int64Array, group_order, is_sorted
from intervalsweep.kernels.arrays import MAX_ROWS

# Up to this many rows, row numbers are 32-bit: set operations number both endpoints of each row.
_SMALL = MAX_ROWS // 2
# Which of the endpoints of the left side and of the right side a function reads.
_Used: TypeAlias = "tuple[Set[str], Set[str]]"
# The integers of endpoints that a row does not have.
NO_START, NO_END = np.iinfo(np.int64).min, np.iinfo(np.int64).max
_ALL: _Used = ({"ts", "te"}, {"ts", "te"})
STARTS: _Used = ({"ts"}, {"ts"})


def order_of(groups: Int32Array, values: Int64Array, *, last_first: bool = False) -> RowNumbers:
    """Return the order of rows by group and value.

    Equal rows keep their order; with `last_first` they are in the opposite order.
    """
    if last_first:
        return values.size - 1 - order_of(groups[::-1].copy(), values[::-1].copy())
    if is_sorted(None, values):
        return group_order(groups)
    order = _sorted_numbers(values, groups)
    if order is not None:
        return order
    order = _sorted_numbers(values)
    if order is None:
        order = np.argsort(values, kind="stable")
    return order[group_order(groups[order])]


def _sorted_numbers(values: Int64Array, groups: Int32Array | None = None) -> RowNumbers | None:
    """Return the order of rows by group, value and row number.

    All three are put into one 64-bit number, as numbers are sorted much faster than rows. None if
    they do not fit.
    """
    least, bits = int(values.min()), values.size.bit_length()
    span = int(values.max()) - least + 1
    count = 1 if groups is None else int(groups.max()) + 1
    if count * span > NO_END >> bits:
        return None
    numbers = values - least
    if groups is not None:
        numbers += groups * np.int64(span)
    numbers <<= bits
    numbers |= np.arange(values.size)
    sort(numbers)
    numbers &= (1 << bits) - 1
    return numbers


@dataclass(frozen=True)
class Side:
    """The rows of one side that can match: row numbers, groups, and endpoints as integers."""

    numbers: RowNumbers | None  # None stands for 0, 1, 2, ...: all rows in order
    groups: Int32Array
    ends: dict[str, Int64Array]

    @property
    def size(self) -> int:
        """The number of rows."""
        return self.groups.size

    @property
    def rows(self) -> RowNumbers:
        """The row numbers."""
        if self.numbers is not None:
            return self.numbers
        return np.arange(self.size, dtype=np.int32 if self.size <= _SMALL else np.int64)

    @staticmethod
    def of(
        encoding: Encoding, ends: tuple[Any, Any], groups: Int32Array, used: Set[str] = _ALL[0]
    ) -> Side:
        """Leaves out the rows with a NULL key or a NULL in a `used` endpoint (`ts`, `te`)."""
        kept: Mask = groups >= 0
        values = {}
        for name, column in zip(("ts", "te"), ends, strict=True):
            if name in used:
                values[name], valid = encoding.encode(column)
                kept = kept & valid
        return Side(None, groups, values).where(kept)

    @staticmethod
    def with_nulls(
        encoding: Encoding, ends: tuple[Any, Any], groups: Int32Array, nulls: Nulls
    ) -> Side:
        """Return the rows, whose NULL endpoints mean what `nulls` says."""
        kept: Mask = groups >= 0
        values = {}
        for name, column, bound in zip(("ts", "te"), ends, (NO_START, NO_END), strict=True):
            encoded, valid = encoding.encode(column)
            if nulls == "error" and not valid.all():
                raise EndpointValueError(
                    "A row has a NULL endpoint: replace it, or set nulls='unbounded' or 'drop'."
                )
            if nulls == "drop":
                kept = kept & valid
            values[name] = np.where(valid, encoded, bound)
        return Side(None, groups, values).where(kept)

    def where(self, mask: Mask) -> Side:
        """Return the rows for which the mask is true."""
        return self if mask.all() else self.take(mask)

    def take(self, which: RowNumbers | Mask) -> Side:
        """Return the rows at these places, in this order, or for which the mask is true."""
        ends = {name: array[which] for name, array in self.ends.items()}
        return Side(self.rows[which], self.groups[which], ends)


@dataclass(frozen=True)
class TwoTables:
    """A left and a right table, the names of their columns, and the columns of their endpoints."""

    left: Any
    right: Any
    names: SideNames
    ends: tuple[tuple[Any, Any], tuple[Any, Any]]
    encoding: Encoding

    @staticmethod
    def with_intervals(left: Any, right: Any, **names: Any) -> TwoTables:
        """Read two tables with intervals; `names` are the arguments of `SideNames`.

        Raises IntervalSweepError for unknown columns and unsuitable types.
        """
        left, right = as_table(left), as_table(right)
        on = SideNames.of(left.column_names, right.column_names, **names)
        ends = ends_of(left, "left", on.left_on), ends_of(right, "right", on.right_on)
        encoding = Encoding([column.type for pair in ends for column in pair])
        if encoding.is_float:
            ends = (
                ends_of(left, "left", on.left_on, as_floats=True),
                ends_of(right, "right", on.right_on, as_floats=True),
            )
        return TwoTables(left, right, on, ends, encoding)

    @staticmethod
    def with_instants(
        left: Any, right: Any, sides: tuple[str, str] = ("left", "right"), **names: Any
    ) -> TwoTables:
        """Read two tables with instants; an instant is the start and the end of an interval."""
        left, right = as_table(left), as_table(right)
        known = left.column_names, right.column_names
        on = SideNames.of(*known, sides, are_instants=True, **names)
        instants = left.column(on.left_on), right.column(on.right_on)
        encoding = Encoding([column.type for column in instants])
        ends = (instants[0], instants[0]), (instants[1], instants[1])
        return TwoTables(left, right, on, ends, encoding)

    def sides(self, used: _Used = _ALL, *, keep_null_keys: bool = False) -> tuple[Side, Side]:
        """Return the rows that can match: those with a key, and with the `used` endpoints.

        With `keep_null_keys`, left rows with a NULL key are kept, in a group without right rows.
        """
        groups, others = groups_of(self.left, self.right, self.names.keys)
        if keep_null_keys:
            groups = with_group_of_nulls(groups, others)
        return (
            Side.of(self.encoding, self.ends[0], groups, used[0]),
            Side.of(self.encoding, self.ends[1], others, used[1]),
        )
