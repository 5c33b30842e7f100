# SPDX-License-Identifier: Apache-2.0
"""Histories by the query that one would write over a table of today, on Spark, classic or Connect.

    from intervalsweep import temporal

    w = temporal.valid(works, "ts", "te")
    a = temporal.valid(assignments, "ts", "te")
    temporal.sequenced(spark, "SELECT skill, count(*) AS c FROM w GROUP BY skill", w=w)
    a.select("skill").except_all(w.select("skill")).frame

Nothing here has an engine of its own: it writes SQL, with `validtime` and `sequenced`, and Spark
runs it. `Relation.sql` shows what. A period is `[start, end)`, and NULL is no bound.

`intervalsweep.arrow.temporal` has the operators for tables without Spark.
"""

from intervalsweep._requirements import check_packages

check_packages("intervalsweep.temporal", "pyspark")

from intervalsweep.temporal.histories import sequenced, valid  # noqa: E402
from intervalsweep.temporal.relation import Grouped, Relation  # noqa: E402

__all__ = ["Grouped", "Relation", "sequenced", "valid"]
