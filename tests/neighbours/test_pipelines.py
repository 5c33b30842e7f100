# SPDX-License-Identifier: Apache-2.0
"""Spark's declarative pipelines: interval joins of tables and streams, and AUTO CDC of type 2."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import intervalsweep
from support.neighbours.maven import jar
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
# The history that AUTO CDC keeps in `prices`, and the history of a query over it.
CHANGES = """
from pyspark import pipelines as dp
from pyspark.sql import SparkSession

spark = SparkSession.active()

@dp.temporary_view
def price_changes():
    schema = "product STRING, price INT, at LONG, gone BOOLEAN"
    return spark.readStream.schema(schema).json("{folder}/changes")

dp.create_streaming_table("memory.db.prices")
dp.create_auto_cdc_flow(
    "memory.db.prices", "price_changes", keys=["product"], sequence_by="at",
    apply_as_deletes="gone", except_column_list=["at", "gone"], stored_as_scd_type=2)

@dp.materialized_view(name="spark_catalog.default.history")
def history():
    return spark.sql(
        "SELECT * FROM sequenced(TABLE(SELECT count(*) AS n, sum(price) AS total "
        "FROM (SELECT * FROM validtime(TABLE(memory.db.prices)))), period => array(0, 20))")
"""
ARRIVALS = (("tea", 3, 1, False), ("cup", 9, 2, False), ("tea", 4, 5, False), ("cup", 9, 7, True))
# Spark ships no table that MERGE can write; this catalog of its own tests has one.
OF_TESTS = "org.apache.spark:spark-catalyst_2.13:4.2.0:jar:tests"
CATALOG = "org.apache.spark.sql.connector.catalog.SharedTablesInMemoryRowLevelOperationTableCatalog"


def test_a_pipeline_with_interval_joins(tmp_path: Path) -> None:
    run(tmp_path, "tables.sql", TABLES)
    assert len(written(tmp_path, "joined")) == 293


def test_a_pipeline_with_the_history_of_a_table_of_auto_cdc(tmp_path: Path) -> None:
    changes = tmp_path / "changes"
    changes.mkdir()
    names = ("product", "price", "at", "gone")
    lines = [json.dumps(dict(zip(names, change, strict=True))) for change in ARRIVALS]
    (changes / "first.json").write_text("\n".join(lines))
    text = CHANGES.format(folder=tmp_path)
    run(tmp_path, "changes.py", text, jar(OF_TESTS), **{"spark.sql.catalog.memory": CATALOG})
    found = [tuple(row.values()) for row in written(tmp_path, "history")]
    assert sorted(found, key=lambda row: row[2]) == [
        (0, None, 0, 1), (1, 3, 1, 2), (2, 12, 2, 5), (2, 13, 5, 7), (1, 4, 7, 20),
    ]  # fmt: skip


def run(folder: Path, name: str, text: str, *more: Path, **settings: str) -> None:
    """Runs a pipeline whose only source file has this name and text."""
    transformations, conf = folder / "transformations", folder / "conf"
    for made in (transformations, conf):
        made.mkdir()
    (folder / "spark-pipeline.yml").write_text(SPEC.format(folder=folder))
    (transformations / name).write_text(text)
    jars = [intervalsweep.jar_path(), *map(str, more)]
    settings = {
        "spark.jars": ",".join(jars),
        "spark.driver.extraClassPath": ":".join(jars),
        "spark.sql.extensions": EXTENSION,
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        **settings,
    }
    # Of all settings that are given as arguments, Spark 4.3.0 passes the last ten to the server of
    # the pipeline. The server reads this file by itself.
    lines = [f"{key} {value}\n" for key, value in settings.items()]
    (conf / "spark-defaults.conf").write_text("".join(lines))
    environment = clean_environment(
        SPARK_HOME=str(SPARK_HOME), SPARK_CONF_DIR=str(conf), PYSPARK_PYTHON=sys.executable
    )
    done = subprocess.run(
        ["bash", str(SPARK_HOME / "bin" / "spark-pipelines"), "run"],
        cwd=folder, capture_output=True, text=True, timeout=600, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def written(folder: Path, name: str) -> list[dict[str, Any]]:
    """The rows of a materialized view."""
    files = list(folder.rglob(f"{name}/*.parquet"))
    assert files
    return [row for file in files for row in pq.read_table(file).to_pylist()]
