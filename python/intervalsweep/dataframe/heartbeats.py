# SPDX-License-Identifier: Apache-2.0
"""A watermark that moves on while a stream has no rows."""

from __future__ import annotations

from datetime import timedelta

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf
from pyspark.sql import types as st

from intervalsweep._errors import ArgumentError, EndpointTypeError
from intervalsweep.columns import check_columns
from intervalsweep.dataframe.interval_columns import check_frames, column
from intervalsweep.session import check_active

_BEAT = "intervalsweep_heartbeat"
# Spark's metadata on a column: the delay of its watermark, in milliseconds.
_WATERMARK = "spark.watermarkDelayMs"
# No TIMESTAMP has this number of microseconds.
_NEVER = "-9223372036854775808L"


def with_heartbeat(
    stream: DataFrame,
    on: str = "ts",
    *,
    delay: timedelta,
    idle_after: timedelta,
) -> DataFrame:
    """Add a watermark that follows the clock while the stream is idle.

    Spark's watermark is the smallest one of all streams of a query, so a stream without new rows
    stops the output of window unions and joins. This function calls `withWatermark` on a union of
    the stream and one heartbeat a second, with the time `idle_after` before the clock. No
    heartbeat is in the result.

    Use it in place of `withWatermark`, for event times that follow the clock. A row is late if it
    arrives more than `delay` + `idle_after` after its event time, also if the stream was not idle.

    Parameters
    ----------
    stream
        A streaming DataFrame without a watermark. A table is returned as it is.
    on
        The TIMESTAMP column with the event times.
    delay
        The delay of the watermark, as in `withWatermark`.
    idle_after
        How far the times of heartbeats are before the clock: the time after which a stream without
        rows counts as idle.

    Returns
    -------
    DataFrame
        The rows of `stream`, with a watermark on `on`.

    Raises
    ------
    ArgumentError
        If `delay` or `idle_after` is negative, or if the stream has a watermark already.
    ColumnError
        If the stream does not have the column.
    EndpointTypeError
        If the column is not a TIMESTAMP.

    Examples
    --------
    >>> from datetime import timedelta
    >>> source = spark.readStream.format("rate").load().withColumnRenamed("timestamp", "ts")
    >>> minute = timedelta(minutes=1)
    >>> with_heartbeat(source, delay=minute, idle_after=5 * minute).columns
    ['ts', 'value']
    """
    check_frames(stream)
    check_columns("stream", stream.columns, on)
    for name, given in (("delay", delay), ("idle_after", idle_after)):
        if given < timedelta(0):
            raise ArgumentError(f"`{name}` must not be negative; got {given!r}.")
    field = stream.schema[on]
    if not isinstance(field.dataType, st.TimestampType):
        raise EndpointTypeError(
            f"Column {on!r} is {field.dataType.simpleString()}: a watermark needs a TIMESTAMP."
        )
    if not stream.isStreaming:
        return stream
    if _WATERMARK in field.metadata:
        raise ArgumentError(
            f"Column {on!r} has a watermark: call with_heartbeat in place of withWatermark."
        )
    check_active(stream.sparkSession)
    both = stream.withColumn(_BEAT, sf.lit(False)).union(_beats(stream, on, idle_after))
    seconds = delay // timedelta(microseconds=1) / 10**6
    watched = both.withWatermark(on, f"{seconds:.6f} seconds")
    # The condition reads the event time, so Spark does not push it below the watermark.
    kept = ~column(_BEAT) | (sf.unix_micros(column(on)) == sf.expr(_NEVER))
    return watched.where(kept).drop(_BEAT)


def _beats(stream: DataFrame, on: str, idle_after: timedelta) -> DataFrame:
    clock = stream.sparkSession.readStream.format("rate").option("rowsPerSecond", 1).load()
    at = sf.col("timestamp") - sf.lit(idle_after)
    columns = [
        (at if field.name == on else sf.lit(None).cast(field.dataType)).alias(field.name)
        for field in stream.schema
    ]
    return clock.select(*columns, sf.lit(True).alias(_BEAT))
