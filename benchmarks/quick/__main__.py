# SPDX-License-Identifier: Apache-2.0
"""Measures seven cases and compares their ratios with the committed ones.

python -m benchmarks.quick [--only CASE ...] [--runs N] [--write]

A ratio is our seconds divided by the rival's, so a smaller one is better. The exit code is 1 if a
ratio is worse than the committed one by more than a tenth, or if a case has no ratio.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.machine import heading, versions
from benchmarks.quick import cases
from benchmarks.quick.cases import CASES, OURS
from benchmarks.report import write_json
from benchmarks.streams.processes import run

COMMITTED = Path(__file__).resolve().parents[1] / "results" / "quick.json"
LOGS = Path("target/benchmarks/quick")
LIMIT = 300.0  # seconds for a case
TOLERANCE = 0.1
HEAD = """\
| case | rival | ours, s | rival, s | ratio | committed | change | |
|---|---|--:|--:|--:|--:|--:|---|"""


@dataclass(frozen=True)
class Result:
    """The seconds of a case, in the order of the turns."""

    rival: str
    rows: int
    ours: list[float]
    rivals: list[float]

    @property
    def ratio(self) -> float:
        """The median of the turns' ratios, as a disturbance that spans a turn slows both down."""
        return statistics.median(a / b for a, b in zip(self.ours, self.rivals, strict=True))

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "ratio": round(self.ratio, 4)}

    def line(self, name: str, committed: float | None) -> str:
        """A row of the table."""
        seconds = (f"{statistics.median(each):.3f}" for each in (self.ours, self.rivals))
        change = "-" if committed is None else f"{self.ratio / committed - 1:+.1%}"
        before = "-" if committed is None else f"{committed:.3f}"
        mark = "worse" if self.is_worse(committed) else ""
        cells = (name, self.rival, *seconds, f"{self.ratio:.3f}", before, change, mark)
        return f"| {' | '.join(cells)} |"

    def is_worse(self, committed: float | None) -> bool:
        return committed is not None and self.ratio > committed * (1 + TOLERANCE)


def main() -> int:
    """Measures the cases, prints a table and returns the exit code."""
    given = parsed()
    head = heading()
    committed = json.loads(COMMITTED.read_text()) if COMMITTED.exists() else {"cases": {}}
    if committed.get("machine", head["machine"]) != head["machine"]:
        print(f"The committed ratios are from another machine: {committed['machine']}\n")
    print(HEAD, flush=True)
    results: dict[str, Result] = {}
    has_failed = False
    for name in given.only:
        found = measured(name, given.rows or CASES[name].rows, given.runs or CASES[name].runs)
        if isinstance(found, str):
            print(f"| {name} | {found} |", flush=True)
            has_failed = True
            continue
        results[name] = found
        before = committed_ratio(committed, name, found)
        print(found.line(name, before), flush=True)
        has_failed |= found.is_worse(before) and not given.write
    if given.write and len(results) == len(CASES):
        write(head, results)
    return int(has_failed)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quick",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--only", nargs="+", choices=CASES, metavar="CASE", help=", ".join(CASES))
    add("--runs", type=int, help="measured turns, instead of those of each case")
    add("--rows", type=int, help="for a trial: the rows of a side, or the events of a stream")
    add("--write", action="store_true", help="commit these ratios: write results/quick.json")
    given = parser.parse_args()
    if given.write and (given.only or given.rows):
        parser.error("--write needs all cases, with their own rows")
    given.only = given.only or list(CASES)
    return given


def measured(name: str, rows: int, runs: int) -> Result | str:
    """The result of a case, which runs in a separate process; or the reason for its failure."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{name}.log"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        program = [sys.executable, "-m", cases.__name__, name, folder, str(rows), str(runs)]
        found = run(program, LIMIT, log)
    if "error" in found:
        return f"{found['error']}, in {LOGS}"
    rival = CASES[name].rival
    return Result(rival, rows, found[OURS], found[rival])


def committed_ratio(committed: dict[str, Any], name: str, result: Result) -> float | None:
    """The committed ratio of a case; None if there is none with the same rival and rows."""
    case = committed["cases"].get(name, {})
    is_same = (case.get("rival"), case.get("rows")) == (result.rival, result.rows)
    return float(case["ratio"]) if is_same else None


def write(head: dict[str, Any], results: dict[str, Result]) -> None:
    """Writes the ratios to commit."""
    found = {name: {"about": CASES[name].about, **each.as_json()} for name, each in results.items()}
    used = versions(["intervalsweep", "duckdb"])
    write_json(COMMITTED, {**head, "versions": used, "cases": found})


if __name__ == "__main__":
    sys.exit(main())
