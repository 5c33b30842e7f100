# SPDX-License-Identifier: Apache-2.0
"""The command line of each fuzzer. It exits with 1 if a result differs."""

from __future__ import annotations

import argparse
import logging
import os
import secrets
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from fuzz.loop import Say, Totals
from support.spark.jvm import environment, quick_files
from support.spark.session import MANY_QUERIES, session

# run(session, seed, number of queries, folder for programs, say)
Run: TypeAlias = Callable[[Any, int, int, Path, Say], Any]

FOLDERS = Path(__file__).resolve().parents[2] / "target"


def main(
    run: Run,
    too_few: Callable[[Any], bool],
    *,
    command: str,
    says: str | None,
    cases: int,
    many_files: bool = False,
) -> int:
    """Run as the arguments say; return 1 if a result differs, or if the run proves too little.

    `command` is a target of make. Its last word names the folder for programs of failures.
    Streams write `many_files`.
    """
    folder = FOLDERS / command.rpartition(" ")[2]
    parser = argparse.ArgumentParser(prog=command, description=says)
    parser.add_argument("--cases", type=int, default=cases, help="how many queries")
    parser.add_argument("--seed", type=int, help="repeats a run; else each run takes a new one")
    parser.add_argument("--folder", type=Path, default=folder, help="where the programs go")
    arguments = parser.parse_args()
    seed = secrets.randbelow(10**6) if arguments.seed is None else arguments.seed
    say(f"seed {seed}")
    logging.disable()  # PySpark logs the errors that are expected
    start = time.monotonic()
    os.environ.update(environment())
    files = quick_files() if many_files else {}
    with tempfile.TemporaryDirectory(dir=in_memory()) as work:
        spark = session("local[1]", MANY_QUERIES, one_core(work), files)
        try:
            totals: Totals = run(spark, seed, arguments.cases, arguments.folder, say)
        finally:
            spark.stop()
    minutes = (time.monotonic() - start) / 60
    say(f"seed {seed}, {minutes:.1f} minutes: {totals}")
    for program in totals.programs:
        say(f"  {program}")
    return 1 if totals.programs or too_few(totals) else 0


def one_core(work: str) -> dict[str, str]:
    """Settings that keep little of finished queries in the heap and on disk."""
    return {
        "spark.driver.memory": "3g",
        "spark.buffer.pageSize": "64k",
        "spark.log.level": "OFF",
        "spark.local.dir": work,
        "spark.sql.warehouse.dir": f"{work}/warehouse",
    }


def in_memory() -> str | None:
    """The folder of the in-memory file system, if there is one; no file has to survive a run."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def say(text: str) -> None:
    print(text, flush=True)
