# SPDX-License-Identifier: Apache-2.0
"""Measures the paper's figures on our code: `python -m benchmarks.papers --help`."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import data, machine
from benchmarks.papers.figures import FIGURES
from benchmarks.papers.measuring import Figure, Panel, Settings
from benchmarks.report import write_json


def main() -> None:
    """Measures the figures one after the other, and writes each as JSON and as a picture."""
    options = _arguments()
    settings = Settings(options.data, options.iseql, options.quick)
    head = {
        **machine.heading(),
        "versions": {
            name: version
            for name, version in machine.versions(["intervalsweep"]).items()
            if name in ("python", "numba", "numpy", "intervalsweep")
        },
    }
    folder = options.output or Path(
        "target", "benchmarks", f"papers-{head['date']}-{head['commit']}"
    )
    for name in options.figure:
        figure = FIGURES[name](settings)
        write_json(folder / f"{name}.json", {**head, **asdict(figure)})
        _draw(figure, f"{head['date']}, commit {head['commit']}, {head['machine']['cpu']}",
              folder / f"{name}.png")  # fmt: skip
        print(f"{figure.title}: {folder / name}.json", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__)
    add = parser.add_argument
    add("--figure", nargs="+", default=list(FIGURES), choices=FIGURES, metavar="NAME",
        help=f"some of: {' '.join(FIGURES)}")  # fmt: skip
    add("--quick", action="store_true", help="small sizes: to try it out")
    add("--data", type=Path, default=data.REAL, help="folder of the real data (sql-examples/data)")
    add("--iseql", type=Path, metavar="PROGRAM", help="iseql-cpp, see iseql.py: measured beside")
    add("--output", type=Path, help="folder of the results (target/benchmarks/papers-...)")
    return parser.parse_args()


def _draw(figure: Figure, note: str, file: Path) -> None:
    try:
        import matplotlib as mpl
    except ImportError:
        print("no pictures: matplotlib is not installed")
        return
    mpl.use("Agg")
    from matplotlib import pyplot

    columns = min(3, len(figure.panels))
    rows = -(-len(figure.panels) // columns)
    drawn, axes = pyplot.subplots(
        rows, columns, figsize=(6 * columns, 4 * rows + 1), layout="constrained", squeeze=False
    )
    labels = {label: None for panel in figure.panels for label in panel.lines}
    colors = {label: f"C{number}" for number, label in enumerate(labels)}
    for panel, place in zip(figure.panels, axes.flat, strict=False):
        _panel(panel, place, colors)
    handles = {
        label: handle
        for place in axes.flat
        for handle, label in zip(*place.get_legend_handles_labels(), strict=True)
    }
    drawn.suptitle(f"{figure.title}\n{note}", fontsize="small")
    drawn.legend(handles.values(), handles, fontsize="small", loc="outside lower center", ncols=5)
    drawn.savefig(file, dpi=110)
    pyplot.close(drawn)


def _panel(panel: Panel, axes: Any, colors: dict[str, str]) -> None:
    words = [x for points in panel.lines.values() for x, _ in points if isinstance(x, str)]
    places = {word: number for number, word in enumerate(dict.fromkeys(words))}
    for number, (label, points) in enumerate(panel.lines.items()):
        style = {"label": label, "color": colors[label]}
        if places:
            width = 0.8 / len(panel.lines)
            bars = [places[str(x)] + width * number for x, _ in points]
            axes.bar(bars, [y for _, y in points], width, **style)
        else:
            axes.plot([x for x, _ in points], [y for _, y in points], marker=".", **style)
    if places:
        axes.set_xticks([place + 0.4 for place in places.values()], list(places),
                        rotation=45 if len(places) > 3 else 0)  # fmt: skip
    axes.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
    axes.set(**{f"{axis}scale": "log" for axis in panel.log})
    axes.grid(alpha=0.3)


if __name__ == "__main__":
    main()
