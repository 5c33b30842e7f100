# SPDX-License-Identifier: Apache-2.0
"""`make fuzz`: runs random queries, and ends with 1 if one has other rows than Spark's own plan."""

from __future__ import annotations

import argparse
import logging
import secrets
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from pyspark.sql import SparkSession

import intervalsweep
from fuzz.queries import SHAPES
from fuzz.run import Totals, run

Run: TypeAlias = Callable[[Any, int, int, Path, Callable[[str], None]], Any]

FOLDER = Path(__file__).resolve().parents[2] / "target" / "fuzz"


def session(work: str, more: dict[str, str] | None = None) -> Any:
    """One core; what the heap and the disk hold of finished queries is kept small."""
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.ui.retainedExecutions": "10",
        "spark.ui.retainedJobs": "50",
        "spark.ui.retainedStages": "50",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "3g",
        # Every query is new code, which no optimising compiler makes up for, and its memory is
        # garbage right away.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=512m "
        "-XX:+UseSerialGC -Xmn1g",
        "spark.buffer.pageSize": "64k",
        "spark.ui.retainedTasks": "100",
        "spark.log.level": "OFF",
        "spark.local.dir": work,
        "spark.sql.warehouse.dir": f"{work}/warehouse",
    }
    builder = SparkSession.builder.master("local[1]").appName("intervalsweep fuzz")
    for key, value in {**settings, **(more or {})}.items():
        builder = builder.config(key, value)
    return intervalsweep.configure(builder).getOrCreate()


def main(
    run: Run = run,
    too_few: Callable[[Any], bool] | None = None,
    *,
    command: str = "make fuzz",
    says: str | None = __doc__,
    cases: int = 50_000,
    folder: Path = FOLDER,
    settings: Callable[[Path], dict[str, str]] = lambda _work: {},
) -> int:
    """The command line of a run; 1 if something differs, or if the run proves little."""
    parser = argparse.ArgumentParser(prog=command, description=says)
    parser.add_argument("--cases", type=int, default=cases, help="how many queries")
    parser.add_argument("--seed", type=int, help="repeats a run; else each run takes a new one")
    parser.add_argument("--folder", type=Path, default=folder, help="where the programs go")
    arguments = parser.parse_args()
    seed = secrets.randbelow(10**6) if arguments.seed is None else arguments.seed
    say(f"seed {seed}")
    logging.disable()  # PySpark logs the errors that are expected
    start = time.monotonic()
    with tempfile.TemporaryDirectory(dir=in_memory()) as work:
        spark = session(work, settings(Path(work)))
        try:
            totals = run(spark, seed, arguments.cases, arguments.folder, say)
        finally:
            spark.stop()
    minutes = (time.monotonic() - start) / 60
    say(f"seed {seed}, {minutes:.1f} minutes: {totals}")
    for program in totals.programs:
        say(f"  {program}")
    return 1 if totals.programs or (too_few or swept_too_little)(totals) else 0


def in_memory() -> str | None:
    """A folder in memory where there is one: nothing of a run outlives it."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def swept_too_little(totals: Totals) -> bool:
    """Whether the run proves little: every shape is to be swept, and most queries to have rows."""
    kept = [shape for shape in SHAPES if not totals.swept[shape]]
    if kept:
        say(f"never swept: {', '.join(kept)}")
    if few := totals.swept_with_rows * 3 < totals.queries:
        say("fewer than a third of the queries are swept and have rows")
    return bool(kept) or few


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
