# SPDX-License-Identifier: Apache-2.0
"""What the product is to reach, and how far it has come, from the results of the suite.

    python -m benchmarks.goals RESULTS.json [...]

The files are those of `python -m benchmarks`; what they do not hold is shown as not measured. A
ratio is of two medians in one case, so of systems that ran in turn on one machine.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OURS = "intervalsweep"
BROADCAST, DISTRIBUTED = f"{OURS}-broadcast", f"{OURS}-distributed"
MILLION = 1_000_000


class Results:
    """The times of one or more runs of the suite, by workload, rows and system."""

    def __init__(self, files: list[Path]) -> None:
        self.cases: dict[tuple[str, int], dict[str, dict[str, Any]]] = {}
        for file in files:
            for case in json.loads(file.read_text(encoding="utf-8"))["cases"]:
                systems = {each["system"]: each for each in case["systems"]}
                self.cases.setdefault((case["workload"], max(case["rows"])), {}).update(systems)

    def figure(self, name: str, rows: int, system: str = OURS, what: str = "median") -> float:
        """A figure of one system; raises KeyError if there is none."""
        measured = self.cases[name, rows][system]
        if measured["median"] is None:
            raise KeyError(measured["why_not"])
        return float(measured[what])

    def fastest_peer(self, name: str, rows: int) -> float:
        """The least median of the other systems; raises KeyError if none has one."""
        others = self.cases[name, rows].items()
        medians = [each["median"] for system, each in others if not system.startswith(OURS)]
        known = [median for median in medians if median is not None]
        if not known:
            raise KeyError("no other system has a time")
        return float(min(known))

    def speedup(self, name: str, rows: int, system: str = OURS) -> float:
        """How many times faster than the fastest peer."""
        return self.fastest_peer(name, rows) / self.figure(name, rows, system)

    def relations(self) -> Iterator[tuple[str, int]]:
        """The cases of single relations, at their largest size."""
        for name in self._relation_names():
            yield name, self._sizes(name)[0]

    def _relation_names(self) -> list[str]:
        families = ("allen-", "iseql-", "interval")
        return sorted({name for name, _ in self.cases if name.startswith(families)})

    def _sizes(self, name: str) -> list[int]:
        return sorted((rows for each, rows in self.cases if each == name), reverse=True)

    def slowest_relation(self) -> float:
        """How many times faster than the fastest peer, with as many rows as one came to an end."""
        return min(next(self._speedups(name), math.inf) for name in self._relation_names())

    def _speedups(self, name: str) -> Iterator[float]:
        for rows in self._sizes(name):
            with suppress(KeyError):
                yield self.speedup(name, rows)

    def pairs(self, name: str, rows: int) -> int:
        return int(self.cases[name, rows][OURS]["answer"][0])

    def seconds_per_pair(self, name: str, rows: int) -> float:
        return self.figure(name, rows) / self.pairs(name, rows)


@dataclass(frozen=True)
class Goal:
    """A ratio, and what it is to be."""

    about: str
    limit: float
    ratio: Callable[[Results], float]
    is_at_most: bool = False

    def row(self, results: Results) -> str:
        """A line of the table."""
        wanted = f"{'at most' if self.is_at_most else 'at least'} {self.limit:g}"
        try:
            ratio = self.ratio(results)
        except (KeyError, ValueError) as error:
            return f"| {self.about} | {wanted} | - | not measured: {error.args[0]} |"
        is_met = ratio <= self.limit if self.is_at_most else ratio >= self.limit
        return f"| {self.about} | {wanted} | {ratio:.2f} | {'yes' if is_met else 'no'} |"


def against(system: str, name: str, rows: int, what: str = "median") -> Callable[[Results], float]:
    """Our figure over that of another system."""
    return lambda x: x.figure(name, rows, OURS, what) / x.figure(name, rows, system, what)


GOALS = (
    Goal("anchor, 10^6, broadcast: times faster than the fastest peer", 3,
         lambda x: x.speedup("anchor", MILLION, BROADCAST)),
    Goal("anchor, 10^6, distributed", 2, lambda x: x.speedup("anchor", MILLION, DISTRIBUTED)),
    Goal("anchor, 10^7, distributed", 2, lambda x: x.speedup("anchor", 10 * MILLION, DISTRIBUTED)),
    Goal("anchor, 10^5: times faster than Spark's own plan", 100,
         lambda x: 1 / against("spark", "anchor", MILLION // 10)(x)),
    Goal("the slowest relation: times faster than the fastest peer", 2,
         Results.slowest_relation),
    Goal("the slowest relation of 10^7 pairs or more: seconds a pair, of the anchor's", 2,
         lambda x: max(x.seconds_per_pair(*case) for case in x.relations()
                       if x.pairs(*case) >= 10 * MILLION) / x.seconds_per_pair("anchor", MILLION),
         True),
    Goal("candidates: times faster than the fastest peer", 1,
         lambda x: x.speedup("candidates", MILLION)),
    Goal("10^10 pairs aggregated: seconds, of those for 10^8", 1.3,
         lambda x: x.figure("length-10000", MILLION) / x.figure("anchor", MILLION), True),
    Goal("10^9 pairs aggregated: times faster than the fastest peer", 20,
         lambda x: x.speedup("length-1000", MILLION)),
    Goal("semi join of 10^9 pairs: times faster than the fastest peer", 10,
         lambda x: x.speedup("dense-semi", MILLION)),
    Goal("anti join of 10^9 pairs: times faster than the fastest peer", 10,
         lambda x: x.speedup("dense-anti", MILLION)),
    Goal("100,000 keys and a range: seconds, of Spark's own plan", 1.1,
         against("spark", "keys-range", MILLION), True),
    Goal("anchor, 10^4, first query of a session: seconds, of bins by hand", 1.3,
         against("spark-bins", "anchor", MILLION // 100, "cold"), True),
    Goal("anchor, 10^6, first query of a session: seconds, of bins by hand", 1.3,
         against("spark-bins", "anchor", MILLION, "cold"), True),
    Goal("100,000 keys and a range: peak memory, of Spark's own plan", 1.3,
         against("spark", "keys-range", MILLION, "peak"), True),
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, nargs="+")
    results = Results(parser.parse_args().results)
    print("| goal | wanted | ratio | met |\n|---|---|--:|---|")
    for goal in GOALS:
        print(goal.row(results))


if __name__ == "__main__":
    main()
