# SPDX-License-Identifier: Apache-2.0
"""For each row of one side, finds a row of the other side before or after it.

The rows of both sides become events on one axis. A window function looks back along that axis:

    right   s1      s2             s3
    left        l1      l2   l3
            ------------------------------> position
    last      l1: s1   l2, l3: s2

Each left row is joined with at most one right row, and one sort of both sides suffices: O(n log n).
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

    Right rows with a NULL position or key match no row and are left out. Left rows with a NULL
    position come first in both orders.
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
    """The window of all events up to this one; at equal positions, right rows come first."""
    return _window(right, keys, sf.col(POSITION).asc())


def looking_ahead(right: DataFrame, keys: Sequence[tuple[str, str]]) -> WindowSpec:
    """The window of all events from this one on; at equal positions, right rows count as later."""
    return _window(right, keys, sf.col(POSITION).desc_nulls_first())


def nearest_of(window: WindowSpec) -> Column:
    """The last right row of a window; among rows at the same position, the largest row."""
    return sf.last(RIGHT, ignorenulls=True).over(window)


def of_left(name: str) -> Column:
    """A column of the left side."""
    return sf.col(LEFT).getField(name)


def of_right(name: str, row: str = RIGHT) -> Column:
    """A column of the right row that was found; NULL if no row was found."""
    return sf.col(row).getField(name)


def asking() -> Column:
    """True for events that are rows of the left side."""
    return sf.col(_SIDE) == 1


def length(later: Column, earlier: Column, kind: st.DataType) -> Column:
    """`later - earlier` as a number: days between dates, microseconds between timestamps."""
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
