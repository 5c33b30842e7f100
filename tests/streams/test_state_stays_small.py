# SPDX-License-Identifier: Apache-2.0
"""What a window union of streams keeps does not grow with the number of micro-batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from arrivals import QUICKLY, Row, assert_written, at, read, run, write

BATCHES = 100
# Four windows, and what a slice may hold of rows that are gone.
SECONDS_OF_STATE = 4 * 10
WARM = 30
TEXT = """SELECT S.id, S.k, S.ts, w.* FROM {S} S LEFT JOIN LATERAL (
  SELECT count(*) c, sum(v) s FROM {R} R
  WHERE R.k = S.k AND R.ts BETWEEN S.ts - INTERVAL 10 SECONDS AND S.ts) w ON true"""


@pytest.mark.extended
def test_over_100_micro_batches(spark: Any, tmp_path: Path, conf: Any) -> None:
    """Each micro-batch has a second of the streams: two rows a side, one for each key."""
    conf({**QUICKLY, "spark.sql.streaming.numRecentProgressUpdates": str(BATCHES + 10)})
    for second in range(BATCHES):
        for name, first in (("S", 0), ("R", 1_000_000)):
            write(tmp_path / name, [row(first, second, k) for k in range(2)], second)
    for name in "SR":
        write(tmp_path / name, [(-1, None, "a", at(100 * BATCHES), 19, None, None)], BATCHES)
    read(spark, tmp_path, 2)
    query = run(spark.sql(TEXT.format(S="S", R="R")), tmp_path, seconds=3600)
    assert_written(spark, tmp_path, TEXT)
    counts = [p for p in query.recentProgress if p.observedMetrics][WARM:BATCHES]
    assert len(counts) >= BATCHES - WARM - 10
    stored = [row for p in counts for row in p.observedMetrics.values()]
    assert 0 < max(row.storedRows for row in stored) <= 4 * SECONDS_OF_STATE
    assert 0 < max(row.storedSlices for row in stored) <= 4 * SECONDS_OF_STATE
    keys = [p.stateOperators[0].numRowsTotal for p in counts]
    half = len(keys) // 2
    assert max(keys[half:]) <= max(keys[:half])


def row(first: int, second: int, k: int) -> Row:
    return (first + 2 * second + k, k, "a", at(second), second % 7, None, None)
