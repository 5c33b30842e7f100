# SPDX-License-Identifier: Apache-2.0
"""Draws results as pictures, next to the files that they are read from.

python -m benchmarks.streams.plots target/benchmarks/streams/DATE-COMMIT
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

from benchmarks.streams.workloads import SWEEPS

TITLES = {
    "ours": "IntervalSweep",
    "spread": "IntervalSweep, keys in all state partitions",
    "over": "Flink, OVER the union",
    "join": "Flink, interval join and aggregate",
    "keyoij": "Flink, Key-OIJ by hand (inexact)",
    "spark": "Spark's own join and aggregate",
}
PARAMETERS = {
    "keys": "keys",
    "window": "length of the window, ms",
    "lateness": "lateness, ms",
    "skew": "share of events with one of ten hot keys",
}


def draw(file: Path) -> Path:
    """Draws events a second: bars for each workload, or lines over the parameter of a sweep."""
    import matplotlib as mpl

    mpl.use("Agg")
    report = json.loads(file.read_text(encoding="utf-8"))
    axes = _axes(report)
    if file.stem in SWEEPS:
        _lines(axes, report["workloads"], file.stem)
    else:
        _bars(axes, report["workloads"])
    axes.set_ylim(bottom=_bottom(report["workloads"]))
    return _save(axes, file.with_suffix(".png"))


def _bars(axes: Any, workloads: dict[str, Any]) -> None:
    """Draws bars, pale for runs that have not ended."""
    plans = _plans(workloads)
    width = 1 / (len(plans) + 1)
    for number, plan in enumerate(plans):
        places, heights, shades = [], [], []
        for at, workload in enumerate(workloads.values()):
            for run in workload["runs"]:
                if run["plan"] == plan and run.get("events/s"):
                    places.append(at + (number + 0.5) * width)
                    heights.append(run["events/s"])
                    shades.append(1.0 if run["complete"] else 0.35)
        bars = axes.bar(places, heights, width, **_style(plan))
        for bar, shade in zip(bars, shades, strict=True):
            bar.set_alpha(shade)
    axes.set_xticks([at + len(plans) * width / 2 for at in range(len(workloads))], list(workloads))
    axes.set(xlabel="workload (pale: not ended within the cap)")


def _lines(axes: Any, workloads: dict[str, Any], what: str) -> None:
    """Draws lines, with hollow marks for runs that have not ended."""
    for plan in _plans(workloads):
        points = [
            (float(name.partition("=")[2]), run["events/s"], run["complete"])
            for name, workload in workloads.items()
            for run in workload["runs"]
            if run["plan"] == plan and run.get("events/s")
        ]
        style = _style(plan)
        axes.plot([x for x, _, _ in points], [y for _, y, _ in points], marker="o", **style)
        open_ones = [(x, y) for x, y, complete in points if not complete]
        shape = {"marker": "o", "ls": "", "mfc": "white", "color": style["color"]}
        axes.plot([x for x, _ in open_ones], [y for _, y in open_ones], **shape)
    label = f"{PARAMETERS[what]} (hollow: not ended within the cap)"
    axes.set(xlabel=label, xscale="linear" if what == "skew" else "log")


def _bottom(workloads: dict[str, Any]) -> float:
    """A power of ten below all values, so that the lengths of bars are comparable."""
    rates = [run.get("events/s") for workload in workloads.values() for run in workload["runs"]]
    return float(10 ** math.floor(math.log10(min((r for r in rates if r), default=1) / 2)))


def _plans(workloads: dict[str, Any]) -> list[str]:
    found = {run["plan"] for workload in workloads.values() for run in workload["runs"]}
    return [plan for plan in TITLES if plan in found]


def _axes(report: dict[str, Any]) -> Any:
    from matplotlib import pyplot

    _, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    machine = f"{report['machine']['cpu']}, {report['options']['cores']} cores"
    axes.set_title(f"{report['date']}, commit {report['commit']}, {machine}", fontsize="small")
    axes.set(ylabel="events a second", yscale="log")
    axes.grid(alpha=0.3)
    return axes


def _style(plan: str) -> dict[str, str]:
    """Color and label of a plan, the same in all pictures."""
    return {"color": f"C{list(TITLES).index(plan)}", "label": TITLES[plan]}


def _save(axes: Any, file: Path) -> Path:
    from matplotlib import pyplot

    axes.figure.legend(fontsize="small", loc="outside lower center", ncols=3)
    axes.figure.savefig(file, dpi=120)
    pyplot.close(axes.figure)
    return file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+", type=Path, help="files of results, or their folders")
    for path in parser.parse_args().paths:
        for file in sorted(path.glob("*.json")) if path.is_dir() else [path]:
            print(draw(file))


if __name__ == "__main__":
    main()
