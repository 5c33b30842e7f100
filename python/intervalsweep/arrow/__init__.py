# SPDX-License-Identifier: Apache-2.0
"""Interval joins without Spark: on pyarrow, pandas, Polars and other Arrow tables.

    from intervalsweep import arrow as isa

    isa.join(left, right, "allen_overlaps", by=["contig"], how="left")
    isa.count_matches(left, right)

The relations are those of SQL, and Spark's workers run the same kernels. The rows of a result are
therefore the same, also for NULL, empty and reversed intervals, NaN and ties.

A table is a `pyarrow.Table`, a pandas or Polars DataFrame, or any object with `__arrow_c_stream__`
(DuckDB, record batch readers, ...). A result is a pandas or Polars DataFrame if the left table is
one, else a `pyarrow.Table`. Its rows come in no particular order, and it must fit into memory. In
pandas a missing value, NaN included, is NULL.

`intervalsweep.dataframe` has the same functions, with the same arguments, for Spark DataFrames.
"""

from typing import TYPE_CHECKING, Any

from intervalsweep._requirements import check_packages

check_packages("intervalsweep.arrow", "numpy", "pyarrow", "numba")

from intervalsweep.arrow.coverage import coverage, subtract  # noqa: E402
from intervalsweep.arrow.half_open import half_open  # noqa: E402
from intervalsweep.arrow.joins import count_matches, join, pairs  # noqa: E402
from intervalsweep.arrow.nearest import as_of_join, nearest  # noqa: E402
from intervalsweep.arrow.sets import cluster, complement, merge, split  # noqa: E402
from intervalsweep.arrow.until_next import until_next  # noqa: E402
from intervalsweep.arrow.windows import window_union  # noqa: E402

__all__ = [
    "as_of_join",
    "cluster",
    "complement",
    "count_matches",
    "coverage",
    "half_open",
    "join",
    "merge",
    "nearest",
    "pairs",
    "split",
    "subtract",
    "until_next",
    "window_union",
]

if TYPE_CHECKING:  # fails if a function is missing or has another signature
    from intervalsweep import arrow as _module
    from intervalsweep._signatures import ArrowFunctions

    _: ArrowFunctions[Any, Any] = _module
