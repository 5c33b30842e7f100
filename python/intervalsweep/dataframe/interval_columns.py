# SPDX-License-Identifier: Apache-2.0
"""The interval columns of a DataFrame, and distances in their unit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import reduce
from typing import Any, TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql import types as st

from intervalsweep._distances import (
    Duration,
    Months,
    is_duration,
    read,
    refuse_months,
    refuse_number,
)
from intervalsweep._errors import ArgumentError, ColumnError, EndpointTypeError
from intervalsweep._signatures import TableFunctions
from intervalsweep._sql.literals import quoted
from intervalsweep.columns import Ends, SparkColumns, names_of, not_a_struct, spelled

# The signatures that the functions of this package implement.
DataFrameFunctions: TypeAlias = TableFunctions[DataFrame, DataFrame]

_MICROSECOND = timedelta(microseconds=1)
_DAY = timedelta(days=1)


def column(name: str, table: str | None = None) -> Column:
    """Return the column with exactly this name, even if it contains dots; `table` is an alias."""
    return sf.col(quoted(name) if table is None else f"{table}.{quoted(name)}")


def field(name: str, known: Sequence[str], of: Callable[[str], Column] = column) -> Column:
    """Return the column with this name, or the field of a struct with this path."""
    if name in known:
        return of(name)
    first, *rest = name.split(".")
    return reduce(Column.getField, rest, of(first))


def check_frames(*frames: object) -> None:
    """Raise ArgumentError for an input that is not a Spark DataFrame."""
    for frame in frames:
        # A DataFrame of Spark Connect seems to have every attribute: those may be columns.
        if type(frame).__module__.startswith("pyspark.pandas"):
            raise ArgumentError(
                "A pandas-on-Spark DataFrame is not a Spark DataFrame: call .to_spark() first."
            )
        if not hasattr(frame, "sparkSession"):
            raise ArgumentError(
                f"{type(frame).__module__}.{type(frame).__name__} is not a Spark DataFrame: "
                "intervalsweep.arrow has the same functions for other tables."
            )


class Interval:
    """The start and the end of a DataFrame's rows: two columns, or the fields of one struct.

    `side` is `left`, `right` or `given`, for error messages. Raises ColumnError if a column does
    not exist, and EndpointTypeError if a single column is not a struct of two fields.
    """

    def __init__(self, frame: DataFrame, side: str, ends: Ends) -> None:
        known = SparkColumns.of(frame)
        self.names = tuple(spelled(side, known, name, is_nested=True) for name in names_of(ends))
        self._known = frame.columns
        self._fields: list[str] = []
        if len(self.names) == 1:
            kind = frame.select(field(self.names[0], self._known)).schema[0].dataType
            if not isinstance(kind, st.StructType) or len(kind) != 2:
                raise EndpointTypeError(not_a_struct(self.names[0], kind.simpleString()))
            self._fields = kind.names

    def of(self, row: Column | None = None) -> tuple[Column, Column]:
        """Return start and end of a DataFrame's row, or of a row in a struct column."""
        return self.ends(column if row is None else row.getField)

    def ends(self, of: Callable[[str], Column]) -> tuple[Column, Column]:
        """Return start and end, made of the columns that a function returns by their names."""
        first, *second = (field(name, self._known, of) for name in self.names)
        if second:
            return first, second[0]
        start, end = (first.getField(name) for name in self._fields)
        return start, end

    def made_of(self, start: Column, end: Column) -> list[Column]:
        """Return a start and an end in the form of this interval and with its names.

        Raises ColumnError if a name is that of a field, which a result does not have.
        """
        for name in self.names:
            if name not in self._known:
                raise ColumnError(
                    f"{name} is a field of a struct, and the result has intervals of its own: "
                    "select it as a column first."
                )
        if not self._fields:
            return [one.alias(n) for one, n in zip((start, end), self.names, strict=True)]
        fields = [one.alias(n) for one, n in zip((start, end), self._fields, strict=True)]
        return [sf.struct(*fields).alias(self.names[0])]


def as_number(name: str, distance: Any, kind: st.DataType) -> Any:
    """Return a distance as a number: in days between dates, in microseconds between timestamps.

    Raises ArgumentError if it is negative or not a distance, EndpointTypeError if it does not fit
    the type.
    """
    given = _checked(name, distance, kind)
    if isinstance(given, Months):
        raise refuse_months(name, distance)
    if not isinstance(given, timedelta):
        return given
    return given.days if isinstance(kind, st.DateType) else given // _MICROSECOND


def as_parameter(name: str, distance: Any, kind: st.DataType) -> Any:
    """Return a distance as the SQL functions take it: a number, a timedelta or months.

    A column or a column name is returned unchanged. Raises the errors of :func:`as_number`.
    """
    return distance if distance is None or is_column(distance) else _checked(name, distance, kind)


def is_column(distance: object) -> bool:
    """Return whether a distance is a column or the name of one."""
    return isinstance(distance, Column) or (isinstance(distance, str) and not is_duration(distance))


def difference(name: str, given: Any, kind: st.DataType) -> Any:
    """Return a difference, which may be negative: a number, a timedelta or months.

    Raises ArgumentError if it is not a distance, EndpointTypeError if it does not fit the type.
    """
    found = read(name, given)
    is_date = isinstance(kind, st.DateType)
    if isinstance(kind, (st.TimestampType, st.TimestampNTZType)):
        if isinstance(found, Duration):
            return found.timedelta
        if isinstance(found, Months) or found == 0:
            return found or timedelta(0)
        raise refuse_number(name, given, kind.simpleString())
    if isinstance(found, Months) and is_date:
        return found
    if isinstance(found, Duration) and is_date and found.timedelta % _DAY == timedelta(0):
        return found.timedelta
    if isinstance(found, Duration | Months):
        raise EndpointTypeError(
            f"{name}={given!r} is not a distance between {kind.simpleString()} endpoints: "
            "give whole days for dates, a number for numbers."
        )
    return math.floor(found) * _DAY if is_date and math.isfinite(found) else found


def _checked(name: str, distance: Any, kind: st.DataType) -> Any:
    found = difference(name, distance, kind)
    size: Any = found.count if isinstance(found, Months) else found
    if size < (timedelta(0) if isinstance(size, timedelta) else 0):
        raise ArgumentError(f"`{name}` must not be negative; got {distance!r}.")
    return found


def common_type(frames: Sequence[tuple[DataFrame, Column]]) -> st.DataType:
    """Return the common type to which Spark converts columns of several DataFrames."""
    first, *others = (frame.select(one.alias("x")) for frame, one in frames)
    for other in others:
        first = first.union(other)
    return first.schema[0].dataType
