"""The generated pages are those that the relations give."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_sql_functions_page_is_up_to_date() -> None:
    check = subprocess.run(
        [sys.executable, ROOT / "docs" / "generate.py", "--check"], capture_output=True, text=True
    )
    assert check.returncode == 0, check.stderr


def test_sql_functions_page_has_an_entry_per_relation() -> None:
    page = (ROOT / "docs" / "sql-functions.md").read_text(encoding="utf-8")
    relations = json.loads((ROOT / "python" / "intervalsweep" / "relations.json").read_bytes())
    names = [relation["name"] for relation in relations["relations"]]
    headings = [line.removeprefix("### ") for line in page.splitlines() if line.startswith("### ")]
    assert headings == names
