# SPDX-License-Identifier: Apache-2.0
"""The gain of the planner's choices: the product's kernels, run in several ways."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.papers.algorithms import ALGORITHMS, prepared
from benchmarks.papers.loops import tuples
from benchmarks.papers.measuring import Figure, Lines, Panel, Settings, best
from benchmarks.papers.query import PAIRS, Query, counted
from intervalsweep.arrow.search.plan import Axis, Sweep, Term, sweeps
from intervalsweep.kernels import RunSweep

# INTERVAL_INTERSECTS as one box that is open on both axes, instead of two sweeps.
_ONE_BOX = Sweep(
    "r",
    Axis("s.ts", upper=[Term("r.te", strict=True)]),
    Axis("s.te", lower=[Term("r.ts", strict=True)]),
)


def _counting(query: Query, some: list[Sweep], first_only: bool = False) -> Callable[[], int]:
    """Counts the matches with the product's kernels, without making pairs."""
    parts = [prepared(query, sweep)[:2] for sweep in some]
    return lambda: sum(
        int(batch.count.sum())
        for index, boxes in parts
        for batch in RunSweep(index, boxes, first_only=first_only)
    )


def rules(settings: Settings) -> Figure:
    """The gain of the planner's choices, by the number of matches a row."""
    size = 2_000 if settings.is_quick else 100_000
    panels = []
    for name in ("ISEQL_START_PRECEDING", "ALLEN_OVERLAPS", "INTERVAL_INTERSECTS"):
        lines: Lines = {}
        for matches in (1, 10, 100, 1_000):
            query = Query(name, *tuples.synthetic(size, matches * tuples.DOMAIN / size))
            planned = sweeps(query.relation, [])
            calls = {
                "runs, counted": _counting(query, planned),
                "runs, first match only": _counting(query, planned, first_only=True),
            }
            ways = ["runs", "LazyJoinByS", "slices"]
            if name == "INTERVAL_INTERSECTS":
                ways.remove("slices")  # open on both axes: half of all pairs are candidates
                calls["one box, counted"] = _counting(query, [_ONE_BOX])
            for way in ways:
                run = ALGORITHMS[way](query)
                assert int(counted(run)[PAIRS]) == calls["runs, counted"]()
                calls[way] = lambda run=run: int(counted(run)[PAIRS])  # type: ignore[misc]
            for other, call in calls.items():
                lines.setdefault(other, []).append((matches, best(call)))
        panels.append(Panel(name, "mean length in rows", "seconds", lines, log="xy"))
    return Figure(f"The product's kernels, {size:,} rows a side", panels)
