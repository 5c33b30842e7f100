# SPDX-License-Identifier: Apache-2.0
"""Shows how time and memory of the queries grow with the number of periods, with a picture.

python -m benchmarks.temporal.growth [--sizes 100000 1000000 10000000] [--systems sequenced]
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.machine import heading
from benchmarks.studies.growth import slope
from benchmarks.temporal.__main__ import OURS, SYSTEMS

SIZES = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)


def main() -> None:
    """Measures each size in a separate process, prints a table and draws the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--systems", nargs="+", default=[OURS], choices=SYSTEMS)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--heap", default="4g")
    parser.add_argument("--output", type=Path, default=Path("target/benchmarks/temporal"))
    arguments = parser.parse_args()
    found = [measured(rows, arguments) for rows in sorted(arguments.sizes)]
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / "growth.json").write_text(
        json.dumps({**heading(), "sizes": found}, indent=1) + "\n"
    )
    print(table(found))
    draw(found, arguments.output / "growth.png")


def measured(rows: int, arguments: argparse.Namespace) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "found.json"
        command = [sys.executable, "-m", "benchmarks.temporal", "--rows", str(rows)]
        command += ["--runs", str(arguments.runs), "--heap", arguments.heap]
        command += ["--systems", *arguments.systems, "--output", str(file)]
        subprocess.run(command, check=True)
        return json.loads(file.read_text())


def series(found: list[Any]) -> dict[str, list[tuple[float, float]]]:
    """Rows and seconds of each query."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for size in found:
        for title, systems in size["queries"].items():
            for system, seconds in systems.items():
                name = title if system == OURS else f"{title}, {system}"
                lines.setdefault(name, []).append((float(size["rows"]), seconds))
        for title, seconds in size["joins"].items():
            lines.setdefault(title, []).append((float(size["rows"]), seconds))
    return lines


def table(found: list[Any]) -> str:
    """Seconds by size and the exponent of their growth, and the peak memory of each size."""
    sizes = [f"{size['rows']:,}" for size in found]
    rule = "--:|" * (len(sizes) + 1)
    lines = [f"| query | {' | '.join(sizes)} | exponent |", f"|---|{rule}"]
    for title, points in series(found).items():
        seconds = " | ".join(f"{y:.2f}" for _, y in points)
        exponent = f"{slope(points[-3:]):.2f}" if len(points) > 1 else ""
        lines.append(f"| {title} | {seconds} | {exponent} |")
    peaks = [sum(size["peak MiB"].values()) for size in found]
    lines.append(f"| peak MiB | {' | '.join(map(str, peaks))} | |")
    return "\n".join(lines)


def draw(found: list[Any], file: Path) -> None:
    """Draws seconds by rows, with an n log n line for comparison."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    _, axes = plt.subplots(figsize=(8, 5))
    lines = series(found)
    for title, points in lines.items():
        axes.plot(*zip(*points, strict=True), marker="o", label=title)
    rows = [float(size["rows"]) for size in found]
    last = max(points[-1][1] for points in lines.values())
    scale = last / (rows[-1] * math.log(rows[-1]))
    axes.plot(rows, [scale * n * math.log(n) for n in rows], "k:", label="n log n")
    axes.set(xscale="log", yscale="log", xlabel="periods a side", ylabel="median seconds")
    axes.legend(fontsize=7)
    axes.grid(alpha=0.3)
    plt.tight_layout()
    plt.savefig(file, dpi=120)


if __name__ == "__main__":
    main()
