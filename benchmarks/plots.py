# SPDX-License-Identifier: Apache-2.0
"""Draws the results of the suite as pictures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from benchmarks.report import Report
from benchmarks.suite import CaseResult, Measured
from benchmarks.systems import SYSTEMS

# The lines of the README's table, in its order: workload and rows a side, and the name there.
README_LINES = {
    ("anchor", 10_000): "10,000 rows, 10^6 pairs",
    ("anchor", 1_000_000): "10^8 pairs, counted and summed",
    ("group", 1_000_000): "the same, in 1,000 groups",
    ("allen-overlaps", 1_000_000): "ALLEN_OVERLAPS, 5 * 10^7 pairs",
    ("dense-semi", 1_000_000): "semi join, hundreds of matches a row",
    ("zipf-1000-inner", 1_000_000): "1,000 equality keys, Zipf-distributed",
    ("join-left", 1_000_000): "left join, few matches a row",
    ("length-1000", 1_000_000): "10^9 pairs, counted and summed",
    ("anchor", 10_000_000): "ten million rows, 10^9 pairs",
}


def draw(report: Report, folder: Path) -> list[Path]:
    """Draws time and memory of all cases, and the growth of time with rows and with lengths."""
    import matplotlib as mpl

    mpl.use("Agg")
    cases = [case for case in report.cases if not case.why_not]
    anchor = [(max(case.rows), case) for case in cases if case.workload.name == "anchor"]
    lengths = [(_length(case), case) for case in cases if _length(case)]
    drawn = [
        _bars(report, cases, "median seconds", folder / "seconds.png", _seconds),
        _bars(report, cases, "peak resident MiB", folder / "memory.png", _mebibytes),
        _lines(report, anchor, "rows a side", folder / "rows.png"),
        _lines(report, lengths, "mean length", folder / "lengths.png"),
    ]
    return [file for file in drawn if file]


def _bars(
    report: Report, cases: list[CaseResult], label: str, file: Path, value: Any
) -> Path | None:
    """A group of bars for each case, in the order of the README, with a bar for each system.

    The bar of a stopped run is hatched, ends where the run was stopped, and says "> x". A case
    that a system did not run or cannot express has a dash and no bar.
    """
    if not cases:
        return None
    cases = sorted(cases, key=_line_of_readme)
    systems = report.options.systems
    width = 1 / (len(systems) + 1)
    axes = _axes(report, (8, 1 + 0.16 * len(cases) * (len(systems) + 1)))
    axes.set(xscale="log", ylim=(len(cases), -width))
    for number, name in enumerate(systems):
        style = _style(name)
        axes.fill_between([], [], **style)  # an entry of the legend, also without a finished run
        for row, case in enumerate(cases):
            place = row + (number + 0.5) * width
            found = next((each for each in case.systems if each.system == name), None)
            reached = value(found) if found else None
            if found is None or reached is None:
                axes.text(0.005, place, "-", va="center", transform=axes.get_yaxis_transform())
            elif found.is_too_slow:
                color = style["color"]
                axes.barh(place, reached, width, fill=False, edgecolor=color, hatch="/////")
                axes.text(reached, place, f" > {reached:,.0f}", va="center", fontsize="x-small")
            else:
                axes.barh(place, reached, width, color=style["color"])
    names = [README_LINES.get(_key(case), case.title) for case in cases]
    axes.set_yticks([row + 0.5 - width / 2 for row in range(len(cases))], names)
    axes.margins(x=0.1)
    axes.set_xlabel(f"{label}\nhatched, > x: stopped at x; -: not run or not expressible")
    return _save(axes, file)


def _key(case: CaseResult) -> tuple[str, int]:
    return case.workload.name, max(case.rows)


def _line_of_readme(case: CaseResult) -> int:
    """The place in the README's table; other cases come after it."""
    lines = list(README_LINES)
    return lines.index(_key(case)) if _key(case) in README_LINES else len(lines)


def _lines(
    report: Report, cases: list[tuple[int, CaseResult]], label: str, file: Path
) -> Path | None:
    """Seconds by rows or by length, with a line for each system."""
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
    """Color and label of a system, the same in all pictures."""
    return {"color": f"C{list(SYSTEMS).index(name)}", "label": SYSTEMS[name].title}


def _save(axes: Any, file: Path) -> Path:
    from matplotlib import pyplot

    axes.figure.legend(fontsize="small", loc="outside lower center", ncols=5)
    axes.figure.savefig(file, dpi=120)
    pyplot.close(axes.figure)
    return file


def _seconds(each: Measured) -> float | None:
    """The median, or the time at which the run was stopped."""
    if each.is_too_slow:
        return float((each.why_not or "").strip("> s"))
    return each.median


def _mebibytes(each: Measured) -> float | None:
    """The peak memory; of a stopped run, the peak until then."""
    return each.peak / 2**20 if each.is_too_slow or each.median is not None else None


def _length(case: CaseResult) -> int:
    """The mean length, in the cases that differ only in the length; 0 in other cases."""
    if case.workload.name == "anchor" and max(case.rows) == 1_000_000:
        return 100
    found = re.fullmatch(r"length-(\d+)", case.workload.name)
    return int(found[1]) if found else 0
