# SPDX-License-Identifier: Apache-2.0
"""Turns the call of a typed Python function into a call of the SQL function of that name."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from intervalsweep._distances import Duration, Months, is_duration, read

if TYPE_CHECKING:
    from pyspark.sql import Column

# A column or the name of one, including structs and their fields (`r.ts`).
ColumnOrName: TypeAlias = "Column | str"
# The values of `delta` and `epsilon`; None means no limit. A text such as `10 minutes` is a
# duration, and another text the name of a column.
Parameter: TypeAlias = "Column | str | int | float | Decimal | timedelta | None"


def call(name: str, operands: tuple[ColumnOrName, ...], *parameters: Parameter) -> Column:
    """Call a relation's SQL function. Raises TypeError for a wrong number of operands."""
    from pyspark.sql import functions as sf

    if len(operands) not in (2, 4):
        raise TypeError(
            f"{name}() takes four endpoints, such as ('r.ts', 'r.te', 's.ts', 's.te'), or two "
            f"structs, each with a start and an end; got {len(operands)} columns"
        )
    given = list(parameters)
    while given and given[-1] is None:
        given.pop()
    return sf.call_function(name, *operands, *map(_parameter, given))


def as_column(value: timedelta | Months | float | Decimal) -> Column:
    """Return a distance as a column. Dates accept no finer interval than days."""
    from pyspark.sql import functions as sf

    if isinstance(value, Months):
        return sf.expr(f"INTERVAL '{value.count}' MONTH")
    if isinstance(value, timedelta) and value % timedelta(days=1) == timedelta(0):
        return sf.lit(value).cast("interval day")
    return sf.lit(value)


def _parameter(value: Any) -> Column:
    from pyspark.sql import Column
    from pyspark.sql import functions as sf

    if value is None or isinstance(value, Column):
        return sf.lit(value)
    if isinstance(value, str) and not is_duration(value):
        return sf.col(value)
    if isinstance(value, Months):
        return as_column(value)
    given = read("parameter", value)
    return as_column(given.timedelta if isinstance(given, Duration) else given)
