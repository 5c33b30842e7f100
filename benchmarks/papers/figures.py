# SPDX-License-Identifier: Apache-2.0
"""The paper's figures, measured on our code; each is a function of the settings."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import numpy as np

from benchmarks.papers import iseql
from benchmarks.papers.algorithms import ALGORITHMS, join_by_s
from benchmarks.papers.loops import inlined, tuples
from benchmarks.papers.loops.assembly import LAZY
from benchmarks.papers.loops.layouts import LAYOUTS
from benchmarks.papers.measuring import Figure, Lines, Panel, Points, Settings, best
from benchmarks.papers.query import CANDIDATES, GETNEXT, PAIRS, SUM, Query, counted
from benchmarks.papers.rules import rules
from benchmarks.workloads import RELATIONS

PAPER = "LazyJoinByS"
CPP, CPP_LEUNG_MUNTZ, CPP_IE = "iseql-cpp", "iseql-cpp, Leung-Muntz", "iseql-cpp, IEJoin"
_CPP = {iseql.LAZY: CPP, iseql.LEUNG_MUNTZ: CPP_LEUNG_MUNTZ, iseql.IE_JOIN: CPP_IE}
INVERSE_DURING = "ALLEN_CONTAINS"


def compared(query: Query, settings: Settings, without: set[str]) -> dict[str, float]:
    """Seconds of each algorithm, after preparation; raises AssertionError if answers differ."""
    found, answers = {}, {}
    for name, algorithm in ALGORITHMS.items():
        if name not in without:
            run = algorithm(query)
            answers[name] = tuple(counted(run)[[PAIRS, SUM]].tolist())
            found[name] = best(lambda run=run: counted(run))  # type: ignore[misc]
    assert len(set(answers.values())) == 1, (query.name, answers)
    if settings.program and query.name in iseql.COMMANDS and not query.limits:
        skipped = tuple(key for key, name in _CPP.items() if name in without)
        total = answers[PAPER][1]
        ended = time.perf_counter() + 0.5
        while CPP not in found or time.perf_counter() < ended:
            timed = iseql.joined(settings.program, query.name, query.r, query.s, skipped)
            for key, one in timed.items():
                same = (one.total - total) % (1 << 32) == 0
                assert same or query.name == "ISEQL_START_PRECEDING", (query.name, key)
                found[_CPP[key]] = min(one.seconds, found.get(_CPP[key], float("inf")))
    return found


def getnext(settings: Settings) -> Figure:
    """Figure 9: the time of a step along the active set, by the size of the set."""
    random = np.random.default_rng(1)
    lines: Lines = {name: [] for name in LAYOUTS}
    for size in np.logspace(1, 4 if settings.is_quick else 6.5, 7 if settings.is_quick else 23):
        for name, (layout, scan) in LAYOUTS.items():
            nodes, first = layout(int(size), random)
            rounds = max(1, 200_000 // int(size))
            seconds = best(lambda: scan(nodes, first, rounds))  # noqa: B023
            lines[name].append((int(size), seconds / rounds / int(size) * 1e9))
    return Figure(
        "Latency of getnext (figure 9)",
        [Panel("", "tuples in the active set", "ns", lines, log="xy")],
    )


def abstractions(settings: Settings) -> Figure:
    """Figure 8: the before join of 10^6 tuples, with iterators and hand-written."""
    size = 20_000 if settings.is_quick else 1_000_000
    r, s = tuples.uniform(size, 19, 100_000)
    run = ALGORITHMS[PAPER](Query("ISEQL_BEFORE", r, s, delta=3))
    by_hand = inlined.before(r, s, 3, LAZY)
    assert by_hand[[PAIRS, SUM]].tolist() == counted(run)[[PAIRS, SUM]].tolist()
    times: Points = [("iterators", best(lambda: counted(run), 9))]
    times.append(("by hand", best(lambda: inlined.before(r, s, 3, LAZY), 9)))
    lines = {PAPER: times}
    if settings.program and not settings.is_quick:
        ways = (("iterators", False), ("by hand", True))
        lines[CPP] = [(name, iseql.before(settings.program, way)) for name, way in ways]
    return Figure("Overhead of iterators (figure 8)", [Panel("", "", "seconds", lines)])


def lazy(settings: Settings) -> Figure:
    """Figure 13 and the factors of 9.2.2: the gain of a buffer of s, by its capacity."""
    factors: Lines = {}
    speedups: Lines = {}
    for name, (r, s) in _data(settings).items():
        query = Query("ISEQL_START_PRECEDING", r, s)
        factors[name], speedups[name] = [], []
        eager, steps = 0.0, 0
        for room in (1, 8, 32) if settings.is_quick else (1, 2, 4, 8, 16, 32, 64, 128, 256):
            run = join_by_s(query, room)
            counters = counted(run)
            seconds = best(lambda: counted(run))  # noqa: B023
            eager, steps = (eager, steps) if room > 1 else (seconds, int(counters[GETNEXT]))
            factors[name].append((room, steps / max(1, int(counters[GETNEXT]))))
            speedups[name].append((room, eager / seconds))
    x = "capacity of the buffer"
    return Figure(
        "Lazy joining (figure 13)",
        [
            Panel("getnext operations saved", x, "reduction factor", factors, log="xy"),
            Panel("time saved", x, "JoinByS / LazyJoinByS", speedups, log="xy"),
        ],
    )


# The joins of figures 14 and 15, and the mean lengths of their tuples.
_JOINS = {
    "inverse during": INVERSE_DURING,
    "start preceding": "ISEQL_START_PRECEDING",
    "before": "ISEQL_BEFORE",
}
_LENGTHS = {"short": 50, "medium": 5_000, "long": 500_000}
_MOST_PAIRS = 60_000_000
_MOST_COMPARED = 2_000_000_000


def cardinality(settings: Settings) -> Figure:
    """Figures 14 and 15: seconds of the other algorithms divided by those of LazyJoinByS."""
    panels = []
    for title, name in _JOINS.items():
        for length, mean in _LENGTHS.items():
            lines: Lines = {}
            for size in (
                (1_000, 3_000) if settings.is_quick else (1_000, 10_000, 100_000, 1_000_000)
            ):
                r, s = tuples.synthetic(size, mean)
                delta = mean if name == "ISEQL_BEFORE" else None
                query = Query(name, r, s, delta)
                share = min(1.0, mean / tuples.DOMAIN)
                if size * size * share > _MOST_PAIRS:
                    continue
                without = _quadratic(name) if size * size > _MOST_COMPARED else set()
                found = compared(query, settings, without)
                for other, seconds in found.items():
                    if other != PAPER:
                        lines.setdefault(other, []).append((size, seconds / found[PAPER]))
            panel = Panel(f"{title}, {length} tuples", "tuples a side", "speedup", lines, log="xy")
            panels.append(panel)
    return Figure("LazyJoinByS beside others (figures 14 and 15)", panels)


def _quadratic(name: str) -> set[str]:
    """The algorithms that compare all pairs of rows, or half of them."""
    half = {"slices"} if name == INVERSE_DURING else set()
    return {"IEJoin", CPP_IE, *half}


def real(settings: Settings) -> Figure:
    """Figure 16: seconds of all algorithms on real data."""
    panels = []
    for name in (INVERSE_DURING, "ISEQL_START_PRECEDING", "ALLEN_OVERLAPS"):
        lines: Lines = {}
        for data, (r, s) in _data(settings).items():
            without = {"IEJoin", CPP_IE, "grid"} if r.size * s.size > _MOST_COMPARED else set()
            for other, seconds in compared(Query(name, r, s), settings, without).items():
                lines.setdefault(other, []).append((data, seconds))
        panels.append(Panel(name, "", "seconds", lines, log="y"))
    return Figure("Real data (figure 16)", panels)


def selectivity(settings: Settings) -> Figure:
    """Figure 18: the share of pairs that passes the selection of the inverse during join."""
    names = (PAPER, "Leung-Muntz", "slices", "grid")
    lengths: Lines = {name: [] for name in names}
    data: Lines = {name: [] for name in names}
    for mean in (50, 500, 5_000, 50_000, 500_000):
        size = 1_000 if settings.is_quick else 5_000
        for name, share in _selected(tuples.synthetic(size, mean), names):
            lengths[name].append((mean, share))
    for title, sides in _data(settings).items():
        for name, share in _selected(sides, names):
            data[name].append((title, share))
    y = "pairs after / before"
    return Figure(
        "Selection of the inverse during join (figure 18)",
        [
            Panel("synthetic", "mean length", y, lengths, log="x"),
            Panel("real data", "", y, data),
        ],
    )


def _selected(sides: tuples.Sides, names: tuple[str, ...]) -> list[tuple[str, float]]:
    query = Query(INVERSE_DURING, *sides)
    counters = [(name, counted(ALGORITHMS[name](query))) for name in names]
    return [(name, int(one[PAIRS]) / max(1, int(one[CANDIDATES]))) for name, one in counters]


def relations(settings: Settings) -> Figure:
    """Each relation; those with parameters get the mean length as the distance."""
    size, mean = (1_000, 5_000) if settings.is_quick else (20_000, 5_000)
    r, s = tuples.synthetic(size, mean)
    known = json.loads(RELATIONS.read_text(encoding="utf-8"))["relations"]
    panels = []
    for family in ("ALLEN", "ISEQL", "INTERVAL"):
        lines: Lines = {}
        for name in (each["name"] for each in known if each["name"].startswith(family)):
            limits = dict.fromkeys(Query(name, r, s).relation.parameters, mean)
            query = Query(name, r, s, **limits)
            for other, seconds in compared(query, settings, set()).items():
                lines.setdefault(other, []).append((name.partition("_")[2].lower(), seconds))
        panels.append(Panel(family, "", "seconds", lines, log="y"))
    return Figure(f"All relations, {size:,} tuples a side", panels)


def _data(settings: Settings) -> dict[str, tuples.Sides]:
    found = tuples.real(settings.data)
    if settings.is_quick:
        return {name: sides for name, sides in found.items() if name == "delta"}
    return found


FIGURES: dict[str, Callable[[Settings], Figure]] = {
    "getnext": getnext,
    "abstractions": abstractions,
    "lazy": lazy,
    "cardinality": cardinality,
    "real": real,
    "selectivity": selectivity,
    "relations": relations,
    "rules": rules,
}
