# SPDX-License-Identifier: Apache-2.0
"""Intervals of one table taken together: merged, numbered, split, and their gaps."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from intervalsweep._calls import call
from intervalsweep._contract import Distance, Names, documented
from intervalsweep.columns import Ends, Naming, check_columns, listed
from intervalsweep.dataframe.ends import Interval, as_parameter, check_frames, column
from intervalsweep.session import check_active


@documented
def merge(
    data: DataFrame,
    *,
    on: Ends = ("ts", "te"),
    by: Names = (),
    gap: Distance = None,
    count: str = "count",
) -> DataFrame:
    """
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
    one = _Intervals(data, on, by, count)
    start, end = column(_START), column(_END)
    merged = one.numbered(one.proper, gap, _ISLAND).groupBy(*one.keys, _ISLAND)
    found = merged.agg(
        sf.min(start).alias(_START), sf.max(end).alias(_END), sf.count("*").alias(count)
    )
    return found.select(*one.keys, *one.interval.made_of(start, end), column(count))


@documented
def cluster(
    data: DataFrame,
    *,
    on: Ends = ("ts", "te"),
    by: Names = (),
    gap: Distance = None,
    cluster: str = "cluster",
) -> DataFrame:
    """
    >>> frame = spark.sql("SELECT * FROM VALUES (1, 4), (3, 6), (8, 9) t(ts, te)")
    >>> cluster(frame).orderBy("ts").show()
    +---+---+-------+
    | ts| te|cluster|
    +---+---+-------+
    |  1|  4|      1|
    |  3|  6|      1|
    |  8|  9|      2|
    +---+---+-------+
    <BLANKLINE>
    """
    one = _Intervals(data, on, by)
    Naming.of([*data.columns, cluster], [], [], "")
    start, end = one.interval.of()
    ends = data.withColumns({_START: start, _END: end})
    holds = sf.coalesce(column(_START) < column(_END), sf.lit(False))
    number = sf.when(holds, column(cluster))
    found = one.numbered(ends, gap, cluster, holds).withColumn(cluster, number)
    return found.select(*map(column, (*data.columns, cluster)))


@documented
def split(
    data: DataFrame, *, on: Ends = ("ts", "te"), by: Names = (), count: str = "count"
) -> DataFrame:
    """
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
    one = _Intervals(data, on, by, count)
    changes = [
        one.proper.select(*one.keys, column(end).alias(_START), sf.lit(step).alias(_NEW))
        for end, step in ((_START, 1), (_END, -1))
    ]
    at = changes[0].union(changes[1]).groupBy(*one.keys, _START).agg(sf.sum(_NEW).alias(_NEW))
    ordered = Window.partitionBy(*one.keys).orderBy(_START)
    pieces = at.select(
        *one.keys,
        column(_START),
        sf.lead(_START).over(ordered).alias(_END),
        sf.sum(_NEW).over(ordered).alias(count),
    )
    made = one.interval.made_of(column(_START), column(_END))
    return pieces.where(column(count) > 0).select(*one.keys, *made, column(count))


@documented
def complement(
    data: DataFrame,
    *,
    on: Ends = ("ts", "te"),
    by: Names = (),
    within: tuple[Any, Any] | None = None,
) -> DataFrame:
    """
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
    one = _Intervals(data, on, by)
    start, end = column(_START), column(_END)
    merged = merge(one.proper, on=(_START, _END), by=by, count=_NEW).drop(_NEW)
    ordered = Window.partitionBy(*one.keys).orderBy(start)
    gaps = merged.select(*one.keys, end.alias(_START), sf.lead(start).over(ordered).alias(_END))
    found = gaps.where(end.isNotNull())
    if within is not None:
        kinds = [field.dataType for field in merged.select(_START, _END).schema]
        low, high = (sf.lit(value).cast(k) for value, k in zip(within, kinds, strict=True))
        first = merged.groupBy(*one.keys).agg(low.alias(_START), sf.min(start).alias(_END))
        found = gaps.union(first).select(
            *one.keys,
            sf.greatest(start, low).alias(_START),
            sf.least(sf.coalesce(end, high), high).alias(_END),
        )
        found = found.where(start < end)
    return found.select(*one.keys, *one.interval.made_of(start, end))


_START, _END, _SO_FAR, _NEW, _ISLAND = (
    f"intervalsweep_{name}" for name in ("start", "end", "so_far", "new", "island")
)


class _Intervals:
    """The keys and the ends of a frame's intervals; `proper` has those that hold something."""

    def __init__(self, frame: DataFrame, on: Ends, by: Names, *more: str) -> None:
        check_frames(frame)
        names = listed(by)
        self.interval = Interval(frame, "given", on)
        check_columns("given", frame.columns, *names)
        Naming.of([*names, *self.interval.names, *more], [], [], "")
        self.keys = [column(name) for name in names]
        start, end = self.interval.of()
        some = frame.select(*self.keys, start.alias(_START), end.alias(_END))
        self.proper = some.where(column(_START) < column(_END))

    def numbered(self, frame: DataFrame, gap: Distance, name: str, *within: Column) -> DataFrame:
        """Number the islands of a frame with START and END: 1, 2, ... within equal keys."""
        start, end, so_far = column(_START), column(_END), column(_SO_FAR)
        ordered = Window.partitionBy(*self.keys, *within).orderBy(start, end)
        apart = so_far < start
        if gap is not None:
            check_active(frame.sparkSession)
            limit = as_parameter("gap", gap, frame.select(start).schema[0].dataType)
            near = call("iseql_before", (so_far, so_far, start, start), limit)
            apart = apart & ~near
        before: Column = sf.max(end).over(ordered.rowsBetween(Window.unboundedPreceding, -1))
        found = frame.withColumn(_SO_FAR, before)
        found = found.withColumn(_NEW, sf.when(so_far.isNull() | apart, 1).otherwise(0))
        return found.withColumn(name, sf.sum(_NEW).over(ordered))
