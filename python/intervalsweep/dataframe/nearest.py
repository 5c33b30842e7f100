# SPDX-License-Identifier: Apache-2.0
"""For each row, the row of the other side that is nearest in time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from intervalsweep._signatures import Direction, Distance, LookUpHow, documented
from intervalsweep._sql.calls import call
from intervalsweep.columns import Ends, Keys, Naming, check_choice, check_columns, chosen, key_pairs
from intervalsweep.dataframe import boundary_events as events
from intervalsweep.dataframe.boundary_events import of_left, of_right
from intervalsweep.dataframe.interval_columns import (
    Interval,
    as_parameter,
    check_frames,
    column,
    in_unit,
)
from intervalsweep.dataframe.joins import result
from intervalsweep.session import check_active


@documented
def as_of_join(
    left: DataFrame,
    right: DataFrame,
    *,
    on: str = "ts",
    left_on: str | None = None,
    right_on: str | None = None,
    by: Keys | str = (),
    direction: Direction = "backward",
    tolerance: Any = None,
    how: LookUpHow = "left",
    columns: Sequence[str] | None = None,
    suffix: str = "_right",
) -> DataFrame:
    """
    Notes
    -----
    Among right rows of the same instant, the result has the row that is largest by its columns, in
    their order.

    Examples
    --------
    >>> trades = spark.sql("SELECT * FROM VALUES (3, 'x'), (9, 'x') t(at, sym)")
    >>> quotes = spark.sql("SELECT * FROM VALUES (1, 'x', 10), (2, 'x', 11) q(at, sym, price)")
    >>> found = as_of_join(trades, quotes, on="at", by="sym", tolerance=5)
    >>> found.orderBy("at").show()
    +---+---+--------+-----+
    | at|sym|at_right|price|
    +---+---+--------+-----+
    |  3|  x|       2|   11|
    |  9|  x|    NULL| NULL|
    +---+---+--------+-----+
    <BLANKLINE>
    """
    check_choice("direction", direction, get_args(Direction))
    check_choice("how", how, get_args(LookUpHow))
    check_frames(left, right)
    at, at_right, pairs = left_on or on, right_on or on, key_pairs(by)
    check_columns("left", left.columns, at, *(one for one, _ in pairs))
    check_columns("right", right.columns, at_right, *(other for _, other in pairs))
    if tolerance is not None:
        check_active(left.sparkSession)

    both = events.events(left, right, pairs, column(at), column(at_right))
    backward = direction == "backward"
    window = (events.looking_back if backward else events.looking_ahead)(right, pairs)
    found = both.withColumn(events.RIGHT, events.nearest_of(window)).where(events.asking())
    if tolerance is not None:
        kind = both.schema[events.POSITION].dataType
        limit = as_parameter("tolerance", tolerance, kind)
        limit = of_left(limit) if isinstance(limit, str) else limit
        here, there = of_left(at), of_right(at_right)
        name = "iseql_after" if backward else "iseql_before"
        near = call(name, (here, here, there, there), limit)
        found = found.withColumn(events.RIGHT, sf.when(near, sf.col(events.RIGHT)))
    naming = Naming.of(left.columns, right.columns, pairs, suffix)
    return _finished(found, naming, how, columns, [])


@documented
def nearest(
    left: DataFrame,
    right: DataFrame,
    *,
    on: Ends = ("ts", "te"),
    left_on: Ends | None = None,
    right_on: Ends | None = None,
    by: Keys | str = (),
    max_distance: Distance = None,
    how: LookUpHow = "left",
    columns: Sequence[str] | None = None,
    suffix: str = "_right",
    distance: str = "distance",
) -> DataFrame:
    """
    Examples
    --------
    >>> r = spark.sql("SELECT 10 AS ts, 12 AS te")
    >>> s = spark.sql("SELECT * FROM VALUES (1, 8), (15, 20) s(ts, te)")
    >>> nearest(r, s).show()
    +---+---+--------+--------+--------+
    | ts| te|ts_right|te_right|distance|
    +---+---+--------+--------+--------+
    | 10| 12|       1|       8|       2|
    +---+---+--------+--------+--------+
    <BLANKLINE>
    """
    check_choice("how", how, get_args(LookUpHow))
    check_frames(left, right)
    pairs = key_pairs(by)
    check_columns("left", left.columns, *(one for one, _ in pairs))
    check_columns("right", right.columns, *(other for _, other in pairs))
    ours, theirs = Interval(left, "left", left_on or on), Interval(right, "right", right_on or on)
    (ts, te), (s_ts, s_te) = ours.of(), theirs.of()

    proper = right.where(s_ts <= s_te)
    both = events.events(left, proper, pairs, sf.when(ts <= te, te), s_ts)
    kind = both.schema[events.POSITION].dataType

    def gap(row: str) -> Column:
        start, end = (one.cast(kind) for one in ours.of(sf.col(events.LEFT)))
        s_start, s_end = (one.cast(kind) for one in theirs.of(sf.col(row)))
        lengths = (
            events.length(s_start, end, kind),
            events.length(start, s_end, kind),
        )
        zero = lengths[0] - lengths[0]
        return sf.when(s_start.isNotNull(), sf.greatest(*lengths, zero))

    # The nearest of the intervals that start up to the end of r is the one that ends last.
    before = sf.max_by(events.RIGHT, theirs.of(sf.col(events.RIGHT))[1])
    before = before.over(events.looking_back(right, pairs))
    after = events.nearest_of(events.looking_ahead(right, pairs))
    found = both.withColumns({"before": before, "after": after}).where(events.asking())
    found = found.withColumns({"gap_before": gap("before"), "gap_after": gap("after")})
    is_before = sf.col("gap_before") <= sf.coalesce("gap_after", "gap_before")
    nearest_row = found.withColumns(
        {
            events.RIGHT: sf.when(is_before, sf.col("before")).otherwise(sf.col("after")),
            "gap": sf.least("gap_before", "gap_after"),
        }
    )
    if max_distance is not None:
        is_near = sf.col("gap") <= sf.lit(in_unit("max_distance", max_distance, kind))
        nearest_row = nearest_row.withColumns(
            {
                events.RIGHT: sf.when(is_near, sf.col(events.RIGHT)),
                "gap": sf.when(is_near, sf.col("gap")),
            }
        )
    naming = Naming.of([*left.columns, distance], right.columns, pairs, suffix)
    naming = Naming(tuple(left.columns), naming.shared_keys, naming.right)
    return _finished(nearest_row, naming, how, columns, [sf.col("gap").alias(distance)])


def _finished(
    found: DataFrame, naming: Naming, how: str, columns: Sequence[str] | None, more: list[Column]
) -> DataFrame:
    if how == "inner":
        found = found.where(sf.col(events.RIGHT).isNotNull())
    joined = found.select(*result(naming, "left", of_left, of_right), *more)
    return joined.select([column(name) for name in chosen(columns, joined.columns)])
