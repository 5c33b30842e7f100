"""Which rows have a match, where there are 10^9 matches: semi and anti joins.

python benchmarks/existence.py [--rows 1000000] [--runs 5]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import timing

CONDITIONS = {
    "s starts in r": "r.ts <= s.ts AND s.ts < r.te",
    "overlap": "r.ts < s.ts AND s.ts < r.te AND r.te < s.te",
    "intersection": "r.ts < s.te AND s.ts < r.te",
}
QUERY = "SELECT count(*), sum(r.id) FROM {r} r WHERE {no} EXISTS (SELECT 1 FROM {s} s WHERE {on})"


def write(folder: Path, rows: int, length: float, seed: int = 1) -> None:
    """Starts uniform in [0, rows), lengths exponential: about `length` matches a row."""
    random = np.random.default_rng(seed)
    for side in "rs":
        start = random.integers(0, rows, rows)
        end = start + 1 + random.exponential(length, rows).astype(np.int64)
        table = pa.table({"id": np.arange(rows), "ts": start, "te": end})
        pq.write_table(table, folder / f"{side}.parquet", row_group_size=rows // 4 or 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--length", type=float, default=1000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    spark = timing.session()
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), options.rows, options.length)
        for title, on in CONDITIONS.items():
            for no in ("", "NOT"):
                pairs = options.rows * options.length
                print(f"\n{options.rows} rows a side, {pairs:.0e} pairs: {no} EXISTS, {title}")
                sides = {side: f"parquet.`{name}/{side}.parquet`" for side in "rs"}
                query = QUERY.format(no=no, on=on, **sides)
                systems = {
                    label: timing.spark_system(spark, query, timing.SWEPT | setting)
                    for label, setting in (
                        ("IntervalSweep, broadcast", timing.BROADCAST_ALL),
                        ("IntervalSweep, distributed", timing.BROADCAST_NONE),
                    )
                }
                timing.compare(dict(systems), options.runs)
    spark.stop()


if __name__ == "__main__":
    main()
