# SPDX-License-Identifier: Apache-2.0
"""Joins twenty million rows a side with a heap of one gigabyte, and measures time and memory.

Prints the peak resident memory of the JVM and of the workers. With `--long`, a tenth of r's
intervals reach beyond all others: they are active at the same time, and none of them matches. The
answer must equal DuckDB's. With `--long` it must equal the answer without the long intervals.

    python -m benchmarks.studies.large [--rows 20000000] [--long]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.adapter import Limits
from benchmarks.processes import descendants, resident_alone
from benchmarks.systems import BROADCAST, spark_session

QUERY = """
    SELECT count(*), sum(r.p + s.p)
    FROM {r} r JOIN {s} s ON r.ts < s.ts AND s.ts < r.te AND r.te < s.te {more}
"""
CHUNK = 1_000_000


def write(folder: Path, rows: int, is_long: bool) -> None:
    """Starts uniform, a handful of matches a row. Long intervals end at `2 * rows`."""
    for seed, side in enumerate("rs"):
        (folder / side).mkdir()
        for number, first in enumerate(range(0, rows, CHUNK)):
            random = np.random.default_rng((seed, number))
            n = min(CHUNK, rows - first)
            start = random.integers(0, rows, n)
            end = start + 1 + random.exponential(5, n).astype(np.int64)
            if is_long and side == "r":
                end = np.where(random.random(n) < 0.1, 2 * rows, end)
            columns = {"ts": start, "te": end, "p": random.integers(0, 1000, n)}
            pq.write_table(pa.table(columns), folder / side / f"{number}.parquet")


def watch(peaks: dict[str, int], stop: threading.Event) -> None:
    while not stop.wait(0.2):
        now = {"JVM": 0, "Python workers": 0}
        for pid in descendants(os.getpid()):
            with suppress(OSError):  # the process has just ended
                name = Path(f"/proc/{pid}/comm").read_text().strip()
                now["JVM" if name == "java" else "Python workers"] += resident_alone(pid) >> 20
        for kind, size in now.items():
            peaks[kind] = max(peaks.get(kind, 0), size)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--memory", default="1g")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), options.rows, options.long)
        settings = {BROADCAST: "-1", "spark.sql.shuffle.partitions": "200"}
        spark = spark_session(Limits(2, options.memory, Path(name)), **settings)
        peaks: dict[str, int] = {}
        stop = threading.Event()
        threading.Thread(target=watch, args=(peaks, stop), daemon=True).start()
        files = {side: f"parquet.`{name}/{side}`" for side in "rs"}
        start = time.perf_counter()
        answer = tuple(spark.sql(QUERY.format(**files, more="")).collect()[0])
        seconds = time.perf_counter() - start
        stop.set()
        print(f"{options.rows} rows a side, {answer[0]} pairs, sum {answer[1]}: {seconds:.1f} s")
        print("peak resident MiB:", peaks)
        if options.long:
            short = QUERY.format(**files, more=f"AND r.te < {2 * options.rows}")
            expected = tuple(spark.sql(short).collect()[0])
        spark.stop()
        if not options.long:
            expected = duckdb_answer(name)
        assert answer == expected, f"expected {expected}"


def duckdb_answer(folder: str) -> tuple[int, ...]:
    import duckdb

    files = {side: f"'{folder}/{side}/*.parquet'" for side in "rs"}
    row = duckdb.execute(QUERY.format(**files, more="")).fetchall()[0]
    return tuple(int(value) for value in row)


if __name__ == "__main__":
    main()
