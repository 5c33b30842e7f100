# SPDX-License-Identifier: Apache-2.0
"""Operators over histories without Spark: on pyarrow, pandas, Polars, and what else speaks Arrow.

    from intervalsweep.arrow import temporal as isat

    isat.except_all(assignments, works)
    isat.aggregate(works, by="skill", people="count")

Each row of a table is valid in its period `[ts, te)`, and means what its other columns say. At each
instant, the rows of a result are those of the operator over the rows that are valid then: the
operators of :mod:`intervalsweep.temporal`, by the kernels of Spark's workers. A NULL at an end of a
period is no bound, also in results, and so is the largest end of its type; periods that are empty
or reversed have no instant, and their rows are left out. Values are equal as in GROUP BY: NULL is
NULL, NaN is NaN.

The period of a result is in its last two columns, under the names that the left table has for them.
"""

from intervalsweep.arrow.temporal.aggregates import aggregate
from intervalsweep.arrow.temporal.fragments import at, period, split, window
from intervalsweep.arrow.temporal.joins import join
from intervalsweep.arrow.temporal.sets import (
    coalesce,
    distinct,
    except_,
    except_all,
    except_strict,
    intersect,
    intersect_all,
    union,
    union_all,
    union_max,
)

__all__ = [
    "aggregate",
    "at",
    "coalesce",
    "distinct",
    "except_",
    "except_all",
    "except_strict",
    "intersect",
    "intersect_all",
    "join",
    "period",
    "split",
    "union",
    "union_all",
    "union_max",
    "window",
]
