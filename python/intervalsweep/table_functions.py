# SPDX-License-Identifier: Apache-2.0
"""A typed function for each table function of SQL: the same names, meanings and arguments.

    from intervalsweep import table_functions as ist

    ist.interval_merge(visits, "ts", "te", gap=timedelta(minutes=5))
    ist.sequenced(ist.validtime(works, "ts", "te").groupBy("skill").count())

Each takes DataFrames where SQL takes ``TABLE(...)``, and returns a DataFrame. Arguments that are
None are left out of the call, so that SQL's defaults apply. Durations are numbers for numeric
columns, and for dates and timestamps a ``timedelta``, a ``numpy.timedelta64`` or a text such as
``"10 minutes"``.

`intervalsweep.dataframe` and `intervalsweep.temporal` wrap the same functions with checks of
columns and with operators on histories.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from intervalsweep._instants import is_naive
from intervalsweep._signatures import HistoryEmit, Names
from intervalsweep._sql.frames import sql_over
from intervalsweep._sql.literals import calendar_length, for_column, length, literal, options
from intervalsweep.columns import listed
from intervalsweep.session import check_active

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

# A number, a timedelta, a numpy.timedelta64, or a text such as `10 minutes`.
Duration: TypeAlias = "int | float | Decimal | timedelta | str | Any"
Nulls: TypeAlias = Literal["unbounded", "drop", "error"]

__all__ = [
    "interval_complement",
    "interval_join_report",
    "interval_merge",
    "interval_split",
    "sequenced",
    "temporal_coalesce",
    "temporal_except_strict",
    "temporal_resample",
    "temporal_split",
    "temporal_union_max",
    "temporal_window",
    "validtime",
]


def interval_merge(
    data: DataFrame,
    ts: str,
    te: str,
    *,
    gap: Duration | None = None,
    count: str | None = None,
    keys: str | Sequence[str] = (),
    nulls: Nulls | None = None,
) -> DataFrame:
    """Merge intervals that overlap, touch, or are at most `gap` apart.

    Parameters
    ----------
    data
        The intervals.
    ts, te
        Names of the columns with starts and ends.
    gap
        The largest distance between two intervals that are merged; None merges those that touch.
    count
        Name of the column with the number of merged intervals; ``count`` by default.
    keys
        Names of columns: rows with different keys are handled separately.
    nulls
        The meaning of a NULL endpoint: ``unbounded`` (the default), ``drop`` the row, or ``error``.

    Returns
    -------
    DataFrame
        The keys, `ts`, `te` and `count`: one row per merged interval.

    Examples
    --------
    >>> frame = spark.sql("SELECT * FROM VALUES (1, 4), (3, 6), (8, 9) t(ts, te)")
    >>> interval_merge(frame, "ts", "te").orderBy("ts").show()
    +---+---+-----+
    | ts| te|count|
    +---+---+-----+
    |  1|  6|    2|
    |  8|  9|    1|
    +---+---+-----+
    <BLANKLINE>
    """
    given = {"gap": length("gap", gap), "count": count, **_of_rows(keys, nulls)}
    return _call("interval_merge", (data,), (ts, te), **given)


def interval_split(
    data: DataFrame,
    ts: str,
    te: str,
    *,
    count: str | None = None,
    keys: str | Sequence[str] = (),
    nulls: Nulls | None = None,
) -> DataFrame:
    """Split time at all starts and ends, and count the intervals that cover each fragment.

    Parameters
    ----------
    data
        The intervals.
    ts, te
        Names of the columns with starts and ends.
    count
        Name of the column with the number of intervals; ``count`` by default.
    keys
        Names of columns: rows with different keys are handled separately.
    nulls
        The meaning of a NULL endpoint: ``unbounded`` (the default), ``drop`` the row, or ``error``.

    Returns
    -------
    DataFrame
        The keys, `ts`, `te` and `count`: one row per fragment that an interval covers.

    Examples
    --------
    >>> frame = spark.sql("SELECT * FROM VALUES (1, 4), (3, 6) t(ts, te)")
    >>> interval_split(frame, "ts", "te").orderBy("ts").show()
    +---+---+-----+
    | ts| te|count|
    +---+---+-----+
    |  1|  3|    1|
    |  3|  4|    2|
    |  4|  6|    1|
    +---+---+-----+
    <BLANKLINE>
    """
    return _call("interval_split", (data,), (ts, te), count=count, **_of_rows(keys, nulls))


def interval_complement(
    data: DataFrame,
    ts: str,
    te: str,
    *,
    within: tuple[Any, Any] | None = None,
    keys: str | Sequence[str] = (),
    nulls: Nulls | None = None,
) -> DataFrame:
    """Return the gaps between intervals.

    Parameters
    ----------
    data
        The intervals.
    ts, te
        Names of the columns with starts and ends.
    within
        Start and end of the time whose gaps are returned; by default from the first start to the
        last end of each key.
    keys
        Names of columns: rows with different keys are handled separately.
    nulls
        The meaning of a NULL endpoint: ``unbounded`` (the default), ``drop`` the row, or ``error``.

    Returns
    -------
    DataFrame
        The keys, `ts` and `te`: one row per gap.

    Examples
    --------
    >>> frame = spark.sql("SELECT * FROM VALUES (1, 4), (6, 8) t(ts, te)")
    >>> interval_complement(frame, "ts", "te", within=(0, 8)).orderBy("ts").show()
    +---+---+
    | ts| te|
    +---+---+
    |  0|  1|
    |  4|  6|
    +---+---+
    <BLANKLINE>
    """
    limits = for_column(within, _type_of(data, ts))
    return _call("interval_complement", (data,), (ts, te), within=limits, **_of_rows(keys, nulls))


def validtime(
    data: DataFrame,
    ts: str | None = None,
    te: str | None = None,
    *,
    nulls: Nulls | None = None,
    invalid: Literal["drop", "error"] | None = None,
    closed: Literal["left", "right", "both", "neither"] | None = None,
    unbounded: Any = None,
    names: tuple[str, str] | None = None,
    step: Duration | None = None,
    unbounded_start: Any = None,
    until_next: Names | None = None,
    order: Names = (),
    deleted: str | None = None,
) -> DataFrame:
    """Mark a DataFrame as a valid-time relation for :func:`sequenced`, and hide its period.

    Parameters
    ----------
    data
        Rows with the period in which each is valid.
    ts, te
        Names of the columns with starts and ends. Without `te` a row is valid from `ts` on, or `ts`
        is a struct of both. Without both, the table property ``validtime`` names them.
    nulls
        The meaning of a NULL end: ``unbounded`` (the default), ``drop`` the row, or ``error``.
    invalid
        The treatment of an empty or reversed period: ``drop`` (the default) or ``error``.
    closed
        The ends that belong to a period: ``left`` (the default), ``right``, ``both`` or
        ``neither``.
    unbounded, unbounded_start
        An end that means "no end", such as ``date(9999, 12, 31)``, or a start that means "no
        start"; a tuple for several.
    names
        Names of the period's columns in results.
    step
        How far a closed end is from the start of the next period, such as ``timedelta(seconds=1)``
        for ends at 23:59:59; by default the smallest step of the type.
    until_next
        The rows are changes: each is valid from `ts` until the next one of the same values in these
        columns, the last until further notice. Only `names` can be given besides.
    order
        Columns that order the changes at the same instant: only the last of them is valid. Without
        `order` all of them are.
    deleted
        A condition in SQL. A change that meets the condition only ends the previous change.

    Returns
    -------
    DataFrame
        The other columns of `data`. Only :func:`sequenced` and the ``temporal_*`` functions can
        read it.

    Examples
    --------
    >>> works = spark.sql("SELECT * FROM VALUES ('Ann', 3, 10), ('Joe', 8, 16) t(name, ts, te)")
    >>> validtime(works, "ts", "te").columns
    ['name']
    """
    kind = _type_of(data, te or ts)
    given: dict[str, Any] = {"nulls": nulls, "invalid": invalid, "closed": closed, "step": step}
    given["unbounded"] = for_column(unbounded, kind)
    given["unbounded_start"] = for_column(unbounded_start, kind)
    given["until_next"] = None if until_next is None else tuple(listed(until_next))
    given |= {"order": tuple(listed(order)) or None, "deleted": deleted}
    return _call("validtime", (data,), (ts, te), **given, names=names)


def sequenced(
    query: DataFrame,
    *,
    period: tuple[Any, Any] | None = None,
    at: Any = None,
    coalesce: bool | None = None,
    names: tuple[str, str] | None = None,
    closed: Literal["left", "right", "both", "neither"] | None = None,
    unbounded: Any = None,
    step: Duration | None = None,
    emit: HistoryEmit | None = None,
) -> DataFrame:
    """Return the history of a plain query over valid-time relations.

    Parameters
    ----------
    query
        A query over DataFrames that :func:`validtime` marked.
    period
        The part of the history from its first value to before its second; None is no limit.
    at
        Return the rows at this instant, without a period. A naive datetime, also in `period`, is in
        Python's local time, as in PySpark; for TIMESTAMP_NTZ it is the time that the clock shows.
    coalesce
        True returns the fewest rows: equal rows whose periods touch become one.
    names
        Names of the period's columns; by default those of the first marked DataFrame.
    closed, step
        The ends that belong to a period of the result, as in :func:`validtime`.
    unbounded
        An end that means "no end" in the result, such as ``date(9999, 12, 31)``, instead of NULL.
    emit
        For streams: ``"final"``, the default, returns a row when its period has ended; ``"early"``
        as soon as it is certain, cut at the watermark.

    Returns
    -------
    DataFrame
        The rows of the query, each with the period in which the query returns it. NULL is no bound.

    Examples
    --------
    >>> works = spark.sql("SELECT * FROM VALUES ('Ann', 3, 10), ('Joe', 8, 16) t(name, ts, te)")
    >>> counts = validtime(works, "ts", "te").groupBy().count()
    >>> sequenced(counts, period=(5, 12)).orderBy("ts").show()
    +-----+---+---+
    |count| ts| te|
    +-----+---+---+
    |    1|  5|  8|
    |    2|  8| 10|
    |    1| 10| 12|
    +-----+---+---+
    <BLANKLINE>
    """
    if any(map(is_naive, (at, unbounded, *(period or ())))):
        kind = _period_type(query)
        period, at, unbounded = (for_column(value, kind) for value in (period, at, unbounded))
    given = {"period": period, "at": at, "coalesce": coalesce, "names": names}
    form = {"closed": closed, "unbounded": unbounded, "step": step, "emit": emit}
    return _call("sequenced", (query,), **given, **form)


def temporal_union_max(
    a: DataFrame, b: DataFrame, *, ts: str | None = None, te: str | None = None
) -> DataFrame:
    """Return each row, at each instant, as often as the side that has it more often.

    Parameters
    ----------
    a, b
        Queries with columns of the same types: valid-time relations inside :func:`sequenced`, or
        tables with a period.
    ts, te
        Names of the period's columns, for a call outside :func:`sequenced`.

    Returns
    -------
    DataFrame
        The rows; with `ts`, their history.

    Examples
    --------
    >>> a = spark.sql("SELECT * FROM VALUES ('x', 1, 5), ('x', 1, 5) t(v, ts, te)")
    >>> b = spark.sql("SELECT * FROM VALUES ('x', 1, 5), ('y', 2, 3) t(v, ts, te)")
    >>> temporal_union_max(a, b, ts="ts", te="te").orderBy("v").show()
    +---+---+---+
    |  v| ts| te|
    +---+---+---+
    |  x|  1|  5|
    |  x|  1|  5|
    |  y|  2|  3|
    +---+---+---+
    <BLANKLINE>
    """
    return _call("temporal_union_max", (a, b), ts=ts, te=te)


def temporal_except_strict(
    a: DataFrame, b: DataFrame, *, ts: str | None = None, te: str | None = None
) -> DataFrame:
    """Return the rows of `a`, at each instant, that no row of `b` equals.

    Parameters
    ----------
    a, b
        Queries with columns of the same types: valid-time relations inside :func:`sequenced`, or
        tables with a period.
    ts, te
        Names of the period's columns, for a call outside :func:`sequenced`.

    Returns
    -------
    DataFrame
        The rows; with `ts`, their history.

    Examples
    --------
    >>> a = spark.sql("SELECT * FROM VALUES ('x', 1, 5) t(v, ts, te)")
    >>> b = spark.sql("SELECT * FROM VALUES ('x', 2, 3) t(v, ts, te)")
    >>> temporal_except_strict(a, b, ts="ts", te="te").orderBy("ts").show()
    +---+---+---+
    |  v| ts| te|
    +---+---+---+
    |  x|  1|  2|
    |  x|  3|  5|
    +---+---+---+
    <BLANKLINE>
    """
    return _call("temporal_except_strict", (a, b), ts=ts, te=te)


def temporal_coalesce(
    data: DataFrame,
    *,
    max_length: Duration | None = None,
    ts: str | None = None,
    te: str | None = None,
) -> DataFrame:
    """Merge equal rows whose periods overlap or touch into the fewest periods.

    Parameters
    ----------
    data
        A valid-time relation inside :func:`sequenced`, or a table with a period.
    max_length
        A period of at least this length is not extended. No row is cut. None means no limit.
    ts, te
        Names of the period's columns, for a call outside :func:`sequenced`.

    Returns
    -------
    DataFrame
        The rows; with `ts`, their history.

    Examples
    --------
    >>> frame = spark.sql("SELECT * FROM VALUES ('x', 1, 3), ('x', 3, 5) t(v, ts, te)")
    >>> temporal_coalesce(frame, ts="ts", te="te").show()
    +---+---+---+
    |  v| ts| te|
    +---+---+---+
    |  x|  1|  5|
    +---+---+---+
    <BLANKLINE>
    """
    most = length("max_length", max_length)
    return _call("temporal_coalesce", (data,), max_length=most, ts=ts, te=te)


def temporal_split(
    data: DataFrame, max_length: Duration, *, ts: str | None = None, te: str | None = None
) -> DataFrame:
    """Split periods into fragments of at most `max_length`.

    Parameters
    ----------
    data
        A valid-time relation inside :func:`sequenced`, or a table with a period.
    max_length
        The longest period that is returned.
    ts, te
        Names of the period's columns, for a call outside :func:`sequenced`.

    Returns
    -------
    DataFrame
        The rows; with `ts`, their history.

    Examples
    --------
    >>> frame = spark.sql("SELECT * FROM VALUES ('x', 1, 4) t(v, ts, te)")
    >>> temporal_split(frame, 2, ts="ts", te="te").orderBy("ts").show()
    +---+---+---+
    |  v| ts| te|
    +---+---+---+
    |  x|  1|  3|
    |  x|  3|  4|
    +---+---+---+
    <BLANKLINE>
    """
    most = calendar_length("max_length", max_length)
    return _call("temporal_split", (data,), max_length=most, ts=ts, te=te)


def temporal_window(
    data: DataFrame,
    *,
    sliding: Duration | None = None,
    fixed: Duration | None = None,
    origin: Any = None,
    on_bounded: Literal["replace", "error"] | None = None,
    ts: str | None = None,
    te: str | None = None,
) -> DataFrame:
    """Set the end of each row's period from its start: a sliding or a fixed window.

    Parameters
    ----------
    data
        A valid-time relation inside :func:`sequenced`, or a table with a period.
    sliding
        Each row is valid for this long from its start on.
    fixed
        Each row is valid to the end of the window of this length in which it starts. Give either
        `sliding` or `fixed`.
    origin
        The start of one fixed window.
    on_bounded
        The treatment of a period that has an end: ``replace`` the end (the default) or ``error``.
    ts, te
        Names of the period's columns, for a call outside :func:`sequenced`.

    Returns
    -------
    DataFrame
        The rows; with `ts`, their history.

    Examples
    --------
    >>> frame = spark.sql("SELECT * FROM VALUES ('x', 1), ('y', 6) t(v, ts)")
    >>> temporal_window(frame, sliding=4, ts="ts").orderBy("ts").show()
    +---+---+---+
    |  v| ts| te|
    +---+---+---+
    |  x|  1|  5|
    |  y|  6| 10|
    +---+---+---+
    <BLANKLINE>
    """
    given = {
        "sliding": calendar_length("sliding", sliding),
        "fixed": calendar_length("fixed", fixed),
    }
    if is_naive(origin):
        origin = for_column(origin, _period_type(data) if ts is None else _type_of(data, ts))
    given |= {"origin": origin, "on_bounded": on_bounded}
    return _call("temporal_window", (data,), **given, ts=ts, te=te)


def temporal_resample(
    data: DataFrame,
    every: Duration,
    *,
    ts: str,
    te: str | None = None,
    origin: Any = None,
    period: tuple[Any, Any] | None = None,
    names: tuple[str, str, str] | None = None,
    max_buckets: int | None = None,
) -> DataFrame:
    """Cut periods at the edges of months or of other buckets, for aggregates over time.

    With the share of the bucket's time, the mean of a value, weighted by time, is
    ``sum(value * share) / sum(share)`` for each bucket.

    Parameters
    ----------
    data
        A table with a period, such as the result of :func:`sequenced`.
    every
        The length of the buckets: also calendar units such as ``DAY``, ``2 weeks`` or ``MONTH``.
    ts, te
        Names of the period's columns. Without `te` a row is valid from `ts` on.
    origin
        The start of one bucket. The default is 0 or 1970-01-01, and for weeks a Monday.
    period
        The part of the time that is returned, as in :func:`sequenced`. Rows without a start or an
        end need it.
    names
        Names of the columns that are added: ``bucket_start``, ``bucket_end`` and ``share`` by
        default.
    max_buckets
        The most buckets of one row, a million by default. A row with more is an error.

    Returns
    -------
    DataFrame
        The rows, for each bucket that they overlap: their part of it, the bucket, and the share of
        the bucket's time that the part covers.

    Examples
    --------
    >>> frame = spark.sql("SELECT * FROM VALUES ('x', 5, 12) t(v, ts, te)")
    >>> temporal_resample(frame, 10, ts="ts", te="te").orderBy("ts").show()
    +---+---+---+------------+----------+-----+
    |  v| ts| te|bucket_start|bucket_end|share|
    +---+---+---+------------+----------+-----+
    |  x|  5| 10|           0|        10|  0.5|
    |  x| 10| 12|          10|        20|  0.2|
    +---+---+---+------------+----------+-----+
    <BLANKLINE>
    """
    kind = _type_of(data, ts)
    given = {"every": calendar_length("every", every), "ts": ts, "te": te}
    given |= {"origin": for_column(origin, kind), "period": for_column(period, kind)}
    return _call("temporal_resample", (data,), **given, names=names, max_buckets=max_buckets)


def interval_join_report(spark: SparkSession, query: str) -> DataFrame:
    """Report how each join of a SQL query is planned, without running the query.

    Parameters
    ----------
    spark
        The session in which the query is planned.
    query
        The text of the query. For a DataFrame use :func:`intervalsweep.why_not`.

    Returns
    -------
    DataFrame
        One row per join; the columns are the fields of :class:`intervalsweep.report.JoinReport`.

    Examples
    --------
    >>> text = "SELECT * FROM range(3) r JOIN range(3) s ON r.id < s.id AND s.id < r.id + 2"
    >>> interval_join_report(spark, text).select("join_type", "swept").show()
    +---------+-----+
    |join_type|swept|
    +---------+-----+
    |    INNER| true|
    +---------+-----+
    <BLANKLINE>
    """
    check_active(spark)
    return spark.sql("SELECT * FROM interval_join_report(:query)", {"query": query})


def _type_of(data: DataFrame, name: str | None) -> DataType | None:
    """Return the type of a column; None if there is no such column."""
    names = [column.lower() for column in data.columns]
    return (
        data.schema[names.index(name.lower())].dataType if name and name.lower() in names else None
    )


def _period_type(query: DataFrame) -> DataType:
    """Return the type of the period of a query over valid-time relations."""
    names = ("intervalsweep_from", "intervalsweep_to")
    return _call("sequenced", (query,), names=names).schema[-2].dataType


def _of_rows(keys: str | Sequence[str], nulls: Nulls | None) -> dict[str, Any]:
    names = (keys,) if isinstance(keys, str) else tuple(keys)
    return {"keys": names or None, "nulls": nulls}


def _call(
    name: str, tables: tuple[DataFrame, ...], operands: tuple[str | None, ...] = (), **given: Any
) -> DataFrame:
    """Return the rows of a table function. Raises SetupError if the session lacks the extension."""
    spark = tables[0].sparkSession
    check_active(spark)
    frames: dict[str, Any] = {f"intervalsweep_{k}": one for k, one in enumerate(tables)}
    texts = [f"TABLE({{{key}}})" for key in frames]
    texts += [literal(name, one) for one in operands if one is not None]
    call = f"{name}({', '.join(texts)}{options(given)})"
    return sql_over(spark, f"SELECT * FROM {call}", frames)
