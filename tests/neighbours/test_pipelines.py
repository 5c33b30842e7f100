# SPDX-License-Identifier: Apache-2.0
"""Spark's declarative pipelines: interval joins of tables and streams, and AUTO CDC of type 2."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import intervalsweep
from support.spark.applications import EXTENSION, SPARK_HOME, clean_environment

pytestmark = [pytest.mark.extended, pytest.mark.needs_spark("4.3")]

SPEC = """
name: intervals
storage: file://{folder}/storage
configuration:
  spark.sql.shuffle.partitions: "2"
libraries:
  - glob:
      include: transformations/**
"""
TABLES = """
CREATE MATERIALIZED VIEW r AS SELECT id, id % 7 AS k, id AS ts, id + 10 AS te FROM range(300);
CREATE MATERIALIZED VIEW joined AS SELECT a.id, b.id AS other FROM r a JOIN r b
  ON a.k = b.k AND ALLEN_OVERLAPS(a.ts, a.te, b.ts, b.te);
"""


def test_a_pipeline_with_interval_joins(tmp_path: Path) -> None:
    transformations = tmp_path / "transformations"
    transformations.mkdir()
    (tmp_path / "spark-pipeline.yml").write_text(SPEC.format(folder=tmp_path))
    (transformations / "tables.sql").write_text(TABLES)
    jar = intervalsweep.jar_path()
    settings = {
        "spark.sql.extensions": EXTENSION,
        "spark.pyspark.python": sys.executable,
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
        "spark.ui.enabled": "false",
    }
    conf = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    command = ["bash", str(SPARK_HOME / "bin" / "spark-pipelines"), "run"]
    done = subprocess.run(
        [*command, "--jars", jar, "--driver-class-path", jar, *conf],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
        env=clean_environment(SPARK_HOME=str(SPARK_HOME), PYSPARK_PYTHON=sys.executable),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    files = list(tmp_path.rglob("joined/*.parquet"))
    assert files
    assert sum(pq.read_metadata(file).num_rows for file in files) == 293
