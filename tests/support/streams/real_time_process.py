# SPDX-License-Identifier: Apache-2.0
"""Queries of two streams in real-time mode, in a separate session as all tasks run at once."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS), str(TESTS.parent / "python")]

from support.spark.session import session  # noqa: E402
from support.streams import joined, real_time  # noqa: E402
from support.streams.real_time import Row, Source  # noqa: E402

FAR = 1000
# Rows by micro-batch. The watermark is 0 in the first one and 30 seconds in the second one. A row
# of the first may match a row whose time lies between the two watermarks, and which arrives after
# another row of its micro-batch.
ROWS: list[list[tuple[str, Row]]] = [
    [("a", (1, 0, 10, 20)), ("a", (2, 0, 40, 41)), ("a", (3, 1, 12, 13)), ("b", (1, 0, 40, 44))],
    [("a", (4, 0, 43, 45)), ("b", (2, 0, 15, 16)), ("b", (3, 1, 43, 44))],
    # The first row surely arrives after the rows it matches, in whatever order tasks read.
    [("b", (6, 0, 44, 45)), ("a", (5, 0, FAR, FAR + 1)), ("b", (4, 0, FAR, FAR + 1))],
    # The last matches become certain when the next watermark arrives.
    [("a", (6, 0, 2 * FAR, 2 * FAR)), ("b", (5, 0, 2 * FAR, 2 * FAR))],
]
LEFT = "SELECT a.id, b.id bid FROM a LEFT JOIN b ON a.k = b.k AND interval_intersects({ends})"
INNER = LEFT.replace("LEFT JOIN", "JOIN")
KEYLESS = "SELECT a.id, b.id bid FROM a JOIN b ON interval_intersects({ends})"
ENDS = "a.ts, a.te, b.ts, b.te"
WINDOW = """SELECT a.id, w.* FROM a LEFT JOIN LATERAL (
  SELECT count(*) n, max(b.id) m, window_revision() r, window_is_final() f FROM b
  WHERE {keys}
    AND b.ts BETWEEN a.ts - INTERVAL 5 SECONDS AND a.ts + INTERVAL 4 SECONDS) w ON true"""
# Queries, each with its number of state partitions.
QUERIES = {
    "left": (LEFT.format(ends=ENDS), 2),
    "inner": (INNER.format(ends=ENDS), 2),
    "no keys": (KEYLESS.format(ends=ENDS), 1),
    "window": (WINDOW.format(keys="a.k = b.k"), 2),
    "window, no keys": (WINDOW.format(keys="true"), 2),
}


def run(spark: Any, folder: Path, sql: str, partitions: int) -> dict[str, Any]:
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    sources = {name: Source(spark) for name in "ab"}
    for name, source in sources.items():
        source.frame().createOrReplaceTempView(name)
    query = real_time.start(spark.sql(sql), folder)
    for number, rows in enumerate(ROWS):
        real_time.batches(query, number)
        for name, row in rows:
            sources[name].add(row)
            time.sleep(0.3)
    real_time.batches(query, len(ROWS) + 2)
    plan = query._jsq.explainInternal(False)
    query.stop()
    for name in sources:
        some = [real_time.values(row) for batch in ROWS for side, row in batch if side == name]
        spark.createDataFrame(some, real_time.SCHEMA).createOrReplaceTempView(name)
    spark.conf.set("spark.sql.intervalsweep.enabled", "false")
    wanted = [tuple(row) for row in spark.sql(sql).collect()]
    spark.conf.unset("spark.sql.intervalsweep.enabled")
    return {"plan": plan, "found": real_time.written(folder), "wanted": wanted}


def main(folder: Path) -> None:
    spark = session("local[6]", {joined.PROVIDER: joined.ROCKSDB, "spark.log.level": "OFF"})
    results = {name: run(spark, folder / name, *query) for name, query in QUERIES.items()}
    (folder / "results.json").write_text(json.dumps(results))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
