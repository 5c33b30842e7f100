# SPDX-License-Identifier: Apache-2.0
"""The event time of the pairs of a join of streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from intervalsweep._errors import ArgumentError
from intervalsweep.columns import Ends, names_of
from intervalsweep.dataframe.ends import column

# Metadata of Spark: how late the rows may be by a column, in milliseconds.
_WATERMARK = "spark.watermarkDelayMs"
# Metadata of ours: by how many microseconds a column of pairs may be behind the watermark.
_LAG = "intervalsweep.lag"


def check_time(how: str, open_id: str | None) -> None:
    """Raise ArgumentError where the rows of a join have no such time."""
    if how != "inner" or open_id is not None:
        raise ArgumentError(
            "time= is of inner joins of intervals that have ended: a row that waits for a match, "
            "or an end, comes when the watermark has passed its own time."
        )


def with_time(
    pairs: DataFrame,
    sides: tuple[DataFrame, DataFrame],
    on: Ends,
    renamed: Callable[[str], str],
    name: str,
) -> DataFrame:
    """Return the pairs with the greater one of the times of their rows.

    A pair comes with its later row, which is not late, so that the watermark is on this column. It
    is then on no other one, as Spark's operators with state want to find one.
    """
    clocks, lags = zip(*(_clock(side, on) for side in sides), strict=True)
    lag = max(lags)
    metadata = {} if not pairs.isStreaming else {_LAG: lag} if lag else {_WATERMARK: 0}
    later = sf.greatest(column(clocks[0]), column(renamed(clocks[1])))
    others = [_unmarked(field) for field in pairs.schema if field.name != name]
    return pairs.select(*others, later.alias(name, metadata=metadata))


def _clock(side: DataFrame, on: Ends) -> tuple[str, int]:
    """By which column the rows come, and by how much it may be behind the watermark."""
    found = [
        (field.metadata.get(_LAG, 0), field.name)
        for field in side.schema
        if _LAG in field.metadata or _WATERMARK in field.metadata
    ]
    lag, name = min(found, default=(0, names_of(on)[0]))
    return name, lag


def _unmarked(field: Any) -> Column:
    metadata = dict(field.metadata)
    if _WATERMARK not in metadata:
        return column(field.name)
    del metadata[_WATERMARK]
    kept: Column = column(field.name).alias(field.name, metadata={**metadata, _LAG: 0})
    return kept
