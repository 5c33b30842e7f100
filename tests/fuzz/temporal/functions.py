# SPDX-License-Identifier: Apache-2.0
"""Functions in Python that queries may call, by their names in SQL."""

from __future__ import annotations

from typing import Any

import pandas as pd
from pyspark.sql.functions import pandas_udf, udf
from pyspark.sql.types import IntegerType


def name_functions(spark: Any) -> None:
    """Register them; what each is in DuckDB stands beside its call in the grammar."""

    def doubled(v: pd.Series) -> pd.Series:
        return v * 2

    def total(v: pd.Series) -> int:
        return int(v.sum())

    spark.udf.register("python_after", udf(lambda k: None if k is None else k + 1, IntegerType()))
    spark.udf.register("pandas_doubled", pandas_udf(doubled, IntegerType()))
    # By its annotations it is one of groups.
    spark.udf.register("pandas_total", pandas_udf(total, IntegerType()))
