"""The sweep beside the plan that Spark would have made: keys x sizes x join types.

The rule is that the first is never more than a fifth slower. Spark's nested loop is left out where
it would compare more than `--most` pairs.

    python benchmarks/matrix.py [--runs 3] [--most 3e9] [--sizes 1000 ...] [--keys 0 1 ...]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import timing
from keys import write

JOINS = {
    "inner": "SELECT count(*), sum(r.p + s.p) FROM {r} r JOIN {s} s ON {on}",
    "left": "SELECT count(*), sum(r.p + coalesce(s.p, 0)) FROM {r} r LEFT JOIN {s} s ON {on}",
    "semi": "SELECT count(*), sum(r.p) FROM {r} r LEFT SEMI JOIN {s} s ON {on}",
    "anti": "SELECT count(*), coalesce(sum(r.p), 0) FROM {r} r LEFT ANTI JOIN {s} s ON {on}",
}
RANGE = "r.ts <= s.ts AND s.ts < r.te"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--most", type=float, default=3e9)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--keys", type=int, nargs="+", default=[0, 1, 10, 1000, 1_000_000])
    options = parser.parse_args()
    spark = timing.session()
    print("| rows | keys | join | IntervalSweep s | Spark s | ratio |\n|---|---|---|---|---|---|")
    for rows in options.sizes:
        for keys in options.keys:
            with tempfile.TemporaryDirectory() as name:
                write(Path(name), rows, max(keys, 1))
                measure(spark, options, name, rows, keys)
    spark.stop()


def measure(
    spark: timing.SparkSession, options: argparse.Namespace, name: str, rows: int, keys: int
) -> None:
    on = RANGE if keys == 0 else f"r.k = s.k AND {RANGE}"
    files = {side: f"parquet.`{name}/{side}.parquet`" for side in "rs"}
    for join, query in JOINS.items():
        text = query.format(on=on, **files)
        systems: dict[str, timing.System | None] = {
            "on": timing.spark_system(spark, text, timing.SWEPT | timing.BROADCAST_SMALL)
        }
        if rows * rows / max(keys, 1) <= options.most:
            systems["off"] = timing.spark_system(
                spark, text, timing.UNSWEPT | timing.BROADCAST_SMALL
            )
        medians = timing.medians(systems, options.runs)
        swept, spark_own = medians["on"], medians.get("off")
        beside = "- | -" if spark_own is None else f"{spark_own:.2f} | {swept / spark_own:.2f}"
        print(f"| {rows} | {keys} | {join} | {swept:.2f} | {beside} |", flush=True)


if __name__ == "__main__":
    main()
