# SPDX-License-Identifier: Apache-2.0
"""Aggregates of a history for each month or other bucket, weighted by time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from intervalsweep._errors import ArgumentError
from intervalsweep._sql.literals import quoted
from intervalsweep.columns import SparkColumns, check_unique, spelled
from intervalsweep.table_functions import temporal_resample

NAMES = ("bucket_start", "bucket_end", "share")


@dataclass(frozen=True)
class Resampled:
    """The rows of a history, cut at the edges of buckets; see :meth:`Relation.resample`.

    Attributes
    ----------
    history
        The rows, with their period in the last two columns.
    keys
        The columns to group by.
    every, options
        The length of the buckets, and the other arguments of `temporal_resample`.
    names
        The names of the bucket's start and end, and of the share.

    Examples
    --------
    >>> rows = "VALUES ('tea', 2, 0, 15), ('tea', 6, 15, 20) t(x, p, ts, te)"
    >>> prices = temporal.valid(spark.sql(f"SELECT * FROM {rows}"), "ts", "te")
    >>> tens = prices.resample(10, by="x")
    >>> tens.agg(mean=("avg", "p"), last=("last", "p")).orderBy("bucket_start").show()
    +---+------------+----------+----+----+
    |  x|bucket_start|bucket_end|mean|last|
    +---+------------+----------+----+----+
    |tea|           0|        10| 2.0|   2|
    |tea|          10|        20| 4.0|   6|
    +---+------------+----------+----+----+
    <BLANKLINE>
    """

    history: DataFrame
    keys: Sequence[str]
    every: Any
    options: dict[str, Any]
    names: tuple[str, str, str] = NAMES

    @property
    def frame(self) -> DataFrame:
        """The parts of the rows, each with its bucket and its share of the bucket's time."""
        start, end = self.history.columns[-2:]
        return temporal_resample(
            self.history, self.every, ts=start, te=end, names=self.names, **self.options
        )

    def agg(self, **aggregates: str | tuple[str, str]) -> DataFrame:
        """Return aggregates for each group and bucket that has rows.

        Parameters
        ----------
        aggregates
            The aggregates by the name of their result column. Pairs are of a function and a column:

            - ``("avg", "price")``: the mean, weighted by time, while the value is not NULL.
            - ``("sum", "price")``: the sum of the value times its share of the bucket. A value for
              half of the month counts half.
            - ``("min", "price")``, ``("max", "price")``: the least and the largest value.
            - ``("first", "price")``, ``("last", "price")``: the value of the row that starts first,
              and of the row that ends last. Of several such rows, it is the least and the largest.
            - ``"covered"``: the sum of the shares. It is 1 if one row of the group is valid at each
              instant of the bucket.
            - ``"count"``: the number of rows.

        Returns
        -------
        DataFrame
            The keys, the start and the end of the bucket, and the aggregates. `avg` and `sum` of
            numbers are of type DOUBLE.

        Raises
        ------
        ArgumentError
            If no aggregate is given, or one is invalid.
        ColumnError
            If a column does not exist, or two columns of the result would have the same name.
        """
        if not aggregates:
            raise ArgumentError("`aggregates` must not be empty: give at least one.")
        groups = [*self.keys, *self.names[:2]]
        check_unique([*groups, *aggregates])
        columns = [self._column(name, one).alias(name) for name, one in aggregates.items()]
        return self.frame.groupBy(*map(quoted, groups)).agg(*columns)

    def _column(self, name: str, given: Any) -> Column:
        share = sf.col(quoted(self.names[2]))
        if given == "covered":
            return sf.sum(share)
        if given == "count":
            return sf.count("*")
        if not isinstance(given, tuple) or len(given) != 2 or given[0] not in _FUNCTIONS:
            functions = ", ".join(_FUNCTIONS)
            raise ArgumentError(
                f'`{name}` must be "covered", "count", or a pair of a function and a column, where '
                f"the function is one of {functions}; got {given!r}."
            )
        known = SparkColumns.of(self.history, self.history.columns[:-2])
        value = sf.col(quoted(spelled("given", known, given[1])))
        start, end = (sf.col(quoted(one)) for one in self.history.columns[-2:])
        return _FUNCTIONS[given[0]](value, share, start, end)


# Each function takes the value, the share, and the start and the end of the row's part.
_FUNCTIONS: dict[str, Callable[[Column, Column, Column, Column], Column]] = {
    "avg": lambda value, share, start, end: (
        sf.sum(value * share) / sf.sum(sf.when(value.isNotNull(), share))
    ),
    "sum": lambda value, share, start, end: sf.sum(value * share),
    "min": lambda value, share, start, end: sf.min(value),
    "max": lambda value, share, start, end: sf.max(value),
    "first": lambda value, share, start, end: sf.min_by(value, sf.struct(start, value)),
    "last": lambda value, share, start, end: sf.max_by(value, sf.struct(end, value)),
}
