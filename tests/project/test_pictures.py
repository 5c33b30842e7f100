# SPDX-License-Identifier: Apache-2.0
"""The pictures of the documentation are those that their programs draw."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed: the extra plot has it")

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
TOOLS = ROOT / "tools"


def test_picture_of_the_readme_is_that_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The texts are equal. Outlines are not compared, as they depend on matplotlib's version."""
    monkeypatch.syspath_prepend(str(TOOLS))
    pictures = importlib.import_module("readme_picture")
    committed = pictures.FILE.read_text(encoding="utf-8")
    pictures.main(tmp_path / "drawn.svg")
    drawn = (tmp_path / "drawn.svg").read_text(encoding="utf-8")
    assert texts(drawn) == texts(committed)
    assert "Sort s by start: the matches of each r are one run" in texts(committed)
    assert len(committed) < 100_000
    assert pictures.FILE.name in (ROOT / "README.md").read_text(encoding="utf-8")


def texts(svg: str) -> list[str]:
    """The texts, which matplotlib writes as comments next to the outlines of letters."""
    return re.findall(r"<!-- (.*?) -->", svg)


def test_pictures_of_the_nearest_rows_are_those_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(TOOLS))
    pictures = importlib.import_module("nearest_pictures")
    pictures.main(tmp_path)
    drawn = {file.name: file.read_text(encoding="utf-8") for file in tmp_path.iterdir()}
    assert drawn == {f.name: f.read_text(encoding="utf-8") for f in pictures.FOLDER.iterdir()}
    page = (DOCS / "nearest.md").read_text(encoding="utf-8")
    assert [name for name in drawn if f"images/nearest/{name}" not in page] == []
    assert pictures.as_of() == [(2, 1), (5, 3), (9, 8)]
    assert pictures.near(2) == [(2, 1), (2, 3), (5, 3), (5, 8), (9, 8), (9, 12)]


def test_pictures_of_the_operators_are_those_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(TOOLS))
    pictures = importlib.import_module("operator_pictures")
    pictures.main(tmp_path)
    drawn = {file.name: file.read_text(encoding="utf-8") for file in tmp_path.iterdir()}
    kept = {f.name: f.read_text(encoding="utf-8") for f in pictures.FOLDER.iterdir()}
    assert drawn == kept
    assert len(drawn) == len(pictures.PICTURES) > 15
    page = (DOCS / "temporal" / "operators.md").read_text(encoding="utf-8")
    assert [name for name in kept if f"images/temporal/{name}" not in page] == []
