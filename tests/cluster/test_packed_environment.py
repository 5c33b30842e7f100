# SPDX-License-Identifier: Apache-2.0
"""A cluster without numba and pyarrow: the application ships them."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.spark.applications import SPARK_HOME, by_conf, run
from support.spark.programs import FORMULA, FUNCTION, TOTALS
from support.spark.servers import standalone_cluster

ARCHIVE = Path(__file__).resolve().parents[2] / "target" / "environment.tar.gz"
NEEDED = ("numpy", "pyarrow", "numba")
JOB = f"""
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
for keys in ("", "r.k = s.k AND "):
    frame = spark.sql({TOTALS!r}.format(keys=keys + {FUNCTION!r}))
    assert "IntervalSweepJoin" in frame._jdf.queryExecution().executedPlan().toString()
    got = frame.first()
    assert got == spark.sql({TOTALS!r}.format(keys=keys + {FORMULA!r})).first() and got.n > 0
    print("same", got.n)
"""

pytestmark = [
    pytest.mark.extended,
    pytest.mark.skipif(
        not ARCHIVE.is_file(), reason="`make test-cluster` packs the environment first"
    ),
]


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with only its standard library."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python3"
    for module in NEEDED:
        assert subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode
    return python


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory, bare_python: Path) -> Iterator[str]:
    """A cluster whose `python3` is the bare one, without our packages."""
    path = os.pathsep.join([str(bare_python.parent), os.environ["PATH"]])
    folder = tmp_path_factory.mktemp("cluster")
    with standalone_cluster(folder, PATH=path, PYTHONPATH="") as address:
        yield address


def submitted(folder: Path, master: str, *more: str) -> subprocess.CompletedProcess[str]:
    """Submits the job. Its driver is this Python; `more` chooses the Python of the workers."""
    (folder / "job.py").write_text(JOB, encoding="utf-8")
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.pyspark.driver.python": sys.executable,
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.intervalsweep.smallGroupPairs": "0",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.task.maxFailures": "1",
        "spark.ui.enabled": "false",
    }
    conf = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    submit = ["bash", str(SPARK_HOME / "bin" / "spark-submit"), "--master", master]
    command = [*submit, *by_conf(), *conf, *more, str(folder / "job.py")]
    return run(folder, command, SPARK_HOME=str(SPARK_HOME), PYTHONPATH="")


def test_the_archive_brings_what_the_workers_need(tmp_path: Path, master: str) -> None:
    archive = ["--archives", f"{ARCHIVE}#environment"]
    python = ["--conf", "spark.pyspark.python=./environment/bin/python"]
    done = submitted(tmp_path, master, *archive, *python)
    assert done.returncode == 0, done.stderr[-6000:]
    assert done.stdout.count("same") == 2


def test_without_the_archive_the_error_names_what_is_missing(
    tmp_path: Path, master: str, bare_python: Path
) -> None:
    done = submitted(tmp_path, master)
    assert done.returncode != 0
    assert f"IntervalSweep's worker cannot run in {bare_python}" in done.stderr
    for module in NEEDED:
        assert f"{module} >= " in done.stderr
    assert "but it is not installed" in done.stderr
    assert f"{bare_python} -m pip install" in done.stderr
