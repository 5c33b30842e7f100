# SPDX-License-Identifier: Apache-2.0
"""The guard for speed marks ratios that are worse than the committed ones. Tests check no times."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.quick import __main__ as quick
from benchmarks.quick.cases import CASES
from benchmarks.turns import seconds_of
from support.spark.applications import PACKAGES, run

ROOT = Path(__file__).resolve().parents[2]
Guard = Callable[..., tuple[int, str]]


@pytest.fixture
def guard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Guard:
    """Runs the guard with cases that take the given seconds; returns exit code and table."""
    monkeypatch.setattr(quick, "COMMITTED", tmp_path / "quick.json")

    def guarded(*arguments: str, ours: float | str) -> tuple[int, str]:
        def measured(name: str, rows: int, runs: int) -> quick.Result | str:
            if isinstance(ours, str):
                return ours
            return quick.Result(CASES[name].rival, rows, [ours] * runs, [1.0] * runs)

        monkeypatch.setattr(quick, "measured", measured)
        monkeypatch.setattr(sys, "argv", ["quick", *arguments])
        return quick.main(), capsys.readouterr().out

    return guarded


def test_ratio_that_is_worse_by_more_than_a_tenth_is_marked(guard: Guard) -> None:
    assert guard("--write", ours=0.5)[0] == 0
    assert guard(ours=0.54)[0] == 0
    code, table = guard("--only", "anchor", ours=0.56)
    assert code == 1
    assert table.splitlines()[-1] == (
        "| anchor | DuckDB | 0.560 | 1.000 | 0.560 | 0.500 | +12.0% | worse |"
    )
    assert guard("--write", ours=0.56)[0] == 0
    assert guard(ours=0.56)[0] == 0


def test_other_rows_are_not_compared(guard: Guard) -> None:
    assert guard("--write", ours=0.5)[0] == 0
    code, table = guard("--only", "arrow", "--rows", "9", ours=5.0)
    assert code == 0
    assert table.endswith("| arrow | DuckDB | 5.000 | 1.000 | 5.000 | - | - |  |\n")


def test_case_that_fails_is_an_error(guard: Guard) -> None:
    code, table = guard("--write", ours="exit code 1")
    assert code == 1
    assert "| as-of | exit code 1 |" in table
    assert not quick.COMMITTED.exists()


def test_only_all_cases_are_written(guard: Guard, capsys: pytest.CaptureFixture[str]) -> None:
    for more in (["--only", "arrow"], ["--rows", "9"]):
        with pytest.raises(SystemExit):
            guard("--write", *more, ours=1.0)
        assert "--write needs all cases, with their own rows" in capsys.readouterr().err
    guard("--write", ours=1.0)
    text = quick.COMMITTED.read_text(encoding="utf-8")
    assert list(json.loads(text)["cases"]) == list(CASES)
    for private in (platform.node(), str(ROOT), str(Path.home()) + "/"):
        assert private not in text


def test_ratio_is_that_of_the_median_turn() -> None:
    result = quick.Result("Spark", 9, [1.0, 9.0, 2.0], [2.0, 18.0, 1.0])
    assert result.ratio == 0.5


def test_committed_ratios_are_those_of_the_cases() -> None:
    if not quick.COMMITTED.exists():
        pytest.skip("no ratios are committed")
    cases = json.loads(quick.COMMITTED.read_text(encoding="utf-8"))["cases"]
    assert {name: (case["rival"], case["rows"]) for name, case in cases.items()} == {
        name: (case.rival, case.rows) for name, case in CASES.items()
    }


def test_ways_take_turns_and_agree() -> None:
    asked = []

    def way(name: str, *answers: int | None) -> Callable[[], tuple[int | None, ...]]:
        def answer() -> tuple[int | None, ...]:
            asked.append(name)
            return answers

        return answer

    seconds = seconds_of({"a": way("a", 7, None), "b": way("b", 7, None)}, runs=2, warm_up=1)
    assert asked == ["a", "b"] * 3
    assert [len(each) for each in seconds.values()] == [2, 2]
    different = {"a": way("a", 7), "b": way("b", 8)}
    assert seconds_of(different, 1, 0, agree=False)
    with pytest.raises(AssertionError, match="the answers differ"):
        seconds_of(different, 1, 0)


@pytest.mark.extended
def test_all_cases_run(jar: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.quick", "--rows", "2000", "--runs", "1"]
    done = run(tmp_path, command, PYTHONPATH=f"{ROOT}:{PACKAGES}")
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    lines = done.stdout.splitlines()[-len(CASES) :]
    assert [line.split(" | ")[0] for line in lines] == [f"| {name}" for name in CASES]
