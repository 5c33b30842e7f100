# SPDX-License-Identifier: Apache-2.0
"""Times the kernels alone: a million boxes and a million points, and the expensive cases.

    python -m benchmarks.studies.kernels [rows]

Starts are uniform in 0 .. rows, lengths exponential with mean 100, so that a box contains about a
hundred points. Each figure is the best of five runs in milliseconds. Run it on an idle machine.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from intervalsweep.kernels import Bounds, Boxes, PointIndex, RunSweep

Int64 = npt.NDArray[np.int64]


def best(run: Callable[[], object], times: int = 5) -> float:
    """The shortest of several runs, in milliseconds."""
    shortest = float("inf")
    for _ in range(times):
        started = time.perf_counter()
        run()
        shortest = min(shortest, time.perf_counter() - started)
    return shortest * 1e3


def intervals(rng: np.random.Generator, rows: int) -> tuple[Int64, Int64]:
    starts = rng.integers(0, rows, rows)
    return starts, starts + rng.exponential(100, rows).astype(np.int64) + 1


def report(name: str, index: PointIndex, boxes: Boxes) -> None:
    def run() -> tuple[RunSweep, int]:
        sweep = RunSweep(index, boxes)
        return sweep, sum(int(batch.count.sum()) for batch in sweep)

    sweep, pairs = run()
    figures = (best(run), sweep.candidates, sweep.runs, pairs)
    print(f"{name:46} {figures[0]:8.1f} {figures[1]:14,} {figures[2]:12,} {figures[3]:12,}")


def main(rows: int) -> None:
    rng = np.random.default_rng(1)
    starts, ends = intervals(rng, rows)
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], ends[order]
    low, high = intervals(rng, rows)
    ordered = np.argsort(low, kind="stable")
    print(f"{'':46} {'ms':>8} {'candidates':>14} {'runs':>12} {'pairs':>12}")
    print(f"{'prepare points, one axis':46} {best(lambda: PointIndex(starts)):8.1f}")
    print(f"{'prepare points, two axes':46} {best(lambda: PointIndex(starts, ends)):8.1f}")
    index = PointIndex(starts, ends)
    for name, r_start, r_end in (
        ("random boxes", low, high),
        ("sorted boxes", low[ordered], high[ordered]),
    ):
        within = Bounds(r_start, r_end, upper_strict=True)
        report(f"r.ts <= s.ts < r.te, {name}", index, Boxes(rows, within))
        inside = Bounds(r_start, r_end, lower_strict=True, upper_strict=True)
        beyond = Bounds(r_end, None, lower_strict=True)
        report(f"ALLEN_OVERLAPS, {name}", index, Boxes(rows, inside, beyond))
    for boxes in (max(1, rows // 1000), max(1, rows // 10), rows):
        width = min(rows, 1000 * rows // boxes)
        begin = rng.integers(0, rows - width + 1, boxes)
        end = begin + width
        long = Bounds(end + 600, None, lower_strict=True)  # few intervals are that long
        report(f"{boxes:,} boxes of {width:,} candidates", index,
               Boxes(boxes, Bounds(begin, end, upper_strict=True), long))  # fmt: skip


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
