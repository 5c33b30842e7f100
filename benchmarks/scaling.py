# SPDX-License-Identifier: Apache-2.0
"""What another core, another task and another executor bring or cost.

The anchor, distributed, with all pairs made, in sessions that run in turn: each has a process of
its own, bound to its cores. The answers have to be the same.

    python -m benchmarks.scaling [--rows 1000000] [--runs 7]
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.adapter import Case, Limits
from benchmarks.data import Synthetic
from benchmarks.processes import Running
from benchmarks.workloads import Workload

SYSTEM = "intervalsweep-distributed-pairs"
SETTINGS = ((1, 4), (2, 4), (2, 2), (2, 20), (2, 200))  # cores, partitions
WARMING = 3
LIMIT = 300.0  # seconds for a run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    tables = Synthetic()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, ExitStack() as stack:
        folder = Path(name)
        tables.write(folder, options.rows)
        case = Case(Workload("anchor", "", tables), folder)
        sessions = {}
        for cores, partitions in SETTINGS:
            with bound_to(cores):
                limits = Limits(cores, "4g", folder, partitions)
                sessions[cores, partitions] = Running(SYSTEM, limits)
            stack.callback(sessions[cores, partitions].close)
        medians = measure(sessions, case, options.runs)
    print("| cores | partitions | median s |\n|--:|--:|--:|")
    for (cores, partitions), seconds in medians.items():
        print(f"| {cores} | {partitions} | {seconds:.2f} |")
    print(f"\ntwo cores are {medians[1, 4] / medians[2, 4]:.2f} times as fast as one")
    print(f"200 partitions take {medians[2, 200] / medians[2, 4]:.2f} times as long as 4")


@contextmanager
def bound_to(cores: int) -> Iterator[None]:
    """What is started in here may use so many cores."""
    all_cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(all_cores)[:cores])
    try:
        yield
    finally:
        os.sched_setaffinity(0, all_cores)


def measure(
    sessions: dict[tuple[int, int], Running], case: Case, runs: int
) -> dict[tuple[int, int], float]:
    """The median seconds of each session."""
    seconds: dict[tuple[int, int], list[float]] = {key: [] for key in sessions}
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
