# SPDX-License-Identifier: Apache-2.0
"""A join of streams has the rows of the same join of tables."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as f

import joined
from joined import ENDS, PROVIDER, ROCKSDB, Arrivals, bag, expected, run, select


@pytest.fixture
def streaming(spark: Any, conf: Any) -> Any:
    conf(
        {
            PROVIDER: ROCKSDB,
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.streaming.noDataMicroBatches.enabled": "true",
        }
    )
    return spark


def check(spark: Any, folder: Path, seed: int) -> int:
    rng = random.Random(seed)
    # The last one is there twice: their shuffles are not to be one.
    some = joined.cases(rng, 11)
    some.append(some[1])
    found, wanted = joined.both(spark, folder, rng, some)
    assert bag(found) == bag(wanted), some
    return len(wanted)


def test_stream_is_batch(streaming: Any, tmp_path: Path) -> None:
    assert check(streaming, tmp_path, seed=7) > 100


@pytest.mark.extended
@pytest.mark.parametrize("seed", range(10))
def test_streams_are_batches(streaming: Any, tmp_path: Path, seed: int) -> None:
    assert check(streaming, tmp_path, seed) > 0


def test_plan_is_ours(streaming: Any, tmp_path: Path) -> None:
    arrivals = Arrivals(tmp_path, joined.random_batches(random.Random(1), rows=2, cuts=1))
    arrivals.write()
    arrivals.streams(streaming)
    taken = streaming.sql(select(0, "LEFT", f"interval_intersects({ENDS})"))
    assert "StreamJoin LeftOuter" in plan(taken)
    # Its checkpoints are Spark's.
    kept = streaming.sql(
        select(0, "LEFT", "a.k = b.k AND a.ts BETWEEN b.ts AND b.ts + INTERVAL '1' HOUR")
    )
    assert "StreamJoin" not in plan(kept)


def test_join_of_dataframes_by_itself(streaming: Any, tmp_path: Path) -> None:
    """DataFrame.join wants to find a join; nothing is above it but the sink."""
    arrivals = Arrivals(tmp_path, joined.random_batches(random.Random(2), rows=10, cuts=2))
    arrivals.write()
    arrivals.streams(streaming)
    condition = f.expr(f"interval_intersects({ENDS}) AND a.id >= 0")
    a, b = (streaming.table(side).alias(side) for side in "ab")
    found: list[Any] = []
    joined.start_and_wait(a.join(b, condition, "left_outer"), tmp_path / "checkpoint", found)
    arrivals.tables(streaming)
    a, b = (streaming.table(side).alias(side) for side in "ab")
    wanted = bag(a.join(b, condition, "left_outer").where("a.id >= 0").collect())
    assert wanted
    assert bag([row for row in found if row[0] >= 0]) == wanted


def plan(frame: Any) -> str:
    return str(frame._jdf.queryExecution().analyzed().toString())


def test_late_rows_and_reversed_ones_are_dropped(streaming: Any, tmp_path: Path) -> None:
    at = joined.at
    batches = [
        {"a": [(1, 1, at(100), at(110), 0)], "b": [(1, 1, at(100), at(130), 0)]},
        {"a": [(2, 1, at(105), at(120), 0)], "b": [(2, 1, at(115), at(140), 0)]},
        # The watermark of the micro-batch before is 80.
        {"a": [(3, 1, at(79), at(200), 0)], "b": [(3, 1, at(81), at(105), 0)]},
        {"a": [(4, 1, at(130), at(125), 0)], "b": []},
    ]
    arrivals = Arrivals(tmp_path, batches)
    relations = ("allen_during", "interval_intersects")
    sql = " UNION ALL ".join(
        select(number, "INNER", f"{relation}({ENDS})") for number, relation in enumerate(relations)
    )
    found = run(streaming, arrivals, sql)
    # a's fourth row lies in b's second one by the formula, but is no interval.
    during, intersecting = [(2, 1)], [(1, 1), (1, 3), (2, 1), (2, 2), (4, 2)]
    assert bag(found) == bag([(0, *p) for p in during] + [(1, *p) for p in intersecting])


@pytest.mark.extended
def test_by_ends_of_a_known_length(streaming: Any, tmp_path: Path) -> None:
    rng = random.Random(3)
    batches = joined.random_batches(rng, rows=24, cuts=3, clock="te")
    arrivals = Arrivals(tmp_path, batches)
    known = " AND ".join(f"{s}.te <= {s}.ts + INTERVAL '40' SECOND" for s in "ab")
    sql = select(0, "LEFT", f"interval_intersects({ENDS}) AND {known}")
    found = run(streaming, arrivals, sql, clock="te")
    assert found
    assert bag(found) == bag(expected(streaming, arrivals, sql))


@pytest.mark.parametrize(
    ("name", "condition", "clock", "says"),
    [
        ("NO_WATERMARK", f"interval_intersects({ENDS})", None, "withWatermark"),
        ("UNBOUNDED_STATE", f"iseql_before({ENDS})", "ts", "delta"),
        ("UNBOUNDED_STATE", f"interval_intersects({ENDS})", "te", "max_length"),
        ("UNBOUNDED_STATE", f"allen_before({ENDS})", "ts", "bounds ts from above"),
        (
            "UNSUPPORTED",
            f"interval_intersects({ENDS}) AND a.v + b.v > unix_timestamp(now())",
            "ts",
            "current time",
        ),
    ],
)
def test_errors(
    streaming: Any, tmp_path: Path, name: str, condition: str, clock: str | None, says: str
) -> None:
    arrivals = Arrivals(tmp_path, joined.random_batches(random.Random(1), rows=2, cuts=1))
    arrivals.write()
    arrivals.streams(streaming, clock=clock)
    with pytest.raises(Exception, match=rf"INTERVALSWEEP_STREAM\.{name}") as error:
        streaming.sql(select(0, "LEFT", condition))
    assert says in str(error.value)
