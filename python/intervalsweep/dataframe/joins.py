# SPDX-License-Identifier: Apache-2.0
"""The interval join of two DataFrames, whose result has unique column names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import and_
from typing import get_args

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from intervalsweep._signatures import How, documented
from intervalsweep._sql.calls import Parameter, call
from intervalsweep._sql.relation_names import RelationName
from intervalsweep.columns import (
    Ends,
    Keys,
    Naming,
    check_choice,
    check_columns,
    chosen,
    key_pairs,
    names_of,
)
from intervalsweep.dataframe.interval_columns import (
    Interval,
    as_parameter,
    check_frames,
    column,
    common_type,
)
from intervalsweep.relations import check_parameters, relation_named
from intervalsweep.session import check_active


@documented
def join(
    left: DataFrame,
    right: DataFrame,
    relation: RelationName = "interval_intersects",
    *,
    on: Ends = ("ts", "te"),
    left_on: Ends | None = None,
    right_on: Ends | None = None,
    by: Keys | str = (),
    how: How = "inner",
    delta: Parameter = None,
    epsilon: Parameter = None,
    columns: Sequence[str] | None = None,
    suffix: str = "_right",
) -> DataFrame:
    """
    Examples
    --------
    >>> r = spark.sql("SELECT 'r1' AS id, 1 AS ts, 4 AS te")
    >>> s = spark.sql("SELECT 's1' AS id, 2 AS ts, 6 AS te")
    >>> join(r, s, "allen_overlaps").show()
    +---+---+---+--------+--------+--------+
    | id| ts| te|id_right|ts_right|te_right|
    +---+---+---+--------+--------+--------+
    | r1|  1|  4|      s1|       2|       6|
    +---+---+---+--------+--------+--------+
    <BLANKLINE>
    """
    check_choice("how", how, get_args(How))
    both = JoinSides(left, right, relation, left_on or on, right_on or on, by, delta, epsilon)
    found = both.joined(how, suffix)
    wanted = chosen(columns, found.columns)
    return found.select([column(name) for name in wanted]) if columns is not None else found


@documented
def count_matches(
    left: DataFrame,
    right: DataFrame,
    relation: RelationName = "interval_intersects",
    *,
    on: Ends = ("ts", "te"),
    left_on: Ends | None = None,
    right_on: Ends | None = None,
    by: Keys | str = (),
    delta: Parameter = None,
    epsilon: Parameter = None,
    count: str = "count",
) -> DataFrame:
    """
    Notes
    -----
    The plan is a left join, grouped by the rows of the left side.

    Examples
    --------
    >>> r = spark.sql("SELECT * FROM VALUES (1, 4), (7, 9) r(ts, te)")
    >>> s = spark.sql("SELECT * FROM VALUES (2, 6), (3, 5) s(ts, te)")
    >>> count_matches(r, s).orderBy("ts").show()
    +---+---+-----+
    | ts| te|count|
    +---+---+-----+
    |  1|  4|    2|
    |  7|  9|    0|
    +---+---+-----+
    <BLANKLINE>
    """
    both = JoinSides(left, right, relation, left_on or on, right_on or on, by, delta, epsilon)
    Naming.of([*left.columns, count], [], [], "")
    # A row number keeps equal rows in separate groups.
    numbered = left.withColumn(_ROW, sf.monotonically_increasing_id())
    theirs = both.renamed.withColumn(_MATCH, sf.lit(1))
    joined = numbered.join(theirs, both.condition, "left")
    groups = [column(name) for name in (_ROW, *left.columns)]
    return joined.groupBy(*groups).agg(sf.count(_MATCH).alias(count)).drop(_ROW)


_ROW, _MATCH = "intervalsweep_row", "intervalsweep_match"


class JoinSides:
    """The two sides of a join and its condition. Raises IntervalSweepError for invalid arguments.

    The columns of the right side get names that occur nowhere else, so that no name in the
    condition is ambiguous.
    """

    def __init__(
        self,
        left: DataFrame,
        right: DataFrame,
        relation: str,
        left_on: Ends,
        right_on: Ends,
        by: Keys | str,
        delta: Parameter,
        epsilon: Parameter,
    ) -> None:
        check_frames(left, right)
        meant = relation_named(relation)
        limits = {"delta": delta, "epsilon": epsilon}
        check_parameters(meant, **limits)
        ends, self.pairs = (names_of(left_on), names_of(right_on)), key_pairs(by)
        check_columns("left", left.columns, *ends[0], *(one for one, _ in self.pairs))
        check_columns("right", right.columns, *ends[1], *(other for _, other in self.pairs))
        check_active(left.sparkSession)
        self._left = left
        self._inner = {name: f"{name} #{number}" for number, name in enumerate(right.columns)}
        self.renamed = right.select(
            [column(name).alias(self._inner[name]) for name in right.columns]
        )
        if any(
            limit is not None and not isinstance(limit, str | Column) for limit in limits.values()
        ):
            sides = (left, "left", left_on), (right, "right", right_on)
            kind = common_type([(side[0], Interval(*side).of()[0]) for side in sides])
            limits = {name: as_parameter(name, value, kind) for name, value in limits.items()}
        operands = (*map(column, ends[0]), *map(self.of_right, ends[1]))
        self.condition = reduce(
            and_,
            [column(one) == self.of_right(other) for one, other in self.pairs],
            call(meant.name, operands, *(limits[name] for name in meant.parameters)),
        )

    def joined(self, how: str, suffix: str, more: dict[str, Column] | None = None) -> DataFrame:
        """Return the join; `more` adds columns to the result, or replaces those with its names."""
        theirs = [] if how in ("semi", "anti") else list(self._inner)
        naming = Naming.of(self._left.columns, theirs, self.pairs, suffix)
        named = dict(zip(naming.names, result(naming, how, column, self.of_right), strict=True))
        last = {name: value.alias(name) for name, value in (more or {}).items()}
        kept = [value for name, value in named.items() if name not in last]
        joined = self._left.join(self.renamed, self.condition, how)
        return joined.select([*kept, *last.values()])

    def of_right(self, name: str) -> Column:
        """Return a column of the right side by its original name."""
        return column(self._inner[name])


def result(
    naming: Naming, how: str, left: Callable[[str], Column], right: Callable[[str], Column]
) -> list[Column]:
    """Return the columns of a join's result; `left` and `right` return a column by its name."""

    def of_left(name: str) -> Column:
        if name in naming.shared_keys and how in ("right", "full"):
            return sf.coalesce(left(name), right(name))
        return left(name)

    return [of_left(name).alias(name) for name in naming.left] + [
        right(name).alias(new) for name, new in naming.right.items()
    ]
