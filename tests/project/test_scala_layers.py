# SPDX-License-Identifier: Apache-2.0
"""The folders of the plugin stand in layers that point one way, and no files refer in a circle."""

from __future__ import annotations

import re
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

MAIN = Path(__file__).resolve().parents[2] / "scala-plugin" / "src" / "main"
PACKAGE = "org/apache/spark/sql/intervalsweep/"
SOURCES = {
    str(file).split(PACKAGE)[1].removesuffix(".scala"): file
    for file in sorted(MAIN.rglob("*.scala"))
    if PACKAGE in str(file)
}
# A row's path through the execution, each folder knowing those before it.
EXECUTION = (
    *("metrics", "packing", "block", "windows", "runs", "aggregates", "worker", "task"),
    *("ranges", "periods"),
)
LAYERS = (
    *("functions", "condition", "temporal", "temporal/rules"),
    *(f"execution/{name}" for name in EXECUTION),
    *("execution", "streams", "planner"),
)
NOT_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|^import [^\n{]*(?:\{[^}]*\})?", re.S | re.M)
TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"')
DEFINED = re.compile(
    r"^(?:(?:private|sealed|abstract|final|case|implicit)(?:\[\w+\])?\s+)*"
    r"(?:class|object|trait)\s+(\w+)",
    re.M,
)


def code(file: Path) -> str:
    """A source without comments, imports and texts; of texts, the values in them stay."""
    plain = NOT_CODE.sub("", file.read_text(encoding="utf-8"))
    return TEXT.sub(lambda text: " ".join(re.findall(r"\$\{[^}]*\}", text[0])), plain)


@pytest.fixture(scope="module")
def references() -> dict[str, set[str]]:
    """For each source, by its path without the suffix, those whose definitions it names."""
    codes = {name: code(file) for name, file in SOURCES.items()}
    homes = defaultdict(set)
    for name, text in codes.items():
        for found in DEFINED.findall(text):
            homes[found].add(name)
    graph = {}
    for name, text in codes.items():
        own = set(re.findall(r"\b(?:val|object|class|trait|type) (\w+)", text))
        named = set(re.findall(r"(?<![.\w])[A-Z]\w+", text)) - own
        graph[name] = {home for word in named for home in meant(homes[word], name)} - {name}
    return graph


def meant(homes: set[str], user: str) -> set[str]:
    """Which of the sources that define a name: that of the user's own folder, if there is one."""
    folder = user.rpartition("/")[0]
    return {home for home in homes if home.rpartition("/")[0] == folder} or homes


def test_no_circle_of_files(references: dict[str, set[str]]) -> None:
    assert sum(map(len, references.values())) > 300
    try:
        order = [*TopologicalSorter(references).static_order()]
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))
    assert order.index("execution/block/RowBlock") < order.index("execution/task/SweepTask")


def test_folders_know_only_those_before_them(references: dict[str, set[str]]) -> None:
    folders = {name: name.rpartition("/")[0] for name in references}
    assert set(folders.values()) - {""} == set(LAYERS)
    wrong = [
        f"{name} -> {other}"
        for name, others in references.items()
        for other in others
        if folders[name] and folders[other]
        if LAYERS.index(folders[name]) < LAYERS.index(folders[other])
    ]
    assert not wrong
