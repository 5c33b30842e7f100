# SPDX-License-Identifier: Apache-2.0
"""Runs the joins of `query.json` of a folder to the end, in a process that may be killed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SUPPORT = Path(__file__).parent
sys.path[:0] = [str(SUPPORT), str(SUPPORT.parents[1] / "python")]

from joined import PROVIDER, ROCKSDB, Arrivals  # noqa: E402


def main(folder: Path) -> None:
    from pyspark.sql import SparkSession

    import intervalsweep

    given = json.loads((folder / "query.json").read_text())
    builder = SparkSession.builder.master(given["master"]).config("spark.ui.enabled", "false")
    settings = {PROVIDER: ROCKSDB, "spark.sql.session.timeZone": "UTC", "spark.log.level": "OFF"}
    for key, value in {**settings, **given["settings"]}.items():
        builder = builder.config(key, value)
    spark = intervalsweep.configure(builder).getOrCreate()
    arrivals = Arrivals(folder, [], clock=given["clock"], lateness=given["lateness"])
    arrivals.streams(spark, disorder=given["disorder"])
    query = spark.sql(given["sql"]).writeStream.format("parquet")
    query = query.option("path", str(folder / "out")).trigger(availableNow=True)
    query.option("checkpointLocation", str(folder / "checkpoint")).start().awaitTermination()
    spark.stop()


def describe(arrivals: Arrivals, sql: str, master: str = "local[1]", **settings: str) -> None:
    """Says to later processes what they are to run."""
    given = {
        "sql": sql,
        "clock": arrivals.clock,
        "lateness": arrivals.lateness,
        "disorder": arrivals.disorder(),
        "master": master,
        "settings": settings,
    }
    (arrivals.folder / "query.json").write_text(json.dumps(given))


def command(folder: Path) -> list[str]:
    return [sys.executable, str(Path(__file__)), str(folder)]


def run_and_kill(command: list[str], folders: list[Path], rng: random.Random, most: int) -> int:
    """
    Kill a process of streams after some micro-batches or amid one, again and again; how often it
    was. Each stream has a folder.
    """
    kills = 0
    while True:
        process = subprocess.Popen(command, start_new_session=True)
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
    """A micro-batch is planned, then committed: between the two it is under way."""
    logs = [folder / "checkpoint" / log for folder in folders for log in ("offsets", "commits")]
    return sum(len(list(log.glob("[0-9]*"))) for log in logs)


def written(spark: Any, folder: Path) -> list[Any]:
    """What the sink has; files of attempts that did not end are no part of it."""
    rows: list[Any] = spark.read.parquet(str(folder / "out")).collect()
    return rows


if __name__ == "__main__":
    main(Path(sys.argv[1]))
