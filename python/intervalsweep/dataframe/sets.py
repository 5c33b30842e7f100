# SPDX-License-Identifier: Apache-2.0
"""Set operations on the intervals of one table: merge, number, split, and find gaps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from intervalsweep._signatures import Distance, Names, Nulls, implements
from intervalsweep._sql.calls import call
from intervalsweep.columns import Ends, SparkColumns, check_choice, check_unique, listed, spelled
from intervalsweep.dataframe.interval_columns import (
    DataFrameFunctions,
    Interval,
    as_parameter,
    check_frames,
    column,
    common_type,
)
from intervalsweep.session import check_active
from intervalsweep.table_functions import (
    interval_complement,
    interval_merge,
    interval_split,
)


@implements(DataFrameFunctions.merge)
def merge(data: DataFrame, *, gap: Distance, count: str, **intervals: Any) -> DataFrame:
    """
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
    one = _Intervals(data, count, **intervals)
    return one.taken_together(
        interval_merge, column(count), gap=one.parameter("gap", gap), count=count
    )


@implements(DataFrameFunctions.cluster)
def cluster(data: DataFrame, *, gap: Distance, cluster: str, **intervals: Any) -> DataFrame:
    """
    Examples
    --------
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
    one = _Intervals(data, **intervals)
    check_unique([*data.columns, cluster])
    start, end = one.interval.of()
    ends = data.withColumns({_START: start, _END: end})
    holds = one.holds(column(_START), column(_END))
    number = sf.when(holds, column(cluster))
    found = one.numbered(ends, gap, cluster, holds).withColumn(cluster, number)
    return found.select(*map(column, (*data.columns, cluster)))


@implements(DataFrameFunctions.split)
def split(data: DataFrame, *, count: str, **intervals: Any) -> DataFrame:
    """
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
    one = _Intervals(data, count, **intervals)
    return one.taken_together(interval_split, column(count), count=count)


@implements(DataFrameFunctions.complement)
def complement(data: DataFrame, *, within: tuple[Any, Any] | None, **intervals: Any) -> DataFrame:
    """
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
    return _Intervals(data, **intervals).taken_together(interval_complement, within=within)


_START, _END, _SO_FAR, _ENDLESS, _NEW = (
    f"intervalsweep_{name}" for name in ("start", "end", "so_far", "endless", "new")
)


class _Intervals:
    """The keys and the endpoints of a DataFrame's intervals."""

    def __init__(self, frame: DataFrame, *more: str, on: Ends, by: Names, nulls: Nulls) -> None:
        check_frames(frame)
        check_choice("nulls", nulls, get_args(Nulls))
        known = SparkColumns.of(frame)
        names = [spelled("given", known, name) for name in listed(by)]
        self._frame = frame
        self._nulls = nulls
        self.interval = Interval(frame, "given", on)
        check_unique([*names, *self.interval.names, *more])
        self._names = names
        self.keys = [column(name) for name in names]

    def parameter(self, name: str, distance: Distance) -> Any:
        """Return a distance between endpoints as SQL takes it."""
        if distance is None:
            return None
        start, _ = self.interval.of()
        return as_parameter(name, distance, self._frame.select(start).schema[0].dataType)

    def taken_together(
        self, function: Callable[..., DataFrame], *more: Column, **given: Any
    ) -> DataFrame:
        """Return the keys, intervals and `more` columns that a table function makes of these."""
        check_active(self._frame.sparkSession)
        start, end = self.interval.of()
        kind = common_type([(self._frame, start), (self._frame, end)])
        ends = start.cast(kind).alias(_START), end.cast(kind).alias(_END)
        some = self._frame.select(*self.keys, *ends)
        found = function(some, _START, _END, keys=self._names, nulls=self._nulls, **given)
        made = self.interval.made_of(column(_START), column(_END))
        return found.select(*self.keys, *made, *more)

    def holds(self, start: Column, end: Column) -> Column:
        """Return whether an interval is neither empty nor reversed, nor dropped by `nulls`."""
        if self._nulls == "unbounded":
            return sf.coalesce(start < end, sf.lit(True))
        if self._nulls == "drop":
            return sf.coalesce(start < end, sf.lit(False))
        message = "[INTERVALSWEEP_SEQUENCED.NULL_END] A row has a NULL endpoint: replace it, or set"
        raised = sf.raise_error(f"{message} nulls='unbounded' or 'drop'.").cast("boolean")
        return sf.coalesce(start < end, raised)

    def numbered(self, frame: DataFrame, gap: Distance, name: str, *within: Column) -> DataFrame:
        """Number the islands of a DataFrame with START and END: 1, 2, ... for each key."""
        start, end, so_far = column(_START), column(_END), column(_SO_FAR)
        ordered = Window.partitionBy(*self.keys, *within).orderBy(start.asc_nulls_first(), end)
        apart = so_far < start
        limit = self.parameter("gap", gap)
        if limit is not None:
            check_active(frame.sparkSession)
            near = call("iseql_before", (so_far, so_far, start, start), limit)
            apart = apart & ~near
        earlier = ordered.rowsBetween(Window.unboundedPreceding, -1)
        before: Column = sf.max(end).over(earlier)
        # Each later interval overlaps an earlier one without an end (NULL).
        endless: Column = sf.coalesce(sf.max(end.isNull()).over(earlier), sf.lit(False))
        found = frame.withColumns({_SO_FAR: before, _ENDLESS: endless})
        is_new = ~column(_ENDLESS) & (so_far.isNull() | sf.coalesce(apart, sf.lit(False)))
        found = found.withColumn(_NEW, is_new.cast("int"))
        return found.withColumn(name, sf.sum(_NEW).over(ordered))
