# SPDX-License-Identifier: Apache-2.0
"""Reports on the joins of a query: how IntervalSweep runs each join, or why Spark does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from intervalsweep._errors import ArgumentError
from intervalsweep.session import check_active
from intervalsweep.table_functions import interval_join_report

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class JoinReport:
    """The report on a join. The fields are columns of the table function `interval_join_report`.

    Attributes
    ----------
    number
        The position of the join in the plan, from 1.
    join_type
        The type of the join, such as INNER.
    condition
        The join condition as SQL; None if there is no condition.
    swept
        True if the join uses IntervalSweepJoin.
    how
        If `swept`: the keys, sides, axes and distribution of the join.
    reason
        If not `swept`: the reason, one of a closed list.
    conjunct
        The part of the condition that causes the reason; None if the whole join does.
    explanation
        If not `swept`: the reason in words.
    advice
        What to change: if not `swept`, or if texts are searched by their first 8 bytes.
    estimated_pairs
        The number of pairs with equal keys (of all pairs without keys), if Spark's cost-based
        optimizer has the statistics.
    """

    number: int
    join_type: str
    condition: str | None
    swept: bool
    how: str | None
    reason: str | None
    conjunct: str | None
    explanation: str | None
    advice: str | None
    estimated_pairs: int | None

    def __str__(self) -> str:
        lines = [f"{self.number}. {self.join_type} JOIN"]
        if self.condition:
            lines[0] += f" ON {self.condition}"
        if self.swept:
            lines.append(f"swept: {self.how}")
            if self.advice:
                lines.append(f"what to change: {self.advice}")
        else:
            lines.append(f"left to Spark, {self.reason}: {self.explanation}")
            if self.conjunct and self.conjunct != self.condition:
                lines.append(f"about: {self.conjunct}")
            lines.append(f"what to change: {self.advice}")
        if self.estimated_pairs is not None:
            lines.append(f"estimated pairs: {self.estimated_pairs:,}")
        return "\n   ".join(lines)


class JoinReports(tuple[JoinReport, ...]):
    """The reports on all joins of a query. Printing it shows them as text."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self)) if self else "There is no join in the optimized plan."

    def __repr__(self) -> str:
        return str(self)


def why_not(frame: DataFrame) -> JoinReports:
    """Report for each join of a DataFrame how IntervalSweep runs it, or why not and what to change.

    The joins are those of the optimized plan, in the order of `explain()`, under the current
    settings. Nothing is executed. In SQL: `SELECT * FROM interval_join_report('SELECT ...')`.

        print(intervalsweep.why_not(spark.sql("SELECT * FROM r JOIN s ON r.name < s.name")))

    Parameters
    ----------
    frame
        A Spark DataFrame, classic or Connect.

    Returns
    -------
    JoinReports
        A tuple with a :class:`JoinReport` for each join.

    Raises
    ------
    SetupError
        If the session does not have IntervalSweep.
    """
    if isinstance(frame, str) or not hasattr(frame, "sparkSession"):
        raise ArgumentError(
            f"why_not takes a Spark DataFrame; got {frame!r}. For a text write "
            "why_not(spark.sql(text))."
        )
    spark = frame.sparkSession
    check_active(spark)
    # A temporary view passes the DataFrame to the SQL function, also on Spark Connect.
    view = f"intervalsweep_{uuid4().hex}"
    frame.createTempView(view)
    try:
        return reports_of(spark, f"TABLE {view}")
    finally:
        spark.catalog.dropTempView(view)


def reports_of(spark: SparkSession, query: str) -> JoinReports:
    """Return the reports on the joins of a SQL query."""
    rows = interval_join_report(spark, query).collect()
    return JoinReports(JoinReport(**row.asDict()) for row in rows)
