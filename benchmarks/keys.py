"""Equality keys and a range: the sweep beside Spark's own hash and merge joins.

The rule (`WhyNot.WeakRange`): with equality keys, plain inequalities are swept only if they bound a
range from both sides; one inequality alone is left to Spark. This shows both, from one key to as
many keys as rows, so that the price of the rule is known.

    python benchmarks/keys.py [--rows 1000000] [--runs 5]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import timing

RANGE = """
    SELECT count(*), sum(r.p + s.p)
    FROM parquet.`{0}/r.parquet` r JOIN parquet.`{0}/s.parquet` s
      ON r.k = s.k AND r.ts <= s.ts AND s.ts < r.te
"""
WEAK = """
    SELECT count(*), sum(r.p + s.p)
    FROM parquet.`{0}/r.parquet` r JOIN parquet.`{0}/s.parquet` s
      ON r.k = s.k AND r.ts <= s.ts
"""


def write(folder: Path, rows: int, keys: int, seed: int = 1) -> None:
    """Starts uniform, so long that a row has some ten matches whatever the number of keys."""
    random = np.random.default_rng(seed)
    for side in "rs":
        start = random.integers(0, rows, rows)
        columns = {
            "k": random.integers(0, keys, rows),
            "ts": start,
            "te": start + 1 + random.exponential(10.0 * keys, rows).astype(np.int64),
            "p": random.integers(0, 1000, rows),
        }
        pq.write_table(pa.table(columns), folder / f"{side}.parquet", row_group_size=rows // 4 or 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    spark = timing.session()
    for keys in (options.rows, options.rows // 10, options.rows // 1000):
        with tempfile.TemporaryDirectory() as name:
            write(Path(name), options.rows, keys)
            for title, query in (("two-sided range", RANGE), ("one inequality", WEAK)):
                print(f"\n{options.rows} rows a side, {keys} keys, {title}")
                systems = {
                    label: timing.spark_system(
                        spark, query.format(name), setting | timing.BROADCAST_NONE
                    )
                    for label, setting in (
                        ("IntervalSweep on", timing.SWEPT),
                        ("off: Spark's merge join", timing.UNSWEPT),
                    )
                }
                timing.compare(dict(systems), options.runs)
    spark.stop()


if __name__ == "__main__":
    main()
