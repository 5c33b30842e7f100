# SPDX-License-Identifier: Apache-2.0
"""The columns of a DataFrame that say when, and distances in their unit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql import types as st

from intervalsweep._errors import ArgumentError, EndpointTypeError
from intervalsweep.columns import Ends, check_columns, names_of

_MICROSECOND = timedelta(microseconds=1)
_DAY = timedelta(days=1)


def column(name: str) -> Column:
    """Return the column of exactly this name, also if there are dots in it."""
    quoted = name.replace("`", "``")
    return sf.col(f"`{quoted}`")


def check_frames(*frames: object) -> None:
    """Raise ArgumentError for what is no DataFrame of Spark."""
    for frame in frames:
        if not hasattr(frame, "sparkSession"):
            raise ArgumentError(
                f"{type(frame).__module__}.{type(frame).__name__} is no DataFrame of Spark: "
                "intervalsweep.arrow has the same functions for other tables."
            )


class Interval:
    """The start and the end of a frame's rows: two columns, or the fields of one struct.

    Raises ColumnError for a column that the side, `left`, `right` or `given`, does not have.
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
        """Return start and end: of a frame's row, or of one that is in a struct."""
        first, *second = (column(n) if row is None else row.getField(n) for n in self.names)
        if second:
            return first, second[0]
        start, end = (first.getField(name) for name in self._fields)
        return start, end

    def made_of(self, start: Column, end: Column) -> list[Column]:
        """Return a start and an end in the form of this interval, and under its names."""
        if not self._fields:
            return [one.alias(n) for one, n in zip((start, end), self.names, strict=True)]
        fields = [one.alias(n) for one, n in zip((start, end), self._fields, strict=True)]
        return [sf.struct(*fields).alias(self.names[0])]


def in_unit(name: str, distance: Any, kind: st.DataType) -> Any:
    """Return a distance as a number: in days between dates, in microseconds between timestamps.

    Raises ArgumentError or EndpointTypeError for one that means nothing for the type.
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
    """Return a distance as the SQL functions take it: an interval between timestamps.

    A column stays what it is. Raises as :func:`in_unit`.
    """
    if distance is None or isinstance(distance, (Column, str)):
        return distance
    if isinstance(kind, (st.TimestampType, st.TimestampNTZType)):
        return int(in_unit(name, distance, kind) // 1) * _MICROSECOND
    return in_unit(name, distance, kind)


def _check(name: str, distance: Any) -> None:
    if distance < (timedelta(0) if isinstance(distance, timedelta) else 0):
        raise ArgumentError(f"{name}={distance!r} is negative; there is no such distance.")


def _meaningless(name: str, distance: Any, kind: st.DataType) -> EndpointTypeError:
    return EndpointTypeError(f"{name}={distance!r} is no distance of {kind.simpleString()}.")


def common_type(frames: Sequence[tuple[DataFrame, Column]]) -> st.DataType:
    """Return the type that Spark brings columns of several frames to."""
    first, *others = (frame.select(one.alias("x")) for frame, one in frames)
    for other in others:
        first = first.union(other)
    return first.schema[0].dataType
