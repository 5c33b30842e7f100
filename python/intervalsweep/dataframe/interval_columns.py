# SPDX-License-Identifier: Apache-2.0
"""The interval columns of a DataFrame, and distances in their unit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql import types as st

from intervalsweep._errors import ArgumentError, EndpointTypeError
from intervalsweep._signatures import TableFunctions
from intervalsweep._sql.literals import quoted
from intervalsweep.columns import Ends, check_columns, names_of

# The signatures that the functions of this package implement.
DataFrameFunctions: TypeAlias = TableFunctions[DataFrame, DataFrame]

_MICROSECOND = timedelta(microseconds=1)
_DAY = timedelta(days=1)


def column(name: str, table: str | None = None) -> Column:
    """Return the column with exactly this name, even if it contains dots; `table` is an alias."""
    return sf.col(quoted(name) if table is None else f"{table}.{quoted(name)}")


def check_frames(*frames: object) -> None:
    """Raise ArgumentError for an input that is not a Spark DataFrame."""
    for frame in frames:
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
        self.names = names_of(ends)
        check_columns(side, frame.columns, *self.names)
        self._fields: list[str] = []
        if len(self.names) == 1:
            kind = frame.schema[self.names[0]].dataType
            if not isinstance(kind, st.StructType) or len(kind) != 2:
                raise EndpointTypeError(
                    f"{self.names[0]} is {kind.simpleString()}, not a struct of two fields."
                )
            self._fields = kind.names

    def of(self, row: Column | None = None) -> tuple[Column, Column]:
        """Return start and end of a DataFrame's row, or of a row in a struct column."""
        first, *second = (column(n) if row is None else row.getField(n) for n in self.names)
        if second:
            return first, second[0]
        start, end = (first.getField(name) for name in self._fields)
        return start, end

    def made_of(self, start: Column, end: Column) -> list[Column]:
        """Return a start and an end in the form of this interval and with its names."""
        if not self._fields:
            return [one.alias(n) for one, n in zip((start, end), self.names, strict=True)]
        fields = [one.alias(n) for one, n in zip((start, end), self._fields, strict=True)]
        return [sf.struct(*fields).alias(self.names[0])]


def in_unit(name: str, distance: Any, kind: st.DataType) -> Any:
    """Return a distance as a number: in days between dates, in microseconds between timestamps.

    Raises ArgumentError if the distance is negative, EndpointTypeError if it does not fit the type.
    """
    _check(name, distance)
    if not isinstance(distance, timedelta):
        return distance
    if isinstance(kind, st.DateType) and distance % _DAY == timedelta(0):
        return distance.days
    if isinstance(kind, (st.TimestampType, st.TimestampNTZType)):
        return distance // _MICROSECOND
    raise _meaningless(name, distance, kind)


def as_parameter(name: str, distance: Any, kind: st.DataType) -> Any:
    """Return a distance as the SQL functions take it: between timestamps, a timedelta.

    A column or a column name is returned unchanged. Raises the errors of :func:`in_unit`.
    """
    if distance is None or isinstance(distance, (Column, str)):
        return distance
    if isinstance(kind, (st.TimestampType, st.TimestampNTZType)):
        return int(in_unit(name, distance, kind) // 1) * _MICROSECOND
    return in_unit(name, distance, kind)


def _check(name: str, distance: Any) -> None:
    if distance < (timedelta(0) if isinstance(distance, timedelta) else 0):
        raise ArgumentError(f"`{name}` must not be negative; got {distance!r}.")


def _meaningless(name: str, distance: Any, kind: st.DataType) -> EndpointTypeError:
    return EndpointTypeError(
        f"{name}={distance!r} is not a distance between {kind.simpleString()} endpoints: "
        "give whole days for dates, a number for numbers."
    )


def common_type(frames: Sequence[tuple[DataFrame, Column]]) -> st.DataType:
    """Return the common type to which Spark converts columns of several DataFrames."""
    first, *others = (frame.select(one.alias("x")) for frame, one in frames)
    for other in others:
        first = first.union(other)
    return first.schema[0].dataType
