# SPDX-License-Identifier: Apache-2.0
"""Apache Iceberg: joins, MERGE, time travel, the table property, streams from and to tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.neighbours.lakes import Lake

pytestmark = [pytest.mark.extended, pytest.mark.needs_spark("4.1")]
ICEBERG = Lake(
    format="iceberg",
    artifact="org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0",
    settings={
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": "{folder}/lake",
    },
    namespace="lake.db",
    first_version="SELECT snapshot_id FROM lake.db.{0}.snapshots ORDER BY committed_at",
)


def test_tables_of_iceberg(tmp_path: Path) -> None:
    ICEBERG.check_tables(tmp_path)


def test_recipes_merge_into_tables_of_iceberg(tmp_path: Path) -> None:
    ICEBERG.check_recipes(tmp_path)
