# SPDX-License-Identifier: Apache-2.0
"""For each row, the k nearest rows of another table, on one side or on both.

Three subqueries with ORDER BY and LIMIT list the rows before, after and at the row:

    right   s1    s2                    s3   s4
    left              [------------)
                        s5    s6                   k = 2: s5, s6, without overlaps s2, s3
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql import types as st

from intervalsweep.dataframe import boundary_events as events
from intervalsweep.dataframe.interval_columns import Interval, column

ASKING, FOUND, GAP, ROW = "asking", "intervalsweep_found", "gap", "row"
_BEFORE, _AFTER, _AT = (f"intervalsweep_{name}" for name in ("before", "after", "at"))
_LEFT_OUT = {"forward": _BEFORE, "backward": _AFTER}


def asked(name: str) -> Column:
    """A column of the left side."""
    return column(name, ASKING)


def neighbours(
    left: DataFrame,
    right: DataFrame,
    keys: Sequence[tuple[str, str]],
    ends: tuple[Interval, Interval],
    kind: st.DataType,
    *,
    k: int,
    direction: str,
    overlapping: bool,
) -> DataFrame:
    """Return the left rows, as `ASKING`, with an array `FOUND` of at most `k` nearest right rows.

    An element has the fields `GAP` and `ROW`, a struct with the columns of the right side.
    """
    ours, theirs = ends
    ts, te = (one.outer() for one in ours.ends(asked))
    s_ts, s_te = theirs.of()
    same = [column(other) == asked(one).outer() for one, other in keys]
    rows = right.where(reduce(Column.__and__, [s_ts <= s_te, ts <= te, *same]))
    struct = sf.struct(*(column(name) for name in right.columns))
    lists = {
        _BEFORE: rows.where(s_te <= ts).orderBy(s_te.desc()).limit(k),
        _AFTER: rows.where(s_ts >= te).orderBy(s_ts.asc()).limit(k),
        _AT: rows.where((s_te > ts) & (s_ts < te)),
    }
    left_out = (_LEFT_OUT.get(direction), None if overlapping else _AT)
    wanted = [name for name in lists if name not in left_out]
    found = left.alias(ASKING)
    for name in wanted:
        listed = lists[name].select(sf.collect_list(struct).alias(name))
        found = found.lateralJoin(listed, how="left")
    gap = _gap(ours, theirs, kind)
    arrays = [sf.col(name) for name in wanted]
    if direction == "both":  # An empty interval at the instant of another one is before it, too.
        start = ours.ends(asked)[0]
        after = sf.filter(_AFTER, lambda row: theirs.of(row)[1] > start)
        arrays[wanted.index(_AFTER)] = after
    known = sf.transform(
        sf.concat(*arrays), lambda row: sf.struct(gap(row).alias(GAP), row.alias(ROW))
    )
    return found.withColumn(FOUND, sf.slice(sf.array_sort(known, _by_gap), 1, k))


def within(near: DataFrame, limit: Any) -> DataFrame:
    """Return the same with the right rows up to a distance."""
    is_near = sf.filter(FOUND, lambda one: one.getField(GAP) <= sf.lit(limit))
    return near.withColumn(FOUND, is_near)


def _gap(ours: Interval, theirs: Interval, kind: st.DataType) -> Callable[[Column], Column]:
    start, end = (one.cast(kind) for one in ours.ends(asked))

    def gap(row: Column) -> Column:
        other_start, other_end = (one.cast(kind) for one in theirs.of(row))
        ahead, behind = events.length(other_start, end, kind), events.length(start, other_end, kind)
        return sf.greatest(ahead, behind, ahead - ahead)

    return gap


def _by_gap(one: Column, other: Column) -> Column:
    a, b = one.getField(GAP), other.getField(GAP)
    return sf.when(a < b, -1).when(a > b, 1).otherwise(0)
