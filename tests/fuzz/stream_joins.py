# SPDX-License-Identifier: Apache-2.0
"""`make fuzz-stream-joins`: random joins of streams against the formulas, evaluated by DuckDB.

Each query has a dozen joins, a stream each, over random rows, arrivals, micro-batches and restarts;
of some the process is killed again and again. A query that differs is repeated by its seed; the
run ends with 1.
"""

from __future__ import annotations

import argparse
import logging
import random
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

import join_cases
import joined
import joining_process
import quick_files
from arrivals import QUICKLY
from fuzz.__main__ import in_memory, say, session
from join_cases import Case

JOINS = 12


def main() -> int:
    parser = argparse.ArgumentParser(prog="make fuzz-stream-joins", description=__doc__)
    parser.add_argument("--cases", type=int, default=420, help="how many queries of twelve joins")
    parser.add_argument("--seed", type=int, help="of the first query; the others follow")
    parser.add_argument("--kills", type=int, default=0, help="how many of them are killed")
    arguments = parser.parse_args()
    first = secrets.randbelow(10**6) if arguments.seed is None else arguments.seed
    logging.disable()
    wrong, rows, killed = [], 0, 0
    with tempfile.TemporaryDirectory(dir=in_memory()) as work:
        classes = Path(work) / "classes"
        classes.mkdir()
        spark = session(work, {**QUICKLY, **quick_files.settings(classes)})
        started = time.monotonic()
        try:
            for seed in range(first, first + arguments.cases):
                folder, is_killed = Path(work) / str(seed), seed < first + arguments.kills
                folder.mkdir()
                try:
                    cases, found, wanted, kills = compared(spark, folder, seed, is_killed)
                except Exception:
                    wrong.append(seed)
                    say(f"seed {seed}: {traceback.format_exc(limit=-2)[-2000:]}")
                    continue
                finally:
                    shutil.rmtree(folder, ignore_errors=True)
                rows += wanted.total()
                killed += kills
                if found != wanted:
                    wrong.append(seed)
                    say(f"seed {seed}: {found - wanted} too many, {wanted - found} missing")
                    for number in sorted({row[0] for row in found - wanted + (wanted - found)}):
                        say(f"  {number}: {cases[number]}")
                done = seed + 1 - first
                if done % 10 == 0:
                    rate = done * JOINS / (time.monotonic() - started)
                    say(f"{done * JOINS} joins, {len(wrong)} queries differ, {rate:.1f} a second")
        finally:
            spark.stop()
    say(
        f"seed {first}: {arguments.cases * JOINS} joins of streams, {arguments.kills * JOINS} of "
        f"them killed {killed} times, {rows} rows, {len(wrong)} queries differ: {wrong}"
    )
    return 1 if wrong or not rows else 0


def compared(
    spark: Any, folder: Path, seed: int, is_killed: bool
) -> tuple[list[Case], Counter[Any], Counter[Any], int]:
    """The joins of a query, their rows, those by the formulas, and how often it was killed."""
    rng = random.Random(seed)
    clock = rng.choice(["ts", "ts", "te"])
    arrivals = joined.random_arrivals(
        folder,
        rng,
        rows=rng.choice([8, 30, 60]),
        cuts=rng.randrange(2, 6) if is_killed else rng.randrange(1, 5),
        clock=clock,
        lateness=rng.choice([1, 6, 20]),
    )
    cases = join_cases.random_cases(rng, JOINS, clock)
    partitions = rng.choice(["1", "1", "2", "3"])
    spark.conf.set("spark.sql.shuffle.partitions", partitions)
    arrivals.streams(spark)
    sql = join_cases.union(cases)
    planned = spark.sql(sql)
    cases = join_cases.as_planned(cases, planned._jdf.queryExecution().analyzed().toString())
    wanted = join_cases.wanted(arrivals, cases)
    if is_killed:
        arrivals.write()
        settings = {**QUICKLY, "spark.sql.shuffle.partitions": partitions}
        joining_process.describe(arrivals, sql, **settings)
        command = joining_process.command(folder)
        kills = joining_process.run_and_kill(command, [folder], rng, most=4)
        # A stream that is started again has no micro-batch without rows, in which rows without a
        # match leave, if it was killed before that: they wait for the next row of each side.
        arrivals.batches.append(joined.far_away(2 * joined.FAR))
        arrivals.write()
        subprocess.run(command, check=True)
        return cases, joined.bag(joining_process.written(spark, folder)), wanted, kills
    cut = rng.choice([None, None, 1, len(arrivals.batches) - 1])
    return cases, joined.bag(joined.run(spark, arrivals, sql, cut)), wanted, 0


if __name__ == "__main__":
    sys.exit(main())
