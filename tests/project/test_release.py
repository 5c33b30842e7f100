# SPDX-License-Identifier: Apache-2.0
"""The release: its tool, its workflow, and the files that name a version or a dependency."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import tomllib
import yaml

import intervalsweep
from intervalsweep._version import SPARK_SERIES

ROOT = Path(__file__).resolve().parents[2]
VERSION = intervalsweep.__version__
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the files that the tool reads, with a released version."""
    for name in ("tools/release.py", "python/intervalsweep/_version.py", "CITATION.cff"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    changes = (
        f"# Changelog\n\n## [Unreleased]\n\n## [{VERSION}] - 2026-12-01\n\n### Added\n\n- All.\n"
    )
    (tmp_path / "CHANGELOG.md").write_text(changes, encoding="utf-8")
    return tmp_path


def release(checkout: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "tools/release.py", *arguments],
        cwd=checkout,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_tag_must_agree_with_all_files(checkout: Path) -> None:
    assert release(checkout, "check", f"v{VERSION}") == (0, "")
    assert release(checkout, "notes") == (0, "### Added\n\n- All.\n")
    code, said = release(checkout, "check", "v99.0.0")
    assert (code, "they must agree" in said) == (1, True)
    citation = checkout / "CITATION.cff"
    citation.write_text(citation.read_text("utf-8").replace(VERSION, "0.0.1"), "utf-8")
    assert "CITATION.cff is not about" in release(checkout, "check", f"v{VERSION}")[1]
    for text, error in (
        ("## [Unreleased]\n\n- All.\n", "has no section"),
        (f"\n## [{VERSION}] - 2026-12-01\n\n## [0.0.1] - 2026-01-01\n\n- Old.", "has no change"),
    ):
        (checkout / "CHANGELOG.md").write_text(text, encoding="utf-8")
        code, said = release(checkout, "check", f"v{VERSION}")
        assert (code, error in said) == (1, True), said


def test_a_release_has_the_jars_of_all_sparks(checkout: Path) -> None:
    names = [f"intervalsweep-spark{series}_2.13-{VERSION}" for series in SPARK_SERIES]
    for name in names:
        folder = checkout / "target" / "repository" / "org" / name
        folder.mkdir(parents=True)
        (folder / f"{name}.jar").touch()
        (folder / f"{name}.pom").touch()
    (checkout / "dist").mkdir()
    wheel = f"intervalsweep-{VERSION}-py3-none-any.whl"
    for jars, code in ((names[1:], 1), (names, 0)):
        with zipfile.ZipFile(checkout / "dist" / wheel, "w") as built:
            for name in jars:
                built.writestr(f"intervalsweep/jars/{name}.jar", "")
        found, said = release(checkout, "collect", "out")
        assert found == code, said
    files = {file.name for file in (checkout / "out").iterdir()}
    expected = {f"{name}.{kind}" for name in names for kind in ("jar", "pom")}
    assert files == expected | {wheel, f"maven-repository-{VERSION}.zip"}


def test_workflows_run_what_exists() -> None:
    """No step names a file or a make target that is gone, and each job has a limit."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    commands = 0
    for workflow in WORKFLOWS:
        for job in yaml.safe_load(workflow.read_text("utf-8"))["jobs"].values():
            assert job["timeout-minutes"] > 0
            for command in filter(None, (step.get("run") for step in job["steps"])):
                commands += 1
                for target in re.findall(r"\bmake ([a-z-]+)", command):
                    assert target in targets, command
                for file in re.findall(r"(?:tools|\.ci)/[\w.]+", command):
                    assert (ROOT / file).is_file(), command
    assert commands > 5


def test_metadata_names_the_addresses_of_the_pom() -> None:
    sbt = (ROOT / "publish.sbt").read_text("utf-8")
    assert set(PROJECT["urls"].values()) == set(re.findall(r'url\("(.*?)"\)', sbt))


def test_citation_and_recipe_are_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert (citation["version"], citation["license"]) == (VERSION, PROJECT["license"])
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text("utf-8"))
    assert recipe["context"]["version"] == VERSION
    run = {line.replace(" ", "") for line in recipe["requirements"]["run"]}
    assert run == {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"}
    assert [recipe["requirements"]["run_constraints"][0].replace(" ", "")] == (
        PROJECT["optional-dependencies"]["spark"]
    )


def test_the_image_has_the_tools_of_continuous_integration() -> None:
    image = (ROOT / "Dockerfile").read_text("utf-8")
    for tool in ("make", "maven", "openjdk-17-jdk-headless"):
        assert tool in (ROOT / ".ci" / "run").read_text("utf-8")
        assert tool in image
    assert re.search(r"^USER \w+$", image, re.MULTILINE), "Spark needs a user with a name"
