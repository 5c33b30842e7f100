# SPDX-License-Identifier: Apache-2.0
"""The state of a history of streams does not grow with the number of micro-batches."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from support.streams.arrivals import QUICKLY, at, read, run, write

BATCHES = 1000
WARM = 100
# The stream `S` has events, each valid for ten seconds, and `R` has changes of two keys.
WINDOW = "temporal_window(TABLE(SELECT k, id FROM validtime(TABLE({S}), 'ts')), sliding => {ten})"
CHANGES = "validtime(TABLE({R}), 'ts', until_next => array('k'))"
QUERY = f"""SELECT S.k, count(*) AS n, max(R.v) AS v FROM {WINDOW} S
  LEFT JOIN (SELECT k, v FROM {CHANGES}) R ON S.k = R.k GROUP BY S.k"""


def query(events: str, changes: str) -> str:
    return QUERY.format(S=events, R=changes, ten="INTERVAL 10 SECONDS")


@pytest.mark.extended
def test_over_1000_micro_batches(spark: Any, tmp_path: Path, conf: Any) -> None:
    """Each micro-batch has one second of the streams: an event and a change of each key."""
    conf({**QUICKLY, "spark.sql.streaming.numRecentProgressUpdates": str(BATCHES + 10)})
    for second in range(BATCHES):
        for side in "SR":
            rows = [(second, k, "a", at(second), second // 3, None, None) for k in range(2)]
            write(tmp_path / side, rows, second)
    for side in "SR":
        write(tmp_path / side, [(-1, 9, "a", at(100 * BATCHES), 0, None, None)], BATCHES)
    read(spark, tmp_path, 2)
    history = spark.sql(f"SELECT * FROM sequenced(TABLE({query('S', 'R')}))")
    ran = run(history, tmp_path, seconds=3600)
    found = Counter(map(tuple, spark.read.parquet(str(tmp_path / "out")).collect()))
    batch = f"sequenced(TABLE({query('S_all', 'R_all')}), coalesce => true)"
    wanted = Counter(map(tuple, spark.sql(f"SELECT * FROM {batch} WHERE k < 9").collect()))
    assert found == wanted
    assert wanted.total() > BATCHES // 2
    progress = [p for p in ran.recentProgress if p.observedMetrics][WARM:BATCHES]
    assert len(progress) >= BATCHES - WARM - 10
    stored = [{name: row.storedRows for name, row in p.observedMetrics.items()} for p in progress]
    # For each of two keys, the events of 13 seconds and of the minute that they leave with, and at
    # most twice the changes that still count.
    assert 0 < max(row["intervalsweep_valid_rows_1"] for row in stored) <= 2 * (13 + 61 + 2 * 4)
    assert 0 < max(row["intervalsweep_open_results_2"] for row in stored) <= 2
    keys = [sum(operator.numRowsTotal for operator in p.stateOperators) for p in progress]
    half = len(keys) // 2
    assert max(keys[half:]) <= max(keys[:half]) + 5
