# SPDX-License-Identifier: Apache-2.0
"""Joins that streams and tables have alike: by a relation, or by inequalities in a window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import get_args

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql import types as st

from intervalsweep._errors import ArgumentError, EndpointTypeError
from intervalsweep._relation_names import RelationName
from intervalsweep._signatures import How
from intervalsweep._sql.calls import Parameter
from intervalsweep.columns import Ends, Keys, Naming, check_choice, check_columns, names_of
from intervalsweep.dataframe.interval_columns import Interval, check_frames, column
from intervalsweep.dataframe.joins import JoinSides, result
from intervalsweep.session import check_active

# Metadata of a column of row numbers, which the plan reads.
_DISORDER = "intervalsweep.disorder"
# Metadata of Spark: how late the rows may be by a column, in milliseconds.
_WATERMARK = "spark.watermarkDelayMs"
# Metadata of a column of pairs: by how many microseconds it may be behind the watermark.
_LAG = "intervalsweep.lag"
# Metadata of a column of times, to which the same join belongs.
_WINDOW = "intervalsweep.window"
# Metadata of a column that says of which interval a row is.
_OPEN_ID = "intervalsweep.open_id"


def stream_join(
    a: DataFrame,
    b: DataFrame,
    relation: RelationName = "interval_intersects",
    *,
    on: Ends = ("ts", "te"),
    by: Keys | str = (),
    how: How = "inner",
    delta: Parameter = None,
    epsilon: Parameter = None,
    max_length: timedelta | None = None,
    open_id: str | None = None,
    time: str | None = None,
    suffix: str = "_right",
) -> DataFrame:
    """Join two streams by a relation of their intervals; of tables, the same as :func:`join`.

    Each pair leaves in the micro-batch of its later row, a row without a match when no later row
    can match it any more, and one of a semi join with its first match.

    Parameters
    ----------
    a, b
        DataFrames, streaming ones with a watermark on a TIMESTAMP end of their intervals.
    relation
        Any relation of :mod:`intervalsweep.functions`; `delta` and `epsilon` are its parameters.
    on, by, suffix
        As of :func:`join`.
    how
        ``inner``, ``left``, ``right``, ``full``, ``semi`` or ``anti``.
    max_length
        How long an interval of either side is at most: longer ones are left out, and counted as
        ``longRows`` among the observed metrics of a stream's progress. It bounds the state where
        the relation does not, such as by a watermark on the ends of intervals.
    open_id
        A column of either side that names the interval that a row is of: a row whose end is NULL
        says that it has started, a later one that it has ended. A pair leaves as soon as the
        relation is certain, whatever the ends will be that are not known yet, and has NULL for
        these. Inner joins alone; the watermark is on ``coalesce(te, ts)``, by any name.
    time
        What to call a column with the event time of a pair, the greater one of those of its rows:
        of tables, which have no watermarks, the later start. Of a row without a match it is the
        time from which on none can come, or its own if that is later. The watermark is on it, and
        on no other column, so that an aggregate by time or another join can follow. Joins that
        return pairs, of ended intervals.

    Returns
    -------
    DataFrame
        The columns of :func:`join`.

    Raises
    ------
    AnalysisException
        ``INTERVALSWEEP_STREAM.NO_WATERMARK`` if a stream has no watermark, and
        ``INTERVALSWEEP_STREAM.UNBOUNDED_STATE`` if rows would be kept for ever: its text says which
        bound is missing. `docs/streams/relations.md` has a table.

    Examples
    --------
    >>> from datetime import timedelta
    >>> a = spark.sql("SELECT TIMESTAMP'2024-01-01 08:00' AS ts, TIMESTAMP'2024-01-01 10:00' AS te")
    >>> b = spark.sql("SELECT TIMESTAMP'2024-01-01 09:00' AS ts, TIMESTAMP'2024-01-01 11:00' AS te")
    >>> stream_join(a, b, "allen_overlaps", max_length=timedelta(hours=2)).count()
    1
    """
    check_frames(a, b)
    check_choice("how", how, get_args(How))
    if open_id is not None:
        a, b = _opened(a, "left", on, open_id), _opened(b, "right", on, open_id)
    if max_length is not None:
        a = _no_longer(a, "left", on, max_length)
        b = _no_longer(b, "right", on, max_length)
    both = JoinSides(a, b, relation, on, on, by, delta, epsilon)
    if time is None:
        return both.joined(how, suffix)
    _check_time(how, open_id)
    clocks = column(_clock(a, on)), both.of_right(_clock(b, on))
    return both.joined(how, suffix, {time: sf.call_function("pair_event_time", *clocks)})


def _check_time(how: str, open_id: str | None) -> None:
    if how in ("semi", "anti") or open_id is not None:
        raise ArgumentError(
            "time= is of joins that return pairs, of intervals that have ended: it is the later "
            "one of the times of two rows."
        )


def _clock(side: DataFrame, on: Ends) -> str:
    """By which column the rows come; of several with a watermark, that which is behind least."""
    found = [
        (field.metadata.get(_LAG, 0), field.name)
        for field in side.schema
        if _LAG in field.metadata or _WATERMARK in field.metadata
    ]
    return min(found, default=(0, names_of(on)[0]))[1]


def _no_longer(frame: DataFrame, side: str, on: Ends, most: timedelta) -> DataFrame:
    start, end = Interval(frame, side, on).of()
    # A row with a NULL for an end has no length. The plan of a stream knows this form, and counts.
    return frame.where(sf.coalesce(end <= start + sf.lit(most), sf.lit(True)))


def _opened(frame: DataFrame, side: str, on: Ends, name: str) -> DataFrame:
    check_columns(side, frame.columns, name)
    if not frame.isStreaming:
        # A table has the rows of intervals that have ended, and of these the starts, too.
        return frame.where(Interval(frame, side, on).of()[1].isNotNull())
    marked: Column = column(name).alias(name, metadata={_OPEN_ID: True})
    return frame.select([marked if n == name else column(n) for n in frame.columns])


@dataclass(frozen=True)
class Rows:
    """A window of rows by their number; see :func:`rows`."""

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
    """Return the window in which two rows are less than `length` apart.

    Parameters
    ----------
    length
        In rows.
    seq
        The column of whole numbers that counts the rows of either side.
    slide
        Rows leave `slide` at a time: the window is of `length` / `slide` whole slices, counted from
        row 0, of which `length` has to be a multiple.
    disorder
        By how much the number of a row may be behind the largest one of earlier micro-batches; rows
        that are farther behind are dropped.

    Raises
    ------
    ArgumentError
        If a length is not positive, or no multiple of `slide`.

    Examples
    --------
    >>> rows(1_000_000, seq="trip", slide=100_000).length
    1000000
    """
    if length < 1 or (slide is not None and (slide < 1 or length % slide)):
        raise ArgumentError(
            f"rows({length}, slide={slide}) is no window: the length is to be positive, and a "
            "multiple of the slide."
        )
    if disorder < 0:
        raise ArgumentError(f"disorder={disorder} is negative.")
    return Rows(length, seq, slide, disorder)


def time(length: timedelta, on: str = "ts", *, slide: timedelta | None = None) -> Time:
    """Return the window in which two rows are less than `length` apart by a TIMESTAMP column.

    Parameters
    ----------
    length
        How far, in either direction.
    on
        The column, on either side the one with the watermark.
    slide
        Rows leave by whole slices: the window is of `length` / `slide` slices, counted from
        1970-01-01 00:00 UTC, of which `length` has to be a multiple.

    Raises
    ------
    ArgumentError
        If a length is not positive, or no multiple of `slide`.

    Examples
    --------
    >>> from datetime import timedelta
    >>> time(timedelta(minutes=5)).on
    'ts'
    """
    if length <= timedelta(0):
        raise ArgumentError(f"time({length!r}) is no window: the length is to be positive.")
    if slide is not None and (slide <= timedelta(0) or length % slide):
        raise ArgumentError(
            f"time({length!r}, slide={slide!r}) is no window: the slide is to be positive, and the "
            "length a multiple of it."
        )
    return Time(length, on, slide)


def inequality_join(
    a: DataFrame,
    b: DataFrame | None,
    condition: str,
    *,
    window: Rows | Time,
    how: How = "inner",
    suffix: str = "_right",
) -> DataFrame:
    """Join two streams by inequalities, in a window by row numbers or by time.

    It is the SPO-Join (stream inequality join) of two predicates, a self join or of two sides.

    Parameters
    ----------
    a, b
        DataFrames, streams or tables; None for `b` joins `a` with itself.
    condition
        SQL over ``a`` and ``b``, such as ``"a.dist > b.dist AND a.fare < b.fare"``. It may have
        equalities: rows go by them to the state's partitions in a window of time; in one of rows
        each partition finds partners by them.
    window
        :func:`rows` or :func:`time`: how far apart two rows may be.
    how
        ``inner``, ``left``, ``right``, ``full``, ``semi`` or ``anti``.
    suffix
        What a column of the right side has behind its name where the left side has that name too.

    Returns
    -------
    DataFrame
        All columns of `a`, then those of `b`.

    Raises
    ------
    AnalysisException
        If the condition cannot be read, or a stream in a window of time has no watermark.
    EndpointTypeError
        If a window of time slides by a column that is no TIMESTAMP.

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
    check_choice("how", how, get_args(How))
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

    def of(side: str) -> Callable[[str], Column]:
        return lambda name: sf.col(f"{side}.`{name.replace('`', '``')}`")

    return joined.select(result(naming, how, of("a"), of("b")))


def _check_slides(a: DataFrame, b: DataFrame, window: Rows | Time) -> None:
    if isinstance(window, Time) and window.slide is not None:
        for side, frame in (("left", a), ("right", b)):
            kind = frame.schema[window.on].dataType
            if not isinstance(kind, st.TimestampType):
                raise EndpointTypeError(
                    f"Slices are of instants: column {window.on!r} of the {side} side is "
                    f"{kind.simpleString()}; cast it to TIMESTAMP, or leave slide away."
                )


def _marked(frame: DataFrame, window: Rows | Time) -> DataFrame:
    """Say to the plan of a stream that its state is ours, whatever the condition has besides."""
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
    # The second bound follows from the first, and is one that state can be bounded by.
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

    # What is near follows from the slices, and is what state can be bounded by.
    return f"abs({slice_of('a')} - {slice_of('b')}) < {window.length // micros}L AND {near}"
