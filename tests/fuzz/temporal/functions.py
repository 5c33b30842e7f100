# SPDX-License-Identifier: Apache-2.0
"""Python functions that queries may call."""

from __future__ import annotations

from typing import Any

import pandas as pd
from pyspark.sql.functions import pandas_udf, udf
from pyspark.sql.types import IntegerType


def name_functions(spark: Any) -> None:
    """Register the functions. The grammar has DuckDB's expression next to each call."""

    def doubled(v: pd.Series) -> pd.Series:
        return v * 2

    def total(v: pd.Series) -> int:
        return int(v.sum())

    spark.udf.register("python_after", udf(lambda k: None if k is None else k + 1, IntegerType()))
    spark.udf.register("pandas_doubled", pandas_udf(doubled, IntegerType()))
    # Its annotations make this an aggregate function.
    spark.udf.register("pandas_total", pandas_udf(total, IntegerType()))
