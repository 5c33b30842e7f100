# SPDX-License-Identifier: Apache-2.0
"""Turns events and logs of changes into periods that last until the next event of the key."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf
from pyspark.sql import types as st

from intervalsweep._errors import ArgumentError
from intervalsweep._signatures import Names, implements
from intervalsweep.columns import SparkColumns, check_unique, listed, spelled
from intervalsweep.dataframe.interval_columns import DataFrameFunctions, check_frames, column


@implements(DataFrameFunctions.until_next)
def until_next(
    data: DataFrame, *, on: str, by: Names, order: Names, deleted: str | None, end: str
) -> DataFrame:
    """
    Notes
    -----
    Among rows that `order` does not decide, any one is returned.

    Examples
    --------
    >>> rows = "('a', 1, 10), ('b', 2, 7), ('a', 5, 11)"
    >>> log = spark.sql(f"SELECT * FROM VALUES {rows} t(k, ts, price)")
    >>> until_next(log, by="k").orderBy("k", "ts").show()
    +---+---+-----+----+
    |  k| ts|price|  te|
    +---+---+-----+----+
    |  a|  1|   10|   5|
    |  a|  5|   11|NULL|
    |  b|  2|    7|NULL|
    +---+---+-----+----+
    <BLANKLINE>
    """
    check_frames(data)
    known = SparkColumns.of(data)
    at = column(spelled("given", known, on))
    keys = [column(spelled("given", known, name)) for name in listed(by)]
    ties = [column(spelled("given", known, name)) for name in listed(order)]
    check_unique([*data.columns, end])
    if deleted is not None:
        deleted = spelled("given", known, deleted)
        _check_boolean(data, deleted)
    in_time = Window.partitionBy(*keys).orderBy(at)
    of_instant = Window.partitionBy(*keys, at)
    found = data.where(at.isNotNull()).withColumn(_NEXT, sf.lead(at).over(in_time))
    # Among rows of one instant, `lead` finds a later instant only for the last row, so the others
    # take its value.
    later = sf.max(sf.when(column(_NEXT) > at, column(_NEXT))).over(of_instant)
    found = found.withColumn(end, later)
    if ties:
        last = sf.row_number().over(of_instant.orderBy(*(tie.desc_nulls_first() for tie in ties)))
        found = found.withColumn(_NUMBER, last).where(column(_NUMBER) == 1)
    if deleted is not None:
        found = found.where(~sf.coalesce(column(deleted), sf.lit(False)))
    return found.select(*map(column, (*data.columns, end)))


_NEXT, _NUMBER = "intervalsweep_next", "intervalsweep_number"


def _check_boolean(data: DataFrame, name: str) -> None:
    kind = data.schema[name].dataType
    if not isinstance(kind, st.BooleanType):
        raise ArgumentError(
            f"`deleted` must be a column of booleans; {name} is {kind.simpleString()}."
        )
