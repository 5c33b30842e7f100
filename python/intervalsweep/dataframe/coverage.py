# SPDX-License-Identifier: Apache-2.0
"""The part of each interval that the intervals of another DataFrame cover, and the rest."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from intervalsweep._signatures import implements
from intervalsweep._sql.calls import call
from intervalsweep.columns import SideNames, SparkColumns
from intervalsweep.dataframe import boundary_events as events
from intervalsweep.dataframe.boundary_events import of_left, of_right
from intervalsweep.dataframe.interval_columns import (
    DataFrameFunctions,
    Interval,
    check_frames,
    column,
    common_type,
)
from intervalsweep.dataframe.sets import merge
from intervalsweep.session import check_active


@implements(DataFrameFunctions.coverage)
def coverage(left: DataFrame, right: DataFrame, *, covered: str, **names: Any) -> DataFrame:
    """
    Examples
    --------
    >>> r = spark.sql("SELECT 1 AS ts, 9 AS te")
    >>> s = spark.sql("SELECT * FROM VALUES (0, 3), (2, 4), (8, 20) s(ts, te)")
    >>> coverage(r, s).show()
    +---+---+-------+
    | ts| te|covered|
    +---+---+-------+
    |  1|  9|      4|
    +---+---+-------+
    <BLANKLINE>
    """
    check_frames(left, right)
    on = SideNames.of(SparkColumns.of(left), SparkColumns.of(right), **names)
    pairs, ours = on.keys, Interval(left, "left", on.left_on)
    merged = _merged_right(right, on)
    ordered = Window.partitionBy(*(column(other) for _, other in pairs)).orderBy(column(_START))
    start, end = column(_START), column(_END)
    kind = common_type([(left, ours.of()[0]), (merged, start)])

    def size(later: Column, earlier: Column) -> Column:
        return events.length(later.cast(kind), earlier.cast(kind), kind)

    # covered(x) is the covered length before x. Let m be the last merged interval that starts up to
    # x: covered(x) = lengths of all merged intervals before m + min(x, m's end) - m's start. The
    # result for [ts, te) is covered(te) - covered(ts).
    before = sf.sum(size(end, start)).over(ordered.rowsBetween(Window.unboundedPreceding, -1))
    sums = merged.withColumn(_BEFORE, sf.coalesce(before, size(start, start)))
    found = left
    for which, total in enumerate((_UP_TO_START, _UP_TO_END)):
        both = events.events(found, sums, pairs, ours.of()[which], start)
        last = events.nearest_of(events.looking_back(sums, pairs))
        answered = both.withColumn(events.RIGHT, last).where(events.asking())
        here = ours.of(sf.col(events.LEFT))[which]
        reached = sf.least(here.cast(kind), of_right(_END).cast(kind))
        up_to = of_right(_BEFORE) + size(reached, of_right(_START))
        found = answered.select(
            *(of_left(name).alias(name) for name in found.columns),
            sf.when(here.isNotNull(), sf.coalesce(up_to, size(here, here))).alias(total),
        )
    between = sf.col(_UP_TO_END) - sf.col(_UP_TO_START)
    return found.select(
        *map(column, left.columns),
        sf.greatest(between, between - between).alias(covered),
    )


@implements(DataFrameFunctions.subtract)
def subtract(left: DataFrame, right: DataFrame, **names: Any) -> DataFrame:
    """
    Notes
    -----
    The plan is a left join with the merged intervals of the right side.

    Examples
    --------
    >>> r = spark.sql("SELECT 'a' AS id, 1 AS ts, 9 AS te")
    >>> s = spark.sql("SELECT * FROM VALUES (0, 2), (4, 6) s(ts, te)")
    >>> subtract(r, s).orderBy("ts").show()
    +---+---+---+
    | id| ts| te|
    +---+---+---+
    |  a|  2|  4|
    |  a|  6|  9|
    +---+---+---+
    <BLANKLINE>
    """
    check_frames(left, right)
    check_active(left.sparkSession)
    on = SideNames.of(SparkColumns.of(left), SparkColumns.of(right), **names)
    pairs, ours = on.keys, Interval(left, "left", on.left_on)
    start, end = ours.of()
    merged = _merged_right(right, on)
    m_start, m_end = column(_START), column(_END)
    ordered = Window.partitionBy(*(column(other) for _, other in pairs)).orderBy(m_start)
    keys = {other: f"intervalsweep_key{n}" for n, (_, other) in enumerate(pairs)}
    beside = merged.select(
        *(column(other).alias(name) for other, name in keys.items()),
        m_start,
        m_end,
        sf.lag(m_end).over(ordered).alias(_BEFORE),
        sf.lead(m_start).over(ordered).alias(_AFTER),
    )
    meets = call("interval_intersects", (start, end, m_start, m_end))
    condition = reduce(and_, [column(one) == column(keys[other]) for one, other in pairs], meets)
    joined = left.where(start < end).join(beside, condition, "left")
    # There may be a result before each merged interval, and one after the last that intersects.
    ahead = sf.struct(sf.greatest(start, _BEFORE).alias(_START), m_start.alias(_END))
    is_last = sf.col(_AFTER).isNull() | (sf.col(_AFTER) >= end)
    behind = sf.struct(m_end.alias(_START), sf.when(is_last, end).alias(_END))
    whole = sf.struct(start.alias(_START), end.alias(_END))
    parts = sf.when(m_start.isNull(), sf.array(whole)).otherwise(sf.array(ahead, behind))
    found = joined.select(*map(column, left.columns), sf.explode(parts).alias(_PART))
    part = [sf.col(_PART).getField(name) for name in (_START, _END)]
    made = dict(zip(ours.names, ours.made_of(*part), strict=True))
    return found.where(part[0] < part[1]).select(
        *(made.get(name, column(name)) for name in left.columns)
    )


def _merged_right(right: DataFrame, on: SideNames) -> DataFrame:
    """Return the merged intervals of the right side: the keys and the columns _START and _END."""
    keys = [other for _, other in on.keys]
    start, end = Interval(right, "right", on.right_on).of()
    some = right.select(*map(column, keys), start.alias(_START), end.alias(_END))
    return merge(some, on=(_START, _END), by=keys, count=_BEFORE, nulls="drop").drop(_BEFORE)


_START, _END = "intervalsweep_start", "intervalsweep_end"
_BEFORE, _AFTER, _PART = (f"intervalsweep_{name}" for name in ("before", "after", "part"))
_UP_TO_START, _UP_TO_END = (f"intervalsweep_up_to_{name}" for name in ("start", "end"))
