# SPDX-License-Identifier: Apache-2.0
"""Interval operations that are clumsy in SQL, for Spark DataFrames, classic or Connect.

    from intervalsweep import dataframe as isd

    isd.join(r, s, "allen_overlaps", by=["id"], how="left")

The functions build the queries that you would write in SQL. `join` is an SQL join; `count_matches`
and `subtract` are built from joins, and `window_union` from a lateral join. `merge`, `split` and
`complement` call table functions. `nearest`, `as_of_join`, `coverage` and `cluster` use window
functions. Without keys (`by`), a window function runs in one task for the whole table, as
everywhere in Spark. Joins are distributed with and without keys.

`intervalsweep.arrow` has the same functions, with the same arguments, for tables without Spark.
`pairs` exists only there, because rows of a DataFrame have no numbers: use `join` with `columns`.
"""

from typing import TYPE_CHECKING

from intervalsweep._requirements import check_packages

check_packages("intervalsweep.dataframe", "pyspark")

from intervalsweep.dataframe.coverage import coverage, subtract  # noqa: E402
from intervalsweep.dataframe.half_open import half_open  # noqa: E402
from intervalsweep.dataframe.heartbeats import with_heartbeat  # noqa: E402
from intervalsweep.dataframe.joins import count_matches, join  # noqa: E402
from intervalsweep.dataframe.nearest import as_of_join, nearest  # noqa: E402
from intervalsweep.dataframe.sets import cluster, complement, merge, split  # noqa: E402
from intervalsweep.dataframe.stream_joins import (  # noqa: E402
    inequality_join,
    rows,
    stream_join,
    time,
)
from intervalsweep.dataframe.streams import window_union  # noqa: E402
from intervalsweep.dataframe.until_next import until_next  # noqa: E402

__all__ = [
    "as_of_join",
    "cluster",
    "complement",
    "count_matches",
    "coverage",
    "half_open",
    "inequality_join",
    "join",
    "merge",
    "nearest",
    "rows",
    "split",
    "stream_join",
    "subtract",
    "time",
    "until_next",
    "window_union",
    "with_heartbeat",
]

if TYPE_CHECKING:  # fails if a function is missing or has another signature
    from intervalsweep import dataframe as _module
    from intervalsweep.dataframe.interval_columns import DataFrameFunctions

    _: DataFrameFunctions = _module
