# SPDX-License-Identifier: Apache-2.0
"""Executors in separate processes, and Spark's own programs without our Python package."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

import intervalsweep
from support.spark.applications import (
    EXTENSION,
    REPOSITORY,
    SPARK_HOME,
    by_conf,
    program,
    published_pom,
    run,
    settings,
    typed,
)
from support.spark.programs import FORMULA, FUNCTION, TOTALS

pytestmark = pytest.mark.extended


def test_local_cluster(tmp_path: Path) -> None:
    """The jar and the worker's sources reach executors that share nothing with the driver."""
    printed = program(
        tmp_path,
        f"""
        if __name__ == "__main__":
            spark = start(
                "local-cluster[2,1,1024]",
                spark__executor__memory="512m",
                spark__pyspark__python={sys.executable!r},
            )
            for keys in ("", "r.k = s.k AND "):
                for threshold in ("10MB", "-1"):
                    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", threshold)
                    got = swept(spark.sql({TOTALS!r}.format(keys=keys + {FUNCTION!r}))).first()
                    spark.conf.set("spark.sql.intervalsweep.enabled", "false")
                    expected = spark.sql({TOTALS!r}.format(keys=keys + {FORMULA!r})).first()
                    spark.conf.set("spark.sql.intervalsweep.enabled", "true")
                    assert got == expected and got.n > 0, (got, expected)
                    print("same", got.n)
        """,
        SPARK_HOME=str(SPARK_HOME),
    )
    assert printed.count("same") == 4


def check_spark_sql(folder: Path, *options: str) -> None:
    command = ["bash", str(SPARK_HOME / "bin" / "spark-sql"), "--master", "local[2]"]
    query = TOTALS.format(keys="r.k = s.k AND " + FUNCTION)
    statements = f"EXPLAIN {query}; {query}; {query.replace(FUNCTION, FORMULA)};"
    done = run(
        folder,
        [*command, *options, *settings(folder), "-e", statements],
        SPARK_HOME=str(SPARK_HOME),
        PYTHONPATH="",
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert "IntervalSweepJoin Inner" in done.stdout
    *_, swept, plain = done.stdout.strip().splitlines()
    assert swept == plain
    assert int(swept.split()[0]) > 0


def test_spark_sql(tmp_path: Path) -> None:
    """The command line needs the jar and a setting, and no Python package in the driver."""
    check_spark_sql(tmp_path, *by_conf())


def test_packages(tmp_path: Path) -> None:
    """Maven coordinates provide the jar, and have no dependencies."""
    artifact, version = published_pom().parts[-3:-1]
    no_other = tmp_path / "ivysettings.xml"
    no_other.write_text("<ivysettings/>", encoding="utf-8")
    check_spark_sql(
        tmp_path,
        *("--packages", f"org.intervalsweep:{artifact}:{version}"),
        *("--repositories", REPOSITORY.as_uri()),
        *("--conf", f"spark.jars.ivySettings={no_other}"),
        *("--conf", f"spark.jars.ivy={tmp_path / 'ivy'}"),
        *("--conf", f"spark.sql.extensions={EXTENSION}"),
    )
    jars = [jar.name for jar in (tmp_path / "ivy" / "jars").iterdir()]
    assert jars == [f"org.intervalsweep_{artifact}-{version}.jar"]


def test_spark_shell(tmp_path: Path) -> None:
    lines = f"""
        val swept = spark.sql("{TOTALS.format(keys=FUNCTION)}")
        val plain = spark.sql("{TOTALS.format(keys=FORMULA)}")
        println("planned: " + swept.queryExecution.executedPlan.toString.contains("IntervalSweep"))
        println("the same: " + (swept.first == plain.first && swept.first.getLong(0) > 0))
    """
    printed = typed(tmp_path, "spark-shell", lines)
    assert "planned: true" in printed
    assert "the same: true" in printed


def test_pyspark(tmp_path: Path) -> None:
    lines = f"""
swept = spark.sql({TOTALS.format(keys=FUNCTION)!r})
plain = spark.sql({TOTALS.format(keys=FORMULA)!r})
swept.explain()
print("the same:", swept.first() == plain.first() and swept.first().n > 0)
"""
    # Without `-i`, Python reads a pipe as a program and not as an interactive session.
    shell = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON_OPTS": "-i"}
    printed = typed(tmp_path, "pyspark", lines, **shell)
    assert "IntervalSweepJoin Inner" in printed
    assert "the same: True" in printed


def test_spark_submit(tmp_path: Path) -> None:
    """A script that uses only the SQL of IntervalSweep, with a jar in any folder."""
    jar = tmp_path / "a folder" / "x.jar"
    jar.parent.mkdir()
    shutil.copy(intervalsweep.jar_path(), jar)
    script = tmp_path / "job.py"
    script.write_text(
        "from pyspark.sql import SparkSession\n"
        "spark = SparkSession.builder.getOrCreate()\n"
        f"frame = spark.sql({TOTALS.format(keys=FUNCTION)!r})\n"
        "assert 'IntervalSweepJoin' in frame._jdf.queryExecution().toString()\n"
        f"assert frame.first() == spark.sql({TOTALS.format(keys=FORMULA)!r}).first()\n"
        "print('the same')\n"
    )
    submit = [str(SPARK_HOME / "bin" / "spark-submit"), "--master", "local[2]"]
    done = run(
        tmp_path,
        ["bash", *submit, *by_conf(str(jar)), *settings(tmp_path), str(script)],
        SPARK_HOME=str(SPARK_HOME),
        PYTHONPATH="",
        PYSPARK_PYTHON=sys.executable,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert "the same" in done.stdout
