"""The anchor: 1 M x 1 M intervals, ``r.rs <= s.ss AND s.ss < r.re``, some hundred matches a row.

Runs the same query on the same Parquet files through IntervalSweep (small side broadcast, and
distributed), through DuckDB if it is installed, and, on a slice that it can finish, through Spark's
own plan. Runs are interleaved; a time counts only if the answers agree.

    python benchmarks/anchor.py [--rows 1000000] [--slice 20000] [--runs 5]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import timing

QUERY = """
    SELECT count(*), sum(r.rp + s.sp)
    FROM {r} r JOIN {s} s ON r.rs <= s.ss AND s.ss < r.re
"""


def write(folder: Path, rows: int, seed: int = 1) -> None:
    """Starts uniform in [0, rows), lengths exponential with mean 100, int64 throughout."""
    random = np.random.default_rng(seed)
    for side in "rs":
        start = random.integers(0, rows, rows)
        end = start + 1 + random.exponential(100, rows).astype(np.int64)
        payload = random.integers(0, 1000, rows)
        table = pa.table({f"{side}s": start, f"{side}e": end, f"{side}p": payload})
        pq.write_table(table, folder / f"{side}.parquet", row_group_size=rows // 4 or 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--slice", type=int, default=20_000, help="rows for Spark's own plan")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    spark = timing.session()
    for rows in (options.rows, options.slice):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write(folder, rows)
            sparks = QUERY.format(r=f"parquet.`{name}/r.parquet`", s=f"parquet.`{name}/s.parquet`")
            ducks = QUERY.format(r=f"'{name}/r.parquet'", s=f"'{name}/s.parquet'")
            systems = {
                "IntervalSweep, broadcast": timing.spark_system(
                    spark, sparks, timing.SWEPT | timing.BROADCAST_ALL
                ),
                "IntervalSweep, distributed": timing.spark_system(
                    spark, sparks, timing.SWEPT | timing.BROADCAST_NONE
                ),
                "DuckDB": timing.duckdb_system(ducks),
            }
            if rows == options.slice:
                systems["Spark's own plan"] = timing.spark_system(
                    spark, sparks, timing.UNSWEPT | timing.BROADCAST_ALL
                )
            print(f"\n{rows} x {rows} rows")
            timing.compare(systems, options.runs)
    spark.stop()


if __name__ == "__main__":
    main()
