# SPDX-License-Identifier: Apache-2.0
"""Chains of joins of streams."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from support.spark.comparison import OWN_PLAN, configured
from support.streams import joined
from support.streams.arrivals import QUICKLY
from support.streams.joined import FAR


def test_a_row_waits_for_pairs_whose_time_is_behind_the_watermark(
    spark: Any, conf: Any, tmp_path: Path
) -> None:
    """A pair is emitted when its later row arrives, up to 10 seconds after the earlier one.

    In the third micro-batch the watermark is 108 seconds. It is after the rows of `c` that match
    the pair of the fourth micro-batch, so these rows must be kept.
    """
    conf({**QUICKLY, "spark.sql.shuffle.partitions": "1"})
    row = joined.interval
    batches: list[Any] = [
        {"a": [row(1, 100, 101), row(2, 102, 103)], "b": [row(5, 100, 101)]},
        {"a": [row(3, 113, 114)], "b": [row(7, 113, 114)]},
        {"a": [row(4, 112, 113)], "b": []},
        {"a": [], "b": [row(6, 109, 110)]},
    ]
    arrivals = joined.Arrivals(tmp_path, batches, lateness=5)
    sql = """SELECT a.id, b.id AS b, c.id AS c FROM a
      JOIN b ON a.ts BETWEEN b.ts - INTERVAL 10 SECONDS AND b.ts + INTERVAL 10 SECONDS
      JOIN a AS c ON c.ts BETWEEN a.ts AND a.ts + INTERVAL 5 SECONDS"""
    found = joined.bag(joined.run(spark, arrivals, sql))
    assert found == joined.bag(joined.expected(spark, arrivals, sql))
    assert found[1, 6, 2] == 1


def test_four_streams(spark: Any, conf: Any, tmp_path: Path) -> None:
    """Each row of the pattern is emitted once, as over tables."""
    conf(QUICKLY)
    first, second = tmp_path / "first", tmp_path / "second"
    arriving = [
        joined.random_arrivals(folder, random.Random(seed), rows=60, cuts=3, reversed_too=False)
        for folder, seed in ((first, 41), (second, 42))
    ]
    sql = f"""SELECT a.id, b.id AS b, c.id AS c, d.id AS d FROM a
      JOIN b ON ALLEN_OVERLAPS(a.ts, a.te, b.ts, b.te)
      JOIN c ON b.k = c.k AND ISEQL_START_PRECEDING(b.ts, b.te, c.ts, c.te)
      JOIN d ON ISEQL_BEFORE(c.ts, c.te, d.ts, d.te, delta => INTERVAL '9' SECOND)
      WHERE a.id < {FAR} AND b.id < {FAR} AND c.id < {FAR} AND d.id < {FAR}"""
    names = {"a": "c", "b": "d"}

    def views(of: str) -> Any:
        # The streams of the second folder are c and d.
        for arrivals, rename in zip(reversed(arriving), (True, False), strict=True):
            getattr(arrivals, of)(spark)
            for name, other in names.items() if rename else ():
                spark.table(name).createOrReplaceTempView(other)
        return spark.sql(sql)

    found: list[Any] = []
    for count in (2, None):
        for arrivals in arriving:
            arrivals.write(count)
        joined.start_and_wait(views("streams"), tmp_path / "checkpoint", found)
    with configured(spark, OWN_PLAN):
        wanted = joined.bag(views("tables").collect())
    assert wanted.total() > 100
    assert joined.bag(found) == wanted


def test_a_relation_that_compares_the_end_of_a_pair(spark: Any, conf: Any, tmp_path: Path) -> None:
    """The end of a pair is after the watermark at which it is emitted: it limits the next join."""
    conf(QUICKLY)
    arrivals = joined.random_arrivals(
        tmp_path, random.Random(43), rows=40, cuts=6, reversed_too=False
    )
    sql = f"""SELECT o.id, a.id AS a, p.id AS p FROM a AS o
      JOIN b AS a ON INTERVAL_INTERSECTS(o.ts, o.te, a.ts, a.te)
      JOIN a AS p ON ISEQL_BEFORE(a.ts, a.te, p.ts, p.te, delta => INTERVAL '2' SECONDS)
      WHERE o.id < {FAR} AND a.id < {FAR} AND p.id < {FAR}"""
    arrivals.streams(spark)
    found: list[Any] = []
    for count in (2, None):
        arrivals.write(count)
        query = joined.start_and_wait(spark.sql(sql), tmp_path / "checkpoint", found)
    wanted = joined.bag(joined.expected(spark, arrivals, sql))
    assert wanted.total() > 50
    assert joined.bag(found) == wanted
    assert joined.counted(query)["lateRows"] == 0
    assert joined.counted(query)["expiredRows"] > 0
    # Only rows of the last micro-batches and rows that are far ahead are left.
    assert query.recentProgress[-1]["stateOperators"][0]["numRowsTotal"] < 12
