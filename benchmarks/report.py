# SPDX-License-Identifier: Apache-2.0
"""Writes results as JSON and as Markdown tables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.suite import CaseResult, Measured, Options
from benchmarks.systems import SYSTEMS
from benchmarks.workloads import workloads

NONE = "-"


def write_json(file: Path, report: Any) -> None:
    """Writes a file of results, and creates its folder if needed."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


@dataclass
class Report:
    """The results of a run of the suite, with machine, versions and options."""

    date: str
    commit: str
    machine: dict[str, str | int]
    versions: dict[str, str]
    options: Options
    cases: list[CaseResult] = field(default_factory=list)

    @classmethod
    def read(cls, file: Path) -> Report:
        """Reads a report to continue it, without the cases that were left out."""
        report = json.loads(file.read_text(encoding="utf-8"))
        options = report["options"] | {"systems": tuple(report["options"]["systems"])}
        cases = [_read_case(case) for case in report["cases"] if not case["why_not"]]
        return cls(**report | {"options": Options(**options), "cases": cases})

    def differences(self, other: Report) -> list[str]:
        """Differences in commit, machine, versions or options, which make times incomparable."""
        return [
            f"{name}: {ours}, there {theirs}"
            for name in ("commit", "machine", "versions", "options")
            if (ours := getattr(self, name)) != (theirs := getattr(other, name))
        ]

    @property
    def is_wrong(self) -> bool:
        """True if systems disagreed about an answer."""
        return any(each.is_wrong for case in self.cases for each in case.systems)

    def as_json(self) -> dict[str, Any]:
        """All results, with the seconds of each run, for `write_json`."""
        options = vars(self.options) | {"systems": list(self.options.systems)}
        head = {"date": self.date, "commit": self.commit, "machine": self.machine}
        body = {"versions": self.versions, "options": options}
        return {**head, **body, "cases": [_case(case) for case in self.cases]}

    def as_markdown(self) -> str:
        """A table of medians, then a table for each case."""
        return "\n".join([*self._head(), *self._medians(), *self._details(), ""])

    def _head(self) -> Iterator[str]:
        machine, options = self.machine, self.options
        yield f"# Benchmarks of {self.date}, commit {self.commit}\n"
        yield f"- {machine['cpu']}, {machine['cores']} cores, {machine['memory_gib']} GiB,"
        yield f"  {machine['system']}; {options.cores} cores and a Java heap of {options.heap} each"
        yield "- " + ", ".join(f"{name} {version}" for name, version in self.versions.items())
        yield f"- median of {options.runs} warm runs, interleaved, of at most {options.limit:g} s"
        yield f"- before them {options.warm_up:g} s of unmeasured runs of systems on Java, which"
        yield "  compile as they run; the others are warm after the cold run\n"

    def _medians(self) -> Iterator[str]:
        names = self.options.systems
        yield from _row("workload", "rows a side", *(SYSTEMS[name].title for name in names))
        yield "|---|---" + "|--:" * len(names) + "|"
        for case in self.cases:
            found = {each.system: _median(each) for each in case.systems}
            cells = [found.get(name, NONE) for name in names]
            yield from _row(case.workload.name, case.size, *cells)
        yield f"\nSeconds. {NONE}: no time, see below for the reason.\n"

    def _details(self) -> Iterator[str]:
        for case in self.cases:
            yield f"## {case.title}\n"
            yield f"{case.workload.about}: `{case.workload.sql('r', 's', case.workload.on())}`\n"
            if case.why_not:
                yield f"Not measured: {case.why_not}.\n"
                continue
            yield from _row("system", "median s", "min", "max", "cold", "peak MiB", "")
            yield "|---|--:|--:|--:|--:|--:|---|"
            for each in case.systems:
                yield from _row(SYSTEMS[each.system].title, *_figures(each), _note(each))
            yield f"\n{_answers(case)}\n"


def _case(case: CaseResult) -> dict[str, Any]:
    return {
        "workload": case.workload.name,
        "about": case.workload.about,
        "query": case.workload.sql("r", "s", case.workload.on()),
        "rows": case.rows,
        "why_not": case.why_not,
        "is_confirmed": case.is_confirmed,
        "systems": [vars(each) | {"median": each.median} for each in case.systems],
    }


def _read_case(case: dict[str, Any]) -> CaseResult:
    """Reads what `_case` wrote."""
    (workload,) = (each for each in workloads() if each.name == case["workload"])
    systems = []
    for each in case["systems"]:
        answer = None if each["answer"] is None else tuple(each["answer"])
        written = {name: value for name, value in each.items() if name != "median"}
        systems.append(Measured(**written | {"answer": answer}))
    r, s = case["rows"]
    return CaseResult(workload, (r, s), systems, case["why_not"])


def _row(*cells: str) -> Iterator[str]:
    yield "| " + " | ".join(cells) + " |"


def _median(each: Measured) -> str:
    if each.is_wrong:
        return "wrong"
    if (each.why_not or "").startswith("not tried"):
        return "not tried"
    return (each.why_not or "") if each.is_too_slow else _seconds(each.median)


def _figures(each: Measured) -> list[str]:
    if each.median is None:
        return [_median(each), NONE, NONE, NONE, NONE]
    times = (each.median, min(each.seconds), max(each.seconds), each.cold)
    return [*map(_seconds, times), f"{each.peak / 2**20:.0f}"]


def _note(each: Measured) -> str:
    if each.why_not:
        return each.why_not.replace("|", "\\|")
    return f"bins of {each.width:,}" if each.width else ""


def _seconds(seconds: float | None) -> str:
    return NONE if seconds is None else f"{seconds:.2f}" if seconds < 100 else f"{seconds:.0f}"


def _answers(case: CaseResult) -> str:
    right = [each.answer for each in case.systems if each.answer and not each.is_wrong]
    if not right:
        return "No answer to trust."
    by = "" if case.is_confirmed else ", of one system alone: not compared with another"
    return f"Answer: {', '.join(f'{value:,}' for value in right[0])}{by}."
