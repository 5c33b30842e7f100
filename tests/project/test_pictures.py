# SPDX-License-Identifier: Apache-2.0
"""The pictures of the documentation are those that their programs draw."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

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


def same_as_drawn(program: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The program, whose drawings must be the kept files, one for each of its pictures."""
    monkeypatch.syspath_prepend(str(TOOLS))
    pictures = importlib.import_module(program)
    pictures.main(folder)
    drawn = {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()}
    assert drawn == {f.name: f.read_text(encoding="utf-8") for f in pictures.FOLDER.iterdir()}
    assert len(drawn) == len(pictures.PICTURES)
    return pictures


def missing(page: str, pictures: Any) -> list[str]:
    """The pictures that a page does not show."""
    text = (DOCS / page).read_text(encoding="utf-8")
    folder = pictures.FOLDER.name
    names = (file.name for file in pictures.FOLDER.iterdir())
    return [name for name in names if f"images/{folder}/{name}" not in text]


def test_pictures_of_the_nearest_rows_are_those_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures = same_as_drawn("nearest_pictures", tmp_path, monkeypatch)
    assert missing("nearest.md", pictures) == []
    assert pictures.as_of() == [(2, 1), (5, 3), (9, 8)]
    assert pictures.near(2) == [(2, 1), (2, 3), (5, 3), (5, 8), (9, 8), (9, 12)]


def test_pictures_of_the_operators_are_those_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures = same_as_drawn("operator_pictures", tmp_path, monkeypatch)
    assert len(pictures.PICTURES) > 15
    assert missing("temporal/operators.md", pictures) == []
