# SPDX-License-Identifier: Apache-2.0
"""Runs the workloads: systems take turns, run by run. Only a right answer has a time."""

from __future__ import annotations

import statistics
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks import data
from benchmarks.adapter import Answer, Case, Limits
from benchmarks.processes import NoTimeError, Ran, Running
from benchmarks.systems import SYSTEMS
from benchmarks.workloads import Workload

START_LIMIT = 120.0  # seconds for a system to start
COLD_PATIENCE = 10.0  # seconds above the limit for the first run of systems on Java
MOST_WARM_UPS = 20  # unmeasured runs at most, which is enough for small tables
WIDTH_STEP = 4  # the ratio of two widths of bins that are tried


@dataclass(frozen=True)
class Options:
    """The options of a run of the suite."""

    systems: tuple[str, ...]
    cores: int
    heap: str
    runs: int
    limit: float  # seconds for a run
    warm_up: float = 0  # seconds, for systems that compile as they run; older results lack it


@dataclass
class Measured:
    """The times and the answer of a system in one case, or the reason for a missing time."""

    system: str
    seconds: list[float] = field(default_factory=list)  # of the warm runs
    unmeasured: list[float] = field(default_factory=list)  # of the runs between cold and warm
    cold: float | None = None
    peak: int = 0  # resident bytes
    answer: Answer | None = None
    why_not: str | None = None
    is_wrong: bool = False  # the answer, or one of several, is wrong
    width: int | None = None  # width of the bins

    @property
    def median(self) -> float | None:
        """The median of the warm runs; None if there is a reason in `why_not`."""
        return statistics.median(self.seconds) if self.seconds and not self.why_not else None

    @property
    def is_too_slow(self) -> bool:
        """True if a run took longer than the limit. Larger tables are not tried then."""
        return (self.why_not or "").startswith(">")


@dataclass
class CaseResult:
    """The results of all systems for a workload at one size."""

    workload: Workload
    rows: tuple[int, int]
    systems: list[Measured]
    why_not: str | None = None

    @property
    def title(self) -> str:
        """Name and size."""
        return f"{self.workload.name}, {self.size}"

    @property
    def is_confirmed(self) -> bool:
        """True if two systems found the same answer."""
        return sum(each.answer is not None and not each.is_wrong for each in self.systems) > 1

    def is_of(self, workload: Workload, size: int) -> bool:
        """True for the workload at a size; size 0 stands for tables with a fixed number of rows."""
        return self.workload == workload and size in (0, max(self.rows))

    @property
    def size(self) -> str:
        """The number of rows of both sides."""
        r, s = self.rows
        if not r:
            return "-"
        return f"{r:,}" if r == s else f"{r:,} x {s:,}"


def run(
    cases: Iterable[tuple[Workload, int]],
    options: Options,
    may_go_on: Callable[[], bool] = lambda: True,
    known: Sequence[CaseResult] = (),
) -> Iterator[CaseResult]:
    """Measures each workload at its sizes, in the order given: smaller sizes first.

    A system that was too slow is not tried on a larger size of the same workload. A system that was
    too slow on the anchor is not tried on other inner and left joins without an equality, because
    a nested loop takes as long there. The cases in `known` are not measured again; systems that
    were too slow in them are skipped in the same way.
    """
    slow: dict[tuple[str, str], tuple[int, str]] = {}
    for each in known:
        slow |= _too_slow(each)
    for workload, rows in cases:
        if any(each.is_of(workload, rows) for each in known):
            continue
        why_not = workload.tables.missing() or (None if may_go_on() else "the time was up")
        if why_not:
            yield CaseResult(workload, (rows, rows), [], why_not)
            continue
        out = _not_tried(workload, rows, options.systems, slow)
        tried = tuple(system for system in options.systems if system not in out)
        result = _measure(workload, rows, replace(options, systems=tried))
        slow |= _too_slow(result)
        result.systems += out.values()
        result.systems.sort(key=lambda each: options.systems.index(each.system))
        yield result


def _too_slow(case: CaseResult) -> dict[tuple[str, str], tuple[int, str]]:
    """By workload and system: the rows at which the system was too slow, and the reason shown."""
    slow = (each for each in case.systems if each.is_too_slow)
    return {(case.workload.name, each.system): (max(case.rows), str(each.why_not)) for each in slow}


def _not_tried(
    workload: Workload,
    rows: int,
    systems: tuple[str, ...],
    slow: dict[tuple[str, str], tuple[int, str]],
) -> dict[str, Measured]:
    """The systems that were too slow with as many or fewer rows of the workload or the anchor."""
    found = {}
    for system in systems:
        for name in [workload.name] + (["anchor"] if workload.is_of_all_pairs else []):
            least, reason = slow.get((name, system), (rows + 1, ""))
            if least <= rows:
                why_not = f"not tried: {reason} with {least:,} rows of {name}"
                found[system] = Measured(system, why_not=why_not)
    return found


def _measure(workload: Workload, rows: int, options: Options) -> CaseResult:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, ExitStack() as stack:
        folder = Path(name)
        workload.tables.write(folder, rows)
        limits = Limits(options.cores, options.heap, folder)
        running = {system: Running(system, limits) for system in options.systems}
        for process in running.values():
            stack.callback(process.close)
        measured = Measurement(Case(workload, folder), running, options).measure()
        check(measured)
        return CaseResult(workload, data.rows_of(folder), measured)


class Measurement:
    """The systems that run in one case, and their results so far."""

    def __init__(self, case: Case, running: dict[str, Running], options: Options) -> None:
        self.case, self.running, self.options = case, running, options
        self.measured = {name: Measured(name) for name in running}

    def measure(self) -> list[Measured]:
        self._each(lambda measured, process: process.wait_until_started(START_LIMIT))
        self._each(self._first)
        self._each(self._warm_up)
        for _ in range(self.options.runs):
            self._each(self._warm)
        for name, process in self.running.items():
            self.measured[name].peak = process.peak
        return list(self.measured.values())

    def _each(self, step: Callable[[Measured, Running], None]) -> None:
        """Takes one step with each system in turn, except systems that have failed."""
        for name, measured in self.measured.items():
            if not measured.why_not:
                try:
                    step(measured, self.running[name])
                except NoTimeError as error:
                    measured.why_not = str(error)

    def _first(self, measured: Measured, process: Running) -> None:
        if SYSTEMS[measured.system].is_tuned:
            measured.width = data.typical_length(self.case.folder)
        is_compiling = SYSTEMS[measured.system].compiles_as_it_runs
        limit = self.options.limit + (COLD_PATIENCE if is_compiling else 0)
        ran = self._ask(measured, process, limit)
        measured.cold, measured.answer = ran.seconds, ran.answer
        if measured.width:
            self._tune(measured, process)

    def _tune(self, measured: Measured, process: Running) -> None:
        """Tries wider bins while the query gets faster. If it never does, tries narrower bins."""
        assert measured.width
        first = self._run_unmeasured(measured, process)
        for step in (WIDTH_STEP, 1 / WIDTH_STEP):
            best = first
            while True:
                last, measured.width = measured.width, max(1, round(measured.width * step))
                seconds = self._run_unmeasured(measured, process, times=WIDTH_STEP)
                if seconds >= best or measured.width == last:
                    break
                best = seconds
            measured.width = last
            if best < first:
                break

    def _warm_up(self, measured: Measured, process: Running) -> None:
        """Lets Java compile before the measured runs; does nothing for systems without Java."""
        if not SYSTEMS[measured.system].compiles_as_it_runs:
            return
        runs = measured.unmeasured  # the tuning runs count
        while sum(runs) < self.options.warm_up and len(runs) < MOST_WARM_UPS:
            self._run_unmeasured(measured, process)

    def _run_unmeasured(self, measured: Measured, process: Running, times: float = 1) -> float:
        measured.unmeasured.append(self._again(measured, process, times))
        return measured.unmeasured[-1]

    def _warm(self, measured: Measured, process: Running) -> None:
        measured.seconds.append(self._again(measured, process))

    def _again(self, measured: Measured, process: Running, times: float = 1) -> float:
        """The seconds of a later run, which must repeat the answer, within `times` the limit."""
        ran = self._ask(measured, process, self.options.limit * times)
        if ran.answer != measured.answer:
            measured.is_wrong = True
            raise NoTimeError(f"answers {measured.answer}, then {ran.answer}")
        return ran.seconds

    def _ask(self, measured: Measured, process: Running, limit: float) -> Ran:
        return process.ask(replace(self.case, width=measured.width or 0), limit)


def check(measured: list[Measured]) -> None:
    """Marks answers that differ from the majority as wrong; without a majority, all of them."""
    answers = Counter(each.answer for each in measured if each.answer is not None)
    if len(answers) < 2:
        return
    (most, votes), (_, next_votes), *_ = answers.most_common()
    for each in measured:
        if each.answer is not None and (each.answer != most or votes == next_votes):
            each.why_not, each.is_wrong = f"answers {each.answer}, unlike others", True
