# SPDX-License-Identifier: Apache-2.0
"""Streams of starts and ends of intervals, and joins of them, in a process that may be killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

SUPPORT = Path(__file__).parent
sys.path[:0] = [str(SUPPORT), str(SUPPORT.parents[1] / "python")]

import joined  # noqa: E402
from arrivals import QUICKLY, run  # noqa: E402
from joined import FAR, Arrivals, at  # noqa: E402
from oracle import RELATIONS, Variant, variants  # noqa: E402

SCHEMA = "id INT, k INT, ts TIMESTAMP, te TIMESTAMP, at TIMESTAMP, v INT"
# Metadata of the column that says of which interval a row is.
OPEN_ID = "intervalsweep.open_id"
LIMIT = timedelta(seconds=6)
# By themselves they do not bound how much later a partner starts.
GAPS = ["ALLEN_BEFORE", "ALLEN_AFTER", "ISEQL_BEFORE", "ISEQL_AFTER"]
BARE = [v for v in variants() if not v.parameters and v.relation.name not in GAPS]
BOUNDED = [v for v in variants() if v.parameters and v.parameters == v.relation.parameters]


def named(*names: str) -> list[Variant]:
    return [Variant(RELATIONS[name]) for name in names]


def started(number: int, ts: float, key: int = 1) -> Any:
    return (number, key, at(ts), None, at(ts), 0)


def ended(number: int, ts: float, te: float, key: int = 1) -> Any:
    return (number, key, at(ts), at(te), at(te), 0)


def far(seconds: int = FAR) -> joined.Batch:
    return {s: [started(FAR, seconds + n, -1)] for n, s in enumerate("ab")}


def random_arrivals(folder: Path, rng: random.Random, rows: int, cuts: int) -> Arrivals:
    """Starts and ends of intervals, out of order by less than the lateness."""
    arriving = []
    for side in "ab":
        for number in range(rows):
            ts, key = rng.randrange(0, 2 * rows, 4), rng.choice([1, 1, 2])
            te = ts + rng.choice([0, 1, 4, 5, 15, 40])
            for when, row in ((ts, started(number, ts, key)), (te, ended(number, ts, te, key))):
                arriving.append((when + rng.uniform(0, joined.LATENESS - 1), side, row))
    arriving.sort(key=lambda a: a[0])
    borders = sorted(rng.randrange(len(arriving)) for _ in range(cuts - 1))
    batches = [
        {side: [row for _, s, row in arriving[i:j] if s == side] for side in "ab"}
        for i, j in zip([0, *borders], [*borders, len(arriving)], strict=True)
    ]
    return arrivals(folder, [*batches, far()])


def arrivals(folder: Path, batches: list[joined.Batch]) -> Arrivals:
    return Arrivals(folder, batches, schema=SCHEMA, clock="at")


def joins(spark: Any, some: list[Variant], by: str | None) -> Any:
    """The pairs of `a` and `b` by each of some relations, without those of rows that are far."""
    union = None
    for variant in some:
        one = _pairs(spark, variant, by)
        union = one if union is None else union.unionAll(one)
    return union


def _pairs(spark: Any, variant: Variant, by: str | None) -> Any:
    from intervalsweep.dataframe import stream_join

    given: dict[str, Any] = dict.fromkeys(variant.parameters, LIMIT)
    if by is not None:
        given["by"] = by
    both = (spark.table(side) for side in "ab")
    pairs = stream_join(*both, variant.relation.name.lower(), open_id="id", **given)
    pairs = pairs.where(f"id < {FAR} AND id_right < {FAR}")
    return pairs.selectExpr(f"'{variant}' AS relation", "id", "id_right")


def marked(stream: Any) -> Any:
    """For SQL, what `open_id="id"` says of a stream."""
    from pyspark.sql import functions as sf

    column = sf.col("id").alias("id", metadata={OPEN_ID: True})
    return stream.select([column if name == "id" else sf.col(name) for name in stream.columns])


# What the process streams.
KILLED = named("INTERVAL_INTERSECTS", "ALLEN_DURING", "ALLEN_MEETS", "ISEQL_START_PRECEDING")


def run_and_kill(folder: Path, rng: random.Random, most: int) -> int:
    """Kill the process amid a micro-batch or between two, again and again; how often it was."""
    for kills in range(most + 1):
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__)), str(folder)], start_new_session=True
        )
        steps = _steps(folder) + (rng.randrange(1, 4) if kills < most else 10**6)
        while process.poll() is None and _steps(folder) < steps:
            time.sleep(0.02)
        time.sleep(rng.choice([0, 0.1, 0.4]))
        if process.poll() is not None:
            break
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert process.returncode == 0
    return kills


def _steps(folder: Path) -> int:
    """A micro-batch is planned, then committed: between the two it is under way."""
    logs = [folder / "checkpoint" / log for log in ("offsets", "commits")]
    return sum(len(list(log.glob("[0-9]*"))) for log in logs)


def main(folder: Path) -> None:
    from pyspark.sql import SparkSession

    import intervalsweep

    builder = SparkSession.builder.master("local[2]")
    settings = {"spark.ui.enabled": "false", "spark.log.level": "OFF", **QUICKLY}
    for key, value in {**settings, "spark.sql.session.timeZone": "UTC"}.items():
        builder = builder.config(key, value)
    spark = intervalsweep.configure(builder).getOrCreate()
    arrivals(folder, []).streams(spark)
    run(joins(spark, KILLED, "k"), folder)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
