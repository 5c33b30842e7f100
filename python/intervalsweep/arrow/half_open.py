# SPDX-License-Identifier: Apache-2.0
"""Converts intervals of other conventions into half-open intervals `[ts, te)`."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from intervalsweep._errors import EndpointTypeError, EndpointValueError
from intervalsweep._signatures import ArrowFunctions, Closed, Distance, Frame, implements
from intervalsweep.arrow.encoding import Encoding
from intervalsweep.arrow.tables import as_table, like
from intervalsweep.columns import check_choice, check_columns

_LAST_DAY = date(9999, 12, 31)


@implements(ArrowFunctions.half_open)
def half_open(
    data: Frame,
    start: str,
    end: str | None,
    *,
    closed: Closed,
    step: Distance,
    unbounded_end: bool,
    names: tuple[str, str],
) -> Frame:
    """
    Examples
    --------
    >>> from datetime import date
    >>> stays = pa.table({"first": [date(2024, 1, 30)], "last": [date(2024, 1, 31)]})
    >>> half_open(stays, "first", "last", closed="both").column("te").to_pylist()
    [datetime.date(2024, 2, 1)]
    """
    check_choice("closed", closed, get_args(Closed))
    table = as_table(data)
    check_columns("given", table.column_names, start, *([] if end is None else [end]))
    if end is None:
        closed, end = "both", start
    from_, to = table.column(start), table.column(end)
    if closed in ("right", "neither"):
        from_ = _moved(start, from_, step)
    if closed in ("right", "both"):
        to = _moved(end, to, step)
    if unbounded_end:
        to = pc.fill_null(to, _largest(to.type))
    for name, column in zip(names, (from_, to), strict=True):
        place = table.schema.get_field_index(name)
        if place < 0:
            table = table.append_column(name, column)
        else:
            table = table.set_column(place, name, column)
    return like(data, table)


def _moved(name: str, column: Any, distance: Distance) -> Any:
    """Return the value one step after each value of a column.

    The year 10000 is NULL: a closed end at the end of 9999 means no end.
    """
    kind = column.type
    whole = _whole_numbers(kind)
    units = 1 if distance is None else int(Encoding([kind]).limit("step", distance))
    if pa.types.is_decimal(kind):
        step = pa.scalar(Decimal(units).scaleb(-kind.scale), kind)
        moved = pc.add(column, step)  # the result type has one more digit
    elif whole is not None:
        column = column.cast(whole)
        step = pa.scalar(units, whole)
        try:
            moved = pc.add_checked(column, step)
        except pa.ArrowInvalid as error:
            raise _beyond(name) from error
        limit = _after_last_day(kind)
        if limit is not None:
            moved = pc.if_else(pc.equal(moved, limit), pa.scalar(None, whole), moved)
    else:
        raise EndpointTypeError(
            f"{name} is {kind}, which has no smallest step: give half-open intervals and "
            'closed="left".'
        )
    try:
        return moved.cast(kind)
    except pa.ArrowInvalid as error:
        raise _beyond(name) from error


def _beyond(name: str) -> EndpointValueError:
    return EndpointValueError(
        f"The closed end {name} is the last value of its type and has no half-open form: cast it "
        "to a wider type, or give NULL and unbounded_end=True."
    )


def _whole_numbers(kind: Any) -> Any:
    """Return the integer type that represents a type; None if it is not based on integers."""
    if pa.types.is_integer(kind):
        return kind
    if pa.types.is_date32(kind):
        return pa.int32()
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return pa.int64()
    return None


def _after_last_day(kind: Any) -> int | None:
    """Return the first moment of the year 10000 in the unit of a type of dates or timestamps."""
    days = _LAST_DAY.toordinal() + 1 - date(1970, 1, 1).toordinal()
    if pa.types.is_date32(kind):
        return days
    if pa.types.is_timestamp(kind) and kind.unit != "ns":
        return days * 86_400 * {"s": 1, "ms": 10**3, "us": 10**6}[kind.unit]
    return None


def _largest(kind: Any) -> Any:
    if pa.types.is_integer(kind):
        return pa.scalar(int(np.iinfo(kind.to_pandas_dtype()).max), kind)
    if pa.types.is_floating(kind):
        return pa.scalar(float("inf"), pa.float64()).cast(kind)
    if pa.types.is_decimal(kind):
        return pa.scalar(Decimal(10**kind.precision - 1).scaleb(-kind.scale), kind)
    if pa.types.is_date(kind):
        return pa.scalar(_LAST_DAY, kind)
    if pa.types.is_timestamp(kind) and kind.unit != "ns":
        return pa.scalar(datetime(9999, 12, 31), pa.timestamp(kind.unit)).cast(kind)
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return pa.scalar(np.iinfo(np.int64).max, pa.int64()).cast(kind)
    raise EndpointTypeError(
        f"{kind} has no largest value to replace NULL: leave out unbounded_end."
    )
