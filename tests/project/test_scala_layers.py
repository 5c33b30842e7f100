# SPDX-License-Identifier: Apache-2.0
"""The folders of the plugin are layers without upward references, and files have no cycles."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
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
# Each folder may use only the folders before it.
LAYERS = (
    *("compat", "functions/distances", "functions"),
    *(f"condition/{name}" for name in ("expressions", "model", "conjuncts", "reading", "expiry")),
    *(f"temporal/{name}" for name in ("nodes", "fragments", "lowering", "rules")),
    *("temporal/streams", "temporal/functions"),
    *(f"execution/{name}" for name in ("metrics", "index", "packing", "block", "chunks")),
    *(f"execution/{name}" for name in ("runs", "aggregates", "worker", "task", "ranges")),
    *("execution/periods", "execution"),
    *(f"streams/{name}" for name in ("eventtime", "state", "partitioning", "windows")),
    *("streams/nearest", "streams/joins", "streams/ongoing", "streams/histories"),
    *(f"planner/{name}" for name in ("nodes", "adaptive", "joins", "aggregates", "periods")),
    *(f"planner/{name}" for name in ("nearest", "laterals", "windows", "streams", "report")),
)
MOST_FILES = 15
NOT_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|^import [^\n{]*(?:\{[^}]*\})?", re.S | re.M)
TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"')
DEFINED = re.compile(
    r"^(?:(?:private|sealed|abstract|final|case|implicit)(?:\[\w+\])?\s+)*"
    r"(?:class|object|trait)\s+(\w+)",
    re.M,
)


def code(file: Path) -> str:
    """A source without comments, imports and strings; the values in interpolated strings stay."""
    plain = NOT_CODE.sub("", file.read_text(encoding="utf-8"))
    return TEXT.sub(lambda text: " ".join(re.findall(r"\$\{[^}]*\}", text[0])), plain)


@pytest.fixture(scope="module")
def references() -> dict[str, set[str]]:
    """Source -> the sources whose definitions it uses, by path without suffix."""
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
    """The sources that a name may mean: those in the user's folder, or else all."""
    folder = user.rpartition("/")[0]
    return {home for home in homes if home.rpartition("/")[0] == folder} or homes


def test_no_circle_of_files(references: dict[str, set[str]]) -> None:
    assert sum(map(len, references.values())) > 300
    try:
        order = [*TopologicalSorter(references).static_order()]
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))
    assert order.index("execution/block/RowBlock") < order.index("execution/task/SweepTask")


def test_no_folder_is_crowded() -> None:
    folders = Counter(name.rpartition("/")[0] for name in SOURCES)
    assert len(folders) > 30
    assert {name: n for name, n in folders.items() if n > MOST_FILES} == {}


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
