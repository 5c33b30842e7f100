# SPDX-License-Identifier: Apache-2.0
"""The programs of docs/scala.md run, and Scala's table functions have Python's arguments."""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

import intervalsweep
from intervalsweep import table_functions
from support.docs import pages
from support.spark.applications import SPARK_HOME, by_conf, run, settings, typed

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "scala.md"
SOURCE = ROOT / "scala-plugin/src/main/scala/org/intervalsweep/TableFunctions.scala"


def programs(language: str) -> tuple[list[str], list[str]]:
    """The blocks of a language that run, and the results below them."""
    texts, results, is_below = [], [], False
    for block in pages.blocks(PAGE):
        if block.is_result:
            results += [block.text] if is_below else []
        elif block.language:
            is_below = block.language == language and not block.info
            texts += [block.text] if is_below else []
    assert texts
    assert results
    return texts, results


def check(printed: str, results: list[str]) -> None:
    """The output has the results in the order of the page."""
    at = 0
    for result in results:
        assert result in printed[at:], f"docs/scala.md says\n{result}\nprinted:\n{printed}"
        at = printed.index(result, at) + len(result)


@pytest.mark.extended
def test_scala_of_the_page_runs_in_spark_shell(tmp_path: Path) -> None:
    texts, results = programs("scala")
    check(typed(tmp_path, "spark-shell", "\n".join(texts)), results)


@pytest.mark.extended
@pytest.mark.skipif(shutil.which("javac") is None, reason="needs a Java compiler")
def test_java_of_the_page_runs(tmp_path: Path) -> None:
    (text,), results = programs("java")
    (tmp_path / "Example.java").write_text(text, encoding="utf-8")
    class_path = f"{SPARK_HOME / 'jars' / '*'}:{intervalsweep.jar_path()}"
    subprocess.run(["javac", "-cp", class_path, "Example.java"], cwd=tmp_path, check=True)
    with zipfile.ZipFile(tmp_path / "example.jar", "w") as jar:
        jar.write(tmp_path / "Example.class", "Example.class")
    command = ["bash", str(SPARK_HOME / "bin" / "spark-submit"), "--master", "local[2]"]
    command += [*by_conf(), *settings(tmp_path), "--class", "Example", "example.jar"]
    done = run(tmp_path, command, SPARK_HOME=str(SPARK_HOME), PYTHONPATH="")
    assert done.returncode == 0, done.stderr[-4000:]
    check(done.stdout, results)


def test_table_functions_of_scala_have_the_arguments_of_python() -> None:
    source = SOURCE.read_text(encoding="utf-8")
    found = {
        snake(name): {snake(argument) for argument in re.findall(r"(\w+): ", arguments)}
        for name, arguments in re.findall(r"def (\w+)\((.*?)\): DataFrame", source, re.DOTALL)
    }
    expected = {
        name: {*inspect.signature(getattr(table_functions, name)).parameters}
        for name in table_functions.__all__
    }
    assert found == expected


def snake(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)
