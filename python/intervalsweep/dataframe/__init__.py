# SPDX-License-Identifier: Apache-2.0
"""What is clumsy in SQL, on Spark's DataFrames, classic or Connect.

    from intervalsweep.dataframe import interval_join

    interval_join(r, s, "allen_overlaps", by=["id"], how="left")

Nothing here has an engine of its own: `interval_join` is the join that one would write in SQL, the
rest are window functions. Without keys (`by`) a window is one task for the whole table, as
everywhere in Spark; `interval_join` is distributed without them too.

`intervalsweep.arrow` has the same functions for tables without Spark.
"""

from intervalsweep.dataframe.conventions import half_open
from intervalsweep.dataframe.joins import interval_join
from intervalsweep.dataframe.lookups import as_of_join, nearest
from intervalsweep.dataframe.sets import complement, coverage, merge, split

__all__ = [
    "as_of_join",
    "complement",
    "coverage",
    "half_open",
    "interval_join",
    "merge",
    "nearest",
    "split",
]
