# SPDX-License-Identifier: Apache-2.0
"""Operators on histories without Spark: on pyarrow, pandas, Polars and other Arrow tables.

    from intervalsweep.arrow import temporal as isat

    isat.except_all(assignments, works)
    isat.aggregate(works, by="skill", people="count")

Each row of a table states its values (its other columns) for a period `[ts, te)`. At each instant,
the rows of a result are those that the plain operator returns for the rows valid at that instant.
The operators are those of :mod:`intervalsweep.temporal`, computed by the kernels that Spark's
workers run.

A NULL start or end means that the period has no start or end, also in results; so does the largest
value of the type of an end. Rows with an empty or reversed period are left out. Values are compared
as in GROUP BY: NULL equals NULL, and NaN equals NaN.

The period of a result is in its last two columns, with the names that they have in the left table.
Numbers in brackets, such as (6), are the equations of the temporal operator algebra.
"""

from intervalsweep.arrow.temporal.aggregates import aggregate
from intervalsweep.arrow.temporal.buckets import resample
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
    "resample",
    "split",
    "union",
    "union_all",
    "union_max",
    "window",
]
