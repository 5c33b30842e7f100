# SPDX-License-Identifier: Apache-2.0
"""Aggregates over a window of another DataFrame for each row, for tables and for streams."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from functools import reduce
from operator import and_
from typing import Any, get_args

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql import types as st

from intervalsweep._errors import ArgumentError, EndpointTypeError
from intervalsweep._signatures import Emit, documented, revision_columns
from intervalsweep.columns import Keys, Naming, check_choice, check_columns, key_pairs
from intervalsweep.dataframe.interval_columns import check_frames, column
from intervalsweep.session import check_active

_BASE, _PROBE, _ROWS = "intervalsweep_base", "intervalsweep_probe", "intervalsweep_rows"
_BY_TIME = re.compile(r"\s*(first|last|list)\s*\(\s*(`[^`]+`|\w+)\s*\)\s*", re.IGNORECASE)
_DAY, _MICROSECOND = timedelta(days=1), timedelta(microseconds=1)


@documented
def window_union(
    base: DataFrame,
    probe: DataFrame,
    *,
    aggs: Mapping[str, str],
    on: str = "ts",
    base_on: str | None = None,
    probe_on: str | None = None,
    by: Keys | str = (),
    pre: Any = None,
    fol: Any = 0,
    emit: Emit = "final",
) -> DataFrame:
    """
    Notes
    -----
    The plan is the `LEFT JOIN LATERAL` that you would write in SQL. Two streams need watermarks on
    their instants.

    Examples
    --------
    >>> cards = spark.sql("SELECT * FROM VALUES ('x', 10), ('x', 14) cards(card, ts)")
    >>> rows = "('x', 9, 5), ('x', 12, 7), ('x', 13, 1)"
    >>> paid = spark.sql(f"SELECT * FROM VALUES {rows} paid(card, ts, v)")
    >>> aggs = {"s": "sum(v)", "c": "count(*)"}
    >>> window_union(cards, paid, by="card", pre=2, aggs=aggs).orderBy("ts").show()
    +----+---+---+---+
    |card| ts|  s|  c|
    +----+---+---+---+
    |   x| 10|  5|  1|
    |   x| 14|  8|  2|
    +----+---+---+---+
    <BLANKLINE>
    """
    check_choice("emit", emit, get_args(Emit))
    check_frames(base, probe)
    at, at_probe, pairs = base_on or on, probe_on or on, key_pairs(by)
    check_columns("base", base.columns, at, *(one for one, _ in pairs))
    check_columns("probe", probe.columns, at_probe, *(other for _, other in pairs))
    marks = revision_columns(emit)
    Naming.of([*base.columns, *aggs, *marks], [], [], "")
    if not aggs:
        raise ArgumentError("`aggs` needs at least one aggregate, such as {'s': 'sum(v)'}.")
    check_active(base.sparkSession)

    here, there = _of(_BASE, at).outer(), _of(_PROBE, at_probe)
    kind = base.schema[at].dataType
    conditions = [_of(_PROBE, other) == _of(_BASE, one).outer() for one, other in pairs]
    if pre is not None:
        conditions.append(there >= here - _difference("pre", pre, kind))
    if fol is not None:
        conditions.append(there <= here + _difference("fol", fol, kind))
    if not conditions:
        raise ArgumentError("The window has no limits: give `pre`, `fol` or a key in `by`.")
    window = probe.alias(_PROBE).where(reduce(and_, conditions))
    # Next to the count, a column that is not an aggregate is an error of Spark's. groupBy would not
    # wait for the base rows.
    features = window.select(
        sf.count(sf.lit(1)).alias(_ROWS),
        *(sf.expr(_in_sql(text, at_probe)).alias(name) for name, text in aggs.items()),
        *(sf.expr(text).alias(name) for name, text in marks.items()),
    )
    joined = base.alias(_BASE).lateralJoin(features, how="left")
    return joined.select([column(name) for name in (*base.columns, *aggs, *marks)])


def _of(frame: str, name: str) -> Column:
    quoted = name.replace("`", "``")
    return sf.col(f"{frame}.`{quoted}`")


def _in_sql(text: str, at: str) -> str:
    """Return an aggregate as SQL, with first, last and list by time.

    SQL's own first() and last() have no defined order, so they become min_by and max_by.
    """
    call = _BY_TIME.fullmatch(text)
    if call is None:
        return text
    time, value = "`{}`".format(at.replace("`", "``")), call[2]
    match call[1].lower():
        case "first":
            return f"min_by({value}, {time})"
        case "last":
            return f"max_by({value}, {time})"
        case _:
            return f"collect_list({value})"


def _difference(name: str, given: Any, kind: st.DataType) -> Column:
    """Return the difference that is added to an instant: an interval, or a number."""
    if isinstance(kind, (st.TimestampType, st.TimestampNTZType)):
        is_number = not isinstance(given, timedelta)
        return sf.lit(int(given // 1) * _MICROSECOND if is_number else given)
    if isinstance(kind, st.DateType):
        days = given if isinstance(given, timedelta) else int(given // 1) * _DAY
        if days % _DAY == timedelta(0):
            return sf.expr(f"INTERVAL '{days.days}' DAY")
    elif not isinstance(given, timedelta):
        return sf.lit(given)
    raise EndpointTypeError(
        f"{name}={given!r} is not a distance between {kind.simpleString()} values: give whole days "
        "for dates, a number for numbers."
    )
