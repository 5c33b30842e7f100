# SPDX-License-Identifier: Apache-2.0
"""The pages: programs run, generated parts are up to date, and the site builds."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from support.docs import pages
from support.spark.comparison import SMALL_GROUPS

ROOT = Path(__file__).resolve().parents[2]
# test_api_docs.py runs this page and checks the results.
OWN_TEST = "python-api.md"
# Tables that a page uses but does not create.
TABLES = {
    "sql-functions.md": (
        "CREATE TEMPORARY VIEW r AS SELECT 'a' AS name",
        "CREATE TEMPORARY VIEW s AS SELECT 'b' AS name",
    ),
}
# Languages of pages that another test runs: test_scala_page.py.
MORE_LANGUAGES = {"scala.md": {"java", "scala", "xml"}}
# Table functions over the intervals of one table.
SETS = ["INTERVAL_MERGE", "INTERVAL_SPLIT", "INTERVAL_COMPLEMENT"]


def runs(page: Path) -> bool:
    return page.name != OWN_TEST and any(block.runs for block in pages.blocks(page))


@pytest.fixture
def fresh(spark: Any) -> Iterator[Any]:
    """The session without temporary views and with users' settings; restored afterwards."""
    before = dict(spark.conf.getAll)
    spark.conf.unset(SMALL_GROUPS)
    spark.conf.set("spark.sql.shuffle.partitions", "1")  # small tables need one task
    drop_views(spark)
    yield spark
    drop_views(spark)
    for key in spark.conf.getAll.keys() - before.keys():
        spark.conf.unset(key)
    for key, value in before.items():
        if spark.conf.get(key, None) != value:
            spark.conf.set(key, value)


def drop_views(spark: Any) -> None:
    for table in spark.catalog.listTables():
        if table.isTemporary:
            spark.catalog.dropTempView(table.name)


@pytest.mark.parametrize("page", [*filter(runs, pages.PAGES)], ids=lambda page: page.stem)
def test_programs_of_a_page_run(fresh: Any, page: Path) -> None:
    for statement in TABLES.get(page.name, ()):
        fresh.sql(statement)
    pages.run(page, fresh)


def test_all_fences_are_known() -> None:
    """Blocks with an indent, no language or a misspelt mark would be skipped silently."""
    for page in pages.PAGES:
        blocks = list(pages.blocks(page))
        fences = re.findall(r"^\s*(?:```|~~~)", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert len(fences) == 2 * sum(block.language != "" for block in blocks), page
        languages = {"", "bash", "json", "python", "sql", "text"}
        languages |= MORE_LANGUAGES.get(page.name, set())
        for block in blocks:
            assert block.language in languages, (page, block)
            assert not block.info or not block.runs, (page, block)


def test_links_lead_somewhere() -> None:
    """Links lead to existing files. The build of the site checks anchors, too."""
    links = [
        (page, link)
        for page in [*pages.PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
        for link in re.findall(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    ]
    assert len(links) > 100
    assert not [(page, link) for page, link in links if not (page.parent / link).exists()]


def test_sql_functions_page_is_up_to_date() -> None:
    command = [sys.executable, ROOT / "tools" / "generate.py", "--check"]
    check = subprocess.run(command, capture_output=True, text=True)
    assert check.returncode == 0, check.stderr


def test_sql_functions_page_has_an_entry_per_relation() -> None:
    page = (ROOT / "docs" / "sql-functions.md").read_text(encoding="utf-8")
    relations = json.loads((ROOT / "python" / "intervalsweep" / "relations.json").read_bytes())
    names = [relation["name"] for relation in relations["relations"]]
    headings = [line.removeprefix("### ") for line in page.splitlines() if line.startswith("### ")]
    assert headings == [*names, *SETS]


def test_functions_of_one_table_describe_themselves(spark: Any) -> None:
    for name in SETS:
        said = spark.sql(f"DESCRIBE FUNCTION {name}").collect()
        usage = next(row[0] for row in said if row[0].startswith("Usage: "))
        assert usage.startswith(f"Usage: {name.lower()}(TABLE(t), ts, te")


HISTORIES = ["validtime", "sequenced", "temporal_except_strict", "temporal_union_max"]
HISTORIES += [f"temporal_{name}" for name in ("coalesce", "split", "window")]


@pytest.mark.parametrize("name", HISTORIES)
def test_functions_of_histories_describe_themselves(spark: Any, name: str) -> None:
    said = [row[0] for row in spark.sql(f"DESCRIBE FUNCTION EXTENDED {name}").collect()]
    usage = next(line for line in said if line.startswith("Usage: "))
    assert usage.startswith(f"Usage: {name}(TABLE(")
    assert f"Function: {name}" in said


@pytest.mark.skipif(find_spec("material") is None, reason="the extra docs is not installed")
def test_site_builds_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path]
    build = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert build.returncode == 0, build.stderr
    assert (tmp_path / "changelog.html").is_file()
