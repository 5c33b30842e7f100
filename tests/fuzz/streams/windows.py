# SPDX-License-Identifier: Apache-2.0
"""
Random window unions of streams, compared with Spark's batch: `make fuzz-streams CASES=9 SEED=7`.

Each query has up to a dozen window unions, each with its own stream operator, over the same rows. A
third of the queries emit rows at once, and must be right after any micro-batch for the rows that
have arrived. Half of the queries are restarted between micro-batches. Some streams, with fewer
window unions, run together in a process that is killed again and again.
The run prints a query whose rows differ with its seed, and fails.
"""

from __future__ import annotations

import random
import sys

from fuzz.streams.run import Stream, stream_main
from support.spark.comparison import difference
from support.streams import eager, streaming_process
from support.streams.arrivals import QUICKLY, Arrivals, at, expected, read, run, write, written
from support.streams.eager import MARKS

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


def union_of(rng: random.Random, number: int, *, is_eager: bool = False) -> str:
    """A window union. The window is before or after the row, or empty; rows may come at once."""
    low = rng.choice([-40, -15, -5, -1, 0, 3])
    high = low + rng.choice([-2, 0, 1, 7, 30, 60])
    lower = rng.choice([f"R.ts >= S.ts + {interval(low)}", f"S.ts + {interval(low)} < R.ts"])
    upper = rng.choice([f"R.ts <= S.ts + {interval(high)}", f"R.ts - {interval(high)} < S.ts"])
    some = rng.sample(AGGREGATES, rng.randint(1, 6))
    selected = ", ".join(f"{e} AS a{i}" for i, e in enumerate(some))
    condition = " AND ".join([rng.choice(KEYS), lower, upper, rng.choice(OTHERS)])
    join = rng.choice(["LEFT JOIN", "JOIN"])
    values = ", ".join(f"w.a{i}" for i in range(len(some)))
    marks, names = (f", {MARKS}", ", w.revision, w.final") if is_eager else ("", "")
    having = "" if is_eager else rng.choice(["", "", "HAVING count(*) > 1"])
    return (
        f"SELECT {number} u, S.id, CAST(struct(S.*) AS STRING) s, "
        f"CAST(struct({values}) AS STRING) w{names} FROM {{S}} S {join} LATERAL "
        f"(SELECT {selected}{marks} FROM {{R}} R WHERE {condition} {having}) w ON true"
    )


def some_arrivals(rng: random.Random) -> Arrivals:
    """Few rows, or now and then enough rows and micro-batches to use sums of time buckets."""
    if rng.random() < 0.1:
        return Arrivals(rng, rows=500, files=10, lateness=2, span=60, keys=1)
    return Arrivals(
        rng,
        rows=rng.choice([3, 30, 100]),
        files=rng.choice([1, 2, 3]),
        lateness=rng.choice([0, 5, 40]),
        span=rng.choice([5, 60, 300]),
        keys=rng.choice([1, 3, 20]),
    )


class Unions(Stream):
    """A case: rows in order of arrival, and a query over them."""

    def make(self) -> None:
        rng = self.rng
        self.arrivals = some_arrivals(rng)
        self.arrivals.write(self.folder)
        self.settings = {
            "spark.sql.shuffle.partitions": rng.choice(["1", "1", "2", "3"]),
            "spark.sql.intervalsweep.streamFanout": rng.choice(["0", "1", "2"]),
        }
        self.is_eager = rng.random() < 0.3
        unions = (union_of(rng, i, is_eager=self.is_eager) for i in range(self.operators))
        self.text = " UNION ALL ".join(unions)

    def compare(self) -> None:
        self.read()
        if self.rng.random() < 0.5:
            self.run_and_restart()
        else:
            self.run()
        self.compare_written()

    def read(self) -> None:
        for key, value in self.settings.items():
            self.spark.conf.set(key, value)
        read(self.spark, self.folder, self.arrivals.lateness + 1)

    def compare_written(self) -> None:
        self.read()
        found = self.revisions() if self.is_eager else self.finals()
        if found:
            raise AssertionError(f"{self.text}\n{found}")

    def finals(self) -> str:
        wanted, got = expected(self.spark, self.text), written(self.spark, self.folder)
        self.totals.rows += wanted.total()
        return difference(wanted, got)

    def revisions(self) -> str:
        """Compares the revisions up to the last micro-batch, and up to a random one."""
        self.totals.rows += len(eager.written(self.spark, self.folder))
        self.totals.eager += 1
        batches = sorted(eager.arrived(self.folder))
        some = [self.rng.choice(batches), batches[-1]]
        return eager.differences(self.spark, self.folder, self.text, some)

    def run(self) -> None:
        start = eager.run if self.is_eager else run
        start(self.spark.sql(self.text.format(S="S", R="R")), self.folder)

    def run_and_restart(self) -> None:
        """Runs the stream again after each file; the first run has only the first files."""
        later = {name: sorted((self.folder / name).glob("*"))[1:] for name in "SR"}
        for files in later.values():
            for file in files:
                file.rename(self.folder / f"{file.parent.name}-{file.name}")
        for i in range(self.arrivals.files):
            self.run()
            for files in later.values():
                (self.folder / f"{files[i].parent.name}-{files[i].name}").rename(files[i])
        self.run()
        self.totals.restarted += 1

    def describe(self) -> None:
        text, lateness = self.text.format(S="S", R="R"), self.arrivals.lateness + 1
        settings = {**QUICKLY, **self.settings}
        streaming_process.describe_windows(
            self.folder, text, lateness, settings, is_eager=self.is_eager
        )

    def end(self) -> None:
        for name in "SR":
            write(self.folder / name, [(-1, None, None, at(200_000), None, None, None)], 100)
        self.read()
        self.run()


if __name__ == "__main__":
    sys.exit(
        stream_main(Unions, command="make fuzz-streams", says=__doc__, cases=2400, of_killed=2)
    )
