# SPDX-License-Identifier: Apache-2.0
"""Joins for streams and tables: by a relation, or by inequalities within a window."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import get_args

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql import types as st

from intervalsweep._distances import elapsed, whole
from intervalsweep._errors import ArgumentError, EndpointTypeError
from intervalsweep._signatures import How, JoinWord
from intervalsweep._sql.calls import Parameter
from intervalsweep._sql.relation_names import RelationName
from intervalsweep.columns import (
    Ends,
    Keys,
    Naming,
    SparkColumns,
    check_columns,
    join_type,
    names_of,
    spelled,
)
from intervalsweep.dataframe.interval_columns import Interval, check_frames, column
from intervalsweep.dataframe.joins import JoinSides, result
from intervalsweep.session import check_active

# Metadata on a column of row numbers: its disorder. The planner reads it.
_DISORDER = "intervalsweep.disorder"
# Spark's metadata on a column: the delay of its watermark, in milliseconds.
_WATERMARK = "spark.watermarkDelayMs"
# Metadata on a column of a join's result: its largest lag behind the watermark, in microseconds.
_LAG = "intervalsweep.eventTimeLag"
# Metadata on a column of times: marks the window of an inequality join for the planner.
_WINDOW = "intervalsweep.window"
# Metadata on a column: its value identifies the interval that a row belongs to.
_OPEN_ID = "intervalsweep.open_id"


def stream_join(
    a: DataFrame,
    b: DataFrame,
    relation: RelationName = "interval_intersects",
    *,
    on: Ends = ("ts", "te"),
    by: Keys | str = (),
    how: JoinWord = "inner",
    delta: Parameter = None,
    epsilon: Parameter = None,
    max_length: timedelta | str | None = None,
    open_id: str | None = None,
    time: str | None = None,
    suffix: str = "_right",
) -> DataFrame:
    """Join two streams by a relation of their intervals; for tables, the same as :func:`join`.

    A pair is emitted in the micro-batch in which its later row arrives. An unmatched row is emitted
    when no later row can match it any more, and a row of a semi join with its first match.

    Parameters
    ----------
    a, b
        DataFrames. A streaming DataFrame needs a watermark on a TIMESTAMP endpoint of its
        intervals.
    relation
        A relation of :mod:`intervalsweep.functions`; `delta` and `epsilon` are its parameters.
    on, by, suffix
        The same as in :func:`join`.
    how
        ``inner``, ``left``, ``right``, ``full``, ``semi`` or ``anti``.
    max_length
        The largest length of an interval of either side. Longer intervals are left out and counted
        as ``longRows`` in the observed metrics of a stream's progress. It bounds the state where
        the relation does not, for example with a watermark on the ends of intervals.
    open_id
        A column of both sides that identifies the interval of a row. A row with a NULL end says
        that the interval has started, a later row that it has ended. A pair is emitted as soon as
        the relation is certain whatever the unknown ends will be, and has NULL for these ends. Only
        for inner joins. The watermark must be on ``coalesce(te, ts)``, under any name.
    time
        The name of a result column with the event time of each pair: the greater event time of its
        two rows (for tables, which have no watermarks, the later start). For an unmatched row it is
        the time from which on no match can come, or the row's own time if that is later. The
        watermark is on this column and on no other, so that an aggregate by time or another join
        can follow. Only for joins that return pairs, and not with `open_id`.

    Returns
    -------
    DataFrame
        The columns of :func:`join`, and the column `time` if it is named.

    Raises
    ------
    AnalysisException
        ``INTERVALSWEEP_STREAM.NO_WATERMARK`` if a stream has no watermark, and
        ``INTERVALSWEEP_STREAM.UNBOUNDED_STATE`` if rows would be kept forever: its text names the
        missing bound. `docs/streams/relations.md` has a table.
    ArgumentError
        If `time` is used with a semi or anti join, or with `open_id`.

    Examples
    --------
    >>> from datetime import timedelta
    >>> a = spark.sql("SELECT TIMESTAMP'2024-01-01 08:00' AS ts, TIMESTAMP'2024-01-01 10:00' AS te")
    >>> b = spark.sql("SELECT TIMESTAMP'2024-01-01 09:00' AS ts, TIMESTAMP'2024-01-01 11:00' AS te")
    >>> stream_join(a, b, "allen_overlaps", max_length=timedelta(hours=2)).count()
    1
    """
    check_frames(a, b)
    how = join_type(how, get_args(How))
    if open_id is not None:
        a, b = _opened(a, "left", on, open_id), _opened(b, "right", on, open_id)
    if max_length is not None:
        max_length = elapsed("max_length", max_length)
        a = _no_longer(a, "left", on, max_length)
        b = _no_longer(b, "right", on, max_length)
    both = JoinSides.of(a, b, relation, on=on, by=by, delta=delta, epsilon=epsilon)
    if time is None:
        return both.joined(how, suffix)
    _check_time(how, open_id)
    clocks = column(_clock(a, on)), both.of_right(_clock(b, on))
    return both.joined(how, suffix, {time: sf.call_function("pair_event_time", *clocks)})


def _check_time(how: str, open_id: str | None) -> None:
    if how in ("semi", "anti") or open_id is not None:
        raise ArgumentError(
            "time= needs a join that returns pairs of ended intervals: use it without semi, anti "
            "and open_id."
        )


def _clock(side: DataFrame, on: Ends) -> str:
    """Return the event-time column of a side; of several, the one with the smallest lag."""
    found = [
        (field.metadata.get(_LAG, 0), field.name)
        for field in side.schema
        if _LAG in field.metadata or _WATERMARK in field.metadata
    ]
    return min(found, default=(0, names_of(on)[0]))[1]


def _no_longer(frame: DataFrame, side: str, on: Ends, most: timedelta) -> DataFrame:
    start, end = Interval(frame, side, on).of()
    # A row with a NULL endpoint is kept. The planner for streams recognizes this form and counts.
    return frame.where(sf.coalesce(end <= start + sf.lit(most), sf.lit(True)))


def _opened(frame: DataFrame, side: str, on: Ends, name: str) -> DataFrame:
    name = spelled(side, SparkColumns.of(frame), name)
    if not frame.isStreaming:
        # A table also has the row with the end of each interval: rows without an end are dropped.
        return frame.where(Interval(frame, side, on).of()[1].isNotNull())
    marked: Column = column(name).alias(name, metadata={_OPEN_ID: True})
    return frame.select([marked if n == name else column(n) for n in frame.columns])


@dataclass(frozen=True)
class Rows:
    """A window by row numbers; see :func:`rows`."""

    length: int
    seq: str
    slide: int | None
    disorder: int


@dataclass(frozen=True)
class Time:
    """A window of time; see :func:`time`."""

    length: timedelta
    on: str
    slide: timedelta | None


def rows(length: int, seq: str = "seq", *, slide: int | None = None, disorder: int = 0) -> Rows:
    """Return the window in which two rows are less than `length` rows apart.

    Parameters
    ----------
    length : int
        The length of the window, in rows.
    seq : str
        The column with the row numbers of either side: whole numbers.
    slide : int, optional
        Rows leave the window `slide` at a time: the window consists of `length` / `slide` slices,
        counted from row 0. `length` must be a multiple of `slide`.
    disorder : int
        How far the number of a row may be behind the largest number of earlier micro-batches. Rows
        that are farther behind are dropped.

    Returns
    -------
    Rows
        For the argument `window` of :func:`inequality_join`.

    Raises
    ------
    ArgumentError
        If `length` or `slide` is not positive, if `length` is not a multiple of `slide`, or if
        `disorder` is negative.

    Examples
    --------
    >>> rows(1_000_000, seq="trip", slide=100_000).length
    1000000
    """
    length, disorder = whole("length", length), whole("disorder", disorder)
    slide = None if slide is None else whole("slide", slide)
    if length < 1 or (slide is not None and (slide < 1 or length % slide)):
        raise ArgumentError(
            f"rows({length}, slide={slide}): the length must be positive, and a multiple of a "
            "positive slide."
        )
    if disorder < 0:
        raise ArgumentError(f"`disorder` must not be negative; got {disorder}.")
    return Rows(length, seq, slide, disorder)


def time(length: timedelta | str, on: str = "ts", *, slide: timedelta | str | None = None) -> Time:
    """Return the window in which two rows are less than `length` apart by a TIMESTAMP column.

    Parameters
    ----------
    length : datetime.timedelta or str
        The largest distance in time, exclusive, in either direction.
    on : str
        The column of times on both sides: the column with the watermark.
    slide : datetime.timedelta or str, optional
        Rows leave the window by whole slices: the window consists of `length` / `slide` slices,
        counted from 1970-01-01 00:00 UTC. `length` must be a multiple of `slide`.

    Returns
    -------
    Time
        For the argument `window` of :func:`inequality_join`.

    Raises
    ------
    ArgumentError
        If `length` or `slide` is not positive, or if `length` is not a multiple of `slide`.

    Examples
    --------
    >>> from datetime import timedelta
    >>> time(timedelta(minutes=5)).on
    'ts'
    """
    length = elapsed("length", length)
    slide = None if slide is None else elapsed("slide", slide)
    if length <= timedelta(0):
        raise ArgumentError(f"time({length!r}): the length must be positive.")
    if slide is not None and (slide <= timedelta(0) or length % slide):
        raise ArgumentError(
            f"time({length!r}, slide={slide!r}): the slide must be positive, and the length a "
            "multiple of the slide."
        )
    return Time(length, on, slide)


def inequality_join(
    a: DataFrame,
    b: DataFrame | None,
    condition: str,
    *,
    window: Rows | Time,
    how: JoinWord = "inner",
    suffix: str = "_right",
) -> DataFrame:
    """Join two streams by inequalities, within a window by row numbers or by time.

    This is the SPO-Join (stream inequality join) with two predicates, as a self-join or a join of
    two sides.

    Parameters
    ----------
    a, b
        DataFrames: streams or tables. With None for `b`, `a` is joined with itself.
    condition
        SQL over ``a`` and ``b``, such as ``"a.dist > b.dist AND a.fare < b.fare"``. It may contain
        equalities. With a window of time they distribute the rows over the state partitions; with a
        window of rows each state partition uses them to look up matches.
    window
        :func:`rows` or :func:`time`: how far apart two rows may be.
    how
        ``inner``, ``left``, ``right``, ``full``, ``semi`` or ``anti``.
    suffix
        Appended to the name of a right column if the left side has a column with that name.

    Returns
    -------
    DataFrame
        All columns of `a`, then those of `b`. Semi and anti joins return only the columns of `a`.

    Raises
    ------
    AnalysisException
        If the condition is not valid SQL, or a stream with a window of time has no watermark.
    ColumnError
        If a side does not have the column of the window.
    EndpointTypeError
        If a window of time has a slide, and its column is not a TIMESTAMP.

    Examples
    --------
    >>> from intervalsweep.dataframe import rows
    >>> values = "VALUES (1, 3, 20), (2, 5, 12), (3, 4, 30) t(seq, dist, fare)"
    >>> trips = spark.sql(f"SELECT * FROM {values}")
    >>> found = inequality_join(
    ...     trips, None, "a.dist > b.dist AND a.fare < b.fare", window=rows(1_000_000)
    ... )
    >>> sorted((row.seq, row.seq_right) for row in found.collect())
    [(2, 1), (2, 3)]
    """
    other = a if b is None else b
    check_frames(a, other)
    how = join_type(how, get_args(How))
    check_active(a.sparkSession)
    by = window.seq if isinstance(window, Rows) else window.on
    check_columns("left", a.columns, by)
    check_columns("right", other.columns, by)
    _check_slides(a, other, window)
    a, other = (_marked(frame, window) for frame in (a, other))
    alone = how in ("semi", "anti")
    naming = Naming.of(a.columns, [] if alone else other.columns, [], suffix)
    within = sf.expr(f"({condition}) AND {_within(window)}")
    joined = a.alias("a").join(other.alias("b"), within, how)
    left, right = partial(column, table="a"), partial(column, table="b")
    return joined.select(result(naming, how, left, right))


def _check_slides(a: DataFrame, b: DataFrame, window: Rows | Time) -> None:
    if isinstance(window, Time) and window.slide is not None:
        for side, frame in (("left", a), ("right", b)):
            kind = frame.schema[window.on].dataType
            if not isinstance(kind, st.TimestampType):
                raise EndpointTypeError(
                    f"A slide needs TIMESTAMP columns: column {window.on!r} of the {side} side is "
                    f"{kind.simpleString()}. Cast it to TIMESTAMP, or leave out slide."
                )


def _marked(frame: DataFrame, window: Rows | Time) -> DataFrame:
    """Mark the window's column, so that IntervalSweep plans the join whatever its condition."""
    if isinstance(window, Rows):
        name, mark = window.seq, {_DISORDER: window.disorder}
    else:
        name, mark = window.on, {_WINDOW: True}
    marked: Column = column(name).alias(name, metadata={**frame.schema[name].metadata, **mark})
    return frame.select([marked if n == name else column(n) for n in frame.columns])


def _within(window: Rows | Time) -> str:
    if isinstance(window, Time):
        return _within_time(window)
    name, slide = f"`{window.seq}`", window.slide
    if slide is None:
        return f"abs(a.{name} - b.{name}) < {window.length}"
    # The second bound follows from the first. The planner can bound the state by it.
    return (
        f"abs(a.{name} div {slide} - b.{name} div {slide}) < {window.length // slide} AND "
        f"abs(a.{name} - b.{name}) < {window.length + slide}"
    )


def _within_time(window: Time) -> str:
    name, micros = f"`{window.on}`", timedelta(microseconds=1)
    length = f"INTERVAL '{window.length // micros / 10**6:.6f}' SECOND"
    near = f"a.{name} < b.{name} + {length} AND b.{name} < a.{name} + {length}"
    if window.slide is None:
        return near
    slide = window.slide // micros

    def slice_of(row: str) -> str:
        number = f"unix_micros({row}.{name})"
        return f"({number} - pmod({number}, {slide}L))"

    # `near` follows from the slices. The planner can bound the state by it.
    return f"abs({slice_of('a')} - {slice_of('b')}) < {window.length // micros}L AND {near}"
