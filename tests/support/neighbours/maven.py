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
    if shutil.which("mvn") is None:
        pytest.skip("needs mvn, to get " + ", ".join(coordinates))
    digest = hashlib.sha256(repr((coordinates, without)).encode()).hexdigest()[:12]
    folder = FOLDER / f"jars-{digest}"
    if not (folder / "complete").exists():
        folder.mkdir(parents=True, exist_ok=True)
        pom = folder / "pom.xml"
        pom.write_text(POM.format("".join(DEPENDENCY.format(*c.split(":")) for c in coordinates)))
        _maven(pom, f"-DoutputDirectory={folder}", f"-DexcludeGroupIds={','.join(without)}")
        (folder / "complete").touch()
    found = sorted(folder.glob("*.jar"))
    assert found
    return found


def _maven(pom: Path, *options: str) -> None:
    goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", *options]
    done = subprocess.run(
        ["mvn", "-q", "-B", "-f", str(pom), *goal], capture_output=True, text=True, check=False
    )
    if done.returncode:
        reason = next((line for line in done.stdout.splitlines() if "ERROR" in line), done.stderr)
        pytest.skip(f"Maven cannot get the jars: {reason[:300]}")
