# SPDX-License-Identifier: Apache-2.0
"""Encodes the periods of tables as integers, and builds tables from encoded rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from intervalsweep._errors import ColumnError
from intervalsweep.arrow.encoding import Encoding, Mask, largest_of, smallest_of
from intervalsweep.arrow.sides import order_of
from intervalsweep.arrow.tables import RowNumbers, as_table
from intervalsweep.columns import check_columns, check_unique
from intervalsweep.kernels import Int32Array, Int64Array
from intervalsweep.kernels.periods import CountSweep, joined

# The names of the columns of start and end.
Names: TypeAlias = "tuple[str, str]"

NO_START, NO_END = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@dataclass(frozen=True)
class Rows:
    """Rows with a period that is not empty: their numbers in their table, and the periods."""

    numbers: RowNumbers
    start: Int64Array
    end: Int64Array

    def take(self, which: RowNumbers | Mask) -> Rows:
        """Return the rows at these places, or for which the mask is true."""
        return Rows(self.numbers[which], self.start[which], self.end[which])


class Histories:
    """One or two tables with periods, whose endpoints are converted to a common type.

    Raises ColumnError if a column does not exist, and EndpointTypeError if the endpoints have no
    common order.
    """

    def __init__(self, *given: tuple[Any, Names]) -> None:
        self.tables = [as_table(data) for data, _ in given]
        self.names = given[0][1]
        self._ends = []
        self.values = []
        for table, (_, names), side in zip(self.tables, given, _SIDES[len(given)], strict=True):
            if isinstance(names, str) or len(names) != 2:
                raise ColumnError(f"A period needs two columns, start and end; got {names!r}.")
            check_columns(side, table.column_names, *names)
            self._ends.append([table.column(name) for name in names])
            self.values.append(table.select([c for c in table.column_names if c not in names]))
        kinds = [column.type for ends in self._ends for column in ends]
        self.encoding = Encoding(kinds)
        self._kind = kinds[0] if len(set(kinds)) == 1 else self.encoding.type

    def rows(self, which: int = 0) -> Rows:
        """Return the rows of a table whose period is not empty."""
        start, end = (
            self._encoded(column, bound)
            for column, bound in zip(self._ends[which], (NO_START, NO_END), strict=True)
        )
        found = Rows(np.arange(start.size), start, end)
        return found.take(start < end)

    def _encoded(self, column: Any, bound: int) -> Int64Array:
        """Return endpoints as integers. NULL gives `bound`, as does the largest value of an end."""
        values, valid = self.encoding.encode(column)
        if bound == NO_END:
            own, _ = Encoding([column.type]).encode(column)
            valid = valid & (own != largest_of(column.type))
        return np.where(valid, values, bound)

    def table(self, values: Any, start: Int64Array, end: Int64Array) -> Any:
        """Return a table of values with their periods."""
        check_unique([*values.column_names, *self.names])
        columns = {name: values.column(name) for name in values.column_names}
        for name, ends in zip(self.names, (start, end), strict=True):
            columns[name] = self.decoded(ends)
        return pa.table(columns)

    def decoded(self, ends: Int64Array) -> Any:
        """Return a column with NULL for no start, for no end, and for values beyond the type."""
        some = (ends >= smallest_of(self._kind)) & (ends <= largest_of(self._kind))
        some &= (ends != NO_START) & (ends != NO_END)
        return self.encoding.decode(ends, some).cast(self._kind)

    def bound(self, what: str, value: Any, default: int) -> int:
        """Return an instant as an integer; None gives `default`."""
        if value is None:
            return default
        return int(self.encoding.encode(self.encoding.instant(what, value))[0][0])


_SIDES = {1: ["given"], 2: ["left", "right"]}


def swept(
    rule: str,
    groups: Int32Array,
    rows: Rows,
    weights: Int64Array | None = None,
    length: int = 0,
) -> tuple[RowNumbers, Int64Array, Int64Array]:
    """Return the results of a rule for each group: for each a row of the group and a period.

    The row is given by its place in `rows`. Positive weights are rows of the left side, negative
    ones rows of the right side; without weights all rows are on the left side. `CountSweep`
    explains `length`.
    """
    order = order_of(groups, rows.start)
    if weights is None:
        weights = np.ones(groups.size, dtype=np.int64)
    sweep = CountSweep(rule, length)
    batches = sweep.feed(groups[order], rows.start[order], rows.end[order], weights[order])
    row, start, end, count = joined(batches, 4)
    return order[np.repeat(row, count)], np.repeat(start, count), np.repeat(end, count)


def stacked(some: Sequence[Rows]) -> Rows:
    """Return the rows of several tables, one table after the other."""
    start, end = (np.concatenate([getattr(r, name) for r in some]) for name in ("start", "end"))
    return Rows(np.concatenate([rows.numbers for rows in some]), start, end)
