# SPDX-License-Identifier: Apache-2.0
"""Where a history begins: DataFrames that are marked, and queries over them."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pyspark.sql import DataFrame, SparkSession

from intervalsweep._signatures import Closed
from intervalsweep._sql.literals import quoted
from intervalsweep.columns import check_columns
from intervalsweep.session import check_active
from intervalsweep.temporal.relation import Relation, check_frame, leaf_of, relation_of
from intervalsweep.temporal.statement import Leaf, Settings, marks, run, statement

# What becomes of NULL at an end of a period, and of a period without an instant.
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
) -> Relation:
    """Mark a DataFrame: each row is valid from `start` to before `end`. Both are then hidden.

    Parameters
    ----------
    start, end
        Names of columns. Without `end` a row is valid from `start` on.
    nulls
        What a NULL end means: ``unbounded``, the default, ``drop`` the row, or ``error``.
    invalid
        What becomes of an empty or reversed period: ``drop``, the default, or ``error``.
    closed
        Which ends belong to a period: ``left``, the default, ``right``, ``both`` or ``neither``.
    unbounded
        An end that stands for no end, such as ``date(9999, 12, 31)``.
    names
        What the period is called in results.

    Raises ColumnError for a column that is not there, SetupError if the session has no
    IntervalSweep.

    >>> works = spark.sql("SELECT * FROM VALUES ('Ann', 3, 10), ('Joe', 8, 16) t(name, ts, te)")
    >>> w = valid(works, "ts", "te")
    >>> w.columns
    ['name']
    """
    check_frame(data)
    check_active(data.sparkSession)
    check_columns("given", data.columns, start, *([] if end is None else [end]))
    given: dict[str, Any] = {"nulls": nulls, "invalid": invalid, "closed": closed}
    given |= {"unbounded": unbounded, "names": names}
    return leaf_of(data, marks(start, end, given))


def sequenced(
    spark: SparkSession,
    query: str,
    /,
    *,
    period: tuple[Any, Any] | None = None,
    at: Any = None,
    coalesce: bool = False,
    names: tuple[str, str] | None = None,
    **frames: Relation | DataFrame,
) -> DataFrame:
    """Return the history of a plain query: at each instant its rows over what is valid then.

    Parameters
    ----------
    query
        SQL over the `frames`, by their names, and over views of the session. A relation that is
        marked by :func:`valid` hides its period; a DataFrame that is not is always valid.
    period
        The part of the history from its first value to before its second one; None is no bound.
    at
        The rows of one instant, without a period.
    coalesce
        Return the fewest rows: those that are equal and touch become one.
    names
        What the period is called; else as in the first marked relation.

    Raises AnalysisException of Spark for what has no meaning at an instant, or is no SQL.

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
    settings = Settings(period, at, coalesce or None, names)
    leaves: dict[str, Leaf] = {}
    ctes = []
    for name, given in frames.items():
        relation = relation_of(given)
        relation.check_no_settings(f"the frame {name}")
        leaves |= relation.leaves
        ctes.append(f"{quoted(name)} AS ({relation.query})")
    text = f"WITH {', '.join(ctes)} ({query}\n)" if ctes else query
    return run(spark, statement(text, leaves, settings), leaves)
