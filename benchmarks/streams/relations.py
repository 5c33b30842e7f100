# SPDX-License-Identifier: Apache-2.0
"""Measures joins of streams by a relation, Flink's interval join, and Spark's join by buckets.

python -m benchmarks.streams.relations [--only keyed]
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, replace
from pathlib import Path

from benchmarks.machine import heading
from benchmarks.streams import flink
from benchmarks.streams.processes import measured
from benchmarks.streams.workloads import RELATIONS, write

FOLDER = Path("target/benchmarks/streams")
OURS = "overlaps"
# Flink's interval join needs a key.
PLANS = {"keyed": (OURS, flink.PAIRS, "buckets"), "keyless": (OURS, "buckets")}


def main() -> None:
    """Runs all plans on a workload, each in a separate process, then on the next workload."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=RELATIONS)
    parser.add_argument("--events", type=int, help="so many, instead of those of each workload")
    parser.add_argument("--batches", type=int, default=8, help="two or more are not measured")
    parser.add_argument("--cap", type=float, default=90, help="seconds for each run")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--output", type=Path, default=FOLDER / "relations.json")
    arguments = parser.parse_args()
    flink.install()
    found = heading()
    for name in [arguments.only] if arguments.only else RELATIONS:
        w = replace(RELATIONS[name], events=arguments.events or RELATIONS[name].events)
        written = write(w, (FOLDER / name).resolve(), arguments.batches, files=2)
        results = [measured(p, written, arguments.cap, arguments.cores) for p in PLANS[name]]
        found[name] = {**asdict(w), "expected": written.expected, "results": results}
        for result in results:
            print(line(name, result, results[0]), flush=True)
        arguments.output.write_text(json.dumps(found, indent=1) + "\n")


def line(name: str, result: dict[str, object], ours: dict[str, object]) -> str:
    """A row of the table, with the speed of ours relative to the plan."""
    rate, own = result.get("events/s"), ours.get("events/s")
    if not isinstance(rate, int) or not isinstance(own, int):
        return f"| {name} | {result['plan']} | {result.get('error')} | | |"
    shown = f"{rate:,}" if result["complete"] else f"({rate:,})"
    return f"| {name} | {result['plan']} | {shown} | {own / rate:.1f} | {result['answer']} |"


if __name__ == "__main__":
    main()
