# SPDX-License-Identifier: Apache-2.0
"""A jar for each minor version of Spark: the choice, and the error if no jar fits."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pyspark
import pytest
import tomllib
from packaging.requirements import Requirement

import intervalsweep
from intervalsweep import session
from intervalsweep._version import SPARK_SERIES
from support.spark.applications import SPARK_HOME, by_conf, run

ROOT = Path(__file__).resolve().parents[2]
PROPERTIES = "intervalsweep/version.properties"


@pytest.fixture
def jars(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty folder in place of a wheel's folder of jars."""
    monkeypatch.setattr(session, "__file__", str(tmp_path / "intervalsweep" / "session.py"))
    folder = tmp_path / "intervalsweep" / "jars"
    folder.mkdir(parents=True)
    return folder


@pytest.mark.parametrize("series", SPARK_SERIES)
def test_jar_is_that_of_the_installed_spark(
    jars: Path, monkeypatch: pytest.MonkeyPatch, series: str
) -> None:
    for each in SPARK_SERIES:
        (jars / session.jar_name(each)).touch()
    monkeypatch.setattr(pyspark, "__version__", f"{series}.7")
    assert Path(intervalsweep.jar_path()).name == session.jar_name(series)
    assert f"spark{series}_" in session.jar_name(series)
    assert intervalsweep.jar_path(series) == intervalsweep.jar_path(f"{series}.0")


@pytest.mark.parametrize("version", ["3.5.9", "4.99.0", "40.0", "4"])
def test_unknown_spark_is_told_which_are_known(jars: Path, version: str) -> None:
    for each in SPARK_SERIES:
        (jars / session.jar_name(each)).touch()
    message = f"{', '.join(SPARK_SERIES[:-1])} and {SPARK_SERIES[-1]}, and this is Spark {version}"
    with pytest.raises(intervalsweep.IntervalSweepError, match=re.escape(message)):
        intervalsweep.jar_path(version)


def test_jar_that_is_not_there_is_named_with_those_that_are(jars: Path) -> None:
    (jars / session.jar_name(SPARK_SERIES[1])).touch()
    with pytest.raises(intervalsweep.IntervalSweepError) as error:
        intervalsweep.jar_path(SPARK_SERIES[0])
    assert session.jar_name(SPARK_SERIES[0]) in str(error.value)
    assert f"there are jars for Spark {SPARK_SERIES[1]}." in str(error.value)
    assert f"make build SPARK={SPARK_SERIES[0]}" in str(error.value)


def test_range_of_pyspark_is_that_of_the_jars() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    requirements = map(Requirement, project["optional-dependencies"]["spark"])
    allowed = next(r.specifier for r in requirements if r.name == "pyspark")
    assert all(allowed.contains(f"{series}.0") for series in SPARK_SERIES)
    first, last = (tuple(map(int, SPARK_SERIES[i].split("."))) for i in (0, -1))
    beyond = [f"{first[0] - 1}.5.9", f"{last[0]}.{last[1] + 1}.0", f"{last[0] + 1}.0.0"]
    assert not any(allowed.contains(version) for version in beyond)


def test_folders_of_sources_are_for_known_sparks() -> None:
    folders = [f.name for f in (ROOT / "scala-plugin" / "src" / "main").glob("scala-spark-*")]
    assert folders
    for name in folders:
        assert set(name.removeprefix("scala-spark-").split("-")) <= set(SPARK_SERIES), name


@pytest.mark.extended
def test_jar_for_another_spark_is_refused_when_the_session_starts(tmp_path: Path) -> None:
    ours = session.series_of(pyspark.__version__)
    other = next(series for series in SPARK_SERIES if series != ours)
    mistaken = tmp_path / session.jar_name(other)
    with (
        zipfile.ZipFile(intervalsweep.jar_path()) as jar,
        zipfile.ZipFile(mistaken, "w") as copy,
    ):
        for name in jar.namelist():
            text = jar.read(name)
            if name == PROPERTIES:
                text = text.replace(f"spark={ours}".encode(), f"spark={other}".encode())
            copy.writestr(name, text)
    command = [str(SPARK_HOME / "bin" / "spark-sql"), "--master", "local[1]"]
    done = run(tmp_path, [*command, *by_conf(str(mistaken)), "-e", "SELECT 1"])
    assert done.returncode != 0, done.stdout
    said = f"The jar {mistaken.name} is for Spark {other}, and this is Spark {pyspark.__version__}"
    assert said in done.stderr
    assert f"Load {session.jar_name(ours)} instead." in done.stderr
