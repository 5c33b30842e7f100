# SPDX-License-Identifier: Apache-2.0
"""Runs SQL texts that name DataFrames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def sql_over(spark: SparkSession, text: str, frames: Mapping[str, Any]) -> DataFrame:
    """Return `spark.sql(text, **frames)`, and keep the caches of the frames.

    PySpark makes a temporary view for each DataFrame. When PySpark drops the view, Spark also drops
    the cache of the DataFrame. Spark Connect makes no views.
    """
    if not frames or not hasattr(spark, "_jsparkSession"):
        return spark.sql(text, **frames)
    from pyspark.sql.sql_formatter import SQLStringFormatter

    formatter = SQLStringFormatter(spark)
    try:
        return spark.sql(formatter.format(text, **frames))
    finally:
        catalog = spark._jsparkSession.sessionState().catalog()
        for _, view in formatter._temp_views:
            catalog.dropTempView(view)
