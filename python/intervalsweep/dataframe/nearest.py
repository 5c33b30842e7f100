# SPDX-License-Identifier: Apache-2.0
"""For each row, the row of the other side that is nearest in time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, get_args

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql import types as st

from intervalsweep._signatures import (
    Direction,
    Distance,
    LookUpHow,
    LookUpWord,
    NearestDirection,
    implements,
)
from intervalsweep._sql.calls import call
from intervalsweep.columns import (
    Naming,
    SideNames,
    SparkColumns,
    check_choice,
    check_count,
    chosen,
    join_type,
)
from intervalsweep.dataframe import boundary_events as events
from intervalsweep.dataframe.boundary_events import of_left, of_right
from intervalsweep.dataframe.interval_columns import (
    DataFrameFunctions,
    Interval,
    as_number,
    as_parameter,
    check_frames,
    column,
    common_type,
    field,
)
from intervalsweep.dataframe.joins import result
from intervalsweep.dataframe.neighbours import ASKING, FOUND, GAP, ROW, neighbours, within
from intervalsweep.session import check_active


@implements(DataFrameFunctions.as_of_join)
def as_of_join(
    left: DataFrame,
    right: DataFrame,
    *,
    direction: Direction,
    tolerance: Any,
    how: LookUpWord,
    columns: Sequence[str] | None,
    suffix: str,
    **names: Any,
) -> DataFrame:
    """
    Notes
    -----
    Among right rows of the same instant, the result has the row that is largest by the columns that
    are read, in their order. `left` may be a stream, and `right` as well if both have watermarks on
    their instants.

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
    how = join_type(how, get_args(LookUpHow))
    check_frames(left, right)
    check_active(left.sparkSession)
    on = SideNames.of(SparkColumns.of(left), SparkColumns.of(right), are_instants=True, **names)
    naming = Naming.of(left.columns, right.columns, on.keys, suffix)
    here, there = (
        field(on.instants[0], left.columns, _asking).outer(),
        field(on.instants[1], right.columns),
    )
    relation, is_admitted, order = _BY_DIRECTION[direction](here, there)
    admitted = [is_admitted, *(column(theirs) == _asking(ours).outer() for ours, theirs in on.keys)]
    if tolerance is not None:
        kind = left.select(field(on.instants[0], left.columns)).schema[0].dataType
        limit = as_parameter("tolerance", tolerance, kind)
        limit = _asking(limit).outer() if isinstance(limit, str) else limit
        admitted.append(call(relation, (here, here, there, there), limit))
    found = right.where(reduce(Column.__and__, admitted)).orderBy(order).limit(1)
    named = found.select([column(name).alias(new) for name, new in naming.right.items()])
    joined = left.alias(_ASKING).lateralJoin(named, how=how)
    return joined.select([column(name) for name in chosen(columns, SparkColumns.of(joined))])


# The name of the left side in the subquery, where a plain name means a column of the right side.
_ASKING = "asking"


def _asking(name: str) -> Column:
    return column(name, _ASKING)


# The relation to the row that is found, the condition without a tolerance, and the order.
_BY_DIRECTION: dict[str, Callable[[Column, Column], tuple[str, Column, Column]]] = {
    "backward": lambda here, there: ("iseql_after", there <= here, there.desc()),
    "forward": lambda here, there: ("iseql_before", there >= here, there.asc()),
}


@implements(DataFrameFunctions.nearest)
def nearest(
    left: DataFrame,
    right: DataFrame,
    *,
    k: int,
    direction: NearestDirection,
    overlapping: bool,
    max_distance: Distance,
    how: LookUpWord,
    columns: Sequence[str] | None,
    suffix: str,
    distance: str,
    **names: Any,
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
    >>> nearest(r, s, k=2, columns=["ts_right", "distance"]).show()
    +--------+--------+
    |ts_right|distance|
    +--------+--------+
    |       1|       2|
    |      15|       3|
    +--------+--------+
    <BLANKLINE>
    """
    how = join_type(how, get_args(LookUpHow))
    check_choice("direction", direction, get_args(NearestDirection))
    check_frames(left, right)
    on = SideNames.of(SparkColumns.of(left), SparkColumns.of(right), **names)
    naming = Naming.of(left.columns, right.columns, on.keys, suffix, [distance])
    ours, theirs = Interval(left, "left", on.left_on), Interval(right, "right", on.right_on)
    (ts, te), (s_ts, s_te) = ours.of(), theirs.of()
    if (check_count("k", k), direction, overlapping) != (1, "both", True):
        check_active(left.sparkSession)
        kind = common_type([(left, te), (right, s_ts)])
        near = neighbours(
            left,
            right,
            on.keys,
            (ours, theirs),
            kind,
            k=k,
            direction=direction,
            overlapping=overlapping,
        )
        if max_distance is not None:
            near = within(near, as_number("max_distance", max_distance, kind))
        return _exploded(near, naming, how, columns, distance)
    proper = right.where(s_ts <= s_te)
    both = events.events(left, proper, on.keys, sf.when(ts <= te, te), s_ts)
    kind = both.schema[events.POSITION].dataType
    limit = None if max_distance is None else as_number("max_distance", max_distance, kind)

    # The nearest of the intervals that start up to the end of r is the one that ends last.
    latest = sf.max_by(events.RIGHT, theirs.of(sf.col(events.RIGHT))[1])
    around = {
        _BEFORE: latest.over(events.looking_back(right, on.keys)),
        _AFTER: events.nearest_of(events.looking_ahead(right, on.keys)),
    }
    found = both.withColumns(around).where(events.asking())
    gaps = {
        _GAP_BEFORE: _gap(ours, theirs, _BEFORE, kind),
        _GAP_AFTER: _gap(ours, theirs, _AFTER, kind),
    }
    nearest_row = found.withColumns(gaps).withColumns(_nearer())
    if limit is not None:
        nearest_row = nearest_row.withColumns(_within(limit))
    return _finished(nearest_row, naming, how, columns, [sf.col(_GAP).alias(distance)])


def _exploded(
    near: DataFrame, naming: Naming, how: str, columns: Sequence[str] | None, distance: str
) -> DataFrame:
    """Return a row for each element of `FOUND`."""
    explode = sf.explode if how == "inner" else sf.explode_outer
    pairs = near.select(f"{ASKING}.*", explode(FOUND).alias(FOUND))
    found = sf.col(FOUND)
    names = result(naming, how, column, found.getField(ROW).getField)
    joined = pairs.select(*names, found.getField(GAP).alias(distance))
    return joined.select([column(name) for name in chosen(columns, SparkColumns.of(joined))])


_BEFORE, _AFTER, _GAP = "before", "after", "gap"
_GAP_BEFORE, _GAP_AFTER = "gap_before", "gap_after"


def _gap(ours: Interval, theirs: Interval, row: str, kind: st.DataType) -> Column:
    """Return the distance of an event's left row to a right row, at least 0; NULL without one."""
    start, end = (one.cast(kind) for one in ours.of(sf.col(events.LEFT)))
    other_start, other_end = (one.cast(kind) for one in theirs.of(sf.col(row)))
    ahead, behind = events.length(other_start, end, kind), events.length(start, other_end, kind)
    return sf.when(other_start.isNotNull(), sf.greatest(ahead, behind, ahead - ahead))


def _nearer() -> dict[str, Column]:
    """Return the nearer of the rows before and after, and its distance."""
    is_before = sf.col(_GAP_BEFORE) <= sf.coalesce(_GAP_AFTER, _GAP_BEFORE)
    return {
        events.RIGHT: sf.when(is_before, sf.col(_BEFORE)).otherwise(sf.col(_AFTER)),
        _GAP: sf.least(_GAP_BEFORE, _GAP_AFTER),
    }


def _within(limit: Any) -> dict[str, Column]:
    """Return the row that was found and its distance, or NULLs if it is farther than `limit`."""
    is_near = sf.col(_GAP) <= sf.lit(limit)
    return {name: sf.when(is_near, sf.col(name)) for name in (events.RIGHT, _GAP)}


def _finished(
    found: DataFrame, naming: Naming, how: str, columns: Sequence[str] | None, more: list[Column]
) -> DataFrame:
    if how == "inner":
        found = found.where(sf.col(events.RIGHT).isNotNull())
    joined = found.select(*result(naming, "left", of_left, of_right), *more)
    return joined.select([column(name) for name in chosen(columns, SparkColumns.of(joined))])
