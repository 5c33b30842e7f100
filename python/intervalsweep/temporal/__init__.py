# SPDX-License-Identifier: Apache-2.0
"""Queries on histories, written as for a table of today, for Spark, classic or Connect.

    from intervalsweep import temporal

    w = temporal.valid(works, "ts", "te")
    a = temporal.valid(assignments, "ts", "te")
    temporal.sequenced(spark, "SELECT skill, count(*) AS c FROM w GROUP BY skill", w=w)
    a.select("skill").except_all(w.select("skill")).frame

This package writes SQL with `validtime` and `sequenced`, and Spark runs it. `Relation.sql` shows
the SQL. A period is `[start, end)`. A NULL start or end means that the period has no start or end.

`intervalsweep.arrow.temporal` has the same operators for tables without Spark.
"""

from intervalsweep._requirements import check_packages

check_packages("intervalsweep.temporal", "pyspark")

from intervalsweep.temporal.histories import sequenced, valid  # noqa: E402
from intervalsweep.temporal.relation import Grouped, Relation  # noqa: E402
from intervalsweep.temporal.resampled import Resampled  # noqa: E402

__all__ = ["Grouped", "Relation", "Resampled", "sequenced", "valid"]
