# SPDX-License-Identifier: Apache-2.0
"""The command `intervalsweep`; commands that start Spark run in a separate process."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tomllib

import intervalsweep
from intervalsweep import _requirements, cli, session
from intervalsweep.cli import doctor
from support.spark.interpreters import interpreter

ROOT = Path(__file__).resolve().parents[2]
SQL = """
-- Not a statement; a comment.
CREATE TEMP VIEW r AS SELECT id, id AS ts, id + 5 AS te FROM range(9);
SET spark.sql.ansi.enabled = false;
SELECT /*+ BROADCAST(b) */ a.id FROM r a JOIN r b
  ON ALLEN_OVERLAPS(a.ts, a.te, b.ts, b.te) AND a.id < 7 AND 'x;y' <> '--';
SELECT a.id FROM r a JOIN r b ON a.id = b.id AND a.ts < b.ts
"""
OVERLAP = "FROM r a JOIN r b ON a.ts < b.te AND b.ts < a.te"
JOB = f"""
/* outer /* inner ; */ still comment; */ CREATE TABLE r (id INT, ts INT, te INT);;
CREATE TABLE made AS SELECT a.id, b.ts, 'x;"' AS x {OVERLAP};
INSERT INTO made SELECT a.id, b.ts, "y;'" {OVERLAP};
INSERT OVERWRITE DIRECTORY 'no_such_folder' USING parquet SELECT a.id {OVERLAP};
CACHE TABLE cached AS SELECT a.id AS `;` {OVERLAP};
CREATE VIEW viewed AS SELECT a.id, b.ts {OVERLAP};
create or replace temp view kept as select * from made;
DROP TABLE made;
SELECT * FROM made JOIN cached ON made.id < cached.`;` JOIN viewed v ON v.id = made.id JOIN kept
  ON kept.ts = v.ts -- the end;
"""
# One process runs several commands, because each would start a JVM.
RUN = """
import contextlib, io, json, sys
from intervalsweep.cli import main

printed = {}
for command in json.loads(sys.argv[1]):
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = main(command)
    printed[command[0] + str(len(command))] = (code, out.getvalue(), error.getvalue())
print(json.dumps(printed))
"""


def environment(**more: str) -> dict[str, str]:
    removed = ("PYSPARK_SUBMIT_ARGS", "PYSPARK_PYTHON", "SPARK_HOME", "SPARK_CONF_DIR")
    kept = {key: value for key, value in os.environ.items() if key not in removed}
    return {**kept, "PYTHONPATH": str(ROOT / "python"), **more}


Printed = dict[str, tuple[int, str, str]]


def run(folder: Path, *commands: list[str]) -> Printed:
    """The exit code and both outputs of each command, by name and number of words."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(commands)],
        cwd=folder,
        env=environment(SPARK_LOCAL_IP="127.0.0.1"),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Printed:
    folder = tmp_path_factory.mktemp("cli")
    (folder / "query.sql").write_text(SQL, encoding="utf-8")
    (folder / "job.sql").write_text(JOB, "utf-8")
    (folder / "insert.sql").write_text("SELECT 1; INSERT INTO no_such_table SELECT 1", "utf-8")
    return run(
        folder,
        ["doctor"],
        ["explain", "query.sql"],
        ["explain", "insert.sql", "--conf", "spark.sql.shuffle.partitions=1"],
        ["explain", "job.sql", "--conf", "spark.sql.shuffle.partitions=1", "--conf", "a.b=c"],
    )


def test_doctor_finds_all_well(printed: Printed) -> None:
    code, out, _ = printed["doctor1"]
    lines = out.splitlines()
    assert code == 0, out
    assert lines[0] == f"IntervalSweep {intervalsweep.__version__}"
    names = ["user", "Java", "Spark", "jar", "Scala", "workers", "cache", "sweep"]
    assert [line.split(":")[0] for line in lines[1:]] == [f"ok   {name}" for name in names]
    assert intervalsweep.jar_path() in out
    assert "numba" in out


@pytest.mark.extended
def test_demo_shows_both_plans_and_one_answer(tmp_path: Path) -> None:
    code, out, _ = run(tmp_path, ["demo"])["demo1"]
    assert code == 0, out
    plans = [line.split()[0] for line in out.splitlines() if "Join " in line and line[0] != " "]
    assert plans == ["IntervalSweepJoin", "BroadcastNestedLoopJoin"]
    assert "Both answers are the same." in out


def test_explain_says_of_each_query_how_and_why_not(printed: Printed) -> None:
    code, out, error = printed["explain2"]
    assert code == 0, error
    assert out.count("== Physical Plan ==") == 2
    assert "'x;y' <> '--'" in out
    assert "IntervalSweepJoin" in out
    assert "swept: boxes" in out
    assert "left to Spark, WeakRange" in out
    assert "what to change:" in out


def test_explain_goes_on_over_statements_that_make_tables(printed: Printed) -> None:
    code, out, error = printed["explain6"]
    assert code == 0, error
    swept = out.count("swept: boxes")
    # CTAS, INSERT, INSERT OVERWRITE DIRECTORY, CACHE TABLE, CREATE VIEW, and two in the query.
    assert swept == 7, out
    assert out.count("INNER JOIN ON") == 9, out
    assert "still comment" not in out


def test_explain_ends_where_a_statement_cannot_be_planned(printed: Printed) -> None:
    code, out, error = printed["explain4"]
    assert code == 1
    assert "There is no join in the optimized plan." in out
    assert "INSERT INTO no_such_table SELECT 1\n" in error
    assert "TABLE_OR_VIEW_NOT_FOUND" in error


def test_jar_prints_its_path(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["jar"]) == 0
    assert capsys.readouterr().out == intervalsweep.jar_path() + "\n"


def test_jar_for_another_spark_is_not_mistaken(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["jar", "--spark", "3.5"]) == 1
    assert "this is Spark 3.5." in capsys.readouterr().err


def test_missing_jar_is_an_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(session, "__file__", str(tmp_path / "a" / "b" / "session.py"))
    assert cli.main(["jar"]) == 1
    assert "make build" in capsys.readouterr().err


def test_explain_of_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "no_such.sql"]) == 1
    assert capsys.readouterr().err == "The file no_such.sql does not exist.\n"


def test_console_script_is_the_command() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    module, name = scripts["intervalsweep"].split(":")
    assert getattr(importlib.import_module(module), name) is cli.main


def test_doctor_says_what_is_found_and_what_mends_it(tmp_path: Path) -> None:
    java = tmp_path / "java"
    (java / "bin").mkdir(parents=True)
    (java / "bin" / "java").write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    (java / "bin" / "java").chmod(0o755)
    python = interpreter(tmp_path, modules={"numba.py": "__version__ = '0.1'"})
    blocked = tmp_path / "file"
    blocked.touch()
    done = subprocess.run(
        [sys.executable, "-m", "intervalsweep.cli", "doctor"],
        env=environment(
            JAVA_HOME=str(java),
            PYSPARK_PYTHON=python,
            XDG_CACHE_HOME=str(blocked),
            TMPDIR=str(blocked),
        ),
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 1, done.stderr
    out = done.stdout
    assert f"FAIL Java: Spark 4 needs Java 17 or newer, and JAVA_HOME, {java}, has Java 11.0" in out
    assert "export JAVA_HOME=/path/to/it" in out
    assert "numba >= 0.61 is needed, found 0.1" in out
    assert "-m pip install 'numba>=0.61'" in out
    assert "ok   jar:" in out
    assert "sweep: not tried" in out


def test_no_java_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(intervalsweep.IntervalSweepError, match=r"has none\. Install one .*apt "):
        _requirements.check_java()


def test_old_java_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_requirements, "_java_version", lambda path: "1.8.0_392")
    with pytest.raises(intervalsweep.IntervalSweepError, match=r"has Java 1\.8\.0_392"):
        _requirements.check_java()


def test_other_spark_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.__version__", "3.5.9")
    message = r"for Spark 4\.0, .*, and this is Spark 3\.5\.9\. .* pip install 'pyspark==4\.\d\.\*'"
    with pytest.raises(intervalsweep.IntervalSweepError, match=message):
        _requirements.check_spark()


def test_spark_home_of_another_spark_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "spark-core_2.13-3.5.9.jar").touch()
    monkeypatch.setattr(doctor, "_spark_home", lambda: tmp_path)
    with pytest.raises(intervalsweep.IntervalSweepError, match=r"3\.5\.9: unset SPARK_HOME"):
        doctor._spark()
