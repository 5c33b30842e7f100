# SPDX-License-Identifier: Apache-2.0
"""Measures events a second of window unions, compared with Flink's plans.

python -m benchmarks.streams A B C D IV V --flink
python -m benchmarks.streams --sweep keys window lateness skew
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, replace
from pathlib import Path

from benchmarks.machine import heading
from benchmarks.streams import flink
from benchmarks.streams.processes import measured
from benchmarks.streams.report import OURS, Report, table
from benchmarks.streams.workloads import SWEEPS, WORKLOADS, Workload, sweep, write

FOLDER = Path("target/benchmarks/streams")


def main() -> None:
    arguments = parsed()
    found = heading()
    output = arguments.output or FOLDER / f"{found['date']}-{found['commit']}"
    if arguments.workloads:
        plans = [OURS, *(flink.PLANS if arguments.flink else ()), *["spark"] * arguments.spark]
        chosen = {name: WORKLOADS[name] for name in arguments.workloads}
        run(chosen, arguments.plans or plans, arguments, output / "workloads.json")
    for what in arguments.sweep:
        plans = arguments.plans or [OURS, flink.EXACT]
        run(sweep(what), plans, arguments, output / f"{what}.json")


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(WORKLOADS))
    parser.add_argument("--flink", action="store_true", help="Flink's plans, too")
    parser.add_argument("--spark", action="store_true", help="Spark's own join and aggregate, too")
    parser.add_argument("--sweep", nargs="+", default=[], choices=SWEEPS, help="of Table IV")
    parser.add_argument("--plans", nargs="+", help="alone: ours, spread, spark, over, join, keyoij")
    parser.add_argument("--events", type=int, help="so many, instead of those of each workload")
    parser.add_argument("--batches", type=int, default=6, help="two or more are not measured")
    parser.add_argument("--files", type=int, default=2, help="of a side and a micro-batch")
    parser.add_argument("--cap", type=float, default=60, help="seconds for each run")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--output", type=Path, help="a folder for results.json and results.md")
    arguments = parser.parse_args()
    if unknown := set(arguments.workloads) - set(WORKLOADS):
        parser.error(f"no such workload: {', '.join(sorted(unknown))}")
    if not arguments.workloads and not arguments.sweep:
        parser.error("name workloads, or --sweep")
    return arguments


def run(
    workloads: dict[str, Workload], plans: list[str], arguments: argparse.Namespace, file: Path
) -> None:
    """Runs all plans on a workload, then on the next workload."""
    if set(plans) & set(flink.PLANS):
        flink.install()
    options = {key: value for key, value in vars(arguments).items() if key != "output"}
    report = Report(file, options)
    for name, workload in workloads.items():
        w = replace(workload, events=arguments.events or workload.events)
        written = write(w, (FOLDER / name).resolve(), arguments.batches, arguments.files)
        described = {**asdict(w), "expected": written.expected, "warm": written.warm}
        print(json.dumps({"workload": name, **described}), flush=True)
        for plan in plans:
            result = measured(plan, written, arguments.cap, arguments.cores)
            print(json.dumps({"workload": name, **result}), flush=True)
            report.add(name, described, result)
    print(f"\n{table(json.loads(file.read_text()))}\n{file}", flush=True)


if __name__ == "__main__":
    main()
