"""Aggregates over 10^8 to 10^10 pairs, from runs and from the pairs themselves.

python benchmarks/aggregates.py [--rows 1000000] [--lengths 100 1000 10000] [--most-pairs 2e9]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import timing
from existence import CONDITIONS, write

RUNS = "spark.sql.intervalsweep.aggregateRuns"
QUERIES = {
    "count, sum": "SELECT count(*), sum(r.id + s.id) FROM {r} r JOIN {s} s ON {on}",
    "count, sum, max by r": (
        "SELECT count(*), sum(n), sum(p), sum(m) FROM (SELECT r.id, count(*) AS n, sum(s.id) AS p, "
        "max(s.id) AS m FROM {r} r JOIN {s} s ON {on} GROUP BY r.id)"
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--lengths", type=float, nargs="+", default=[100, 1000, 10000])
    parser.add_argument("--most-pairs", type=float, default=2e9, help="more are not made")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    spark = timing.session()
    for length in options.lengths:
        pairs = options.rows * length
        with tempfile.TemporaryDirectory() as name:
            write(Path(name), options.rows, length)
            sides = {side: f"parquet.`{name}/{side}.parquet`" for side in "rs"}
            for title, on in CONDITIONS.items():
                for what, query in QUERIES.items():
                    print(f"\n{options.rows} rows a side, about {pairs:.0e} pairs: {what}, {title}")
                    systems = {}
                    for label, setting in (
                        ("broadcast", timing.BROADCAST_ALL),
                        ("distributed", timing.BROADCAST_NONE),
                    ):
                        for way, runs in (("from runs", "true"), ("from pairs", "false")):
                            if runs == "true" or pairs <= options.most_pairs:
                                systems[f"{label}, {way}"] = timing.spark_system(
                                    spark,
                                    query.format(on=on, **sides),
                                    timing.SWEPT | setting | {RUNS: runs},
                                )
                    timing.compare(dict(systems), options.runs)
    spark.stop()


if __name__ == "__main__":
    main()
