# SPDX-License-Identifier: Apache-2.0
"""Measures histories and as-of joins of streams, and Flink SQL's plans of the same queries.

python -m benchmarks.streams.histories [running sliding as_of last periods]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.machine import heading
from benchmarks.report import write_json
from benchmarks.streams import flink
from benchmarks.streams.histories import spark_history
from benchmarks.streams.histories.workloads import STREAMS, Written, write
from benchmarks.streams.processes import run

FOLDER = Path("target/benchmarks/streams/histories")
BATCHES = {"running": 12, "sliding": 6, "as_of": 12, "last": 6, "short": 30, "long": 30}
WARM = 2  # micro-batches that are not measured
LIMIT = 900.0  # seconds for a run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    choices = ["running", "sliding", "as_of", "last", "periods"]
    parser.add_argument("what", nargs="*", default=choices, metavar="WHAT", help=str(choices))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--heap", default="3g")
    parser.add_argument("--output", type=Path, default=FOLDER / "histories.json")
    arguments = parser.parse_args()
    found: dict[str, Any] = heading()
    for what in arguments.what:
        if what == "periods":
            found[what] = periods(arguments)
        else:
            flink.install()
            found[what] = beside_flink(what, arguments)
        write_json(arguments.output, found)


def written(name: str) -> Written:
    return write(STREAMS[name], (FOLDER / name).resolve(), BATCHES[name])


def beside_flink(name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Rows a second of both systems, run after run, and the median of the ratios."""
    stream = written(name)
    warm = WARM * stream.stream.rows // stream.batches
    pairs = []
    for _ in range(arguments.runs):
        ours = spark(stream, arguments)
        ours["seconds"] = sum(ours["batches"][WARM:]) / 1000
        theirs = beside(stream, warm, arguments)
        for ran in (ours, theirs):
            ran["rows/s"] = round((stream.stream.rows - warm) / ran["seconds"])
        pairs.append((ours, theirs))
        print(name, *(f"{r['rows/s']:,}/s {r['peak MiB']:,} MiB" for r in pairs[-1]), flush=True)
    ratio = statistics.median(a["rows/s"] / b["rows/s"] for a, b in pairs)
    print(f"{name}: {ratio:.2f} times Flink", flush=True)
    return {**asdict(stream.stream), "ratio": ratio, "runs": pairs}


def periods(arguments: argparse.Namespace) -> dict[str, Any]:
    """The time of a micro-batch with few and with many valid rows."""
    times: dict[str, list[float]] = {"short": [], "long": []}
    runs = []
    for _ in range(arguments.runs):
        for name, medians in times.items():
            ran = spark(written(name), arguments)
            # The last micro-batches end all rows.
            medians.append(statistics.median(ran["batches"][5:-2]))
            runs.append({"stream": name, **ran})
            print(name, medians[-1], "ms", f"{ran['peak MiB']:,} MiB", flush=True)
    ratio = statistics.median(a / b for a, b in zip(times["long"], times["short"], strict=True))
    print(f"long periods: {ratio:.2f} times the time of short ones", flush=True)
    return {"ratio": ratio, "medians": times, "runs": runs}


def spark(stream: Written, arguments: argparse.Namespace) -> dict[str, Any]:
    program = [sys.executable, "-m", spark_history.__name__, str(stream.folder)]
    ran = run([*program, str(arguments.cores), arguments.heap], LIMIT, stream.folder / "spark.log")
    return checked(ran, stream.ours)


def beside(stream: Written, warm: int, arguments: argparse.Namespace) -> dict[str, Any]:
    s = stream.stream
    checkpoints = stream.folder / "checkpoints"
    options = (s.kind, stream.folder / "all.csv", s.length, s.lateness, warm, arguments.cores)
    program = flink.program("HistoryBenchmark", arguments.heap, *options, checkpoints)
    return checked(run(program, LIMIT, stream.folder / "flink.log"), stream.flink)


def checked(ran: dict[str, Any], expected: dict[str, float]) -> dict[str, Any]:
    """The result; a wrong one ends the program."""
    if "error" in ran:
        raise SystemExit(json.dumps(ran))
    near = abs(ran["sum"] - expected["sum"]) <= 1e-9 * abs(expected["sum"])
    if ran["rows"] != expected["rows"] or not near or ran.get("late"):
        raise SystemExit(f"wrong: {json.dumps(ran)}, expected {expected}")
    return ran


if __name__ == "__main__":
    main()
