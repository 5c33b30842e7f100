# SPDX-License-Identifier: Apache-2.0
"""Runs the streams that folders describe, all at the same time, in a process that may be killed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS), str(TESTS.parent / "python")]

from support.spark import jvm  # noqa: E402
from support.spark.session import session  # noqa: E402
from support.streams import (  # noqa: E402
    arrivals,
    eager,
    histories,
    joined,
    last_rows,
    open_intervals,
)

STREAM = "stream.json"
LOCAL = "local[2]"


def main(master: str, folders: list[Path]) -> None:
    settings = {"spark.log.level": "OFF", joined.PROVIDER: joined.ROCKSDB}
    spark = session(master, settings, jvm.quick_files() if master == LOCAL else {})
    with ThreadPoolExecutor(len(folders)) as threads:
        list(threads.map(lambda folder: stream(spark.newSession(), folder), folders))
    spark.stop()


def stream(spark: Any, folder: Path) -> None:
    given = json.loads((folder / STREAM).read_text())
    for key, value in given["settings"].items():
        spark.conf.set(key, value)
    if "clock" in given:
        rows = joined.Arrivals(folder, [], clock=given["clock"], lateness=given["lateness"])
        rows.numbers_have_times = given["numbers_have_times"]
        rows.streams(spark, given["disorder"])
        joined.write(spark.sql(given["sql"]), folder)
    elif "open_by" in given:
        open_intervals.arrivals(folder, []).streams(spark)
        pairs = open_intervals.joins(spark, open_intervals.KILLED, given["open_by"])
        joined.write(pairs, folder)
    elif "last_rows_by" in given:
        last_rows.read(spark, folder, given["last_rows_by"])
        arrivals.run(spark.sql(given["sql"]), folder)
    elif "delays" in given:
        histories.read(spark, folder, given["delays"], given["tables"], given["changes"])
        arrivals.run(spark.sql(given["sql"]), folder)
    else:
        arrivals.read(spark, folder, given["lateness"])
        start = eager.run if given["is_eager"] else arrivals.run
        start(spark.sql(given["sql"]), folder)


def describe_windows(
    folder: Path, sql: str, lateness: float, settings: dict[str, str], *, is_eager: bool = False
) -> None:
    """Writes the description of a window union for the processes that run it."""
    given = {"sql": sql, "lateness": lateness, "is_eager": is_eager, "settings": settings}
    (folder / STREAM).write_text(json.dumps(given))


def describe_joins(rows: joined.Arrivals, sql: str, settings: dict[str, str]) -> None:
    """Writes the description of joins of streams."""
    given = {
        "sql": sql,
        "clock": rows.clock,
        "lateness": rows.lateness,
        "disorder": rows.disorder(),
        "numbers_have_times": rows.numbers_have_times,
        "settings": settings,
    }
    (rows.folder / STREAM).write_text(json.dumps(given))


def describe_open_joins(folder: Path, by: str, settings: dict[str, str]) -> None:
    """Writes the description of joins of ongoing intervals."""
    (folder / STREAM).write_text(json.dumps({"open_by": by, "settings": settings}))


def describe_last_rows(
    folder: Path, sql: str, delays: dict[str, int], settings: dict[str, str]
) -> None:
    """Writes the description of as-of joins of streams; see `last_rows.read`."""
    given = {"sql": sql, "last_rows_by": delays, "settings": settings}
    (folder / STREAM).write_text(json.dumps(given))


def describe_histories(
    folder: Path,
    sql: str,
    delays: dict[str, int],
    tables: dict[str, str],
    changes: list[str],
    settings: dict[str, str],
) -> None:
    """Writes the description of histories of streams; see `histories.read`."""
    given = {"sql": sql, "delays": delays, "tables": tables, "changes": changes}
    given["settings"] = settings
    (folder / STREAM).write_text(json.dumps(given))


def command(folders: list[Path], master: str = LOCAL) -> list[str]:
    return [sys.executable, str(Path(__file__)), master, *map(str, folders)]


def run_and_kill(folders: list[Path], rng: random.Random, most: int) -> int:
    """
    Kill a process of streams again and again, after some micro-batches or within one; return
    the number of kills.
    """
    kills = 0
    while True:
        process = subprocess.Popen(command(folders), start_new_session=True)
        if kills == most:
            if process.wait(timeout=600):
                raise RuntimeError(f"a stream of {folders} failed")
            return kills
        seen = _steps(folders)
        more = rng.randrange(1, 4) * len(folders)
        while process.poll() is None and _steps(folders) < seen + more:
            time.sleep(0.02)
        time.sleep(rng.choice([0, 0.1, 0.4]))
        if process.poll() is not None:
            if process.returncode:
                raise RuntimeError(f"a stream of {folders} failed")
            return kills
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        kills += 1


def _steps(folders: list[Path]) -> int:
    """The number of planned plus committed micro-batches; a running one is planned only."""
    logs = [folder / "checkpoint" / log for folder in folders for log in ("offsets", "commits")]
    return sum(len(list(log.glob("[0-9]*"))) for log in logs)


if __name__ == "__main__":
    main(sys.argv[1], [Path(folder) for folder in sys.argv[2:]])
