# SPDX-License-Identifier: Apache-2.0
"""Interval joins without Spark: on pyarrow, pandas, Polars, and what else speaks Arrow.

    from intervalsweep import arrow as isa

    isa.join(left, right, "allen_overlaps", by=["contig"], how="left")
    isa.count_matches(left, right, "interval_intersects")

The relations are those of SQL, found by the same kernels that Spark's workers run: the same rows,
also for NULL, empty and reversed intervals, NaN and ties. A table is a `pyarrow.Table`, a pandas or
Polars DataFrame, or any object with `__arrow_c_stream__` (DuckDB, record batch readers, ...). The
result is of the left table's kind, or else a `pyarrow.Table`; its rows are in no special order, and
it has to fit into memory. In pandas a missing value, NaN included, is NULL.

`intervalsweep.dataframe` has the same functions for Spark's DataFrames. For a join with the latest
row before an instant there are `pandas.merge_asof` and `polars.DataFrame.join_asof`.
"""

from intervalsweep._requirements import check_packages
from pyspark_intervalsweep.environment import prepare_cache

check_packages("intervalsweep.arrow", "numpy", "pyarrow", "numba")
prepare_cache()

from intervalsweep.arrow.joins import count_matches, join  # noqa: E402
from intervalsweep.arrow.lookups import coverage, nearest  # noqa: E402
from intervalsweep.arrow.sets import complement, merge, split  # noqa: E402

__all__ = ["complement", "count_matches", "coverage", "join", "merge", "nearest", "split"]
