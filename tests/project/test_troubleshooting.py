# SPDX-License-Identifier: Apache-2.0
"""The page on errors quotes the texts in the sources, and has all errors for users."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException

from intervalsweep import _errors
from support.docs import pages

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "troubleshooting.md"
WHY_NOT = (
    "scala-plugin/src/main/scala/org/apache/spark/sql/intervalsweep/condition/model/WhyNot.scala"
)
VARIES = "…"
# Errors for users. Others, such as ValueError, are internal and end in a worker's traceback.
FOR_USERS = {"TypeError"} | {
    name
    for name, kind in vars(_errors).items()
    if isinstance(kind, type) and issubclass(kind, _errors.IntervalSweepError)
}
LITERAL = r's?"((?:[^"\\\n]|\\.)*)"'
ROW = re.compile(r"^\| `([A-Z_.]+)` \| `(SELECT [^`]+)` \|", re.MULTILINE)


def python_texts() -> Iterator[tuple[str, bool]]:
    """The strings in Python; for each, True if it is an error for users."""
    for file in (ROOT / "python").rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        raised = {node.exc.args[0] for node in ast.walk(tree) if is_for_users(node)}
        for node in ast.walk(tree):
            if text := text_of(node):
                yield text, node in raised


def is_for_users(node: Any) -> bool:
    """True if a node of the syntax tree raises an error for users."""
    call = node.exc if isinstance(node, ast.Raise) else None
    return isinstance(call, ast.Call) and getattr(call.func, "id", "") in FOR_USERS


def text_of(node: ast.AST) -> str:
    """A string literal, or an f-string with … for its values."""
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) or VARIES for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def scala_texts() -> Iterator[tuple[str, bool]]:
    """The strings in Scala; those that begin with the product's name are errors for users."""
    for file in (ROOT / "scala-plugin" / "src" / "main").rglob("*.scala"):
        source = re.sub(r"\$\{[^}]*\}|\$\w+", VARIES, file.read_text(encoding="utf-8"))
        for found in re.finditer(rf"{LITERAL}(?:\s*\+\s*{LITERAL})*", source):
            text = "".join(re.findall(LITERAL, found[0]))
            yield text, bool(re.match(r"(The )?IntervalSweep\S* .{20}", text))


TEXTS = [(" ".join(text.split()), is_error) for text, is_error in [*python_texts(), *scala_texts()]]
QUOTES = [
    " ".join(block.text.split())
    for block in pages.blocks(PAGE)
    if block.language == "text" and not block.is_result
]


def quotes(quote: str, text: str) -> bool:
    """True if a text has the words of a quote in order; … stands for any text."""
    at = 0
    for words in quote.split(VARIES):
        at = text.find(words.strip(), at)
        if at < 0:
            return False
        at += len(words.strip())
    return True


@pytest.mark.parametrize("quote", QUOTES)
def test_quoted_text_is_in_the_sources(quote: str) -> None:
    assert len(quote.replace(VARIES, "").strip()) >= 10
    assert any(quotes(quote, text) for text, _ in TEXTS)


def test_no_error_is_left_out() -> None:
    errors = [text for text, is_error in TEXTS if is_error]
    assert len(errors) > 40
    assert not [text for text in errors if not any(quotes(quote, text) for quote in QUOTES)]


def test_conditions_are_those_that_the_examples_raise(spark: Any) -> None:
    rows = ROW.findall(PAGE.read_text(encoding="utf-8"))
    assert len(rows) == 9
    for condition, sql in rows:
        with pytest.raises(PySparkException) as raised:
            spark.sql(sql).collect()
        assert raised.value.getCondition() == condition, sql


def test_all_reasons_are_listed() -> None:
    source = (ROOT / WHY_NOT).read_text(encoding="utf-8")
    reasons = re.findall(r"case (?:object|class) (\w+)", source)
    page = (ROOT / "docs" / "reading-plans.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([A-Z]\w+)` \|", page, re.MULTILINE) == reasons
