# SPDX-License-Identifier: Apache-2.0
"""`make fuzz-stream-joins`: random joins of streams against the same joins of tables.

Each case is one query of twelve joins over random rows, arrivals, micro-batches and restarts. A
case that differs is repeated by its seed; the run ends with 1.
"""

from __future__ import annotations

import argparse
import logging
import random
import secrets
import sys
import tempfile
from pathlib import Path

import joined
from fuzz.__main__ import say, session


def main() -> int:
    parser = argparse.ArgumentParser(prog="make fuzz-stream-joins", description=__doc__)
    parser.add_argument("--cases", type=int, default=400, help="how many queries of twelve joins")
    parser.add_argument("--seed", type=int, help="of the first case; the others follow")
    arguments = parser.parse_args()
    first = secrets.randbelow(10**6) if arguments.seed is None else arguments.seed
    logging.disable()
    wrong, rows = [], 0
    with tempfile.TemporaryDirectory() as work:
        spark = session(work)
        spark.conf.set(joined.PROVIDER, joined.ROCKSDB)
        spark.conf.set("spark.sql.shuffle.partitions", "2")
        try:
            for seed in range(first, first + arguments.cases):
                rng = random.Random(seed)
                some = joined.cases(rng, 12)
                found, wanted = joined.both(spark, Path(work) / str(seed), rng, some)
                rows += len(wanted)
                if joined.bag(found) != joined.bag(wanted):
                    wrong.append(seed)
                    difference = joined.bag(found) - joined.bag(wanted)
                    missing = joined.bag(wanted) - joined.bag(found)
                    say(f"seed {seed}: {dict(difference)} too many, {dict(missing)} missing")
                    say("\n".join(f"  {n} {how} {c}" for n, (how, c) in enumerate(some)))
        finally:
            spark.stop()
    say(f"{arguments.cases * 12} joins from seed {first}, {rows} rows, {len(wrong)} cases differ")
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
