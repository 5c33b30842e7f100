# SPDX-License-Identifier: Apache-2.0
"""The part of each interval that the intervals of another DataFrame cover, and the rest."""

from __future__ import annotations

from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from intervalsweep._signatures import documented
from intervalsweep._sql.calls import call
from intervalsweep.columns import Ends, Keys, check_columns, key_pairs
from intervalsweep.dataframe import boundary_events as events
from intervalsweep.dataframe.boundary_events import of_left, of_right
from intervalsweep.dataframe.interval_columns import Interval, check_frames, column, common_type
from intervalsweep.dataframe.sets import merge
from intervalsweep.session import check_active


@documented
def coverage(
    left: DataFrame,
    right: DataFrame,
    *,
    on: Ends = ("ts", "te"),
    left_on: Ends | None = None,
    right_on: Ends | None = None,
    by: Keys | str = (),
    covered: str = "covered",
) -> DataFrame:
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
    pairs = key_pairs(by)
    check_columns("left", left.columns, *(one for one, _ in pairs))
    ours = Interval(left, "left", left_on or on)
    merged = merged_right(right, right_on or on, pairs)
    ordered = Window.partitionBy(*(column(other) for _, other in pairs)).orderBy(column(START))
    start, end = column(START), column(END)
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
        reached = sf.least(here.cast(kind), of_right(END).cast(kind))
        up_to = of_right(_BEFORE) + size(reached, of_right(START))
        found = answered.select(
            *(of_left(name).alias(name) for name in found.columns),
            sf.when(here.isNotNull(), sf.coalesce(up_to, size(here, here))).alias(total),
        )
    between = sf.col(_UP_TO_END) - sf.col(_UP_TO_START)
    return found.select(
        *map(column, left.columns),
        sf.greatest(between, between - between).alias(covered),
    )


@documented
def subtract(
    left: DataFrame,
    right: DataFrame,
    *,
    on: Ends = ("ts", "te"),
    left_on: Ends | None = None,
    right_on: Ends | None = None,
    by: Keys | str = (),
) -> DataFrame:
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
    pairs = key_pairs(by)
    check_columns("left", left.columns, *(one for one, _ in pairs))
    ours = Interval(left, "left", left_on or on)
    start, end = ours.of()
    merged = merged_right(right, right_on or on, pairs)
    m_start, m_end = column(START), column(END)
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
    ahead = sf.struct(sf.greatest(start, _BEFORE).alias(START), m_start.alias(END))
    is_last = sf.col(_AFTER).isNull() | (sf.col(_AFTER) >= end)
    behind = sf.struct(m_end.alias(START), sf.when(is_last, end).alias(END))
    whole = sf.struct(start.alias(START), end.alias(END))
    parts = sf.when(m_start.isNull(), sf.array(whole)).otherwise(sf.array(ahead, behind))
    found = joined.select(*map(column, left.columns), sf.explode(parts).alias(_PART))
    part = [sf.col(_PART).getField(name) for name in (START, END)]
    made = dict(zip(ours.names, ours.made_of(*part), strict=True))
    return found.where(part[0] < part[1]).select(
        *(made.get(name, column(name)) for name in left.columns)
    )


def merged_right(right: DataFrame, ends: Ends, pairs: list[tuple[str, str]]) -> DataFrame:
    """Return the merged intervals of the right side: the keys and the columns START and END."""
    keys = [other for _, other in pairs]
    check_columns("right", right.columns, *keys)
    start, end = Interval(right, "right", ends).of()
    some = right.select(*map(column, keys), start.alias(START), end.alias(END))
    return merge(some, on=(START, END), by=keys, count=_BEFORE).drop(_BEFORE)


START, END = "intervalsweep_start", "intervalsweep_end"
_BEFORE, _AFTER, _PART = (f"intervalsweep_{name}" for name in ("before", "after", "part"))
_UP_TO_START, _UP_TO_END = (f"intervalsweep_up_to_{name}" for name in ("start", "end"))
