# SPDX-License-Identifier: Apache-2.0
"""Results as pictures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from benchmarks.report import Report
from benchmarks.suite import CaseResult, Measured
from benchmarks.systems import SYSTEMS


def draw(report: Report, folder: Path) -> list[Path]:
    """Times and memory of all cases, and how the times grow with rows and with lengths."""
    import matplotlib as mpl

    mpl.use("Agg")
    cases = [case for case in report.cases if not case.why_not]
    anchor = [(max(case.rows), case) for case in cases if case.workload.name == "anchor"]
    lengths = [(_length(case), case) for case in cases if _length(case)]
    drawn = [
        _bars(report, cases, "median seconds", folder / "seconds.png", lambda each: each.median),
        _bars(report, cases, "peak resident MiB", folder / "memory.png", _mebibytes),
        _lines(report, anchor, "rows a side", folder / "rows.png"),
        _lines(report, lengths, "mean length", folder / "lengths.png"),
    ]
    return [file for file in drawn if file]


def _bars(
    report: Report, cases: list[CaseResult], label: str, file: Path, value: Any
) -> Path | None:
    """A group of bars for each case, a bar for each system."""
    if not cases:
        return None
    systems = report.options.systems
    axes = _axes(report, (8, 1 + 0.16 * len(cases) * (len(systems) + 1)))
    for number, name in enumerate(systems):
        places, values = [], []
        for row, case in enumerate(cases):
            for each in case.systems:
                if each.system == name and (height := value(each)) is not None:
                    places.append(row + (number + 0.5) / (len(systems) + 1))
                    values.append(height)
        axes.barh(places, values, 1 / (len(systems) + 1), **_style(name))
    axes.set_yticks([row + 0.45 for row in range(len(cases))], [case.title for case in cases])
    axes.set(xscale="log", xlabel=label)
    axes.invert_yaxis()
    return _save(axes, file)


def _lines(
    report: Report, cases: list[tuple[int, CaseResult]], label: str, file: Path
) -> Path | None:
    """Seconds over what changes, a line for each system."""
    if len(cases) < 2:
        return None
    axes = _axes(report, (7, 5))
    for name in report.options.systems:
        points = sorted(
            (x, each.median)
            for x, case in cases
            for each in case.systems
            if each.system == name and each.median is not None
        )
        axes.plot([x for x, _ in points], [y for _, y in points], marker="o", **_style(name))
    axes.set(xscale="log", yscale="log", xlabel=label, ylabel="median seconds")
    return _save(axes, file)


def _axes(report: Report, size: tuple[float, float]) -> Any:
    from matplotlib import pyplot

    _, axes = pyplot.subplots(figsize=size, layout="constrained")
    machine = f"{report.machine['cpu']}, {report.options.cores} cores"
    axes.set_title(f"{report.date}, commit {report.commit}, {machine}", fontsize="small")
    axes.grid(alpha=0.3)
    return axes


def _style(name: str) -> dict[str, str]:
    """The same color for a system in all pictures."""
    return {"color": f"C{list(SYSTEMS).index(name)}", "label": SYSTEMS[name].title}


def _save(axes: Any, file: Path) -> Path:
    from matplotlib import pyplot

    axes.figure.legend(fontsize="small", loc="outside lower center", ncols=5)
    axes.figure.savefig(file, dpi=120)
    pyplot.close(axes.figure)
    return file


def _mebibytes(each: Measured) -> float | None:
    return None if each.median is None else each.peak / 2**20


def _length(case: CaseResult) -> int:
    """The mean length, in the cases that differ in nothing else; 0 in others."""
    if case.workload.name == "anchor" and max(case.rows) == 1_000_000:
        return 100
    found = re.fullmatch(r"length-(\d+)", case.workload.name)
    return int(found[1]) if found else 0
