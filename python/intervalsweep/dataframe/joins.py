# SPDX-License-Identifier: Apache-2.0
"""The interval join of two DataFrames, whose result has unique column names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Any, get_args

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from intervalsweep._overlaps import Overlap, overlap_names
from intervalsweep._signatures import How, JoinWord, implements
from intervalsweep._sql.calls import Parameter, call
from intervalsweep.columns import (
    Naming,
    SideNames,
    SparkColumns,
    check_unique,
    chosen,
    join_type,
    names_of,
)
from intervalsweep.dataframe.interval_columns import (
    DataFrameFunctions,
    Interval,
    as_parameter,
    check_frames,
    column,
    common_type,
    field,
    is_column,
)
from intervalsweep.dataframe.overlaps import Ends
from intervalsweep.relations import check_parameters, relation_named
from intervalsweep.session import check_active


@implements(DataFrameFunctions.join)
def join(
    left: DataFrame,
    right: DataFrame,
    *,
    how: JoinWord,
    overlap: tuple[str, str] | None,
    columns: Sequence[str] | None,
    suffix: str,
    **matching: Any,
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
    how = join_type(how, get_args(How))
    both = JoinSides.of(left, right, **matching)
    found = both.joined(how, suffix, both.shared(overlap, how, suffix))
    wanted = chosen(columns, SparkColumns.of(found))
    return found.select([column(name) for name in wanted]) if columns is not None else found


@implements(DataFrameFunctions.count_matches)
def count_matches(left: DataFrame, right: DataFrame, *, count: str, **matching: Any) -> DataFrame:
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
    both = JoinSides.of(left, right, **matching)
    check_unique([*left.columns, count])
    # A row number keeps equal rows in separate groups.
    numbered = left.withColumn(_ROW, sf.monotonically_increasing_id())
    theirs = both.renamed.withColumn(_MATCH, sf.lit(1))
    joined = numbered.join(theirs, both.condition, "left")
    groups = [column(name) for name in (_ROW, *left.columns)]
    return joined.groupBy(*groups).agg(sf.count(_MATCH).alias(count)).drop(_ROW)


_ROW, _MATCH = "intervalsweep_row", "intervalsweep_match"


@dataclass(frozen=True)
class JoinSides:
    """The two sides of a join and its condition.

    The columns of the right side get names that occur nowhere else, so that no name in the
    condition is ambiguous.
    """

    left: DataFrame
    renamed: DataFrame
    condition: Column
    _keys: list[tuple[str, str]]
    _inner: dict[str, str]
    _ends: Ends

    @staticmethod
    def of(
        left: DataFrame,
        right: DataFrame,
        relation: str,
        *,
        delta: Parameter = None,
        epsilon: Parameter = None,
        within: Any = None,
        min_overlap: Any = None,
        min_fraction: Any = None,
        **names: Any,
    ) -> JoinSides:
        """Read the arguments of `join`; `names` are those of `SideNames`.

        Raises IntervalSweepError for invalid arguments.
        """
        check_frames(left, right)
        meant = relation_named(relation)
        given = {"delta": delta, "epsilon": epsilon}
        check_parameters(meant, **given)
        asked = Overlap.of(meant.name, within, min_overlap, min_fraction)
        on = SideNames.of(SparkColumns.of(left), SparkColumns.of(right), **names)
        check_active(left.sparkSession)
        limits = _limits(left, right, on, given)
        inner = {name: f"{name} #{number}" for number, name in enumerate(right.columns)}
        ours, theirs = Interval(left, "left", on.left_on), Interval(right, "right", on.right_on)

        def of_right(name: str) -> Column:
            return column(inner[name])

        operands = (
            *(field(name, left.columns) for name in names_of(on.left_on)),
            *(field(name, right.columns, of_right) for name in names_of(on.right_on)),
        )
        ends = Ends(left, right, ours, theirs, of_right)
        if asked.within is None:
            matches = call(meant.name, operands, *(limits[name] for name in meant.parameters))
        else:
            matches = ends.are_within(asked.within)
        if asked.has_least:
            matches = matches & ends.overlap_enough(asked)
        equal = [column(one) == column(inner[other]) for one, other in on.keys]
        renamed = right.select([column(name).alias(new) for name, new in inner.items()])
        return JoinSides(left, renamed, reduce(and_, equal, matches), on.keys, inner, ends)

    def shared(
        self, names: tuple[str, str] | None, how: str, suffix: str
    ) -> dict[str, Column] | None:
        """Return the columns with the time that both intervals of a pair share, by their names."""
        if names is None:
            return None
        naming = Naming.of(self.left.columns, list(self._inner), self._keys, suffix)
        found = overlap_names(names, how, naming.names)
        return dict(zip(found, self._ends.shared(), strict=True))

    def joined(self, how: str, suffix: str, more: dict[str, Column] | None = None) -> DataFrame:
        """Return the join; `more` adds columns to the result, or replaces those with its names."""
        theirs = [] if how in ("semi", "anti") else list(self._inner)
        naming = Naming.of(self.left.columns, theirs, self._keys, suffix)
        named = dict(zip(naming.names, result(naming, how, column, self.of_right), strict=True))
        last = {name: value.alias(name) for name, value in (more or {}).items()}
        kept = [value for name, value in named.items() if name not in last]
        joined = self.left.join(self.renamed, self.condition, how)
        return joined.select([*kept, *last.values()])

    def of_right(self, name: str) -> Column:
        """Return a column of the right side by its original name."""
        return column(self._inner[name])


def _limits(
    left: DataFrame, right: DataFrame, on: SideNames, given: dict[str, Parameter]
) -> dict[str, Parameter]:
    """Return distances as SQL takes them, which depends on the common type of the endpoints."""
    if all(limit is None or is_column(limit) for limit in given.values()):
        return given
    starts = [
        (left, Interval(left, "left", on.left_on).of()[0]),
        (right, Interval(right, "right", on.right_on).of()[0]),
    ]
    kind = common_type(starts)
    return {name: as_parameter(name, limit, kind) for name, limit in given.items()}


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
