# SPDX-License-Identifier: Apache-2.0
"""Jars from Maven Central, with their dependencies. A test that cannot get them is skipped."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "target" / "neighbours"
# A release of Spark has these already.
OF_SPARK = ("org.apache.hadoop", "org.scala-lang", "org.slf4j", "org.apache.logging.log4j")
POM = """<project><modelVersion>4.0.0</modelVersion>
<groupId>org.intervalsweep</groupId><artifactId>neighbours</artifactId><version>1</version>
<dependencies>{}</dependencies></project>"""
DEPENDENCY = """<dependency><groupId>{}</groupId><artifactId>{}</artifactId>
<version>{}</version></dependency>"""


def jars(*coordinates: str, without: Sequence[str] = OF_SPARK) -> list[Path]:
    """The jars of artifacts such as `org.postgresql:postgresql:42.7.14`, with their dependencies.

    `without` are groups that the program has already.
    """
    pom = POM.format("".join(DEPENDENCY.format(*c.split(":")) for c in coordinates))
    excluded = f"-DexcludeGroupIds={','.join(without)}"
    return _fetched(pom, "dependency:copy-dependencies", "-DincludeScope=runtime", excluded)


def jar(coordinates: str) -> Path:
    """The jar of one artifact, such as `group:artifact:version:jar:tests`, and nothing else."""
    (found,) = _fetched(POM.format(""), "dependency:copy", f"-Dartifact={coordinates}")
    return found


def _fetched(pom: str, *goal: str) -> list[Path]:
    """The jars that a goal of Maven copies. They are kept for the next run."""
    if shutil.which("mvn") is None:
        pytest.skip(f"needs mvn, to run {' '.join(goal)}")
    digest = hashlib.sha256(repr((pom, goal)).encode()).hexdigest()[:12]
    folder = FOLDER / f"jars-{digest}"
    if not (folder / "complete").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pom.xml").write_text(pom)
        _maven(folder / "pom.xml", *goal, f"-DoutputDirectory={folder}")
        (folder / "complete").touch()
    found = sorted(folder.glob("*.jar"))
    assert found
    return found


def _maven(pom: Path, *goal: str) -> None:
    done = subprocess.run(
        ["mvn", "-q", "-B", "-f", str(pom), *goal], capture_output=True, text=True, check=False
    )
    if done.returncode:
        reason = next((line for line in done.stdout.splitlines() if "ERROR" in line), done.stderr)
        pytest.skip(f"Maven cannot get the jars: {reason[:300]}")
