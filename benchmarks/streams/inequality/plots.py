# SPDX-License-Identifier: Apache-2.0
"""Draws probes and pairs a second by match rate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.streams.inequality.cases import DUCKDB, SYSTEMS
from benchmarks.streams.inequality.report import TITLES


def draw(results: dict[str, Any], folder: Path) -> list[Path]:
    """Draws a picture for each query with several match rates."""
    import matplotlib as mpl

    mpl.use("Agg")
    lines = [line for line in results["lines"] if "why_not" not in line]
    drawn = []
    for query in dict.fromkeys(line["query"] for line in lines):
        some = [line for line in lines if line["query"] == query]
        if len({line["rate"] for line in some}) > 1:
            drawn.append(_sweep(results, query, some, folder / f"{query}.png"))
    return drawn


def _sweep(results: dict[str, Any], query: str, lines: list[dict[str, Any]], file: Path) -> Path:
    from matplotlib import pyplot

    figure, both = pyplot.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for axes, value in zip(both, ("probes/s", "pairs/s"), strict=True):
        for number, system in enumerate(SYSTEMS):
            some = [each for each in lines if each["system"] == system and value in each]
            points = sorted((line["rate"], line[value]) for line in some)
            if points and system != DUCKDB:
                x, y = zip(*points, strict=True)
                label = TITLES[system] if axes is both[0] else None
                axes.plot(x, y, marker="o", color=f"C{number}", label=label)
        axes.set(xscale="log", yscale="log", xlabel="pairs an arriving row", ylabel=value)
        axes.grid(alpha=0.3)
    length = results["options"]["window"]["length"]
    title = f"{query.upper()}, window of {length:,} rows, {results['machine']['cpu']}"
    figure.suptitle(f"{title}, {results['date']}, commit {results['commit']}", fontsize="small")
    figure.legend(fontsize="small", loc="outside lower center", ncols=5)
    figure.savefig(file, dpi=120)
    pyplot.close(figure)
    return file
