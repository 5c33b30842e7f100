# SPDX-License-Identifier: Apache-2.0
"""Measures the gain or cost of one more core, task or executor.

Runs the anchor, distributed and with all pairs made, in sessions that take turns. Each session has
a separate process, bound to its cores. The answers must be equal.

    python -m benchmarks.studies.scaling [--rows 1000000] [--runs 7] [--output FOLDER]
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks import machine
from benchmarks.adapter import Case, Limits
from benchmarks.data import Synthetic
from benchmarks.processes import Running
from benchmarks.report import write_json
from benchmarks.workloads import Workload

SYSTEM = "intervalsweep-distributed-pairs"


class Setting(NamedTuple):
    """Cores, shuffle partitions, and executors of one core each; 0: tasks run in the driver."""

    cores: int
    partitions: int
    executors: int = 0


ONE, TWO, MANY = Setting(1, 4), Setting(2, 4), Setting(2, 200)
SETTINGS = (ONE, TWO, Setting(2, 2), Setting(2, 20), MANY, Setting(2, 4, executors=2))
WARMING = 3
LIMIT = 300.0  # seconds for a run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--output", type=Path, help="folder for scaling.json")
    options = parser.parse_args()
    tables = Synthetic()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, ExitStack() as stack:
        folder = Path(name)
        tables.write(folder, options.rows)
        case = Case(Workload("anchor", "", tables), folder)
        sessions = {}
        for setting in SETTINGS:
            with bound_to(setting.cores):
                limits = Limits(setting.cores, "4g", folder, setting.partitions, setting.executors)
                sessions[setting] = Running(SYSTEM, limits)
            stack.callback(sessions[setting].close)
        medians = measure(sessions, case, options.runs)
    print("| cores | partitions | executors | median s |\n|--:|--:|--:|--:|")
    for (cores, partitions, executors), seconds in medians.items():
        print(f"| {cores} | {partitions} | {executors or '-'} | {seconds:.2f} |")
    print(f"\ntwo cores are {medians[ONE] / medians[TWO]:.2f} times as fast as one")
    print(f"200 partitions take {medians[MANY] / medians[TWO]:.2f} times as long as 4")
    if options.output:
        settings = [{"setting": key, "median": seconds} for key, seconds in medians.items()]
        report = {**machine.heading(), "rows": options.rows, "settings": settings}
        write_json(options.output / "scaling.json", report)


@contextmanager
def bound_to(cores: int) -> Iterator[None]:
    """Binds the processes that start inside to the first `cores` cores."""
    all_cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(all_cores)[:cores])
    try:
        yield
    finally:
        os.sched_setaffinity(0, all_cores)


def measure(sessions: dict[Setting, Running], case: Case, runs: int) -> dict[Setting, float]:
    """The median seconds of each session."""
    seconds: dict[Setting, list[float]] = {key: [] for key in sessions}
    answers = set()
    for run in range(WARMING + runs):
        for key, session in sessions.items():
            if run == 0:
                session.wait_until_started(LIMIT)
            ran = session.ask(case, LIMIT)
            answers.add(ran.answer)
            if run >= WARMING:
                seconds[key].append(ran.seconds)
    if len(answers) != 1:
        raise AssertionError(f"other answers: {answers}")
    return {key: statistics.median(each) for key, each in seconds.items()}


if __name__ == "__main__":
    main()
