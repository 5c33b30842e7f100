# SPDX-License-Identifier: Apache-2.0
"""Delta Lake: joins, MERGE, time travel, the table property, streams from and to tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.neighbours.lakes import Lake

pytestmark = [pytest.mark.extended, pytest.mark.needs_spark("4.1")]
DELTA = Lake(
    format="delta",
    artifact="io.delta:delta-spark_4.1_2.13:4.1.0",
    settings={
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.warehouse.dir": "{folder}/warehouse",
    },
    namespace="spark_catalog.db",
    first_version="SELECT 0",  # Delta counts versions
)


def test_tables_of_delta(tmp_path: Path) -> None:
    DELTA.check_tables(tmp_path)


def test_recipes_merge_into_tables_of_delta(tmp_path: Path) -> None:
    DELTA.check_recipes(tmp_path)
