# SPDX-License-Identifier: Apache-2.0
"""Counts the pairs of one full window with DuckDB, in batch on one core."""

from __future__ import annotations

import time
from threading import Timer
from typing import Any

import pyarrow as pa

from benchmarks.streams.inequality.workloads import Rows


def measure(a: Rows, b: Rows, limit: float) -> dict[str, Any]:
    """Pairs and seconds of one run from tables in memory, or `why_not` beyond the limit."""
    try:
        import duckdb
    except ImportError:
        return {"why_not": "DuckDB is not installed"}
    with duckdb.connect(config={"threads": 1}) as connection:
        for name, side in (("a", a), ("b", b)):
            connection.register("given", pa.table({"x": side.x, "y": side.y}))
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
        stop = Timer(limit, connection.interrupt)
        stop.start()
        start = time.perf_counter()
        try:
            text = "SELECT count(*) FROM a JOIN b ON a.x < b.x AND a.y > b.y"
            (found,) = connection.execute(text).fetchone() or (0,)
        except duckdb.InterruptException:
            return {"why_not": f"> {limit:g} s"}
        finally:
            stop.cancel()
        seconds = time.perf_counter() - start
    return {"pairs": int(found), "seconds": round(seconds, 3), "pairs/s": round(found / seconds)}
