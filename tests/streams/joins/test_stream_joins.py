# SPDX-License-Identifier: Apache-2.0
"""A join of streams has the rows of the same join of tables."""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as f

from intervalsweep.dataframe import stream_join
from support.spark.comparison import OWN_PLAN, configured
from support.streams import join_cases, joined
from support.streams.join_cases import Case
from support.streams.joined import ENDS, FAR, PROVIDER, Arrivals, bag, run, start_and_wait


def check(spark: Any, folder: Path, seed: int, clock: str = "ts", joins: int = 11) -> int:
    rng = random.Random(seed)
    arrivals = joined.random_arrivals(folder, rng, rows=24, cuts=rng.randrange(1, 6), clock=clock)
    # One join occurs twice: Spark must not reuse its shuffle.
    some = join_cases.random_cases(rng, joins, clock)
    some.append(some[1])
    arrivals.streams(spark)
    sql = join_cases.union(some)
    some = join_cases.as_planned(some, plan(spark.sql(sql)))
    wanted = join_cases.wanted(arrivals, some)
    cut = rng.choice([None, 1, len(arrivals.batches) - 1])
    assert bag(run(spark, arrivals, sql, cut)) == wanted, some
    return wanted.total()


def test_stream_is_batch(streaming: Any, conf: Any, tmp_path: Path) -> None:
    # With one partition, each join has one task in each micro-batch; below, each has two.
    conf({"spark.sql.shuffle.partitions": "1"})
    assert check(streaming, tmp_path, seed=15, joins=6) > 100


@pytest.mark.extended
@pytest.mark.parametrize("seed", range(10))
def test_streams_are_batches(streaming: Any, tmp_path: Path, seed: int) -> None:
    assert check(streaming, tmp_path, seed, clock="te" if seed % 3 == 0 else "ts") > 0


def test_the_formulas_of_random_joins_are_those_of_spark(streaming: Any, tmp_path: Path) -> None:
    """DuckDB's rows, the oracle for streams, equal those of Spark's own joins."""
    rng = random.Random(17)
    arrivals = joined.random_arrivals(tmp_path, rng, rows=24, cuts=2)
    arrivals.write()
    some = join_cases.random_cases(rng, 12)
    for side in "ab":
        with_time = streaming.read.schema(arrivals.schema).json(str(tmp_path / side))
        with_time = with_time.where("ts IS NOT NULL OR id IS NULL")
        with_time.createOrReplaceTempView(side)
        with_time.createOrReplaceTempView(f"{side}n")
        for batch in arrivals.batches:
            batch[side] = [row for row in batch[side] if row[3] is not None]
    found: Counter[Any] = Counter()
    with configured(streaming, OWN_PLAN):
        for first in range(0, len(some), 4):
            sql = join_cases.union(some[first : first + 4], first)
            found.update(bag(streaming.sql(sql).collect()))
    assert found
    assert found == join_cases.wanted(arrivals, some)


def select(number: int, how: str, condition: str) -> str:
    return Case(how, condition, condition).sql(number)


def few(folder: Path, **how: Any) -> Arrivals:
    return joined.random_arrivals(folder, random.Random(1), rows=2, cuts=1, **how)


def test_plan_is_ours(streaming: Any, tmp_path: Path) -> None:
    arrivals = few(tmp_path)
    arrivals.write()
    arrivals.streams(streaming)
    taken = streaming.sql(select(0, "LEFT", f"interval_intersects({ENDS})"))
    assert "StreamJoin LeftOuter" in plan(taken)
    # Spark plans this join, and existing checkpoints must stay valid.
    kept = streaming.sql(
        select(0, "LEFT", "a.k = b.k AND a.ts BETWEEN b.ts AND b.ts + INTERVAL '1' HOUR")
    )
    assert "StreamJoin" not in plan(kept)


def test_join_of_dataframes_by_itself(streaming: Any, tmp_path: Path) -> None:
    """A join directly below the sink. DataFrame.join must find the Join that it created."""
    arrivals = joined.random_arrivals(tmp_path, random.Random(2), rows=10, cuts=2)
    arrivals.write()
    arrivals.streams(streaming)
    condition = f.expr(f"interval_intersects({ENDS}) AND a.id < {FAR}")
    a, b = (streaming.table(side).alias(side) for side in "ab")
    found: list[Any] = []
    joined.start_and_wait(a.join(b, condition, "left_outer"), tmp_path / "checkpoint", found)
    arrivals.tables(streaming)
    a, b = (streaming.table(side).alias(side) for side in "ab")
    wanted = bag(a.join(b, condition, "left_outer").where(f"a.id < {FAR}").collect())
    assert wanted
    assert bag([row for row in found if row[0] < FAR]) == wanted


def plan(frame: Any) -> str:
    return str(frame._jdf.queryExecution().analyzed().toString())


def test_late_rows_and_reversed_ones_are_dropped(streaming: Any, tmp_path: Path) -> None:
    row = joined.interval
    batches: list[Any] = [
        {"a": [row(1, 100, 110)], "b": [row(1, 100, 130)]},
        {"a": [row(2, 105, 120)], "b": [row(2, 115, 140)]},
        # The watermark of the previous micro-batch is 80.
        {"a": [row(3, 79, 200)], "b": [row(3, 81, 105)]},
        {"a": [row(4, 130, 125)], "b": []},
    ]
    arrivals = Arrivals(tmp_path, batches)
    relations = ("allen_during", "allen_contains")
    sql = " UNION ALL ".join(
        select(number, "INNER", f"{relation}({ENDS})") for number, relation in enumerate(relations)
    )
    arrivals.write()
    arrivals.streams(streaming)
    found: list[Any] = []
    query = joined.start_and_wait(streaming.sql(sql), tmp_path / "checkpoint", found)
    # By the formula, a's fourth row is during b's second row. But it ends before it starts, and the
    # expiry of b's rows assumes that rows of a do not, so it is dropped.
    assert bag(found) == bag([(0, 2, 1)])
    counts = joined.counted(query)
    assert counts["reversedRows"] == 1
    # Each join counts the row once, even without keys, when it goes to all state partitions.
    assert counts["lateRows"] == len(relations)
    operators = [o for p in query.recentProgress for o in p["stateOperators"]]
    assert sum(o["numRowsDroppedByWatermark"] for o in operators) == len(relations)


def test_rows_that_are_too_long_are_dropped_and_counted(streaming: Any, tmp_path: Path) -> None:
    row = joined.interval
    batches: list[Any] = [
        {"a": [row(1, 0, 5), row(2, 1, 60), row(3, 2, 12)], "b": [row(1, 3, 13), row(2, 4, 15)]},
        # A row without an end has no length, so it is kept but never matches.
        {"a": [row(4, 10, None), row(5, 11, 13)], "b": [row(3, 12, 100), row(4, 12, 14)]},
        {"a": [row(FAR, FAR, FAR + 1)], "b": [row(FAR, FAR + 10, FAR + 11)]},
    ]
    arrivals = Arrivals(tmp_path, batches)
    arrivals.write()
    arrivals.streams(streaming)

    def pairs() -> Any:
        frames = (streaming.table(side) for side in "ab")
        both = stream_join(*frames, by="k", how="left", max_length=timedelta(seconds=10))
        return both.where(f"id < {FAR}").select("id", "id_right")

    found: list[Any] = []
    query = joined.start_and_wait(pairs(), tmp_path / "checkpoint", found)
    # The long rows are a's second, and b's second and third.
    assert joined.counted(query)["longRows"] == 3
    arrivals.tables(streaming)
    assert bag(found) == bag(pairs().collect())
    assert bag(found) == bag([(1, 1), (3, 1), (4, None), (5, 1), (5, 4)])


def test_another_state_store_is_refused(streaming: Any, conf: Any, tmp_path: Path) -> None:
    arrivals = joined.random_arrivals(tmp_path, random.Random(2), rows=2, cuts=1)
    arrivals.streams(streaming)
    arrivals.write()
    conf({PROVIDER: None})
    pairs = streaming.sql("SELECT a.id FROM a JOIN b ON ALLEN_OVERLAPS(a.ts, a.te, b.ts, b.te)")
    with pytest.raises(Exception, match=rf"STATE_STORE.*{PROVIDER} is .*: set it to .*RocksDB"):
        start_and_wait(pairs, tmp_path / "checkpoint", [])


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
    arrivals = few(tmp_path)
    arrivals.clock = clock
    arrivals.write()
    arrivals.streams(streaming)
    with pytest.raises(Exception, match=rf"INTERVALSWEEP_STREAM\.{name}") as error:
        streaming.sql(select(0, "LEFT", condition))
    assert says in str(error.value)


@pytest.mark.parametrize("how", ["JOIN", "LEFT JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"])
def test_a_condition_on_one_side_stopped_the_watermark(
    streaming: Any, tmp_path: Path, how: str
) -> None:
    """Spark pushes it below the watermark. The state then grew until a row fulfilled it."""
    row = joined.interval
    first: dict[str, list[Any]] = {side: [row(i, i, i + 3, v=i) for i in (1, 5)] for side in "ab"}
    others = [{s: [row(i, 10 * i, 10 * i + 3) for s in "ab"] for s in "ab"} for i in range(10, 30)]
    arrivals = Arrivals(tmp_path, [first, *others])
    arrivals.write()
    arrivals.streams(streaming)
    query = streaming.sql(
        f"SELECT a.id FROM a {how} (SELECT * FROM b WHERE w = 0 AND v > 2) b "
        f"ON interval_intersects({ENDS}) AND a.v > 0 AND b.v < 9"
    )
    found: list[Any] = []
    ended = start_and_wait(query, tmp_path / "checkpoint", found)
    arrivals.tables(streaming)
    wanted = {"JOIN": {5}, "LEFT SEMI JOIN": {5}, "LEFT JOIN": {1, 5}, "LEFT ANTI JOIN": {1}}[how]
    assert {row.id for row in found if row.id < 10} == wanted
    # The rows of the last micro-batches may still match later rows of the other side.
    assert ended.recentProgress[-1]["stateOperators"][0]["numRowsTotal"] < 10
    assert joined.counted(ended)["expiredRows"] > 0
