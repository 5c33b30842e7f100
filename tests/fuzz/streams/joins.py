# SPDX-License-Identifier: Apache-2.0
"""
Random joins of streams, compared with their formulas in DuckDB: `make fuzz-stream-joins`.

Each query has up to a dozen joins, each with its own stream operator, over random rows, arrivals,
micro-batches and restarts. Some streams, with fewer joins, run together in a process that is killed
again and again. The run prints the seed of a query that differs, and exits with 1.
"""

from __future__ import annotations

import sys
from typing import Any

from fuzz.streams.run import Stream, stream_main
from support.streams import join_cases, joined, streaming_process
from support.streams.arrivals import QUICKLY


class Joins(Stream):
    """A case: rows in order of arrival, and joins of them."""

    def make(self) -> None:
        rng = self.rng
        self.folder.mkdir(exist_ok=True)
        clock = rng.choice(["ts", "ts", "te"])
        self.arrivals = joined.random_arrivals(
            self.folder,
            rng,
            rows=rng.choice([8, 30, 60]),
            cuts=rng.randrange(1, 6),
            clock=clock,
            lateness=rng.choice([1, 6, 20]),
        )
        self.arrivals.numbers_have_times = rng.random() < 0.3
        self.settings = {"spark.sql.shuffle.partitions": rng.choice(["1", "1", "2", "3"])}
        cases = join_cases.random_cases(rng, self.operators, clock)
        self.sql = join_cases.union(cases)
        plan = self.planned()._jdf.queryExecution().analyzed().toString()
        self.cases = join_cases.as_planned(cases, plan)

    def planned(self) -> Any:
        for key, value in self.settings.items():
            self.spark.conf.set(key, value)
        self.arrivals.streams(self.spark, self.arrivals.disorder())
        return self.spark.sql(self.sql)

    def compare(self) -> None:
        cut = self.rng.choice([None, None, 1, len(self.arrivals.batches) - 1])
        found = joined.run(self.spark, self.arrivals, self.sql, cut)
        self.totals.restarted += cut is not None
        self.compare_rows(found)

    def compare_written(self) -> None:
        self.compare_rows(joined.written(self.spark, self.folder))

    def compare_rows(self, found: list[Any]) -> None:
        got, wanted = joined.bag(found), join_cases.wanted(self.arrivals, self.cases)
        self.totals.rows += wanted.total()
        if got != wanted:
            wrong = sorted({row[0] for row in got - wanted + (wanted - got)})
            cases = "\n".join(f"  {number}: {self.cases[number]}" for number in wrong)
            raise AssertionError(f"{got - wanted} too many, {wanted - got} missing\n{cases}")

    def describe(self) -> None:
        self.arrivals.write()
        settings = {**QUICKLY, **self.settings}
        streaming_process.describe_joins(self.arrivals, self.sql, settings)

    def end(self) -> None:
        query = self.planned()
        self.arrivals.batches.append(joined.far_away(2 * joined.FAR))
        self.arrivals.write()
        joined.write(query, self.folder)


if __name__ == "__main__":
    sys.exit(
        stream_main(Joins, command="make fuzz-stream-joins", says=__doc__, cases=5040, of_killed=4)
    )
