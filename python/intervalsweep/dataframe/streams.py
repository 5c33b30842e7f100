# SPDX-License-Identifier: Apache-2.0
"""Aggregates over a window of another DataFrame for each row, for tables and for streams."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import reduce
from operator import and_
from typing import Any, get_args

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql import types as st

from intervalsweep._errors import ArgumentError
from intervalsweep._signatures import Emit, implements, named_aggregates, revision_columns
from intervalsweep._sql.calls import as_column
from intervalsweep._sql.literals import quoted
from intervalsweep.columns import (
    SideNames,
    SparkColumns,
    check_choice,
    check_count,
    check_unique,
)
from intervalsweep.dataframe.interval_columns import (
    DataFrameFunctions,
    check_frames,
    column,
    difference,
    field,
)
from intervalsweep.session import check_active

_BASE, _PROBE, _ROWS = "intervalsweep_base", "intervalsweep_probe", "intervalsweep_rows"
_BY_TIME = re.compile(r"\s*(first|last|list)\s*\(\s*(`[^`]+`|\w+)\s*\)\s*", re.IGNORECASE)


@implements(DataFrameFunctions.window_union)
def window_union(
    base: DataFrame,
    probe: DataFrame,
    *,
    aggs: Mapping[str, Any] | None,
    pre: Any,
    fol: Any,
    max_rows: int | None,
    emit: Emit,
    named: Any,
    **names: Any,
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
    sides = ("base", "probe")
    on = SideNames.of(
        SparkColumns.of(base), SparkColumns.of(probe), sides, are_instants=True, **names
    )
    at, at_probe = on.instants
    marks = revision_columns(emit)
    asked = named_aggregates(aggs, named)
    check_unique([*base.columns, *asked, *marks])
    check_active(base.sparkSession)

    here = field(at, base.columns, lambda name: column(name, _BASE).outer())
    there = field(at_probe, probe.columns, lambda name: column(name, _PROBE))
    kind = base.select(field(at, base.columns)).schema[0].dataType
    time = ".".join(map(quoted, [at_probe] if at_probe in probe.columns else at_probe.split(".")))
    conditions = [column(other, _PROBE) == column(one, _BASE).outer() for one, other in on.keys]
    if pre is not None:
        conditions.append(there >= here - _difference("pre", pre, kind))
    if fol is not None:
        conditions.append(there <= here + _difference("fol", fol, kind))
    if not conditions:
        raise ArgumentError("The window has no limits: give `pre`, `fol` or a key in `by`.")
    window = probe.alias(_PROBE).where(reduce(and_, conditions))
    if max_rows is not None:
        window = window.orderBy(there.desc()).limit(check_count("max_rows", max_rows))
    # Next to the count, a column that is not an aggregate is an error of Spark's. groupBy would not
    # wait for the base rows.
    features = window.select(
        sf.count(sf.lit(1)).alias(_ROWS),
        *(_aggregate(name, given, time).alias(name) for name, given in asked.items()),
        *(sf.expr(text).alias(name) for name, text in marks.items()),
    )
    joined = base.alias(_BASE).lateralJoin(features, how="left")
    return joined.select([column(name) for name in (*base.columns, *asked, *marks)])


def _aggregate(name: str, given: Any, time: str) -> Column:
    if isinstance(given, Column):
        return given
    if not isinstance(given, str):
        raise ArgumentError(
            f"aggs[{name!r}] must be an aggregate, such as 'sum(v)'; got {given!r}."
        )
    return sf.expr(_in_sql(given, time))


def _in_sql(text: str, time: str) -> str:
    """Return an aggregate as SQL, with first, last and list by time.

    SQL's own first() and last() have no defined order, so they become min_by and max_by.
    """
    call = _BY_TIME.fullmatch(text)
    if call is None:
        return text
    value = call[2]
    match call[1].lower():
        case "first":
            return f"min_by({value}, {time})"
        case "last":
            return f"max_by({value}, {time})"
        case _:
            return f"collect_list({value})"


def _difference(name: str, given: Any, kind: st.DataType) -> Column:
    """Return the difference that is added to an instant: an interval, or a number."""
    return as_column(difference(name, given, kind))
