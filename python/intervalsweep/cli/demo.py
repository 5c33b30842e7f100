# SPDX-License-Identifier: Apache-2.0
"""`intervalsweep demo`: an interval join on generated data, compared with Spark's own plan."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from intervalsweep.cli.local import ENABLED, local_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_VIEWS = {
    "sessions": """\
SELECT id, start, start + make_dt_interval(0, 0, pmod(hash(id, 1), 90)) AS end
FROM (SELECT id, timestamp_seconds(1704067200 + pmod(hash(id), 2592000)) AS start
      FROM range(100000))
""",
    "outages": """\
SELECT id, start, start + make_dt_interval(0, 0, pmod(hash(id, 2), 20)) AS end
FROM (SELECT id, timestamp_seconds(1704067200 + pmod(hash(id, 3), 2592000)) AS start
      FROM range(2500))
""",
}
_QUERY = """\
SELECT count(*), count(DISTINCT s.id)
FROM sessions s JOIN outages o
  ON INTERVAL_INTERSECTS(s.start, s.end, o.start, o.end)"""


def demo() -> int:
    """Show the join; return 0 if it uses IntervalSweepJoin and its answer equals Spark's own."""
    print("100,000 sessions and 2,500 outages of a month: which sessions intersect an outage?\n")
    print("\n".join("    " + line for line in _QUERY.splitlines()), flush=True)
    with local_session({}) as spark:
        for name, query in _VIEWS.items():
            spark.sql(query).createOrReplaceTempView(name)
        plan = _join_line(spark)
        swept = _run(spark, plan, "first run, with start-up", "second run")
        spark.conf.set(ENABLED, "false")
        own = _run(spark, _join_line(spark), "Spark alone")
    same = swept == own
    print("\nBoth answers are the same." if same else "\nTHE ANSWERS DIFFER: please report it.")
    return 0 if same and plan.startswith("IntervalSweepJoin") else 1


def _run(spark: SparkSession, plan: str, *times: str) -> tuple[int, ...]:
    print(f"\n{plan}", flush=True)
    for which in times:
        started = time.perf_counter()
        (row,) = spark.sql(_QUERY).collect()
        seconds = time.perf_counter() - started
        print(f"    {row[0]:,} pairs, {row[1]:,} sessions, in {seconds:.1f} s, {which}", flush=True)
    return tuple(row)


def _join_line(spark: SparkSession) -> str:
    """Return the line of EXPLAIN that names the join, without the numbers of its columns."""
    (row,) = spark.sql("EXPLAIN " + _QUERY).collect()
    (line,) = re.findall(r"\w*Join[^\n]*", row[0])[:1]
    return re.sub(r"#\d+L?", "", line)
