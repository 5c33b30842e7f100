# SPDX-License-Identifier: Apache-2.0
"""Apache Iceberg: joins, MERGE, time travel, the table property, streams from and to tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.neighbours import lakes
from support.neighbours.maven import jars

pytestmark = [pytest.mark.extended, pytest.mark.needs_spark("4.1")]
ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0"


def test_tables_of_iceberg(tmp_path: Path) -> None:
    names = ",".join(map(str, jars(ICEBERG)))
    setup = f"""
from support.neighbours.checks import ROCKSDB
spark = start(spark__jars={names!r},
              spark__sql__streaming__stateStore__providerClass=ROCKSDB,
              spark__sql__extensions="org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
              spark__sql__catalog__lake="org.apache.iceberg.spark.SparkCatalog",
              spark__sql__catalog__lake__type="hadoop",
              spark__sql__catalog__lake__warehouse={str(tmp_path / "lake")!r})
spark.sql("CREATE NAMESPACE lake.db")
FORMAT, T, CHECKPOINT = "iceberg", "lake.db.", {str(tmp_path / "checkpoint")!r}
SNAPSHOTS = "SELECT snapshot_id FROM lake.db.r.snapshots ORDER BY committed_at"
VERSION = lambda: spark.sql(SNAPSHOTS).first()[0]
"""
    lakes.check(tmp_path, setup)
