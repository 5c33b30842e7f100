# SPDX-License-Identifier: Apache-2.0
"""Ways to load the extension into a session. Each test starts a JVM in a separate process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark.sql import SparkSession

import intervalsweep
from intervalsweep import session
from support.spark.session import INTERPRETED

ROOT = Path(__file__).resolve().parents[2]
EXTENSION = "org.intervalsweep.IntervalSweepExtensions"
QUERY = (
    "SELECT count(*) AS n FROM (SELECT id AS ts, id + 10 AS te FROM range(100)) r "
    "JOIN (SELECT id AS ts, id + 5 AS te FROM range(100)) s "
    "ON ALLEN_OVERLAPS(r.ts, r.te, s.ts, s.te)"
)
BY_CONF = ["--jars", intervalsweep.jar_path(), "--conf", f"spark.sql.extensions={EXTENSION}"]
WITH_PYTHON = {"PYSPARK_PYTHON": sys.executable}
PRELUDE = f"""
import intervalsweep
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.log.level", "ERROR")

def check(spark):
    frame = spark.sql({QUERY!r})
    assert "IntervalSweepJoin" in frame._jdf.queryExecution().executedPlan().toString()
    assert frame.first().n == 370, frame.first()
"""


def run(tmp_path: Path, command: list[str], **env: str) -> str:
    removed = ("PYSPARK_SUBMIT_ARGS", "PYSPARK_PYTHON", "SPARK_CONF_DIR", "SPARK_HOME")
    inherited = {key: value for key, value in os.environ.items() if key not in removed}
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**inherited, "PYTHONPATH": str(ROOT / "python"), **env},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def script(tmp_path: Path, text: str) -> str:
    file = tmp_path / "script.py"
    file.write_text(PRELUDE + textwrap.dedent(text), encoding="utf-8")
    return str(file)


def spark_command(name: str) -> str:
    found = shutil.which(name, path=str(Path(sys.executable).parent))
    assert found, f"{name} is not beside {sys.executable}"
    return found


def configured(options: dict[str, str]) -> dict[str, str]:
    return intervalsweep.configure(SparkSession.builder.config(map=options))._options


def test_configure_appends_to_the_builder() -> None:
    done = configured({"spark.jars": "/a.jar, /b.jar", "spark.sql.extensions": "org.example.Mine"})
    assert done["spark.jars"] == f"/a.jar,/b.jar,{intervalsweep.jar_path()}"
    assert done["spark.sql.extensions"] == f"org.example.Mine,{EXTENSION}"


def test_configure_twice_changes_nothing() -> None:
    once = configured({})
    assert configured(once) == once


@pytest.mark.parametrize("before", ["hdfs://host/lib/", "/ivy/jars/org.intervalsweep_"])
def test_configure_keeps_a_jar_of_ours_that_is_already_there(before: str) -> None:
    there = f"{before}intervalsweep-spark4.3_2.13-9.9.9.jar"
    assert configured({"spark.jars": there})["spark.jars"] == there


def test_configure_refuses_a_remote_session() -> None:
    with pytest.raises(intervalsweep.IntervalSweepError, match="start the server with --jars"):
        configured({"spark.remote": "sc://localhost"})


@pytest.mark.extended
def test_configure_extends_the_connect_server_that_the_session_starts(tmp_path: Path) -> None:
    program = f"""
        session = intervalsweep.configure(SparkSession.builder.remote("local[1]")).getOrCreate()
        print(type(session).__module__, session.sql({QUERY!r}).first().n)
    """
    said = run(tmp_path, [sys.executable, script(tmp_path, program)]).splitlines()
    assert said[-1] == "pyspark.sql.connect.session 370"


def test_register_refuses_a_remote_session() -> None:
    with pytest.raises(intervalsweep.IntervalSweepError, match="start the server with --jars"):
        intervalsweep.register(SimpleNamespace(sql=None))  # type: ignore[arg-type]


def test_missing_jar_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(session, "__file__", str(tmp_path / "a" / "b" / "session.py"))
    with pytest.raises(intervalsweep.IntervalSweepError, match="make build"):
        intervalsweep.jar_path()


def test_configure_appends_to_the_defaults_of_the_cluster(tmp_path: Path) -> None:
    """The JVM reads spark-defaults.conf and PYSPARK_SUBMIT_ARGS only when it starts."""
    (tmp_path / "spark-defaults.conf").write_text("# ours\nspark.jars  /defaults.jar\n")
    program = """
        print(intervalsweep.configure(builder)._options["spark.jars"])
        print(intervalsweep.configure(builder)._options["spark.sql.extensions"])
    """
    jars, extensions = run(
        tmp_path,
        [sys.executable, script(tmp_path, program)],
        SPARK_CONF_DIR=str(tmp_path),
        PYSPARK_SUBMIT_ARGS="--conf spark.sql.extensions=org.example.Mine pyspark-shell",
    ).splitlines()
    assert jars == f"/defaults.jar,{intervalsweep.jar_path()}"
    assert extensions == f"org.example.Mine,{EXTENSION}"


@pytest.mark.extended
def test_jars_of_the_submit_arguments_and_ours_are_both_loaded(tmp_path: Path) -> None:
    other = tmp_path / "other.jar"
    zipfile.ZipFile(other, "w").close()
    program = """
        spark = intervalsweep.configure(builder).getOrCreate()
        check(spark)
        print(spark.conf.get("spark.jars"))
    """
    printed = run(
        tmp_path,
        [sys.executable, script(tmp_path, program)],
        PYSPARK_SUBMIT_ARGS=f"--jars {other} pyspark-shell",
    )
    assert f"{other},{intervalsweep.jar_path()}" in printed


def test_register_brings_it_into_a_running_session(tmp_path: Path) -> None:
    program = """
        spark = builder.getOrCreate()
        assert not spark.catalog.functionExists("allen_overlaps")
        try:
            intervalsweep.configure(SparkSession.builder)
        except intervalsweep.IntervalSweepError as error:
            assert "register(spark)" in str(error)
        else:
            raise AssertionError("getOrCreate() would return the session as it is")
        try:
            intervalsweep.why_not(spark.range(1))
        except intervalsweep.IntervalSweepError as error:
            print(error)
        assert intervalsweep.register(spark) is spark
        strategies = spark._jsparkSession.experimental().extraStrategies().size()
        intervalsweep.register(spark)
        assert spark._jsparkSession.experimental().extraStrategies().size() == strategies
        check(spark)
        check(spark.newSession())
        query = "SELECT * FROM range(9) r JOIN range(9) s ON r.id < s.id"
        print(intervalsweep.why_not(spark.sql(query)))
        print(spark.sql(f"SELECT swept FROM interval_join_report('{query}')").collect())
    """
    printed = run(tmp_path, [sys.executable, script(tmp_path, program)])
    assert "intervalsweep.register(spark)" in printed
    assert "swept: boxes right" in printed
    assert "[Row(swept=True)]" in printed


@pytest.mark.extended
def test_configure_in_a_program_that_spark_submit_runs(tmp_path: Path) -> None:
    """The JVM starts before the program, so spark.jars comes too late for the driver."""
    program = "check(intervalsweep.configure(builder).getOrCreate())"
    run(tmp_path, [spark_command("spark-submit"), script(tmp_path, program)], **WITH_PYTHON)


@pytest.mark.extended
def test_spark_submit_needs_no_python_of_ours(tmp_path: Path) -> None:
    program = script(tmp_path, "check(builder.getOrCreate())")
    text = Path(program).read_text().replace("import intervalsweep\n", "")
    Path(program).write_text(text)
    run(tmp_path, [spark_command("spark-submit"), *BY_CONF, program], PYTHONPATH="", **WITH_PYTHON)


QUICK = {
    **INTERPRETED,
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.catalogImplementation": "in-memory",
}


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(QUICK, id="quick settings"),
        pytest.param({}, id="Spark's settings", marks=pytest.mark.extended),
    ],
)
def test_spark_sql_needs_no_python_of_ours(tmp_path: Path, settings: dict[str, str]) -> None:
    """Runs a join, a history and a report on joins in one session."""
    marked = "validtime(TABLE(SELECT 1 AS x, 2 AS ts, 5 AS te), 'ts', 'te')"
    history = f"sequenced(TABLE(SELECT count(*) FROM {marked}), period => array(3, 9))"
    query = "SELECT * FROM range(9) r JOIN range(9) s ON r.id < s.id"
    report = f"SELECT swept, reason, how FROM interval_join_report('{query}')"
    queries = f"{QUERY}; SELECT * FROM {history} ORDER BY ts; {report}"
    conf = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    options = ["--master", "local[1]", *BY_CONF, *conf]
    command = [spark_command("spark-sql"), *options, "-e", queries]
    assert run(tmp_path, command, PYTHONPATH="", **WITH_PYTHON).splitlines() == [
        "370",
        "1\t3\t5",
        "0\t5\t9",
        "true\tNULL\tboxes right, axes [r.id in (-inf, s.id)], broadcast left",
    ]
