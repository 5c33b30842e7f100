# SPDX-License-Identifier: Apache-2.0
"""The row of the other side that is nearest in time."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from intervalsweep._calls import call
from intervalsweep._naming import Keys, Naming, check_choice, check_columns
from intervalsweep._naming import key_pairs as pairs_of
from intervalsweep.dataframe import events
from intervalsweep.dataframe.events import of_left, of_right
from intervalsweep.dataframe.joins import column, result
from intervalsweep.session import check_active

_HOWS = ("inner", "left")


def as_of_join(
    left: DataFrame,
    right: DataFrame,
    *,
    on: str | tuple[str, str],
    by: Keys | str = (),
    direction: str = "backward",
    tolerance: str | float | Decimal | timedelta | None = None,
    how: str = "left",
    suffix: str = "_right",
) -> DataFrame:
    """Join each row with the latest row of the right side that is not later than it.

        right     s1        s2         s3          backward: l1 with s1, l2 with s2
        left          l1         l2                forward:  l1 with s2, l2 with s3
              ------------------------------> on

    Parameters
    ----------
    on
        The column of the instant: a name that both sides have, or the name on either side.
    by
        Equality keys, as of :func:`interval_join`.
    direction
        ``backward``; or ``forward``, for the earliest row that is not earlier.
    tolerance
        The largest distance between the two: a number, a timedelta, or the name of a column of the
        left side.
    how
        ``left`` keeps rows for which there is none, ``inner`` does not.

    Returns
    -------
    DataFrame
        As many rows as the left side has, or fewer. Columns are named as by :func:`interval_join`.
        Of several rows of one instant it is the one whose columns, in their order, are the largest.
        A NULL instant or key finds nothing and is not found.

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
    check_choice("direction", direction, ("backward", "forward"))
    check_choice("how", how, _HOWS)
    ((at, at_right),) = pairs_of([on])
    pairs = pairs_of(by)
    check_columns("left", left.columns, at, *(one for one, _ in pairs))
    check_columns("right", right.columns, at_right, *(other for _, other in pairs))
    if tolerance is not None:
        check_active(left.sparkSession)

    both = events.events(left, right, pairs, column(at), column(at_right))
    backward = direction == "backward"
    window = (events.looking_back if backward else events.looking_ahead)(right, pairs)
    found = both.withColumn(events.RIGHT, events.nearest_of(window)).where(events.asking())
    if tolerance is not None:
        limit = of_left(tolerance) if isinstance(tolerance, str) else tolerance
        here, there = of_left(at), of_right(at_right)
        name = "iseql_after" if backward else "iseql_before"
        near = call(name, (here, here, there, there), limit)
        found = found.withColumn(events.RIGHT, sf.when(near, sf.col(events.RIGHT)))
    naming = Naming.of(left.columns, right.columns, pairs, suffix)
    return _finished(found, naming, how, [])


def nearest(
    left: DataFrame,
    right: DataFrame,
    *,
    on: tuple[str, str] = ("ts", "te"),
    left_on: tuple[str, str] | None = None,
    right_on: tuple[str, str] | None = None,
    by: Keys | str = (),
    max_distance: float | None = None,
    how: str = "left",
    suffix: str = "_right",
    distance: str = "distance",
) -> DataFrame:
    """Join each row with the one of the right side whose interval is nearest.

        right   [----)              [------)         distance of l1 from the left one: 2,
        left            [-----)                      from the right one: 3
                     ..2       ...3

    Parameters
    ----------
    on, left_on, right_on, by
        As of :func:`interval_join`; each interval is two columns.
    max_distance
        What is farther away is not found.
    how
        ``left`` keeps rows for which there is none, ``inner`` does not.

    Returns
    -------
    DataFrame
        As many rows as the left side has, or fewer, named as by :func:`interval_join`; and the
        column `distance`: ``greatest(0, s.ts - r.te, r.ts - s.te)``, in whole days between dates
        and in microseconds between timestamps. It is 0 where the two overlap or meet. Of several
        that are equally near it is one. An interval with a NULL end or key, or that ends before it
        starts, finds nothing and is not found.

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
    check_choice("how", how, _HOWS)
    (ts, te), (s_ts, s_te), pairs = left_on or on, right_on or on, pairs_of(by)
    check_columns("left", left.columns, ts, te, *(one for one, _ in pairs))
    check_columns("right", right.columns, s_ts, s_te, *(other for _, other in pairs))

    proper = right.where(column(s_ts) <= column(s_te))
    at = sf.when(column(ts) <= column(te), column(te))
    both = events.events(left, proper, pairs, at, column(s_ts))
    kind = both.schema[events.POSITION].dataType

    def gap(row: str) -> Column:
        lengths = (
            events.length(of_right(s_ts, row).cast(kind), of_left(te).cast(kind), kind),
            events.length(of_left(ts).cast(kind), of_right(s_te, row).cast(kind), kind),
        )
        return sf.when(
            of_right(s_ts, row).isNotNull(), sf.greatest(*lengths, lengths[0] - lengths[0])
        )

    # Of those that start before r ends, the nearest is the one that ends last.
    before = sf.max_by(events.RIGHT, of_right(s_te)).over(events.looking_back(right, pairs))
    after = events.nearest_of(events.looking_ahead(right, pairs))
    found = both.withColumns({"before": before, "after": after}).where(events.asking())
    found = found.withColumns({"gap_before": gap("before"), "gap_after": gap("after")})
    is_before = sf.col("gap_before") <= sf.coalesce("gap_after", "gap_before")
    chosen = found.withColumns(
        {
            events.RIGHT: sf.when(is_before, sf.col("before")).otherwise(sf.col("after")),
            "gap": sf.least("gap_before", "gap_after"),
        }
    )
    if max_distance is not None:
        is_near = sf.col("gap") <= sf.lit(max_distance)
        chosen = chosen.withColumns(
            {
                events.RIGHT: sf.when(is_near, sf.col(events.RIGHT)),
                "gap": sf.when(is_near, sf.col("gap")),
            }
        )
    naming = Naming.of([*left.columns, distance], right.columns, pairs, suffix)
    naming = Naming(tuple(left.columns), naming.shared_keys, naming.right)
    return _finished(chosen, naming, how, [sf.col("gap").alias(distance)])


def _finished(found: DataFrame, naming: Naming, how: str, more: list[Column]) -> DataFrame:
    if how == "inner":
        found = found.where(sf.col(events.RIGHT).isNotNull())
    return found.select(*result(naming, "left", of_left, of_right), *more)
