# SPDX-License-Identifier: Apache-2.0
"""dbt with the session method of dbt-spark: a model that is an interval join."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import intervalsweep
from support.neighbours.packages import packages
from support.spark.applications import EXTENSION, PACKAGES, clean_environment

pytestmark = [pytest.mark.extended, pytest.mark.needs_spark("4.3")]

PROJECT = {
    "dbt_project.yml": "name: intervals\nversion: '1.0.0'\nprofile: local\nmodel-paths: [models]\n",
    "profiles.yml": (
        "local:\n  target: dev\n  outputs:\n    dev:\n      type: spark\n      method: session\n"
        "      schema: default\n      host: NA\n"
    ),
    "models/r.sql": "SELECT id, id % 7 AS k, id AS ts, id + 10 AS te FROM range(1000)",
    "models/joined.sql": (
        "{{ config(materialized='table') }}\n"
        "SELECT a.id, b.id AS other, plan.* FROM {{ ref('r') }} a JOIN {{ ref('r') }} b\n"
        "ON ALLEN_OVERLAPS(a.ts, a.te, b.ts, b.te)\n"
        "CROSS JOIN (SELECT count_if(swept) AS joins FROM interval_join_report(\n"
        "'SELECT 1 FROM {{ ref('r') }} a JOIN {{ ref('r') }} b "
        "ON ALLEN_OVERLAPS(a.ts, a.te, b.ts, b.te)')) plan"
    ),
    "models/schema.yml": (
        "models:\n  - name: joined\n    columns:\n      - name: id\n"
        "        data_tests: [not_null]\n"
    ),
}


def test_models_of_dbt(tmp_path: Path) -> None:
    folder = packages("dbt-spark==1.9.3", "dbt-core==1.10.*")
    for name, text in PROJECT.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    settings = {
        "spark.jars": intervalsweep.jar_path(),
        "spark.sql.extensions": EXTENSION,
        "spark.pyspark.python": sys.executable,
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:memory:dbt;create=true",
        "spark.ui.enabled": "false",
    }
    (tmp_path / "spark-defaults.conf").write_text(
        "".join(f"{key} {value}\n" for key, value in settings.items())
    )
    path = os.pathsep.join([str(PACKAGES), str(folder)])
    done = subprocess.run(
        [sys.executable, "-m", "dbt.cli.main", "build", "--profiles-dir", "."],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
        env=clean_environment() | {"PYTHONPATH": path, "SPARK_CONF_DIR": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert "PASS=3" in done.stdout, done.stdout
