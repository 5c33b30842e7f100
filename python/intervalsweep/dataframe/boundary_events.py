# SPDX-License-Identifier: Apache-2.0
"""Looking up, for each row of one side, a row of the other side before or after it.

Both sides become events on one axis, in the order of which a window function looks back:

    right   s1      s2             s3
    left        l1      l2   l3
            ------------------------------> position
    last      l1: s1   l2, l3: s2

So every left row meets one right row, however many there are, and one sort does it.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as sf
from pyspark.sql import types as st

from intervalsweep.dataframe.interval_columns import column

POSITION, LEFT, RIGHT = "position", "left", "right"
_SIDE = "side"
_UNORDERED = (st.MapType, st.VariantType, st.CalendarIntervalType)


def events(
    left: DataFrame,
    right: DataFrame,
    keys: Sequence[tuple[str, str]],
    at: Column,
    position: Column,
) -> DataFrame:
    """Return the rows of both sides, as the structs `left` and `right`, with their positions.

    Rows of the right side without a position, or with a key that is NULL, can be no row's answer
    and are left out. Rows of the left side without one come first in both orders.
    """
    none_left, none_right = (sf.lit(None).cast(side.schema) for side in (left, right))
    ours = [column(one).alias(_key(n)) for n, (one, _) in enumerate(keys)]
    theirs = [column(other).alias(_key(n)) for n, (_, other) in enumerate(keys)]
    asking = left.select(
        *ours,
        at.alias(POSITION),
        sf.lit(1).alias(_SIDE),
        _row(left).alias(LEFT),
        none_right.alias(RIGHT),
    )
    answers = right.select(
        *theirs,
        position.alias(POSITION),
        sf.lit(0).alias(_SIDE),
        none_left.alias(LEFT),
        _row(right).alias(RIGHT),
    )
    return asking.union(answers.dropna(subset=[POSITION, *(_key(n) for n in range(len(keys)))]))


def looking_back(right: DataFrame, keys: Sequence[tuple[str, str]]) -> WindowSpec:
    """All events up to this one; at one position, those of the right side come first."""
    return _window(right, keys, sf.col(POSITION).asc())


def looking_ahead(right: DataFrame, keys: Sequence[tuple[str, str]]) -> WindowSpec:
    """All events from this one on; at one position, those of the right side count as later."""
    return _window(right, keys, sf.col(POSITION).desc_nulls_first())


def nearest_of(window: WindowSpec) -> Column:
    """The row of the right side that comes last in a window; of equals, the largest one."""
    return sf.last(RIGHT, ignorenulls=True).over(window)


def of_left(name: str) -> Column:
    """A column of the left side."""
    return sf.col(LEFT).getField(name)


def of_right(name: str, row: str = RIGHT) -> Column:
    """A column of the right side's row that was found; NULL if none was."""
    return sf.col(row).getField(name)


def asking() -> Column:
    """Whether an event is a row of the left side."""
    return sf.col(_SIDE) == 1


def length(later: Column, earlier: Column, kind: st.DataType) -> Column:
    """`later - earlier`, a number: of days between dates, of microseconds between timestamps."""
    if isinstance(kind, st.DateType):
        return sf.datediff(later, earlier)
    if isinstance(kind, st.TimestampType):
        return sf.unix_micros(later) - sf.unix_micros(earlier)
    if isinstance(kind, st.TimestampNTZType):
        return sf.call_function("div", later - earlier, sf.expr("INTERVAL '0.000001' SECOND"))
    if isinstance(kind, st.IntegralType):
        return later.cast("bigint") - earlier.cast("bigint")
    return later - earlier


def _window(right: DataFrame, keys: Sequence[tuple[str, str]], order: Column) -> WindowSpec:
    ties = [of_right(field.name) for field in right.schema if _is_ordered(field.dataType)]
    return (
        Window.partitionBy(*(_key(n) for n in range(len(keys))))
        .orderBy(order, sf.col(_SIDE), *ties)
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )


def _is_ordered(kind: st.DataType) -> bool:
    if isinstance(kind, st.ArrayType):
        return _is_ordered(kind.elementType)
    if isinstance(kind, st.StructType):
        return all(_is_ordered(field.dataType) for field in kind)
    return not isinstance(kind, _UNORDERED)


def _row(frame: DataFrame) -> Column:
    return sf.struct(*(column(name) for name in frame.columns))


def _key(number: int) -> str:
    return f"key{number}"
