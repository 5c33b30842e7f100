# SPDX-License-Identifier: Apache-2.0
"""Relations whose rows are valid in periods, and the operators on them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import count
from operator import and_
from typing import Any, Literal

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from intervalsweep._arguments import has_signature_of
from intervalsweep._errors import ArgumentError
from intervalsweep._signatures import HistoryEmit
from intervalsweep._sql.literals import calendar_length, for_column, length, options, quoted
from intervalsweep.columns import Keys, Naming, SparkColumns, known_keys, listed, spelled
from intervalsweep.temporal.expressions import (
    JoinType,
    aliased,
    as_columns,
    has_column,
    joined_columns,
    sql_list,
    sql_text,
)
from intervalsweep.temporal.resampled import NAMES, Resampled
from intervalsweep.temporal.statement import (
    HIDDEN,
    WHOLE,
    Leaf,
    Settings,
    has_naive,
    localized,
    period_type,
    plain,
    run,
    statement,
)

_NUMBERS = count(1)


@dataclasses.dataclass(frozen=True, eq=False)
class Relation:
    """A history as a query that operators extend; :attr:`frame` returns its rows.

    :func:`valid` creates the first relation, and each method returns a new one. At each instant, a
    method returns the rows that its SQL returns for the rows valid then. Conditions, columns and
    aggregates are SQL text, or Columns of Spark. Numbers in brackets are the equations of the
    temporal operator algebra.

    Examples
    --------
    >>> works = spark.sql("SELECT * FROM VALUES ('SP', 3, 10), ('NS', 8, 16) t(skill, ts, te)")
    >>> needs = spark.sql("SELECT * FROM VALUES ('SP', 3, 12), ('SP', 6, 14) t(skill, ts, te)")
    >>> from intervalsweep.temporal import valid
    >>> w, a = valid(works, "ts", "te"), valid(needs, "ts", "te")
    >>> a.except_all(w).frame.orderBy("ts").show()
    +-----+---+---+
    |skill| ts| te|
    +-----+---+---+
    |   SP|  6| 12|
    |   SP| 10| 14|
    +-----+---+---+
    <BLANKLINE>
    """

    query: str
    leaves: Mapping[str, Leaf]
    settings: Settings = WHOLE
    _source: str | None = None
    _columns: list[str] = dataclasses.field(default_factory=list, repr=False)

    @property
    def frame(self) -> DataFrame:
        """The rows of the history, with their period in the last two columns."""
        return run(self._spark, self.sql, self.leaves)

    @property
    def sql(self) -> str:
        """The SQL that :attr:`frame` runs, with `{name}` in place of a DataFrame."""
        settings = localized(self.settings, self._spark, self.query, self.leaves)
        return statement(self.query, self.leaves, settings)

    @property
    def columns(self) -> list[str]:
        """The names of the columns, without the period."""
        if not self._columns:
            is_marked = any(one.marks is not None or one.is_query for one in self.leaves.values())
            text = (
                statement(self.query, self.leaves, HIDDEN)
                if is_marked
                else plain(self.query, self.leaves)
            )
            found = run(self._spark, text, self.leaves).columns
            self._columns.extend(found[:-2] if is_marked else found)
        return list(self._columns)

    def __repr__(self) -> str:
        """Return the columns of the history. No rows are read."""
        return f"Relation[{', '.join(self.columns)}]"

    def show(self, n: int = 20, truncate: bool | int = True) -> None:
        """Print the first rows of :attr:`frame`, like `DataFrame.show`."""
        self.frame.show(n, truncate)

    def toPandas(self) -> Any:  # noqa: N802 (Spark's name)
        """Return the rows of :attr:`frame` as a pandas DataFrame."""
        return self.frame.toPandas()

    def where(self, condition: str | Column) -> Relation:
        """Keep the rows for which a condition is true (1).

        `w.where("skill = 'SP'")`
        """
        if isinstance(condition, Column):
            return self._over(self._marked.where(condition))
        return self._made(f"SELECT * FROM {self.source} WHERE {sql_text('condition', condition)}")

    def select(self, *columns: str | Column, **named: str | Column) -> Relation:
        """Compute columns for each row (2): `w.select("name", "upper(skill) AS s")`.

        Named arguments name their columns: `w.select("name", s="upper(skill)")`.
        """
        if has_column(columns, named):
            return self._over(self._marked.select(*as_columns(columns, named)))
        columns = (*columns, *aliased(named))
        return self._made(f"SELECT {sql_list('columns', columns)} FROM {self.source}")

    def join(
        self,
        other: Relation | DataFrame,
        by: Keys | str = (),
        condition: str | Column | None = None,
        *,
        suffix: str = "_right",
    ) -> Relation:
        """Join the rows that are valid at the same time (3, 11).

        Parameters
        ----------
        by
            Equality keys: names that both sides have, or pairs of names. NULL matches nothing.
        condition
            SQL in which `r` is this side and `s` the other one: ``"r.price < s.limit"``.
        suffix
            Appended to the name of a column of the other side if this side has that name, too.

        Raises
        ------
        ArgumentError
            If `other` is neither a relation nor a DataFrame, or has `at` or `period`.
        ColumnError
            If a key does not exist, or two columns of the result would have the same name.
        """
        return self._joined(JoinType.INNER, other, by, condition, suffix)

    @has_signature_of(join)
    def left_join(self, **given: Any) -> Relation:
        """Join, and keep rows of this side while they have no match; see :meth:`join`."""
        return self._joined(JoinType.LEFT, **given)

    @has_signature_of(join)
    def right_join(self, **given: Any) -> Relation:
        """Join, and keep rows of the other side while they have no match; see :meth:`join`."""
        return self._joined(JoinType.RIGHT, **given)

    @has_signature_of(join)
    def full_join(self, **given: Any) -> Relation:
        """Join, and keep rows of both sides while they have no match; see :meth:`join`."""
        return self._joined(JoinType.FULL, **given)

    def semi_join(
        self,
        other: Relation | DataFrame,
        by: Keys | str = (),
        condition: str | Column | None = None,
    ) -> Relation:
        """Keep the rows of this side while they have a match (12); see :meth:`join`."""
        return self._joined(JoinType.SEMI, other, by, condition)

    @has_signature_of(semi_join)
    def anti_join(self, **given: Any) -> Relation:
        """Keep the rows of this side while they have no match; see :meth:`join`."""
        return self._joined(JoinType.ANTI, **given)

    def distinct(self) -> Relation:
        """Return each row once at each instant (4)."""
        return self._made(f"SELECT DISTINCT * FROM {self.source}")

    def union(self, other: Relation | DataFrame) -> Relation:
        """Return the rows of either side, each once at each instant. Columns match by position."""
        return self._set("UNION", other)

    def union_all(self, other: Relation | DataFrame) -> Relation:
        """Return the rows of both sides (8)."""
        return self._set("UNION ALL", other)

    def union_max(self, other: Relation | DataFrame) -> Relation:
        """Return each row as often as on the side that has it more often (14)."""
        return self._function("temporal_union_max", other)

    def except_(self, other: Relation | DataFrame) -> Relation:
        """Return the rows that the other side does not have, each once at each instant."""
        return self._set("EXCEPT", other)

    def except_all(self, other: Relation | DataFrame) -> Relation:
        """Remove one copy of a row for each equal row of the other side (5)."""
        return self._set("EXCEPT ALL", other)

    def except_strict(self, other: Relation | DataFrame) -> Relation:
        """Return the rows, all copies, while the other side has no equal row (15)."""
        return self._function("temporal_except_strict", other)

    def intersect(self, other: Relation | DataFrame) -> Relation:
        """Return the rows that both sides have, each once at each instant."""
        return self._set("INTERSECT", other)

    def intersect_all(self, other: Relation | DataFrame) -> Relation:
        """Return each row as often as on the side that has it less often (13)."""
        return self._set("INTERSECT ALL", other)

    def group_by(self, *columns: str | Column) -> Grouped:
        """Group the rows by columns, for :meth:`Grouped.agg` (6).

        `w.group_by("skill").agg("count(*) AS c")`. Raises ColumnError if a column does not exist.
        """
        return Grouped(self, [spelled("given", self._known, one) for one in columns])

    def agg(self, *aggregates: str | Column, **named: str | Column) -> Relation:
        """Aggregate all rows, also while no rows are valid (7): `w.agg(c="count(*)")`.

        Named arguments name their columns, as does `"count(*) AS c"`.
        """
        return Grouped(self, []).agg(*aggregates, **named)

    def window(
        self,
        sliding: Any = None,
        *,
        fixed: Any = None,
        origin: Any = None,
        on_bounded: Literal["replace", "error"] | None = None,
    ) -> Relation:
        """Replace the end of each row by the end of a window that contains its start (9, 10).

        Give one of `sliding` and `fixed`.

        Parameters
        ----------
        sliding
            The row is valid for this length from its start on: a number, a timedelta, a text such
            as ``"10 minutes"``, or calendar units such as ``"DAY"``, ``"2 WEEKS"`` or ``"MONTH"``.
        fixed
            The row is valid to the end of the fixed window that contains its start. Fixed windows
            have this length and follow each other without gaps.
        origin
            The start of one of the fixed windows. The default is 0, or 1970-01-01 UTC; for calendar
            units, 1970-01-01 in the session's time zone, and for weeks a Monday.
        on_bounded
            For rows that already have an end: ``replace`` the end (the default), or fail with an
            ``error``.
        """
        given = {
            "sliding": calendar_length("sliding", sliding),
            "fixed": calendar_length("fixed", fixed),
        }
        given |= {"origin": self._instant(origin), "on_bounded": on_bounded}
        return self._made(f"SELECT * FROM temporal_window(TABLE({self.query}){options(given)})")

    def split(self, max_length: Any) -> Relation:
        """Cut each row, from its start on, into rows of at most `max_length` (Alg. 11).

        The length is a number, a timedelta, a text such as ``"10 minutes"``, or calendar
        units such as ``"MONTH"``.
        """
        given = options({"max_length": calendar_length("max_length", max_length)})
        return self._made(f"SELECT * FROM temporal_split(TABLE({self.query}){given})")

    def coalesce(self, max_length: Any = None) -> Relation:
        """Return the same rows in the fewest periods (16); see `temporal_coalesce`.

        With `max_length`, rows that touch become one until its period has this length (Alg. 10).
        """
        given = options({"max_length": length("max_length", max_length)})
        return self._made(f"SELECT * FROM temporal_coalesce(TABLE({self.query}){given})")

    def resample(
        self,
        every: Any,
        *,
        by: str | Sequence[str] = (),
        period: tuple[Any, Any] | None = None,
        origin: Any = None,
        names: tuple[str, str, str] = NAMES,
        max_buckets: int | None = None,
    ) -> Resampled:
        """Cut each row at the edges of months or of other buckets, for aggregates over time.

        `prices.resample("MONTH", by="product").agg(mean=("avg", "price"))` returns the mean price
        of each product and month, weighted by time. The result is a DataFrame, not a history.

        Parameters
        ----------
        every
            The length of the buckets: calendar units such as ``"DAY"``, ``"2 WEEKS"`` or
            ``"MONTH"``, a timedelta, a text such as ``"10 minutes"``, or a number.
        by
            Names of the columns to group by.
        period
            The part of the history, as in :meth:`period`. A history with rows without an end or
            without a start needs it.
        origin
            The start of one of the buckets, as in :meth:`window`.
        names
            The names of the bucket's start and end, and of the share of its time.
        max_buckets
            The most buckets of one row, a million by default. A row with more is an error.

        Raises
        ------
        ArgumentError
            If :meth:`at` or :meth:`shown_as` was called.
        ColumnError
            If a column does not exist.
        """
        settings = (
            self.settings if period is None else dataclasses.replace(self.settings, period=period)
        )
        relation = dataclasses.replace(self, settings=settings)
        if relation.settings != Settings(period=relation.settings.period):
            raise ArgumentError(
                "resample() cuts half-open periods: call it on a history without at() and "
                "shown_as()."
            )
        keys = [spelled("given", self._known, one) for one in listed(by)]
        options = {"origin": origin, "max_buckets": max_buckets}
        return Resampled(relation.frame, keys, every, options, names)

    def at(self, instant: Any) -> Relation:
        """Return the rows of one instant, without a period (17). Applies to the whole query.

        A naive datetime is in Python's local time, as in PySpark, and for TIMESTAMP_NTZ the time
        that the clock shows.
        """
        if instant is None:
            raise ArgumentError("`instant` must not be None.")
        return dataclasses.replace(self, settings=dataclasses.replace(self.settings, at=instant))

    def period(self, start: Any, end: Any) -> Relation:
        """Clip the history to `start` to before `end`; None means no limit.

        The limits are instants as for :meth:`at`. They apply to the whole query, wherever `period`
        stands among the methods.
        """
        settings = dataclasses.replace(self.settings, period=(start, end))
        return dataclasses.replace(self, settings=settings)

    def shown_as(
        self,
        *,
        closed: Literal["left", "right", "both", "neither"] | None = None,
        unbounded: Any = None,
        step: Any = None,
    ) -> Relation:
        """Choose the form of the periods in the result, as in :func:`sequenced`."""
        form = {"closed": closed, "unbounded": self._instant(unbounded), "step": step}
        return dataclasses.replace(self, settings=dataclasses.replace(self.settings, **form))

    def emit(self, when: HistoryEmit) -> Relation:
        """Choose when the rows of a history of streams are written, as in :func:`sequenced`."""
        return dataclasses.replace(self, settings=dataclasses.replace(self.settings, emit=when))

    @property
    def source(self) -> str:
        """The SQL for this relation in a FROM clause."""
        return self._source or f"({self.query})"

    @property
    def _spark(self) -> SparkSession:
        return next(iter(self.leaves.values())).frame.sparkSession

    def _instant(self, value: Any) -> Any:
        """Return an instant for the type of the period."""
        if not has_naive(value):
            return value
        return for_column(value, period_type(self._spark, self.query, self.leaves))

    def check_no_settings(self, where: str) -> None:
        """Raise ArgumentError if `at` or `period` was called on a part of a query."""
        if self.settings != WHOLE:
            raise ArgumentError(
                f"at() and period() apply to a whole query, and {where} is a part of one: call "
                "them on the result."
            )

    @property
    def _known(self) -> SparkColumns:
        return SparkColumns.of(next(iter(self.leaves.values())).frame, self.columns)

    @property
    def _marked(self) -> DataFrame:
        """The query as a DataFrame, which only `sequenced` can read."""
        return run(self._spark, plain(self.query, self.leaves), self.leaves)

    def _over(self, frame: DataFrame) -> Relation:
        """Return a relation of the rows of a DataFrame that is made of :attr:`_marked`."""
        name = f"intervalsweep_{next(_NUMBERS)}"
        leaves = {name: Leaf(frame, None, is_query=True)}
        return Relation(f"SELECT * FROM {name}", leaves, self.settings, _source=name)

    def _joined_on(
        self,
        kind: JoinType,
        other: Relation,
        naming: Naming,
        keys: Sequence[tuple[str, str]],
        condition: Column,
    ) -> Relation:
        """Return the join by a condition that is a column over the sides `r` and `s`."""
        equal = [sf.col(f"r.{quoted(one)}") == sf.col(f"s.{quoted(two)}") for one, two in keys]
        on = reduce(and_, equal, condition)
        how = kind.value.removesuffix("JOIN").strip().lower().replace(" ", "_") or "inner"
        joined = self._marked.alias("r").join(other._marked.alias("s"), on, how)
        columns = [sf.expr(text) for text in joined_columns(naming, kind)]
        return self._over(joined.select(*columns))

    def _made(self, query: str) -> Relation:
        return Relation(query, self.leaves, self.settings)

    def _with(self, other: Relation | DataFrame) -> tuple[Relation, Mapping[str, Leaf]]:
        relation = relation_of(other)
        relation.check_no_settings("the other side")
        return relation, {**self.leaves, **relation.leaves}

    def _set(self, operator: str, other: Relation | DataFrame) -> Relation:
        relation, leaves = self._with(other)
        query = f"SELECT * FROM {self.source} {operator} SELECT * FROM {relation.source}"
        return Relation(query, leaves, self.settings)

    def _function(self, name: str, other: Relation | DataFrame) -> Relation:
        relation, leaves = self._with(other)
        query = f"SELECT * FROM {name}(TABLE({self.query}), TABLE({relation.query}))"
        return Relation(query, leaves, self.settings)

    def _joined(
        self,
        kind: JoinType,
        other: Relation | DataFrame,
        by: Keys | str,
        condition: str | Column | None,
        suffix: str = "",
    ) -> Relation:
        relation, leaves = self._with(other)
        theirs = relation._known
        keys = known_keys(self._known, theirs, by)
        naming = Naming.of(self.columns, theirs if kind.has_right_columns else [], keys, suffix)
        equal = [f"r.{quoted(one)} = s.{quoted(two)}" for one, two in keys]
        if isinstance(condition, Column):
            return self._joined_on(kind, relation, naming, keys, condition)
        more = [] if condition is None else [f"({sql_text('condition', condition)})"]
        query = (
            f"SELECT {', '.join(joined_columns(naming, kind))} "
            f"FROM {self.source} AS r {kind.value} {relation.source} AS s "
            f"ON {' AND '.join([*equal, *more]) or 'true'}"
        )
        return Relation(query, leaves, self.settings)


@dataclasses.dataclass(frozen=True)
class Grouped:
    """Grouped rows, to be aggregated by :meth:`agg`."""

    relation: Relation
    keys: Sequence[str]

    def agg(self, *aggregates: str | Column, **named: str | Column) -> Relation:
        """Return the groups that have rows, with aggregates (6): `agg("count(*) AS c")`.

        Named arguments name their columns: `agg(c="count(*)", most=F.max("pay"))`.
        """
        if has_column(aggregates, named):
            grouped = self.relation._marked.groupBy(*map(quoted, self.keys))
            return self.relation._over(grouped.agg(*as_columns(aggregates, named)))
        texts = [sql_text("aggregates", one) for one in (*aggregates, *aliased(named))]
        if not texts:
            raise ArgumentError("`aggregates` must not be empty: give at least one.")
        keys = [quoted(name) for name in self.keys]
        columns = [*keys, *texts]
        by = f" GROUP BY {', '.join(keys)}" if keys else ""
        return self.relation._made(
            f"SELECT {sql_list('aggregates', columns)} FROM {self.relation.source}{by}"
        )


def leaf_of(data: DataFrame, marked: str | None) -> Relation:
    """Return a DataFrame as a relation; `marked` is its mark, None if it has none."""
    name = f"intervalsweep_{next(_NUMBERS)}"
    return Relation(f"SELECT * FROM {name}", {name: Leaf(data, marked)}, _source=name)


def relation_of(given: Any) -> Relation:
    """Return a relation unchanged, and a DataFrame as a relation that is always valid."""
    if isinstance(given, Relation):
        return given
    check_frame(given)
    return leaf_of(given, None)


def check_frame(data: object) -> None:
    """Raise ArgumentError for an input that is not an unmarked Spark DataFrame."""
    if isinstance(data, Relation):
        raise ArgumentError("This relation is already marked: valid() takes a DataFrame.")
    if not hasattr(data, "sparkSession"):
        raise ArgumentError(
            f"{type(data).__module__}.{type(data).__name__} is not a Spark DataFrame: "
            "intervalsweep.arrow.temporal has operators for other tables."
        )
