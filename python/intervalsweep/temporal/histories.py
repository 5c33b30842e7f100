# SPDX-License-Identifier: Apache-2.0
"""Marks DataFrames as histories, and runs plain queries on them."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pyspark.sql import DataFrame, SparkSession

from intervalsweep._signatures import Closed, HistoryEmit, Names
from intervalsweep._sql.literals import for_column, quoted
from intervalsweep.columns import SparkColumns, listed, spelled
from intervalsweep.session import check_active
from intervalsweep.temporal.relation import Relation, check_frame, leaf_of, relation_of
from intervalsweep.temporal.statement import Leaf, Settings, localized, marks, run, statement

# The treatment of a NULL start or end, and of an empty or reversed period.
Nulls: TypeAlias = Literal["unbounded", "drop", "error"]
Invalid: TypeAlias = Literal["drop", "error"]


def valid(
    data: DataFrame,
    start: str,
    end: str | None = None,
    *,
    nulls: Nulls | None = None,
    invalid: Invalid | None = None,
    closed: Closed | None = None,
    unbounded: Any = None,
    names: tuple[str, str] | None = None,
    step: Any = None,
    unbounded_start: Any = None,
    until_next: Names | None = None,
    order: Names = (),
    deleted: str | None = None,
) -> Relation:
    """Mark a DataFrame as a history: each row is valid from `start` to before `end`.

    The two columns are then hidden from queries.

    Parameters
    ----------
    data
        A Spark DataFrame.
    start, end
        The names of the columns. Without `end` a row is valid from `start` on, or `start` is a
        struct of both. A row whose struct is NULL is dropped.
    nulls
        A NULL start or end is ``unbounded`` (the default), drops the row (``drop``), or is an
        ``error``.
    invalid
        An empty or reversed period drops the row (``drop``, the default), or is an ``error``.
    closed
        The endpoints that belong to a period: ``left`` (the default), ``right``, ``both`` or
        ``neither``.
    unbounded, unbounded_start
        A value of `end` that means no end, such as ``date(9999, 12, 31)``, or of `start` that means
        no start; a tuple for several.
    names
        The names of the period's columns in results.
    step
        How far a closed end is from the start of the next period, such as ``timedelta(seconds=1)``
        for ends at 23:59:59. The default is the smallest step of the type.
    until_next
        The rows are changes: each is valid from `start` until the next one of the same values in
        these columns, the last until further notice. Only `names` can be given besides. A change
        whose `start` is NULL is dropped.
    order
        Columns that order the changes at the same instant: only the last of them is valid. Without
        `order` all of them are.
    deleted
        A condition in SQL. A change that meets the condition only ends the previous change.

    Returns
    -------
    Relation
        The history, with an operator for each method.

    Raises
    ------
    ArgumentError
        If `data` is not a DataFrame, or is marked already.
    ColumnError
        If a column does not exist.
    SetupError
        If the session does not have IntervalSweep.

    Examples
    --------
    >>> works = spark.sql("SELECT * FROM VALUES ('Ann', 3, 10), ('Joe', 8, 16) t(name, ts, te)")
    >>> w = valid(works, "ts", "te")
    >>> w.columns
    ['name']

    Each price is valid until the next price of the same product:

    >>> rows = "('tea', 1, 3), ('tea', 6, 4), ('cup', 3, 9)"
    >>> log = spark.sql(f"SELECT * FROM VALUES {rows} t(product, ts, price)")
    >>> prices = valid(log, "ts", until_next="product")
    >>> sorted(map(tuple, prices.at(5).frame.collect()))
    [('cup', 9), ('tea', 3)]
    """
    check_frame(data)
    check_active(data.sparkSession)
    known = SparkColumns.of(data)
    start = spelled("given", known, start)
    end = None if end is None else spelled("given", known, end)
    given: dict[str, Any] = {"nulls": nulls, "invalid": invalid, "closed": closed}
    unbounded = for_column(unbounded, data.schema[end or start].dataType)
    given |= {"unbounded": unbounded, "names": names, "step": step}
    given |= {"unbounded_start": for_column(unbounded_start, data.schema[start].dataType)}
    given |= _changes(known, until_next, order, deleted)
    return leaf_of(data, marks(start, end, given))


def _changes(
    known: SparkColumns, until_next: Names | None, order: Names, deleted: str | None
) -> dict[str, Any]:
    """Return the arguments of `validtime` for changes."""

    def names(given: Names) -> tuple[str, ...]:
        return tuple(spelled("given", known, name) for name in listed(given))

    keys = None if until_next is None else names(until_next)
    return {"until_next": keys, "order": names(order) or None, "deleted": deleted}


def sequenced(
    spark: SparkSession,
    query: str,
    /,
    *,
    period: tuple[Any, Any] | None = None,
    at: Any = None,
    coalesce: bool = False,
    names: tuple[str, str] | None = None,
    closed: Closed | None = None,
    unbounded: Any = None,
    step: Any = None,
    emit: HistoryEmit | None = None,
    **frames: Relation | DataFrame,
) -> DataFrame:
    """Return the history of a plain query: at each instant, its rows over the rows valid then.

    Parameters
    ----------
    spark
        The session.
    query
        SQL over the `frames`, by their names, and over views of the session. A relation that is
        marked by :func:`valid` hides its period. The rows of other DataFrames are always valid; one
        with the columns of a marked relation's period is an error.
    period
        A start and an end (exclusive) to which the history is clipped; None means no limit. A naive
        datetime is in Python's local time, as in PySpark; for TIMESTAMP_NTZ it is the time that the
        clock shows.
    at
        An instant: return the rows that are valid then, without a period.
    coalesce
        If true, return the fewest rows: equal rows whose periods touch become one.
    names
        The names of the period's columns. The default is those of the first marked relation.
    closed, step
        The endpoints that belong to a period of the result, as in :func:`valid`.
    unbounded
        A value instead of NULL for the end of a row without an end, such as ``date(9999, 12, 31)``.
    emit
        For streams: ``"final"``, the default, returns a row when its period has ended; ``"early"``
        as soon as it is certain, cut at the watermark.
    frames
        Relations and DataFrames, by their names in `query`.

    Returns
    -------
    DataFrame
        The rows of the query, with their period in the last two columns.

    Raises
    ------
    AnalysisException
        If the query is not valid SQL, or has no meaning at a single instant.
    ArgumentError
        If `period` and `at` are both given, or a frame already has one of them.

    Examples
    --------
    >>> works = spark.sql("SELECT * FROM VALUES ('Ann', 3, 10), ('Joe', 8, 16) t(name, ts, te)")
    >>> counts = sequenced(
    ...     spark, "SELECT count(*) AS c FROM w", w=valid(works, "ts", "te"), period=(0, 20)
    ... )
    >>> counts.orderBy("ts").show()
    +---+---+---+
    |  c| ts| te|
    +---+---+---+
    |  0|  0|  3|
    |  1|  3|  8|
    |  2|  8| 10|
    |  1| 10| 16|
    |  0| 16| 20|
    +---+---+---+
    <BLANKLINE>
    """
    check_active(spark)
    settings = Settings(period, at, coalesce or None, names, closed, unbounded, step, emit)
    leaves: dict[str, Leaf] = {}
    ctes = []
    for name, given in frames.items():
        relation = relation_of(given)
        relation.check_no_settings(f"the frame {name}")
        leaves |= relation.leaves
        ctes.append(f"{quoted(name)} AS ({relation.query})")
    text = f"WITH {', '.join(ctes)} ({query}\n)" if ctes else query
    settings = localized(settings, spark, text, leaves)
    return run(spark, statement(text, leaves, settings), leaves)
