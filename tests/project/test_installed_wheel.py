# SPDX-License-Identifier: Apache-2.0
"""The wheel as users have it: installed next to a Spark, without these sources."""

from __future__ import annotations

import os
import subprocess
import sysconfig
import venv
from pathlib import Path

import pytest

import intervalsweep

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import intervalsweep
from intervalsweep import session, temporal
from pyspark.sql import SparkSession

spark = session.configure(SparkSession.builder.master("local[1]")).getOrCreate()
for name, end in (("r", 6), ("s", 9)):
    rows = spark.range(1).selectExpr("'x' AS k", "id + 3 AS ts", f"id + {end} AS te")
    rows.createOrReplaceTempView(name)
join = spark.sql("SELECT r.te, s.te FROM r JOIN s ON ALLEN_STARTS(r.ts, r.te, s.ts, s.te)")
assert "IntervalSweepJoin" in join._jdf.queryExecution().executedPlan().toString()
for name in "rs":
    marked = f"SELECT * FROM validtime(TABLE(SELECT * FROM {name}), 'ts', 'te')"
    spark.sql(marked).createOrReplaceTempView(f"{name}h")
history = spark.sql(
    "SELECT * FROM sequenced(TABLE(SELECT k FROM sh EXCEPT ALL SELECT k FROM rh))"
)
assert "PeriodSweep" in history._jdf.queryExecution().executedPlan().toString()
s, r = (temporal.valid(spark.table(name), "ts", "te") for name in "sr")
print(intervalsweep.__file__)
print(join.collect(), history.collect(), s.except_all(r).frame.collect())
"""

pytestmark = pytest.mark.extended


def test_an_installed_wheel_joins_and_answers_histories(tmp_path: Path) -> None:
    wheel = ROOT / "dist" / f"intervalsweep-{intervalsweep.__version__}-py3-none-any.whl"
    assert wheel.is_file(), "run `make wheel`"
    venv.create(tmp_path / "venv", symlinks=True, with_pip=True)
    python = tmp_path / "venv" / "bin" / "python3"
    subprocess.run(
        [python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", str(wheel)], check=True
    )
    # Spark and numba come from the tests' environment, but not the link to this checkout.
    found = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        if "intervalsweep" not in package.name and package.suffix != ".pth":
            (libraries / package.name).symlink_to(package)
    (Path(found) / "libraries.pth").write_text(f"{libraries}\n", encoding="utf-8")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "SPARK_"))}
    environment["PYSPARK_PYTHON"] = str(python)
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run(
        [python, "program.py"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    where, rows = done.stdout.strip().splitlines()[-2:]
    assert where.startswith(found)
    assert rows == "[Row(te=6, te=9)] [Row(k='x', ts=6, te=9)] [Row(k='x', ts=6, te=9)]"
