"""Twenty million rows a side in a gigabyte of heap: does it finish, and what does it take?

Measures the peak resident memory of the JVM and of its workers. With `--long` a tenth of the
intervals cover everything, so that they are all active at once, and none of them matches. The
answer is compared with that of DuckDB, or with `--long` with that of the short ones alone.

    python benchmarks/large.py [--rows 20000000] [--long]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import timing

QUERY = """
    SELECT count(*), sum(r.p + s.p)
    FROM {r} r JOIN {s} s ON r.ts < s.ts AND s.ts < r.te AND r.te < s.te {more}
"""
CHUNK = 1_000_000


def write(folder: Path, rows: int, is_long: bool) -> None:
    """Starts uniform, a handful of matches a row; long ones end one after the other."""
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


def resident(pid: int) -> int:
    """Resident memory of a process in MiB; 0 if it has ended."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGESIZE") >> 20
    except (OSError, IndexError):
        return 0


def below(pid: int) -> list[int]:
    """The processes that a process has started, directly or not."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += [int(child), *below(int(child))]
    return found


def watch(peaks: dict[str, int], stop: threading.Event) -> None:
    while not stop.wait(0.2):
        now = {"JVM": 0, "Python workers": 0}
        for pid in below(os.getpid()):
            try:
                name = Path(f"/proc/{pid}/comm").read_text().strip()
            except OSError:
                continue
            now["JVM" if name == "java" else "Python workers"] += resident(pid)
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
        spark = timing.session(
            **{"spark.driver.memory": options.memory, "spark.sql.shuffle.partitions": "200"}
        )
        peaks: dict[str, int] = {}
        stop = threading.Event()
        threading.Thread(target=watch, args=(peaks, stop), daemon=True).start()
        for setting in (timing.SWEPT | timing.BROADCAST_NONE).items():
            spark.conf.set(*setting)
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
            duck = timing.duckdb_system(
                QUERY.format(r=f"'{name}/r/*.parquet'", s=f"'{name}/s/*.parquet'", more="")
            )
            expected = answer if duck is None else duck()
        assert answer == expected, f"expected {expected}"


if __name__ == "__main__":
    main()
