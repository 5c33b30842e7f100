# SPDX-License-Identifier: Apache-2.0
"""Ibis with its PySpark backend: relations as built-in functions in joins."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.neighbours.packages import packages
from support.spark.applications import PACKAGES, program

pytestmark = [pytest.mark.extended, pytest.mark.needs_spark("4.3")]


def test_joins_of_ibis(tmp_path: Path) -> None:
    folder = packages("ibis-framework==11.0.0", "sqlglot", "pyarrow-hotfix", "rich", "parsy")
    printed = program(
        tmp_path,
        """
        import ibis
        from support.neighbours.checks import plan
        spark = start()
        for name, length in ("r", 10), ("s", 15):
            rows = spark.sql(f"SELECT id, id AS ts, id + {length} AS te FROM range(100)")
            rows.createOrReplaceTempView(name)
        connection = ibis.pyspark.connect(spark)

        @ibis.udf.scalar.builtin
        def allen_overlaps(rs: int, re: int, ss: int, se: int) -> bool: ...

        r, s = connection.table("r"), connection.table("s")
        joined = r.join(s, [allen_overlaps(r.ts, r.te, s.ts, s.te)])
        text = ibis.to_sql(joined, dialect="pyspark")
        assert "IntervalSweepJoin" in plan(spark.sql(text))
        print(joined.count().execute() == spark.sql(
            "SELECT 1 FROM r JOIN s ON r.ts < s.ts AND s.ts < r.te AND r.te < s.te").count() > 0)
        """,
        PYTHONPATH=os.pathsep.join([str(PACKAGES), str(folder)]),
    )
    assert printed.split() == ["True"], printed
