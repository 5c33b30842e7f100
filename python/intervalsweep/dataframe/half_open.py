# SPDX-License-Identifier: Apache-2.0
"""Converts intervals of other conventions into half-open intervals `[ts, te)`."""

from __future__ import annotations

from typing import get_args

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql import types as st

from intervalsweep._errors import EndpointTypeError
from intervalsweep._signatures import Closed, Distance, implements
from intervalsweep.columns import SparkColumns, check_choice, spelled
from intervalsweep.dataframe.interval_columns import (
    DataFrameFunctions,
    as_parameter,
    check_frames,
    column,
)

# The last day of Python's calendar, so that Python can still show an unbounded end.
_LAST_DAY = "9999-12-31"
_AFTER_LAST_DAY = "+10000-01-01"
_BITS: dict[st.DataType, int] = {
    st.ByteType(): 8,
    st.ShortType(): 16,
    st.IntegerType(): 32,
    st.LongType(): 64,
}


@implements(DataFrameFunctions.half_open)
def half_open(
    data: DataFrame,
    start: str,
    end: str | None,
    *,
    closed: Closed,
    step: Distance,
    unbounded_end: bool,
    names: tuple[str, str],
) -> DataFrame:
    """
    Examples
    --------
    >>> stays = spark.sql("SELECT DATE'2024-01-30' AS first, DATE'2024-01-31' AS last")
    >>> half_open(stays, "first", "last", closed="both").show()
    +----------+----------+----------+----------+
    |     first|      last|        ts|        te|
    +----------+----------+----------+----------+
    |2024-01-30|2024-01-31|2024-01-30|2024-02-01|
    +----------+----------+----------+----------+
    <BLANKLINE>
    """
    check_frames(data)
    check_choice("closed", closed, get_args(Closed))
    known = SparkColumns.of(data)
    start = spelled("given", known, start)
    end = None if end is None else spelled("given", known, end)
    kinds = {field.name: field.dataType for field in data.schema}
    if end is None:
        closed, end = "both", start
    from_, to = column(start), column(end)
    if closed in ("right", "neither"):
        from_ = _moved(start, kinds[start], step)
    if closed in ("right", "both"):
        to = _moved(end, kinds[end], step)
    if unbounded_end:
        to = sf.coalesce(to, sf.lit(_largest(kinds[end])).cast(kinds[end]))
    return data.withColumns(dict(zip(names, (from_, to), strict=True)))


def _moved(name: str, kind: st.DataType, step: Distance) -> Column:
    """Return the value one step after that of a column; the query fails if there is none.

    The year 10000 is NULL: a closed end at the end of 9999 means no end.
    """
    value = column(name)
    smallest = _step(name, kind)
    by = smallest if step is None else sf.lit(as_parameter("step", step, kind))
    moved = sf.try_add(value, by)
    message = f"The closed end {name} is the last value of its type and has no half-open form"
    found = sf.coalesce(moved.try_cast(kind), sf.raise_error(message))
    if isinstance(kind, (st.DateType, st.TimestampType, st.TimestampNTZType)):
        found = sf.nullif(found, sf.lit(_AFTER_LAST_DAY).cast(kind))
    return sf.when(value.isNotNull(), found)


def _step(name: str, kind: st.DataType) -> Column:
    if isinstance(kind, st.IntegralType):
        return sf.lit(1).cast(kind)
    if isinstance(kind, st.DateType):
        return sf.lit(1)
    if isinstance(kind, (st.TimestampType, st.TimestampNTZType)):
        return sf.expr("INTERVAL '0.000001' SECOND")
    if isinstance(kind, st.DecimalType):
        return sf.expr(f"CAST(1e-{kind.scale} AS {kind.simpleString()})")
    raise EndpointTypeError(
        f"{name} is {kind.simpleString().upper()}, which has no smallest step: give half-open "
        'intervals and closed="left".'
    )


def _largest(kind: st.DataType) -> object:
    if kind in _BITS:
        return (1 << _BITS[kind] - 1) - 1
    if isinstance(kind, st.DecimalType):
        return f"{'9' * kind.precision}e-{kind.scale}"
    if isinstance(kind, (st.FloatType, st.DoubleType)):
        return float("inf")
    if isinstance(kind, (st.DateType, st.TimestampType, st.TimestampNTZType)):
        return _LAST_DAY
    raise EndpointTypeError(
        f"{kind.simpleString().upper()} has no largest value to replace NULL: leave out "
        "unbounded_end."
    )
