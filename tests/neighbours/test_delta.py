# SPDX-License-Identifier: Apache-2.0
"""Delta Lake: joins, MERGE, time travel, the table property, streams from and to tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.neighbours import lakes
from support.neighbours.maven import jars

pytestmark = [pytest.mark.extended, pytest.mark.needs_spark("4.1")]
DELTA = "io.delta:delta-spark_4.1_2.13:4.1.0"


def test_tables_of_delta(tmp_path: Path) -> None:
    names = ",".join(map(str, jars(DELTA)))
    setup = f"""
from support.neighbours.checks import ROCKSDB
spark = start(spark__jars={names!r},
              spark__sql__streaming__stateStore__providerClass=ROCKSDB,
              spark__sql__extensions="io.delta.sql.DeltaSparkSessionExtension",
              spark__sql__catalog__spark_catalog="org.apache.spark.sql.delta.catalog.DeltaCatalog",
              spark__sql__warehouse__dir={str(tmp_path / "warehouse")!r})
FORMAT, T, CHECKPOINT = "delta", "", {str(tmp_path / "checkpoint")!r}
VERSION = lambda: 0
"""
    lakes.check(tmp_path, setup)
