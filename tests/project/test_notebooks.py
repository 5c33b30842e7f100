# SPDX-License-Identifier: Apache-2.0
"""The notebooks run from the first cell to the last, and print the right results."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed: the extra plot has it")
from matplotlib import pyplot

from support.streams.arrivals import SETTINGS

DOCS = Path(__file__).resolve().parents[2] / "docs"
NOTEBOOKS = {path.stem: path for path in sorted((DOCS / "notebooks").glob("*.py"))}


def run(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Runs a notebook and returns its output; asserts that no picture is empty."""
    pyplot.switch_backend("Agg")
    runpy.run_path(str(NOTEBOOKS[name]))
    calls = re.findall(r"^ax = plot\.", NOTEBOOKS[name].read_text(encoding="utf-8"), re.MULTILINE)
    drawn = [pyplot.figure(number) for number in pyplot.get_fignums()]
    assert len(drawn) == len(calls) > 0
    for figure in drawn:
        figure.canvas.draw()
        assert any(ax.containers or ax.patches for ax in figure.axes)
    pyplot.close("all")
    return capsys.readouterr().out


def test_all_are_here() -> None:
    with_spark = ["as_of", "genomics", "histories_of_streams", "streams", "temporal", "time_series"]
    assert list(NOTEBOOKS) == [*with_spark, "without_spark"]


@pytest.mark.extended
@pytest.mark.usefixtures("spark")
def test_histories_of_streams(conf: Any, capsys: pytest.CaptureFixture[str]) -> None:
    conf(SETTINGS)
    printed = run("histories_of_streams", capsys)
    assert re.search(r"\d\d of \d\d rows are written: True", printed)


@pytest.mark.extended
@pytest.mark.usefixtures("spark")
def test_as_of(conf: Any, capsys: pytest.CaptureFixture[str]) -> None:
    conf(SETTINGS)
    printed = run("as_of", capsys)
    assert "changes without one before them: 2931" in printed
    assert "28758 rows, all as over tables: True" in printed


@pytest.mark.extended
@pytest.mark.usefixtures("spark")
def test_genomics(conf: Any, capsys: pytest.CaptureFixture[str]) -> None:
    conf(
        {
            "spark.sql.autoBroadcastJoinThreshold": "10MB",
            "spark.sql.shuffle.partitions": "4",
            "spark.sql.adaptive.coalescePartitions.enabled": "true",
        }
    )
    printed = run("genomics", capsys)
    assert re.search(r"swept: .*keys \[e.contig = h.contig\]", printed)
    assert "Row(count(1)=54246)" in printed


@pytest.mark.extended
@pytest.mark.usefixtures("spark")
def test_streams(conf: Any, capsys: pytest.CaptureFixture[str]) -> None:
    conf(SETTINGS)
    printed = run("streams", capsys)
    assert re.search(r"24000 requests, [1-9]\d{5,} payments in their windows", printed)
    final = re.search(r"(\d+) requests are final, all as over tables: True", printed)
    assert final
    assert 20_000 < int(final[1]) < 24_000


@pytest.mark.extended
@pytest.mark.usefixtures("spark")
def test_time_series(capsys: pytest.CaptureFixture[str]) -> None:
    printed = run("time_series", capsys)
    # Session 4 lasts from 09:08 to 10:20; two overlapping outages affect it from 09:10 on.
    assert re.search(r"session 4\| +deploy\|", printed)
    assert re.search(r"session 4\| +router\|", printed)
    assert re.search(r"session 4\| +70\.0\|", printed)
    assert re.search(r"eu\|2026-03-01 09:10:00\|2026-03-01 10:20:00\| +2\|", printed)
    assert re.search(r"us\| +NULL\| +9\|", printed)


@pytest.mark.extended
@pytest.mark.usefixtures("spark")
def test_temporal(capsys: pytest.CaptureFixture[str]) -> None:
    printed = run("temporal", capsys)
    assert re.search(r"tea\| +4\|spring\|2024-06-01\|2024-07-01\|", printed)
    assert re.search(r"tea\| +4\| +NULL\|2024-07-01\| +NULL\|", printed)
    assert re.search(r"2\| +9\|2024-03-01\|2024-09-01\|", printed)
    assert re.search(r"\d+ changes, at most \d+ files", printed)


@pytest.mark.extended
def test_without_spark(capsys: pytest.CaptureFixture[str]) -> None:
    for library in ("pandas", "polars"):
        pytest.importorskip(library, reason=f"{library} is not installed")
    printed = run("without_spark", capsys)
    assert re.search(r"blue +b1 +b2\n", printed)
    assert re.search(r"red 2026-05-05 2026-05-06", printed)
    assert re.search(r"999 +┆ 1000 +┆ 1000 ", printed)
    assert "b3" in printed
    assert "86400000000" in printed
