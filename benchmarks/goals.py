# SPDX-License-Identifier: Apache-2.0
"""Compares the results of the suite with the goals of the product.

    python -m benchmarks.goals RESULTS.json [...]

The files are results of `python -m benchmarks`, `benchmarks.studies.scaling`,
`benchmarks.studies.peers` and `benchmarks.papers`, all from one machine. A goal without a result is
shown as not measured. A ratio compares two systems that took turns, so both times come from one
file. If several files have both, the newest file counts; among files of one day, the last one.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.papers.figures import CPP
from benchmarks.studies.scaling import MANY, ONE, TWO, Setting

OURS = "intervalsweep"
BROADCAST, DISTRIBUTED = f"{OURS}-broadcast", f"{OURS}-distributed"
KERNEL = "runs"  # the product's kernels, among the algorithms of `benchmarks.papers`
MILLION = 1_000_000

T = TypeVar("T")


class Run:
    """The results of one case in one run of the suite, in which the systems took turns."""

    def __init__(self, systems: list[dict[str, Any]]) -> None:
        self._systems = {each["system"]: each for each in systems}

    def figure(self, system: str = OURS, what: str = "median") -> float:
        """A measured value of one system; raises KeyError if it has no time."""
        return float(self._timed(system)[what])

    def pairs(self, system: str = OURS) -> int:
        """The number of pairs, the first number of the answer; raises KeyError without a time."""
        return int(self._timed(system)["answer"][0])

    def fastest_peer(self) -> float:
        """The smallest median of the other systems; raises KeyError if none has a time."""
        others = [each for name, each in self._systems.items() if not name.startswith(OURS)]
        known = [each["median"] for each in others if each["median"] is not None]
        if not known:
            raise KeyError("no other system has a time")
        return float(min(known))

    def speedup(self, system: str = OURS) -> float:
        """How many times faster the system is than the fastest peer."""
        return self.fastest_peer() / self.figure(system)

    def _timed(self, system: str) -> dict[str, Any]:
        measured = self._systems[system]
        if measured["median"] is None:
            raise KeyError(measured["why_not"])
        return measured


class Results:
    """The runs of the suite, by workload and number of rows, ordered by day and then by file.

    Also the times of `benchmarks.studies.scaling` by setting, of `benchmarks.studies.peers` by
    library, and of `benchmarks.papers` by figure, algorithm and data.
    """

    def __init__(self, files: list[Path]) -> None:
        self.runs: dict[tuple[str, int], list[Run]] = {}
        self.settings: dict[Setting, float] = {}
        self.libraries: dict[str, dict[str, dict[str, Any]]] = {}
        self.algorithms: dict[str, dict[str, dict[Any, float]]] = {}
        reports = [json.loads(file.read_text(encoding="utf-8")) for file in files]
        reports.sort(key=lambda report: str(report.get("date", "")))
        machines = {report["machine"]["cpu"] for report in reports}
        if len(machines) > 1:
            raise ValueError(f"results of several machines do not compare: {sorted(machines)}")
        for report in reports:
            for each in report.get("settings", []):
                self.settings[Setting(*each["setting"])] = each["median"]
            for panel in report.get("panels", []):
                if panel["y"] == "seconds":
                    lines = {name: dict(points) for name, points in panel["lines"].items()}
                    self.algorithms[panel["title"]] = lines
            self._add(report.get("cases", []))

    def _add(self, cases: Any) -> None:
        if isinstance(cases, dict):
            self.libraries.update(cases)
            return
        for case in cases:
            key = case["workload"], max(case["rows"])
            self.runs.setdefault(key, []).append(Run(case["systems"]))

    def last(self, name: str, rows: int, figure: Callable[[Run], T]) -> T:
        """The value of `figure` in the last run that has one; raises KeyError if no run has one."""
        missing = KeyError(f"{name} of {rows:,} rows")
        for run in reversed(self.runs.get((name, rows), [])):
            try:
                return figure(run)
            except KeyError as error:
                missing = error
        raise missing

    def figure(self, name: str, rows: int, system: str = OURS, what: str = "median") -> float:
        """A measured value of one system in its last run; raises KeyError if there is none."""
        return self.last(name, rows, lambda run: run.figure(system, what))

    def speedup(self, name: str, rows: int, system: str = OURS) -> float:
        """How many times faster the system is than the fastest peer in the same run."""
        return self.last(name, rows, lambda run: run.speedup(system))

    def speedup_of_library(self, case: str) -> float:
        """How many times faster we are than the fastest other library, from Arrow to Arrow."""
        found = self.libraries[case].items()
        known = {name: each["seconds"] for name, each in found if "why_not" not in each}
        others = [each for name, each in known.items() if OURS not in name.lower()]
        return float(min(others) / min(known[name] for name in known if OURS in name.lower()))

    def speedup_of_kernel(self) -> float:
        """How many times faster the product's kernels are than the papers' C++, at the least.

        The smallest ratio over all relations and data counts. The papers' algorithms in numba do
        not: the product does not ship them.
        """
        return min(
            seconds / lines[KERNEL][data]
            for lines in self.algorithms.values()
            if lines.keys() >= {CPP, KERNEL}
            for data, seconds in lines[CPP].items()
        )

    def relations(self) -> Iterator[tuple[str, int]]:
        """Each workload of a single relation, with its largest size."""
        for name in self._relation_names():
            yield name, self._sizes(name)[0]

    def _relation_names(self) -> list[str]:
        families = ("allen-", "iseql-", "interval")
        return sorted({name for name, _ in self.runs if name.startswith(families)})

    def _sizes(self, name: str) -> list[int]:
        return sorted((rows for each, rows in self.runs if each == name), reverse=True)

    def slowest_relation(self) -> float:
        """The smallest ratio of `relation_speedups`."""
        return min(speedup for _, _, speedup in self.relation_speedups())

    def relation_speedups(self) -> Iterator[tuple[str, int, float]]:
        """Each relation, the largest size that a peer finished, and the speedup over it there."""
        for name in self._relation_names():
            for rows in self._sizes(name):
                with suppress(KeyError):
                    yield name, rows, self.speedup(name, rows)
                    break

    def pairs(self, name: str, rows: int) -> int:
        return self.last(name, rows, Run.pairs)

    def seconds_per_pair(self, name: str, rows: int) -> float:
        return self.figure(name, rows) / self.pairs(name, rows)


@dataclass(frozen=True)
class Goal:
    """A ratio, and the limit that it must reach or stay below."""

    about: str
    limit: float
    ratio: Callable[[Results], float]
    is_at_most: bool = False

    def row(self, results: Results) -> str:
        """A row of the table of goals."""
        wanted = f"{'at most' if self.is_at_most else 'at least'} {self.limit:g}"
        try:
            ratio = self.ratio(results)
        except (KeyError, ValueError) as error:
            return f"| {self.about} | {wanted} | - | not measured: {error.args[0]} |"
        is_met = ratio <= self.limit if self.is_at_most else ratio >= self.limit
        return f"| {self.about} | {wanted} | {ratio:.2f} | {'yes' if is_met else 'no'} |"


def against(system: str, name: str, rows: int, what: str = "median") -> Callable[[Results], float]:
    """Our measured value divided by that of another system in the same run."""
    return lambda x: x.last(
        name, rows, lambda run: run.figure(OURS, what) / run.figure(system, what)
    )


GOALS = (
    Goal("anchor, 10^6, broadcast: times faster than the fastest peer", 3,
         lambda x: x.speedup("anchor", MILLION, BROADCAST)),
    Goal("anchor, 10^6, distributed", 2, lambda x: x.speedup("anchor", MILLION, DISTRIBUTED)),
    Goal("anchor, 10^7, distributed", 2, lambda x: x.speedup("anchor", 10 * MILLION, DISTRIBUTED)),
    Goal("anchor, 10^5: times faster than Spark's own plan", 100,
         lambda x: 1 / against("spark", "anchor", MILLION // 10)(x)),
    Goal("the slowest relation: times faster than the fastest peer", 2,
         Results.slowest_relation),
    Goal("the slowest relation of 10^7 pairs or more: seconds a pair, relative to the anchor", 2,
         lambda x: max(x.seconds_per_pair(*case) for case in x.relations()
                       if x.pairs(*case) >= 10 * MILLION) / x.seconds_per_pair("anchor", MILLION),
         True),
    Goal("candidates: times faster than the fastest peer", 1,
         lambda x: x.speedup("candidates", MILLION)),
    Goal("10^10 pairs aggregated: seconds, relative to 10^8 pairs", 1.3,
         lambda x: x.figure("length-10000", MILLION) / x.figure("anchor", MILLION), True),
    Goal("10^9 pairs aggregated: times faster than the fastest peer", 20,
         lambda x: x.speedup("length-1000", MILLION)),
    Goal("semi join of 10^9 pairs: times faster than the fastest peer", 10,
         lambda x: x.speedup("dense-semi", MILLION)),
    Goal("anti join of 10^9 pairs: times faster than the fastest peer", 10,
         lambda x: x.speedup("dense-anti", MILLION)),
    Goal("100,000 keys and a range: seconds, relative to Spark's own plan", 1.1,
         against("spark", "keys-range", MILLION), True),
    Goal("1,000,000 keys and a range: seconds, relative to Spark's own plan", 1.1,
         against("spark", "keys-single", MILLION), True),
    Goal("anchor, 10^4, first query of a session: seconds, relative to hand-written bins", 1.3,
         against("spark-bins", "anchor", MILLION // 100, "cold"), True),
    Goal("anchor, 10^6, first query of a session: seconds, relative to hand-written bins", 1.3,
         against("spark-bins", "anchor", MILLION, "cold"), True),
    Goal("100,000 keys and a range: peak memory, relative to Spark's own plan", 1.3,
         against("spark", "keys-range", MILLION, "peak"), True),
    Goal("anchor, 1,000 rows: seconds, relative to Spark's own plan", 1.1,
         against("spark", "anchor", 1000), True),
    Goal("two cores: times faster than one", 1.8, lambda x: x.settings[ONE] / x.settings[TWO]),
    Goal("200 partitions: seconds, relative to 4 partitions", 1.3,
         lambda x: x.settings[MANY] / x.settings[TWO], True),
    Goal("exons x hotspots, Arrow to Arrow: times faster than the fastest library", 5,
         lambda x: x.speedup_of_library("exons x fbrain")),
    Goal("199 million pairs, Arrow to Arrow", 5, lambda x: x.speedup_of_library("synthetic")),
    Goal("kernel alone, real data: times faster than the papers' C++", 1,
         Results.speedup_of_kernel),
)  # fmt: skip


def given(description: str) -> Results:
    """The results named on the command line; exits if they are missing or not comparable."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("results", type=Path, nargs="+")
    try:
        return Results(parser.parse_args().results)
    except (OSError, ValueError) as error:
        parser.error(str(error))


def main() -> None:
    results = given(__doc__)
    print("| goal | wanted | ratio | met |\n|---|---|--:|---|")
    for goal in GOALS:
        print(goal.row(results))
    print("\n| relation | rows | seconds | fastest peer | ratio |\n|---|--:|--:|--:|--:|")
    for name, rows, speedup in results.relation_speedups():
        ours, peer = results.last(name, rows, lambda run: (run.figure(), run.fastest_peer()))
        print(f"| {name} | {rows:,} | {ours:.2f} | {peer:.2f} | {speedup:.2f} |")


if __name__ == "__main__":
    main()
