# SPDX-License-Identifier: Apache-2.0
"""Runs the SQL and Python blocks of a page, and compares the results with those on the page.

A page states results in two ways. A table below one or more blocks is the output of `show()` for
the last query of each of these blocks, so SQL and Python versions of a query must agree:

    ```sql
    SELECT 1 AS one;
    ```

    ```text
    +---+
    |one|
    +---+
    |  1|
    +---+
    ```

Comments right after a statement are its rows, in any order:

    SELECT 1 + 1, 'two';  -- 2  two

A block that is not run has the title "Not run: ..." with the reason, which readers see as well.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted([ROOT / "README.md", ROOT / "benchmarks" / "README.md", *ROOT.glob("docs/**/*.md")])
FENCE = re.compile(
    r"^(?:```(?P<language>\w*)(?P<info>[^\n]*)\n(?P<text>.*?)^```$|#+ (?P<heading>[^\n]*)$)",
    re.M | re.S,
)
NOT_RUN = re.compile(r'^ title="Not run: [^"]{10,}"$')
# A statement ends with a semicolon at the end of a line or before a comment.
STATEMENT = re.compile(r"(?P<sql>.+?);[ \t]*(?=--|\n)\n?(?P<rows>(?:--[^\n]*\n)*)\n*", re.S)
OPTIONAL = {"pandas", "polars"}


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, or a heading, which has no language and its words as text."""

    language: str
    info: str
    text: str

    @property
    def runs(self) -> bool:
        """True for a program that is not marked as not run."""
        return self.language in ("sql", "python") and not NOT_RUN.match(self.info)

    @property
    def is_result(self) -> bool:
        return self.language == "text" and self.text.startswith("+--")

    @property
    def is_possible(self) -> bool:
        """True if the optional packages that the block imports are installed."""
        needed = OPTIONAL & set(re.findall(r"^import (\w+)", self.text, re.M))
        return all(map(find_spec, needed))


def blocks(page: Path) -> Iterator[Block]:
    """The blocks and headings of a page, in order."""
    for found in FENCE.finditer(page.read_text(encoding="utf-8")):
        text = found["text"] or found["heading"] or ""
        yield Block(found["language"] or "", found["info"] or "", text)


def statements_by_heading(page: Path) -> dict[str, list[str]]:
    """The SQL statements below each heading of a page, also of blocks that are not run."""
    found: dict[str, list[str]] = {}
    below = ""
    for block in blocks(page):
        if not block.language:
            below = block.text
        elif block.language == "sql":
            found.setdefault(below, []).extend(match["sql"] for match in statements(block.text))
    return found


def run(page: Path, spark: Any, **names: Any) -> dict[str, Any]:
    """Run a page; its Python starts with `names`. Return the names that exist at the end."""
    names |= {"spark": spark}
    shown: list[str] = []
    for block in blocks(page):
        if block.runs and block.is_possible:
            is_sql = block.language == "sql"
            shown.append(run_sql(spark, block.text) if is_sql else run_python(block.text, names))
        elif block.is_result:
            results = [text for text in shown if text]
            assert results, f"{page.name} has a result of nothing:\n{block.text}"
            for text in results:
                assert text.strip() == block.text.strip(), f"{page.name} says\n{block.text}"
        if not block.language or block.is_result:
            shown.clear()
    return names


def run_python(text: str, names: dict[str, Any]) -> str:
    """Run a program; return its output."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text, "page", "exec"), names)
    return printed.getvalue()


def run_sql(spark: Any, text: str) -> str:
    """Run statements; return `show()` of the last query whose rows are not stated in comments."""
    shown = ""
    for statement in statements(text):
        frame = spark.sql(statement["sql"])
        said = [line.removeprefix("-- ").rstrip() for line in statement["rows"].splitlines()]
        if said:
            check_rows(frame.collect(), said, statement["sql"])
        elif frame.columns:
            shown = run_python("frame.show()", {"frame": frame})
    return shown


def statements(text: str) -> list[re.Match[str]]:
    """The statements of a block, each with the comments right after it."""
    found = list(STATEMENT.finditer(text))
    assert "".join(match[0] for match in found) == text, f"no statements that end with ;\n{text}"
    return found


def check_rows(rows: list[Any], said: list[str], sql: str) -> None:
    """Compares rows with comments: two blanks separate values, booleans are written as in SQL."""

    def cell(value: object) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        return "NULL" if value is None else str(value)

    assert sorted("  ".join(map(cell, row)) for row in rows) == sorted(said), sql
