# SPDX-License-Identifier: Apache-2.0
"""
Random window unions of random streams, against Spark in batch: `make fuzz-streams CASES=9 SEED=7`.

Half of the streams are stopped and started again between micro-batches. A stream with other rows is
printed with its seed, and the run fails.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import traceback
from pathlib import Path
from typing import Any

import intervalsweep
from arrivals import SETTINGS, Arrivals, assert_written, read, run

AGGREGATES = (
    *(
        "count(*)",
        "count(v)",
        "sum(v)",
        "min(v)",
        "max(v)",
        "avg(v)",
        "min(txt)",
        "max(x)",
        "min(x)",
    ),
    *("sort_array(collect_list(txt))", "count(DISTINCT g)", "sum(v) FILTER (WHERE g = 'a')"),
    *("max_by(R.id, R.id)", "bool_or(v > 3)", "approx_count_distinct(v)"),
    *("sum(CAST(v AS DECIMAL(9, 1)))", "avg(CAST(v AS DECIMAL(9, 1)))", "count(v, txt)"),
)
KEYS = ("R.k = S.k", "R.k <=> S.k", "R.k = S.k AND R.g = S.g", "R.g = S.g", "true")
OTHERS = ("true", "R.v > 0", "R.v >= S.v", "S.id % 2 = 0", "(R.v > 5 OR S.v IS NULL)")


def interval(seconds: float) -> str:
    return f"INTERVAL '{seconds}' SECOND"


def text_of(rng: random.Random) -> str:
    """A window of any sign, now and then an empty one."""
    low = rng.choice([-40, -15, -5, -1, 0, 3])
    high = low + rng.choice([-2, 0, 1, 7, 30, 60])
    lower = rng.choice([f"R.ts >= S.ts + {interval(low)}", f"S.ts + {interval(low)} < R.ts"])
    upper = rng.choice([f"R.ts <= S.ts + {interval(high)}", f"R.ts - {interval(high)} < S.ts"])
    some = rng.sample(AGGREGATES, rng.randint(1, 6))
    selected = ", ".join(f"{e} AS a{i}" for i, e in enumerate(some))
    condition = " AND ".join([rng.choice(KEYS), lower, upper, rng.choice(OTHERS)])
    join = rng.choice(["LEFT JOIN", "JOIN"])
    return (
        f"SELECT S.*, w.* FROM {{S}} S {join} LATERAL "
        f"(SELECT {selected} FROM {{R}} R WHERE {condition}) w ON true"
    )


def stream(spark: Any, seed: str, folder: Path) -> str:
    """Streams one case and compares it; returns its text."""
    rng = random.Random(seed)
    lateness = rng.choice([0, 5, 40])
    arrivals = Arrivals(
        rng,
        rows=rng.choice([3, 30, 150]),
        files=rng.choice([1, 2, 3]),
        lateness=lateness,
        span=rng.choice([5, 60, 300]),
        keys=rng.choice([1, 3, 20]),
    )
    arrivals.write(folder)
    spark.conf.set("spark.sql.shuffle.partitions", rng.choice(["1", "2", "3"]))
    spark.conf.set("spark.sql.intervalsweep.streamFanout", rng.choice(["0", "1", "2"]))
    text = text_of(rng)
    read(spark, folder, lateness + 1)
    if rng.random() < 0.5:
        later = {name: sorted((folder / name).glob("*"))[1:] for name in "SR"}
        for files in later.values():
            for file in files:
                file.rename(folder / f"{file.parent.name}-{file.name}")
        for i in range(arrivals.files):
            run(spark.sql(text.format(S="S", R="R")), folder)
            for files in later.values():
                (folder / f"{files[i].parent.name}-{files[i].name}").rename(files[i])
    run(spark.sql(text.format(S="S", R="R")), folder)
    read(spark, folder, lateness + 1)
    assert_written(spark, folder, text)
    return text


def main() -> int:
    from pyspark.sql import SparkSession

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    arguments = parser.parse_args()
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.sql.session.timeZone", "UTC")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    spark = intervalsweep.configure(builder).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    failed = 0
    for i in range(arguments.cases):
        folder = Path(tempfile.mkdtemp())
        try:
            stream(spark, f"{arguments.seed}/{i}", folder)
        except Exception:
            failed += 1
            print(f"case {arguments.seed}/{i}", traceback.format_exc(limit=-3)[-3000:], flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        if i % 10 == 9:
            print(f"{i + 1} streams, {failed} with other rows", flush=True)
    print(f"seed {arguments.seed}: {arguments.cases} streams, {failed} with other rows")
    spark.stop()
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
