# SPDX-License-Identifier: Apache-2.0
"""
Measures the SPO-Join paper's inequality joins in a window of rows, in Spark and in peers.

python -m benchmarks.streams.inequality --window 1000000
python -m benchmarks.streams.inequality --window 1000000 --queries q2 --sweep
python -m benchmarks.streams.inequality --systems "intervalsweep, counts" duckdb --rate 5 100 10000
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.machine import heading, versions
from benchmarks.report import write_json
from benchmarks.streams.inequality import ours
from benchmarks.streams.inequality.cases import OURS, SYSTEMS, Case, Options
from benchmarks.streams.inequality.peers import PEERS, compile_all
from benchmarks.streams.inequality.plots import draw
from benchmarks.streams.inequality.report import markdown
from benchmarks.streams.inequality.workloads import QUERIES, Window
from benchmarks.streams.session import stream_session

FOLDER = Path("target/benchmarks/streams")
RATES = (1.0, 5.0, 25.0, 100.0)


def main() -> None:
    arguments = parse()
    try:
        options, cases = cases_of(arguments)
    except ValueError as error:
        sys.exit(str(error))
    results: dict[str, Any] = {
        **heading(),
        "versions": versions(["intervalsweep", "duckdb"]),
        "options": {**asdict(options), "cores": arguments.cores, "heap": arguments.heap},
        "lines": [],
    }
    if set(options.systems) & set(PEERS):
        compile_all()
    folder = arguments.output
    folder.mkdir(parents=True, exist_ok=True)
    with (
        scratch(folder) as work,
        spark_if(not set(OURS).isdisjoint(options.systems), arguments, work) as spark,
    ):
        for case in cases:
            for line in case.measure(spark, work):
                print(json.dumps(line), flush=True)
                results["lines"].append(line)
                write_json(folder / "inequality.json", results)
    text = markdown(results)
    (folder / "inequality.md").write_text(text, encoding="utf-8")
    print(text)
    for file in draw(results, folder):
        print(file)
    if any("pairs" in line and "why_not" in line for line in results["lines"]):
        sys.exit("wrong pairs")


def cases_of(arguments: argparse.Namespace) -> tuple[Options, list[Case]]:
    """The cases to measure; raises ValueError for options that do not fit together."""
    slide = arguments.slide or arguments.window // 10
    window = Window(arguments.window, slide, arguments.batch or slide, arguments.full)
    options = Options(window, tuple(arguments.systems), arguments.sample, arguments.limit)
    rates = RATES if arguments.sweep else arguments.rate
    queries = [QUERIES[name] for name in arguments.queries]
    for query in queries:
        query.noise(max(rates), window.length)
    return options, [Case(query, rate, options) for query in queries for rate in rates]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--queries", nargs="+", choices=QUERIES, default=list(QUERIES))
    add("--window", type=int, default=10**6, help="rows of each stream")
    add("--slide", type=int, help="rows that leave at once; a tenth of the window")
    add("--batch", type=int, help="rows of a micro-batch and stream; a slide")
    add("--full", type=int, default=4, help="slices that come to a full window")
    add("--rate", type=float, nargs="+", default=[5], help="pairs of an arriving row, about")
    add("--sweep", action="store_true", help=f"the rates {RATES}, and a picture")
    add("--sample", type=int, default=1000, help="rows of a stream that peers look up")
    add("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    add("--limit", type=float, default=20, help="seconds for DuckDB")
    add("--cores", type=int, default=2, help="of Spark")
    add("--heap", default="6g", help="of Spark")
    add("--output", type=Path, default=FOLDER, help="the folder of the results")
    return parser.parse_args()


@contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="inequality-", dir=folder) as name:
        yield Path(name).resolve()


@contextmanager
def spark_if(wanted: bool, arguments: argparse.Namespace, work: Path) -> Iterator[Any]:
    if not wanted:
        yield None
        return
    spark = stream_session(arguments.cores, arguments.heap, work, ours.SETTINGS)
    try:
        yield spark
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
