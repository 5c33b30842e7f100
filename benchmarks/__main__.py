# SPDX-License-Identifier: Apache-2.0
"""The command line of the suite: `python -m benchmarks --help`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path

from benchmarks import machine
from benchmarks.report import Report, write_json
from benchmarks.suite import CaseResult, Options, run
from benchmarks.systems import FULL, HEADLINE, SYSTEMS
from benchmarks.workloads import Workload, workloads

# Defaults of the options. Limit and warm-up are in seconds.
HEADLINE_DEFAULTS = {"systems": HEADLINE, "limit": 5.0, "warm_up": 5.0}
FULL_DEFAULTS = {"systems": FULL, "limit": 60.0, "warm_up": 15.0}


def main() -> int:
    """Measures, writes the results, and returns 1 if systems disagreed about an answer."""
    options = _arguments()
    if options.list:
        _list()
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the systems end as well
    cores = os.sched_getaffinity(0)
    wanted = options.cores or len(cores)
    heading = machine.heading()  # before the affinity below: with all cores of the machine
    os.sched_setaffinity(0, sorted(cores)[:wanted])  # the systems inherit the affinity
    report = Report(
        **heading,
        versions=machine.versions(options.systems),
        options=Options(
            systems=tuple(options.systems),
            cores=wanted,
            heap=options.heap,
            runs=options.runs,
            limit=options.limit,
            warm_up=options.warm_up,
        ),
    )
    folder = options.output or Path("target", "benchmarks", f"{report.date}-{report.commit}")
    if options.resume:
        folder, report = options.resume, _resumed(options.resume, report)
    folder.mkdir(parents=True, exist_ok=True)
    known = tuple(report.cases)
    for result in run(_cases(options), report.options, _clock(options.minutes), known):
        print(_line(result), flush=True)
        report.cases.append(result)
        _write(report, folder)  # after each case, so that little is lost if the suite is stopped
    _draw(report, folder)
    print(f"results: {folder}")
    return 1 if report.is_wrong else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    add = parser.add_argument
    add("--full", action="store_true", help="all workloads and sizes, not the headline set alone")
    add("--only", nargs="+", default=["*"], metavar="PATTERN", help="workloads by name: 'join-*'")
    add("--sizes", nargs="+", type=int, metavar="ROWS", help="instead of the workload's own")
    add("--systems", nargs="+", choices=SYSTEMS, metavar="SYSTEM")
    add("--runs", type=int, default=5, help="warm runs (%(default)s)")
    warm_up = "unmeasured runs before them of what compiles as it runs"
    add("--warm-up", type=float, metavar="SECONDS", help=warm_up)
    add("--limit", type=float, help="seconds for a run, else its system is out")
    add("--minutes", type=float, default=float("inf"), help="begin none that may end later")
    add("--cores", type=int, help="for each system (all)")
    add("--heap", default="4g", help="of each Java machine (%(default)s)")
    add("--output", type=Path, help="folder of the results (target/benchmarks/DATE-COMMIT)")
    resume = "go on with the results in a folder: with their options, on their commit and machine"
    add("--resume", type=Path, metavar="FOLDER", help=resume)
    add("--list", action="store_true", help="show workloads and systems, and stop")
    options = parser.parse_args()
    for name, value in (FULL_DEFAULTS if options.full else HEADLINE_DEFAULTS).items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    return options


def _resumed(folder: Path, report: Report) -> Report:
    """The results in the folder; exits if commit, machine, versions or options differ."""
    try:
        known = Report.read(folder / "results.json")
    except FileNotFoundError as error:
        sys.exit(f"--resume: there is no {error.filename}")
    if differences := report.differences(known):
        sys.exit(f"--resume: the results in {folder} are of another\n" + "\n".join(differences))
    return known


def _list() -> None:
    for workload in workloads():
        sizes = ", ".join(f"{size:,}" for size in workload.sizes if size) or "as it is"
        print(f"{workload.name:28} {workload.about} ({sizes})")
    print("\nsystems: " + " ".join(SYSTEMS))


def _cases(options: argparse.Namespace) -> list[tuple[Workload, int]]:
    named = [each for each in workloads() if any(fnmatch(each.name, p) for p in options.only)]
    return [(each, size) for each in named for size in _sizes(each, options)]


def _sizes(workload: Workload, options: argparse.Namespace) -> tuple[int, ...]:
    """The sizes to measure, in ascending order: the given ones, all, or the headline set."""
    own = workload.sizes if options.full or options.only != ["*"] else workload.headline
    return tuple(sorted(options.sizes)) if options.sizes and any(own) else own


def _clock(minutes: float) -> Callable[[], bool]:
    """Returns a function that is true while another case of average duration ends in time."""
    begun, cases = time.monotonic(), 0

    def may_go_on() -> bool:
        nonlocal cases
        elapsed = time.monotonic() - begun
        is_in_time = elapsed + elapsed / max(1, cases) <= 60 * minutes
        cases += is_in_time
        return is_in_time

    return may_go_on


def _line(result: CaseResult) -> str:
    if result.why_not:
        return f"{result.workload.name}: {result.why_not}"
    cells = []
    for each in result.systems:
        figure = f"{each.median:.2f} s" if each.median is not None else each.why_not
        cells.append(f"{SYSTEMS[each.system].title} {figure}")
    return f"{result.title}: {'; '.join(cells)}"


def _write(report: Report, folder: Path) -> None:
    write_json(folder / "results.json", report.as_json())
    (folder / "results.md").write_text(report.as_markdown(), encoding="utf-8")


def _draw(report: Report, folder: Path) -> None:
    try:
        from benchmarks.plots import draw

        draw(report, folder)
    except ImportError as error:
        print(f"no pictures: {error.name} is not installed")


if __name__ == "__main__":
    sys.exit(main())
