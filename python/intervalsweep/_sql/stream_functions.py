# SPDX-License-Identifier: Apache-2.0
"""The column functions of SQL that are not relations: event times and revisions of streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from intervalsweep._sql.calls import ColumnOrName

if TYPE_CHECKING:
    from pyspark.sql import Column


def pair_event_time(left: ColumnOrName, right: ColumnOrName) -> Column:
    """Return the event time of a row of an interval join, for use directly above the join.

    For a pair it is the later of the two times. For an unmatched row of an outer join it is the
    time from which on the row can have no match, or the row's own time if that is later. Over two
    streams the column has a watermark, so that an aggregate can group by it.

    Parameters
    ----------
    left, right
        The event-time columns of the left and the right side, of one type.

    Returns
    -------
    Column
        The type of the two columns. Spark's AnalysisException if the plan below is no such join.

    Examples
    --------
    >>> a = spark.sql("SELECT 1 AS k, TIMESTAMP '2024-01-01 10:00:00' AS ts").alias("a")
    >>> b = spark.sql("SELECT 1 AS k, TIMESTAMP '2024-01-01 10:05:00' AS ts").alias("b")
    >>> near = "b.ts BETWEEN a.ts AND a.ts + INTERVAL 10 MINUTES AND a.k = b.k"
    >>> a.join(b, sf.expr(near)).select(pair_event_time("a.ts", "b.ts").alias("at")).show()
    +-------------------+
    |                 at|
    +-------------------+
    |2024-01-01 10:05:00|
    +-------------------+
    <BLANKLINE>
    """
    return _call("pair_event_time", left, right)


def window_event_time() -> Column:
    """Return the event time of a row of a window union: the end of its window.

    It is the time of the base row if that is later. It stands in the lateral subquery of aggregates
    that defines the window. Over two streams the column has a watermark.

    Returns
    -------
    Column
        TIMESTAMP. Spark's AnalysisException outside a window union.

    Examples
    --------
    >>> base = spark.sql("SELECT TIMESTAMP '2024-01-01 10:00:00' AS ts")
    >>> probe = spark.sql("SELECT TIMESTAMP '2024-01-01 09:30:00' AS at").where(
    ...     sf.col("at").between(
    ...         sf.col("ts").outer() - sf.expr("INTERVAL 1 HOUR"),
    ...         sf.col("ts").outer() + sf.expr("INTERVAL 1 HOUR"),
    ...     )
    ... )
    >>> window = probe.select(sf.count("*").alias("n"), window_event_time().alias("until"))
    >>> base.lateralJoin(window, how="left").show()
    +-------------------+---+-------------------+
    |                 ts|  n|              until|
    +-------------------+---+-------------------+
    |2024-01-01 10:00:00|  1|2024-01-01 11:00:00|
    +-------------------+---+-------------------+
    <BLANKLINE>
    """
    return _call("window_event_time")


def window_is_final() -> Column:
    """Return whether a row of a window union is its base row's last revision.

    Over two streams, a query that selects it emits rows at once, and again when their windows
    change.

    Returns
    -------
    Column
        BOOLEAN; true for tables.

    Examples
    --------
    >>> spark.range(1).select(window_is_final()).first()[0]
    True
    """
    return _call("window_is_final")


def window_revision() -> Column:
    """Return the number of a row of a window union among the revisions of its base row.

    Over two streams, a query that selects it emits rows at once, and again when their windows
    change.

    Returns
    -------
    Column
        INT, from 1 on; 1 for tables.

    Examples
    --------
    >>> spark.range(1).select(window_revision()).first()[0]
    1
    """
    return _call("window_revision")


def _call(name: str, *columns: ColumnOrName) -> Column:
    from pyspark.sql import functions as sf

    return sf.call_function(name, *columns)


STREAM_FUNCTIONS = (pair_event_time, window_event_time, window_is_final, window_revision)
