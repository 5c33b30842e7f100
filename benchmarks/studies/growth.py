# SPDX-License-Identifier: Apache-2.0
"""Shows how time and memory grow with rows and with pairs, from the results of the suite.

    python -m benchmarks.studies.growth RESULTS.json [...]

The slope is the slope of the regression line on logarithmic scales; 1 means proportional growth.
Rows grow at a hundred pairs a row (`anchor`), pairs at a million rows a side (`length-*` and the
anchor). The pictures of the suite show the points.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from benchmarks.goals import MILLION, Results, given
from benchmarks.systems import SYSTEMS

FIGURES = {"seconds": "median", "memory": "peak"}


def main() -> None:
    results = given(__doc__)
    print("| system | of | over | from | to | slope |\n|---|---|---|--:|--:|--:|")
    for system, entry in SYSTEMS.items():
        for what, figure in FIGURES.items():
            for over, cases in (("rows", anchors(results)), ("pairs", lengths(results))):
                points = sorted(known(results, cases, system, over, figure))
                if len(points) > 2:
                    (first, _), (last, _) = points[0], points[-1]
                    ends = f"{first:.0e} | {last:.0e}"
                    print(f"| {entry.title} | {what} | {over} | {ends} | {slope(points):.2f} |")


def anchors(results: Results) -> list[tuple[str, int]]:
    """The cases that differ in the number of rows."""
    return [case for case in results.runs if case[0] == "anchor"]


def lengths(results: Results) -> list[tuple[str, int]]:
    """The cases that differ in the number of pairs."""
    return [
        (name, rows)
        for name, rows in results.runs
        if rows == MILLION and (name == "anchor" or name.startswith("length-"))
    ]


def known(
    results: Results, cases: list[tuple[str, int]], system: str, over: str, figure: str
) -> Iterator[tuple[float, float]]:
    """The points of a system: rows or pairs, and the figure. Leaves out missing results."""
    for name, rows in cases:
        with suppress(KeyError):
            x = rows if over == "rows" else results.last(name, rows, lambda run: run.pairs(system))
            yield float(x), results.figure(name, rows, system, figure)


def slope(points: list[tuple[float, float]]) -> float:
    """The exponent of the growth."""
    x, y = np.log(np.array(points)).T
    return float(np.polyfit(x, y, 1)[0])


if __name__ == "__main__":
    main()
