# SPDX-License-Identifier: Apache-2.0
"""Turns the call of a typed Python function into a call of the SQL function of that name."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pyspark.sql import Column

# A column or the name of one, including structs and their fields (`r.ts`).
ColumnOrName: TypeAlias = "Column | str"
# The values of `delta` and `epsilon`; None means no limit.
Parameter: TypeAlias = "Column | str | int | float | Decimal | timedelta | None"


def call(name: str, operands: tuple[ColumnOrName, ...], *parameters: Parameter) -> Column:
    """Call a relation's SQL function. Raises TypeError for a wrong number of operands."""
    from pyspark.sql import functions as sf

    if len(operands) not in (2, 4):
        raise TypeError(
            f"{name}() takes four endpoints (r.ts, r.te, s.ts, s.te) or two structs (r, s), got "
            f"{len(operands)} columns"
        )
    given = list(parameters)
    while given and given[-1] is None:
        given.pop()
    return sf.call_function(name, *operands, *map(_parameter, given))


def _parameter(value: Parameter) -> Column:
    from pyspark.sql import functions as sf

    if isinstance(value, str):
        return sf.col(value)
    if isinstance(value, timedelta) and value % timedelta(days=1) == timedelta(0):
        return sf.lit(value).cast("interval day")  # dates accept no finer interval
    return sf.lit(value)
