# SPDX-License-Identifier: Apache-2.0
"""Real-time mode: results equal batch results; unsupported queries fail when they start."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyspark
import pytest

from intervalsweep.dataframe import inequality_join, rows, stream_join
from support.spark.comparison import BROADCAST, bag, difference, sweeps
from support.streams import real_time, real_time_process
from support.streams.joined import PROVIDER, ROCKSDB

pytestmark = pytest.mark.skipif(
    tuple(map(int, pyspark.__version__.split(".")[:2])) < (4, 3), reason="no such mode before 4.3"
)

ENDS = "a.ts, a.te, b.ts, b.te"
# The minimum duration of a micro-batch; the default is five seconds.
SHORTEST = "spark.sql.streaming.realTimeMode.minBatchDuration"
FEW: list[real_time.Row] = [(n, n % 3, 2 * n, 2 * n + 5) for n in range(12)]
TABLE_JOINS = {
    "keys": f"a.id x, b.id y FROM a JOIN b ON a.k = b.k AND interval_intersects({ENDS})",
    "no keys": f"a.id x, b.id y FROM b JOIN a ON interval_intersects({ENDS})",
    "left": f"a.id x, b.id y FROM a LEFT JOIN b ON a.k = b.k AND allen_overlaps({ENDS})",
    "semi": f"a.id x, 0 y FROM a LEFT SEMI JOIN b ON iseql_before({ENDS})",
}


@pytest.fixture
def sources(spark: Any, conf: Any) -> dict[str, real_time.Source]:
    conf({PROVIDER: ROCKSDB, "spark.sql.shuffle.partitions": "1", SHORTEST: "2s"})
    return {name: real_time.Source(spark) for name in "ab"}


def table(spark: Any, name: str, some: list[real_time.Row]) -> None:
    frame = spark.createDataFrame([real_time.values(row) for row in some], real_time.SCHEMA)
    frame.createOrReplaceTempView(name)


@pytest.mark.parametrize("name", TABLE_JOINS)
def test_a_stream_with_a_table(
    spark: Any, sources: dict[str, real_time.Source], tmp_path: Path, name: str
) -> None:
    table(spark, "b", FEW)
    table(spark, "a", FEW)
    sql = f"SELECT /*+ BROADCAST(b) */ {TABLE_JOINS[name]}"
    expected = spark.sql(sql).collect()
    sources["a"].frame(None).createOrReplaceTempView("a")
    query = real_time.start(spark.sql(sql), tmp_path, seconds=2)
    try:
        # Rows are emitted one by one, while the micro-batch runs.
        for row in FEW:
            sources["a"].add(row)
        real_time.wait(query, lambda: len(real_time.written(tmp_path)) >= len(expected))
        real_time.batches(query, 1)
        plan = query._jsq.explainInternal(False)
    finally:
        query.stop()
    assert "RealTimeStreamScan" in plan
    assert "BroadcastHashJoin" in plan
    assert not sweeps(plan)
    assert len(expected) > 3
    assert not difference(bag(map(tuple, expected)), bag(real_time.written(tmp_path)))


LATERAL = """SELECT a.*, w.* FROM a LEFT JOIN LATERAL (SELECT count(*) n{} FROM b
  WHERE b.ts BETWEEN a.ts - INTERVAL 5 SECONDS AND a.ts) w ON true"""


def refused(spark: Any, name: str) -> Any:
    if name == "no keys":
        spark.conf.set("spark.sql.shuffle.partitions", "2")
        return spark.sql(f"SELECT {TABLE_JOINS['no keys']}")
    if name == "window, final":
        return spark.sql(LATERAL.format(""))
    if name == "rows":
        a, b = spark.table("a"), spark.table("b")
        return inequality_join(a, b, "a.k < b.k AND a.ts > b.ts", window=rows(5))
    if name == "open":
        return stream_join(
            spark.table("a"), spark.table("b"), "iseql_start_preceding", open_id="id"
        )
    table(spark, "b", FEW)
    if name == "window over a table":
        return spark.sql(LATERAL.format(""))
    return spark.sql(f"SELECT {TABLE_JOINS['keys']}")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("no keys", "without keys"),
        ("window, final", "window_revision()"),
        ("window over a table", "A window union of a stream with a table"),
        ("rows", "A join in a window of rows"),
        ("open", "A join of intervals that are still open"),
        ("a large table", "BROADCAST"),
    ],
)
def test_what_cannot_run_says_so(
    spark: Any,
    conf: Any,
    sources: dict[str, real_time.Source],
    tmp_path: Path,
    name: str,
    says: str,
) -> None:
    conf({BROADCAST: "-1"})
    for side, source in sources.items():
        source.frame(None if name == "rows" else "10 seconds").createOrReplaceTempView(side)
    query = real_time.start(refused(spark, name), tmp_path)
    for source in sources.values():
        source.add(*FEW)
    with pytest.raises(Exception, match=r"\[INTERVALSWEEP_STREAM\.REAL_TIME\]") as error:
        real_time.batches(query, 1)
    assert says in str(error.value)
    assert "trigger(processingTime" in str(error.value)
    assert not real_time.written(tmp_path)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("two-streams")
    process = [sys.executable, real_time_process.__file__, str(folder)]
    subprocess.run(process, check=True, timeout=900)
    found: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return found


@pytest.mark.extended
@pytest.mark.parametrize("name", ["left", "inner", "no keys"])
def test_a_join_of_two_streams(results: dict[str, Any], name: str) -> None:
    result = results[name]
    assert "isPipelined=true" in result["plan"]
    assert "StreamJoin" in result["plan"]
    found, wanted = (
        bag(tuple(row) for row in result[name] if row[0] < 5) for name in ("found", "wanted")
    )
    assert not difference(wanted, found)
    assert len(wanted) > 3


@pytest.mark.extended
@pytest.mark.parametrize("name", ["window", "window, no keys"])
def test_a_window_over_two_streams(results: dict[str, Any], name: str) -> None:
    """A row is emitted at once, again when a row arrives in its window, and when it is final."""
    result = results[name]
    assert "isPipelined=true" in result["plan"]
    assert "WindowUnion" in result["plan"]
    revisions: dict[int, list[Any]] = {}
    for *row, revision, is_final in result["found"]:
        revisions.setdefault(row[0], []).append((revision, is_final, tuple(row)))
    for some in revisions.values():
        assert [revision for revision, _, _ in some] == [*range(1, len(some) + 1)]
        assert not any(is_final for _, is_final, _ in some[:-1])
    lasts = [some[-1] for some in revisions.values()]
    finals = bag(row for _, is_final, row in lasts if is_final and row[0] < 5)
    wanted = bag(tuple(row[:-2]) for row in result["wanted"] if row[0] < 5)
    assert not difference(wanted, finals)
    assert len(wanted) == 4
    assert max(map(len, revisions.values())) > 2
