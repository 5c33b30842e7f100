# SPDX-License-Identifier: Apache-2.0
"""What becomes of the joins of a query: how each is swept, or why it is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from intervalsweep.session import check_active

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class JoinReport:
    """One join. The fields are the columns of the table function `interval_join_report`.

    If it is swept, `how` says by which keys, sides and axes and in which distribution. If it is
    left to Spark, `reason` is one of a closed list, about `conjunct` if it is about a part of the
    condition, and `explanation` and `advice` say in words what stands in the way and what to
    change. `estimated_pairs` are the pairs with equal keys (all pairs if there are no keys), where
    Spark's cost-based optimizer has the statistics to tell.
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
        else:
            lines.append(f"left to Spark, {self.reason}: {self.explanation}")
            if self.conjunct and self.conjunct != self.condition:
                lines.append(f"about: {self.conjunct}")
            lines.append(f"what to change: {self.advice}")
        if self.estimated_pairs is not None:
            lines.append(f"estimated pairs: {self.estimated_pairs:,}")
        return "\n   ".join(lines)


class JoinReports(tuple[JoinReport, ...]):
    """The reports on all joins of a query; prints as text to read."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self)) if self else "There is no join in the optimized plan."

    def __repr__(self) -> str:
        return str(self)


def why_not(frame: DataFrame) -> JoinReports:
    """Says of each join of a DataFrame how it is swept, or why not and what to change.

    The joins are those of the optimized plan, in the order of `explain()`, with the settings of
    now. Nothing is executed. In SQL: `SELECT * FROM interval_join_report('SELECT ...')`.
    Raises SetupError if the session has no IntervalSweep.

        print(intervalsweep.why_not(spark.sql("SELECT * FROM r JOIN s ON r.name < s.name")))
    """
    spark = frame.sparkSession
    check_active(spark)
    # A view stands for the DataFrame in SQL, which Spark Connect has, too.
    view = f"intervalsweep_{uuid4().hex}"
    frame.createTempView(view)
    try:
        rows = spark.sql(f"SELECT * FROM interval_join_report('TABLE {view}')").collect()
    finally:
        spark.catalog.dropTempView(view)
    return JoinReports(JoinReport(**row.asDict()) for row in rows)
