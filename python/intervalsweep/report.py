"""What becomes of the joins of a query: how each is swept, or why it is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from intervalsweep.session import IntervalSweepError, is_active

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

        print(intervalsweep.why_not(spark.sql("SELECT * FROM r JOIN s ON r.name < s.name")))
    """
    if not hasattr(frame, "_jdf"):
        raise IntervalSweepError(
            "why_not() needs the driver's own DataFrame, not one of Spark Connect. There, ask in "
            "SQL: SELECT * FROM interval_join_report('SELECT ...')"
        )
    spark: Any = frame.sparkSession
    if not is_active(spark):
        raise IntervalSweepError(
            "This session has no IntervalSweep, so that Spark does all of its joins: call "
            "intervalsweep.register(spark), then make the DataFrame anew."
        )
    report: Any = spark._jvm.org.apache.spark.sql.intervalsweep.planner.JoinReport
    rows = type(frame)(report.of(frame._jdf), spark).collect()
    return JoinReports(JoinReport(**row.asDict()) for row in rows)
