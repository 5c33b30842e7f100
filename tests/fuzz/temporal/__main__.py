# SPDX-License-Identifier: Apache-2.0
"""`make fuzz-temporal`: random histories; ends with 1 if one is not that of its slices."""

from __future__ import annotations

import argparse
import logging
import secrets
import sys
import tempfile
import time
from pathlib import Path

from fuzz.__main__ import say, session
from fuzz.temporal.run import run

FOLDER = Path(__file__).resolve().parents[3] / "target" / "fuzz-temporal"


def main() -> int:
    parser = argparse.ArgumentParser(prog="make fuzz-temporal", description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000, help="how many queries")
    parser.add_argument("--seed", type=int, help="repeats a run; else each run takes a new one")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where failures go")
    arguments = parser.parse_args()
    seed = secrets.randbelow(10**6) if arguments.seed is None else arguments.seed
    say(f"seed {seed}")
    logging.disable()  # PySpark logs the errors that are expected
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as work:
        spark = session(work)
        try:
            totals = run(spark, seed, arguments.cases, arguments.folder, say)
        finally:
            spark.stop()
    say(f"seed {seed}, {(time.monotonic() - start) / 60:.1f} minutes: {totals}")
    few = totals.with_rows * 2 < totals.queries
    if few:
        say("fewer than half of the queries have rows")
    return 1 if totals.programs or few else 0


if __name__ == "__main__":
    sys.exit(main())
