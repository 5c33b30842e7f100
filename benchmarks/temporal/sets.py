# SPDX-License-Identifier: Apache-2.0
"""Compares merge, split and complement of intervals with hand-written SQL in DuckDB and Spark.

python -m benchmarks.temporal.sets [--rows 3000000] [--runs 5]
"""

from __future__ import annotations

import argparse
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.adapter import Limits
from benchmarks.temporal.__main__ import KEYS, Systems, timed, write
from benchmarks.turns import Way

OURS = "interval functions"
SUMS = "SELECT count(*) AS n, sum(te) AS b, sum(te - ts) AS length FROM ({}) AS all_"
# Hand-written islands: an interval begins an island if no earlier interval reaches it.
ISLANDS = """SELECT {k}min(ts) AS ts, max(te) AS te, count(*) AS c FROM (
  SELECT *, sum(CASE WHEN ts <= reached THEN 0 ELSE 1 END) OVER (
    {by}ORDER BY ts, te ROWS UNBOUNDED PRECEDING) AS island FROM (
    SELECT *, max(te) OVER ({by}ORDER BY ts, te
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached FROM r) AS a) AS b
GROUP BY {k}island"""
BY_HAND = {
    "merge": ISLANDS,
    "split": """SELECT * FROM (
  SELECT {k}instant AS ts, lead(instant) OVER ({by}ORDER BY instant) AS te, sum(change) OVER (
    {by}ORDER BY instant ROWS UNBOUNDED PRECEDING) AS c FROM (
    SELECT {k}instant, sum(change) AS change FROM (
      SELECT {k}ts AS instant, 1 AS change FROM r UNION ALL SELECT {k}te, -1 FROM r) AS a
    GROUP BY {k}instant) AS b) AS d WHERE c > 0""",
    "complement": "SELECT {k}te AS ts, next AS te FROM (SELECT *, lead(ts) OVER ("
    "{by}ORDER BY ts) AS next FROM (" + ISLANDS + ") AS i) AS j WHERE next IS NOT NULL",
}


def main() -> None:
    """Measures all functions and prints the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write(folder, arguments.rows, mean_length=5, sparse=10)
        systems = Systems(folder, Limits(2, "4g", folder))
        for keys in ("k, ", ""):
            for what, text in BY_HAND.items():
                took = timed(arguments.runs, ways(systems, what, text, keys))
                own = took.pop(OURS)
                parts = [f"{name} {seconds / own:.2f} x" for name, seconds in took.items()]
                title = f"{what} by {KEYS:,} keys" if keys else f"{what} of all"
                print(f"{title}: {own:.2f} s, {', '.join(parts)}", flush=True)
        systems.spark.stop()


def ways(systems: Systems, what: str, text: str, keys: str) -> dict[str, Way]:
    by = "PARTITION BY k " if keys else ""
    hand = SUMS.format(text.format(k=keys, by=by))
    table = f"SELECT {keys}ts, te FROM r"
    named = ", keys => 'k'" if keys else ""
    ours = SUMS.format(f"SELECT * FROM interval_{what}(TABLE({table}), 'ts', 'te'{named})")
    return {
        OURS: partial(systems.swept, ours),
        "DuckDB": partial(systems.in_duckdb, hand),
        "Spark": partial(systems.swept, hand, "false"),
    }


if __name__ == "__main__":
    main()
