# SPDX-License-Identifier: Apache-2.0
"""Intervals of one table taken together: merged, split, their gaps, and what they cover."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from intervalsweep._calls import Parameter, call
from intervalsweep._naming import Keys, check_columns, listed
from intervalsweep._naming import key_pairs as pairs_of
from intervalsweep.dataframe import events
from intervalsweep.dataframe.events import of_left, of_right
from intervalsweep.dataframe.joins import column
from intervalsweep.session import check_active


def merge(
    frame: DataFrame,
    *,
    on: tuple[str, str] = ("ts", "te"),
    by: str | Sequence[str] = (),
    gap: Parameter = None,
    count: str = "count",
) -> DataFrame:
    """Merge intervals that overlap or meet (or are no more than `gap` apart) into one.

        [-----)  [--)                     count 1, 1, 2
            [------)     [----)
        ------------------------
        [----------)     [----)           count 3, 1

    Parameters
    ----------
    on
        The columns of start and end.
    by
        Columns within whose equal values intervals are merged; NULL equals NULL.
    gap
        A number, or a timedelta.

    Returns
    -------
    DataFrame
        The columns `by`, start, end, and `count`, the number of intervals that were merged. Those
        that are empty, end before they start or have a NULL end take no part.

    Examples
    --------
    >>> frame = spark.sql("SELECT * FROM VALUES (1, 4), (3, 6), (8, 9) t(ts, te)")
    >>> merge(frame).orderBy("ts").show()
    +---+---+-----+
    | ts| te|count|
    +---+---+-----+
    |  1|  6|    2|
    |  8|  9|    1|
    +---+---+-----+
    <BLANKLINE>
    """
    keys, intervals = _proper(frame, on, by)
    ts, te = map(column, on)
    ordered = Window.partitionBy(*keys).orderBy(ts, te)
    so_far = sf.max(te).over(ordered.rowsBetween(Window.unboundedPreceding, -1))
    end = sf.col(_END)
    apart = end < ts
    if gap is not None:
        check_active(frame.sparkSession)
        apart = apart & ~call("iseql_before", (end, end, ts, ts), gap)
    starts_anew = sf.when(end.isNull() | apart, 1).otherwise(0)
    islands = intervals.withColumn(_END, so_far).withColumn(_NEW, starts_anew)
    islands = islands.withColumn(_ISLAND, sf.sum(_NEW).over(ordered))
    merged = islands.groupBy(*keys, _ISLAND).agg(
        sf.min(ts).alias(on[0]), sf.max(te).alias(on[1]), sf.count("*").alias(count)
    )
    return merged.drop(_ISLAND)


def split(
    frame: DataFrame,
    *,
    on: tuple[str, str] = ("ts", "te"),
    by: str | Sequence[str] = (),
    count: str = "count",
) -> DataFrame:
    """Split the time at every start and end: disjoint intervals, with how many hold each.

        [---------)
            [---------)
        ----------------
        [--)[----)[---)                   count 1, 2, 1

    Returns
    -------
    DataFrame
        The columns `by`, start, end, and `count`, which is never 0. Parameters, and which intervals
        take part, are as of :func:`merge`.

    Examples
    --------
    >>> frame = spark.sql("SELECT * FROM VALUES (1, 4), (3, 6) t(ts, te)")
    >>> split(frame).orderBy("ts").show()
    +---+---+-----+
    | ts| te|count|
    +---+---+-----+
    |  1|  3|    1|
    |  3|  4|    2|
    |  4|  6|    1|
    +---+---+-----+
    <BLANKLINE>
    """
    keys, intervals = _proper(frame, on, by)
    ts, te = on
    changes = [
        intervals.select(*keys, column(end).alias(ts), sf.lit(step).alias(_NEW))
        for end, step in ((ts, 1), (te, -1))
    ]
    changed = changes[0].union(changes[1]).groupBy(*keys, column(ts)).agg(sf.sum(_NEW).alias(_NEW))
    ordered = Window.partitionBy(*keys).orderBy(column(ts))
    pieces = changed.select(
        *keys,
        column(ts),
        sf.lead(column(ts)).over(ordered).alias(te),
        sf.sum(_NEW).over(ordered).alias(count),
    )
    return pieces.where(column(count) > 0)


def complement(
    frame: DataFrame,
    *,
    on: tuple[str, str] = ("ts", "te"),
    by: str | Sequence[str] = (),
    within: tuple[Any, Any] | None = None,
) -> DataFrame:
    """Return the gaps: what no interval holds, between the first start and the last end.

        [---)     [----)      [--)
        ---------------------------
             [---)      [----)

    Parameters
    ----------
    on, by
        As of :func:`merge`.
    within
        A start and an end, between which the gaps are to be, instead of the first start and the
        last end. Keys without any interval have no row here.

    Returns
    -------
    DataFrame
        The columns `by`, start and end.

    Examples
    --------
    >>> frame = spark.sql("SELECT * FROM VALUES (1, 4), (6, 8) t(ts, te)")
    >>> complement(frame, within=(0, 8)).orderBy("ts").show()
    +---+---+
    | ts| te|
    +---+---+
    |  0|  1|
    |  4|  6|
    +---+---+
    <BLANKLINE>
    """
    ts, te = map(column, on)
    merged = merge(frame, on=on, by=by, count=_NEW).drop(_NEW)
    keys = [column(key) for key in listed(by)]
    ordered = Window.partitionBy(*keys).orderBy(ts)
    gaps = merged.select(*keys, te.alias(on[0]), sf.lead(ts).over(ordered).alias(on[1]))
    if within is None:
        return gaps.where(te.isNotNull())
    types = dict(zip(on, (field.dataType for field in merged.select(*on).schema), strict=True))
    low, high = (sf.lit(value).cast(types[name]) for name, value in zip(on, within, strict=True))
    first = merged.groupBy(*keys).agg(low.alias(on[0]), sf.min(ts).alias(on[1]))
    inside = gaps.union(first).select(
        *keys,
        sf.greatest(ts, low).alias(on[0]),
        sf.least(sf.coalesce(te, high), high).alias(on[1]),
    )
    return inside.where(ts < te)


def coverage(
    left: DataFrame,
    right: DataFrame,
    *,
    on: tuple[str, str] = ("ts", "te"),
    left_on: tuple[str, str] | None = None,
    right_on: tuple[str, str] | None = None,
    by: Keys | str = (),
    covered: str = "covered",
) -> DataFrame:
    """Return how much of each interval is held by some interval of the right side.

        left    [-----------)             covered 7 of 12: what the right side has twice
        right     [---)  [-----)          counts once
                   [--)

    Parameters
    ----------
    on, left_on, right_on, by
        As of :func:`interval_join`; each interval is two columns.

    Returns
    -------
    DataFrame
        The rows of the left side with the column `covered`: a number, of days between dates and of
        microseconds between timestamps. It is 0 for an interval that is empty or ends before it
        starts, NULL for one with a NULL end.

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
    ends, (s_ts, s_te), pairs = left_on or on, right_on or on, pairs_of(by)
    check_columns("left", left.columns, *ends, *(one for one, _ in pairs))
    merged = merge(right, on=(s_ts, s_te), by=[other for _, other in pairs], count=_NEW)
    ordered = Window.partitionBy(*(column(other) for _, other in pairs)).orderBy(column(s_ts))
    kind = left.select(column(ends[0]).alias(_END)).union(merged.select(s_ts)).schema[0].dataType

    def size(later: Column, earlier: Column) -> Column:
        return events.length(later.cast(kind), earlier.cast(kind), kind)

    # What is covered up to x: the merged intervals before the last that starts before x, and a part
    # of that one. Of two such sums the difference is what is covered between.
    before = sf.sum(size(column(s_te), column(s_ts))).over(
        ordered.rowsBetween(Window.unboundedPreceding, -1)
    )
    zero = size(column(s_ts), column(s_ts))
    sums = merged.withColumn(_BEFORE, sf.coalesce(before, zero))
    found = left
    for end, total in zip(ends, (_START, _END), strict=True):
        both = events.events(found, sums, pairs, column(end), column(s_ts))
        last = events.nearest_of(events.looking_back(sums, pairs))
        answered = both.withColumn(events.RIGHT, last).where(events.asking())
        reached = sf.least(of_left(end).cast(kind), of_right(s_te).cast(kind))
        up_to = of_right(_BEFORE) + size(reached, of_right(s_ts))
        nothing = size(of_left(end), of_left(end))
        found = answered.select(
            *(of_left(name).alias(name) for name in found.columns),
            sf.when(of_left(end).isNotNull(), sf.coalesce(up_to, nothing)).alias(total),
        )
    between = sf.col(_END) - sf.col(_START)
    return found.select(
        *map(column, left.columns),
        sf.greatest(between, between - between).alias(covered),
    )


_START, _END, _NEW, _ISLAND, _BEFORE = (
    f"intervalsweep_{name}" for name in ("start", "end", "new", "island", "before")
)


def _proper(
    frame: DataFrame, on: tuple[str, str], by: str | Sequence[str]
) -> tuple[list[Column], DataFrame]:
    """Return the keys, and the keys and ends of the intervals that hold something."""
    keys = listed(by)
    check_columns("given", frame.columns, *on, *keys)
    columns = [column(name) for name in (*keys, *on)]
    return columns[: len(keys)], frame.select(*columns).where(column(on[0]) < column(on[1]))
