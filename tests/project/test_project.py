# SPDX-License-Identifier: Apache-2.0
"""Metadata of the project is consistent: versions, changelog, dependencies, hooks, licence."""

from __future__ import annotations

import re
from datetime import date
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import tomllib
import yaml
from packaging.requirements import Requirement
from packaging.version import Version
from pre_commit.clientlib import load_config

import intervalsweep
from support.spark.applications import published_pom

ROOT = Path(__file__).resolve().parents[2]
VERSION = intervalsweep.__version__
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
HOOKS = ROOT / ".pre-commit-config.yaml"
POM = "{http://maven.apache.org/POM/4.0.0}"


def pom() -> ElementTree.Element:
    return ElementTree.parse(published_pom()).getroot()


def test_the_version_is_the_same_everywhere() -> None:
    """`_version.py` has the version; the builds of jar and wheel read it (see test_wheel.py)."""
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert pom().findtext(POM + "version") == VERSION
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    named = re.findall(r"intervalsweep-spark[\d.]+_2\.13[-:](\d+\.\d+\.\d+\w*)", text)
    assert named, "no page names the jar"
    assert set(named) == {VERSION}


def test_changelog_keeps_its_format() -> None:
    """The format is Keep a Changelog 1.1: unreleased changes, then versions, newest first."""
    first, *released = re.findall(r"^## (.*)$", CHANGELOG, re.MULTILINE)
    assert first == "[Unreleased]"
    parts = [re.fullmatch(r"\[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)", line) for line in released]
    assert all(parts), released
    versions = [(Version(part[1]), date.fromisoformat(part[2])) for part in parts if part]
    assert Version(VERSION) >= max((version for version, _ in versions), default=Version("0"))
    assert versions == sorted(versions, reverse=True)
    assert sorted(day for _, day in versions) == [day for _, day in reversed(versions)]
    assert len({version for version, _ in versions}) == len(versions)


def test_changelog_has_known_kinds_of_changes() -> None:
    kinds = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
    for version in CHANGELOG.split("\n## ")[1:]:
        title, *sections = version.split("\n### ")
        named = [section.split("\n")[0] for section in sections]
        assert named, f"{title} says nothing"
        assert named == [kind for kind in kinds if kind in named], title
        assert all("\n- " in section for section in sections), title


def test_the_pom_asks_for_nothing_and_says_what_a_repository_wants_to_know() -> None:
    project = pom()
    assert project.find(POM + "dependencies") is None
    assert project.findtext(POM + "groupId") == "org.intervalsweep"
    for path in ("name", "description", "url", "licenses/license/url", "scm/connection"):
        assert project.findtext(POM + path.replace("/", "/" + POM)), path
    assert project.findtext(f"{POM}developers/{POM}developer/{POM}name") is not None


def test_the_licence_is_the_same_everywhere() -> None:
    licence = PROJECT["project"]["license"]
    assert licence == "Apache-2.0"
    assert pom().findtext(f"{POM}licenses/{POM}license/{POM}name") == licence
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_no_source_has_another_licence() -> None:
    """A hook checks that each source names our licence. Third-party notices are in NOTICE."""
    notice = re.compile("(?i)[c]opyright|licen[s]ed to|[s]pdx-.*identifier: (?!Apache-2.0$)", re.M)
    folders = ["python", "scala-plugin", "tests", "docs", "project", "tools", "sql-examples"]
    folders += ["benchmarks"]
    kinds = {".py", ".scala", ".sql", ".sbt"}
    files = [f for name in folders for f in (ROOT / name).rglob("*") if f.suffix in kinds]
    assert len(files) > 100
    assert [f for f in files if notice.search(f.read_text(encoding="utf-8"))] == []


def locked() -> dict[str, Version]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = map(Requirement, lines)
    here = [pin for pin in pins if pin.marker is None or pin.marker.evaluate()]
    return {pin.name: Version(str(pin.specifier).removeprefix("==")) for pin in here}


@pytest.mark.parametrize("group", ["dependencies", "dev"])
def test_the_lock_is_within_the_ranges(group: str) -> None:
    project = PROJECT["project"]
    listed = {"dependencies": project["dependencies"], **project["optional-dependencies"]}[group]
    wanted = [Requirement(text) for text in listed]
    versions = locked()
    wrong = [str(one) for one in wanted if versions.get(one.name) not in one.specifier]
    assert wrong == [], "run `make lock`"


def test_the_compatibility_page_has_the_locked_versions() -> None:
    page = (ROOT / "docs" / "operations" / "compatibility.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\|(.*)\|$", page, re.MULTILINE))
    assert len(rows) > 5
    versions = locked()
    wrong = [name for name, row in rows.items() if str(versions[name]) not in row]
    assert wrong == ["pyspark"]  # its row refers to the matrix


def test_hooks_run_what_is_there() -> None:
    """No hook downloads anything: each is a target of make or a command that pip installed."""
    load_config(str(HOOKS))  # raises an error for a file that pre-commit cannot read
    repositories = yaml.safe_load(HOOKS.read_text("utf-8"))["repos"]
    assert [repository["repo"] for repository in repositories] == ["local"]
    (hooks,) = (repository["hooks"] for repository in repositories)
    assert len(hooks) > 2
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    commands = entry_points(group="console_scripts").names
    for hook in hooks:
        if hook["language"] == "pygrep":  # looks for the first line of each source
            assert re.match("# " + hook["entry"], Path(__file__).read_text("utf-8"))
            continue
        assert hook["language"] == "system"
        program, _, rest = hook["entry"].partition(" ")
        if program == "make":
            assert rest in targets
        else:
            assert program.removeprefix(".venv/bin/") in commands


@pytest.mark.parametrize("name", ["bug", "idea"])
def test_forms_for_issues(name: str) -> None:
    file = ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.yml"
    form = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= form.keys()
    fields = [part for part in form["body"] if part["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields) > 2
    assert all(field["attributes"]["label"] for field in fields)
