# SPDX-License-Identifier: Apache-2.0
"""The state of streams does not grow with the number of micro-batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.streams.arrivals import QUICKLY, SCHEMA, Row, assert_written, at, read, run, write
from support.streams.open_intervals import marked

BATCHES = 1000
WARM = 30
# Name -> (query, the limit on its number of stored rows, and of time buckets or sorted runs). The
# limit allows for the live seconds in each state partition, and for expired rows that a bucket or
# run still has.
QUERIES = {
    "windows": (
        """SELECT S.id, S.k, S.ts, w.* FROM {S} S LEFT JOIN LATERAL (
          SELECT count(*) c, sum(v) s FROM {R} R
          WHERE R.k = S.k AND R.ts BETWEEN S.ts - INTERVAL 10 SECONDS AND S.ts) w ON true""",
        4 * 10,
    ),
    "windows, row by row": (
        """SELECT S.id, S.k, S.ts, w.* FROM {S} S LEFT JOIN LATERAL (
          SELECT count(*) c, sum(v) s, sort_array(collect_list(R.id)) l FROM {R} R
          WHERE R.ts BETWEEN S.ts - INTERVAL 10 SECONDS AND S.ts) w ON true""",
        8 * 10,
    ),
    "a join": (
        """SELECT S.id, S.ts, R.id AS other
          FROM (SELECT *, ts + INTERVAL 4 SECONDS AS te FROM {S}) S
          LEFT JOIN (SELECT *, ts + INTERVAL 3 SECONDS AS te FROM {R}) R
          ON INTERVAL_INTERSECTS(S.ts, S.te, R.ts, R.te)""",
        15 * 4,
    ),
    "an anti join by key": (
        """SELECT S.id, S.ts FROM (SELECT *, ts + INTERVAL 4 SECONDS AS te FROM {S}) S
          LEFT ANTI JOIN (SELECT *, ts + INTERVAL 3 SECONDS AS te FROM {R} WHERE v IN (0, 19)) R
          ON S.k = R.k AND INTERVAL_INTERSECTS(S.ts, S.te, R.ts, R.te)""",
        15 * 3,
    ),
    "a join in a window of rows": (
        """SELECT S.id, S.ts, R.id AS other FROM {S} S JOIN {R} R
          ON S.v < R.v AND S.k >= R.k AND abs(S.seq - R.seq) < 8""",
        4 * 16,
    ),
    "open intervals": (
        """SELECT S.id, S.ts, R.id AS other FROM {S} S JOIN {R} R
          ON S.k = R.k AND INTERVAL_INTERSECTS(S.ts, S.te, R.ts, R.te)
            AND S.id + R.id > 500000  -- not those of R's row that is far ahead""",
        15 * 3,
    ),
}


def numbered(spark: Any, folder: Path) -> None:
    """Creates streams that are ordered by row number, without a watermark."""
    for name, first in (("S", 0), ("R", 1_000_000)):
        files = str(folder / name)
        stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(files)
        for view, rows in (
            (name, stream),
            (f"{name}_all", spark.read.schema(SCHEMA).parquet(files)),
        ):
            rows.selectExpr("*", f"id - {first} AS seq").createOrReplaceTempView(view)


def opened(spark: Any, folder: Path) -> None:
    """Each row starts an interval, and ends the interval that started three seconds before."""
    read(spark, folder, 2, ("S_rows", "R_rows"))
    both = "FROM {} LATERAL VIEW explode(array(0, 1)) x AS e"
    started = "id - 6 * e AS id, k, ts - e * INTERVAL 3 SECONDS AS ts"
    for name in "SR":
        rows = f"SELECT {started}, IF(e = 1, ts, NULL) AS te, ts AS at {both}"
        marked(spark.sql(rows.format(f"{name}_rows"))).createOrReplaceTempView(name)
        # The last intervals do not end.
        rows = f"SELECT DISTINCT {started}, ts + (1 - e) * INTERVAL 3 SECONDS AS te {both}"
        spark.sql(rows.format(f"{name}_rows_all")).createOrReplaceTempView(f"{name}_all")


VIEWS = {"a join in a window of rows": numbered, "open intervals": opened}


@pytest.mark.extended
@pytest.mark.parametrize("name", QUERIES)
def test_over_1000_micro_batches(spark: Any, tmp_path: Path, conf: Any, name: str) -> None:
    """Each micro-batch has one second of the streams: two rows a side, one for each key."""
    conf({**QUICKLY, "spark.sql.streaming.numRecentProgressUpdates": str(BATCHES + 10)})
    text, most = QUERIES[name]
    for second in range(BATCHES):
        for side, first in (("S", 0), ("R", 1_000_000)):
            write(tmp_path / side, [row(first, second, k) for k in range(2)], second)
    for side in "SR" if VIEWS.get(name) != numbered else "":  # row numbers must be in order
        write(tmp_path / side, [(-1, None, "a", at(100 * BATCHES), 19, None, None)], BATCHES)
    VIEWS.get(name, lambda *given: read(*given, 2))(spark, tmp_path)
    query = run(spark.sql(text.format(S="S", R="R")), tmp_path, seconds=3600)
    assert_written(spark, tmp_path, text)
    progress = [p for p in query.recentProgress if p.observedMetrics]
    counts = progress[WARM:BATCHES]
    assert len(counts) >= BATCHES - WARM - 10
    stored = [row.asDict() for p in counts for row in p.observedMetrics.values()]
    for what in ("storedRows", "storedBuckets" if "windows" in name else "storedRuns"):
        assert 0 < max(row[what] for row in stored) <= most
    keys = [p.stateOperators[0].numRowsTotal for p in counts]
    half = len(keys) // 2
    assert max(keys[half:]) <= max(keys[:half])


def row(first: int, second: int, k: int) -> Row:
    return (first + 2 * second + k, k, "a", at(second), second % 7, None, None)
