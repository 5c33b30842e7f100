# SPDX-License-Identifier: Apache-2.0
"""Interval joins for Spark SQL: Allen's and ISEQL's relations, without nested loops.

    import intervalsweep
    from pyspark.sql import SparkSession

    spark = intervalsweep.configure(SparkSession.builder).getOrCreate()
    spark.sql("SELECT * FROM r JOIN s ON ALLEN_OVERLAPS(r.ts, r.te, s.ts, s.te)")

This module imports neither PySpark nor numba, because the workers import it too.
"""

from intervalsweep._errors import (
    ArgumentError,
    ColumnError,
    EndpointTypeError,
    EndpointValueError,
    IntervalSweepError,
    SetupError,
)
from intervalsweep._version import __version__
from intervalsweep.report import JoinReport, JoinReports, why_not
from intervalsweep.session import configure, jar_path, register

__all__ = [
    "ArgumentError",
    "ColumnError",
    "EndpointTypeError",
    "EndpointValueError",
    "IntervalSweepError",
    "JoinReport",
    "JoinReports",
    "SetupError",
    "__version__",
    "configure",
    "jar_path",
    "register",
    "why_not",
]
