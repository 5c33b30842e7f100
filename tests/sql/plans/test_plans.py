# SPDX-License-Identifier: Apache-2.0
"""Query shapes: each uses IntervalSweepJoin and has the rows of Spark's own plan, in all modes."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import functions as f

from support.joins import oracle
from support.joins.shapes import MIXED, SHAPES, SWEPT_TWICE
from support.spark.comparison import ANSI, BROADCAST, ENABLED, Both, configured, physical, sweeps
from support.spark.metrics import metric

BOXES = re.compile(r"boxes (\w+)")
FACTOR = "spark.sql.intervalsweep.broadcastFactor"
RELATIONS = ("INTERVAL_INTERSECTS", "ALLEN_OVERLAPS", "ISEQL_REVERSE_DURING", "ISEQL_BEFORE")


def fill(query: str, name: str, written: bool) -> str:
    make = oracle.formula if written else oracle.call
    aliases = ("rs", "ab", "sb", "rb", "tb")
    periods = {a: [(f"{side}.ts", f"{side}.te") for side in a] for a in aliases}
    return query.format(**{a: make(name, *periods[a]) for a in aliases})


def table(seed: int, rows: int) -> pa.Table:
    rng = random.Random(seed)
    starts = [rng.randrange(24) for _ in range(rows)]
    ends = [start + rng.choice((0, 1, 2, 3, 5, 8, -1)) for start in starts]
    columns = {
        "id": pa.array(range(rows), pa.int32()),
        "k": pa.array([rng.choice((1, 2, 3, None)) for _ in range(rows)], pa.int32()),
        "x": pa.array([rng.choice((0, 1, 2, 3, None)) for _ in range(rows)], pa.int32()),
        "ts": pa.array([None if rng.random() < 0.05 else start for start in starts], pa.int32()),
        "te": pa.array([None if rng.random() < 0.05 else end for end in ends], pa.int32()),
        "name": pa.array([rng.choice(("", "é", "long " * 9, None)) for _ in range(rows)]),
        "list": pa.array([rng.choice(([], [1, None], None, [3])) for _ in range(rows)]),
    }
    return pa.table(columns)


@pytest.fixture(scope="module")
def views(spark: Any) -> None:
    for name, seed, rows in (("r", 11, 40), ("s", 12, 30)):
        spark.createDataFrame(table(seed, rows)).createOrReplaceTempView(name)
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW wr AS SELECT id, ts + 1 AS ts, te FROM r")
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW vs AS SELECT * FROM s WHERE x IS NOT NULL")


ALL_SHAPES = {
    **{name: (query, 1) for name, query in SHAPES.items()},
    **{name: (query, 2) for name, query in SWEPT_TWICE.items()},
    **{name: (query, None) for name, query in MIXED.items()},
}


def check(both: Both, name: str, relation: str, ways: Iterable[dict[str, str]] = ({},)) -> int:
    query, swept = ALL_SHAPES[name]
    called, written = (fill(query, relation, written=is_written) for is_written in (False, True))
    return both(called, written, swept, ways)


@pytest.mark.parametrize("name", list(ALL_SHAPES))
@pytest.mark.usefixtures("views")
def test_shape(conf: Any, both: Both, name: str) -> None:
    relation = RELATIONS[list(ALL_SHAPES).index(name) % 4]
    rows = check(both, name, relation, [{BROADCAST: "10MB"}, {BROADCAST: "-1"}])
    assert rows > 0 or name == "no pair"


MODES = {
    "aqe off": {"spark.sql.adaptive.enabled": "false"},
    "aqe and ansi off": {"spark.sql.adaptive.enabled": "false", ANSI: "false"},
    "ansi off": {ANSI: "false"},
    "codegen off": {"spark.sql.codegen.wholeStage": "false"},
    "codegen and aqe off": {
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.adaptive.enabled": "false",
    },
    "one partition": {"spark.sql.shuffle.partitions": "1"},
    "many small batches": {
        "spark.sql.intervalsweep.batchRows": "3",
        "spark.sql.intervalsweep.rangeRows": "1",
    },
    "small batches, codegen off": {
        "spark.sql.intervalsweep.batchRows": "2",
        "spark.sql.intervalsweep.rangeRows": "2",
        "spark.sql.codegen.wholeStage": "false",
    },
    "no union codegen": {"spark.sql.codegen.maxFields": "3"},
    "cbo": {"spark.sql.cbo.enabled": "true", "spark.sql.cbo.joinReorder.enabled": "true"},
}
SELECTED = (
    *("join on", "join on, keys", "star", "star, keys", "count", "count, keys"),
    *("below an aggregate", "limited count", "three-way, keys", "union", "self join"),
)


@pytest.mark.parametrize("name", SELECTED)
@pytest.mark.parametrize("threshold", ["10MB", "-1"])
@pytest.mark.usefixtures("views")
def test_modes(both: Both, drawn: Any, name: str, threshold: str) -> None:
    ways = [{**mode, BROADCAST: threshold} for mode in drawn(MODES.values(), 3)]
    check(both, name, RELATIONS[SELECTED.index(name) % 4], ways)


EQUALITIES = ("ALLEN_MEETS", "ALLEN_MET_BY", "ALLEN_EQUALS")
EQUALITY_SHAPES = {
    "join on": "SELECT r.id, s.id FROM r JOIN s ON {rs}",
    "comma": "SELECT r.id, s.name FROM r, s WHERE {rs} AND r.id + s.id > 3",
    "comma, keys": "SELECT r.id, s.id FROM r, s WHERE r.k = s.k AND {rs}",
    "left join": "SELECT r.id, s.id FROM r LEFT JOIN s ON {rs} AND r.id < s.id",
    "count": "SELECT r.k, count(*), sum(s.id) FROM r JOIN s ON {rs} GROUP BY r.k",
    "exists": "SELECT id FROM r WHERE EXISTS (SELECT 1 FROM s WHERE {rs})",
    "not exists": "SELECT id FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE {rs})",
}
PERIODS = ("r.ts", "r.te"), ("s.ts", "s.te")


def is_equi_join(plan: str) -> bool:
    return "SortMergeJoin" in plan or "HashJoin" in plan


@pytest.mark.parametrize("threshold", ["10MB", "-1"])
@pytest.mark.parametrize("name", EQUALITIES)
@pytest.mark.usefixtures("views")
def test_equalities_of_a_function_are_swept_unless_there_are_keys(
    conf: Any, both: Both, drawn: Any, name: str, threshold: str
) -> None:
    conf({BROADCAST: threshold})
    rows = 0
    for shape, template in drawn(EQUALITY_SHAPES.items(), 4):
        swept = int("keys" not in shape)
        query, written = (fill(template, name, written=w) for w in (False, True))
        assert is_equi_join(physical(both.spark.sql(query))) != swept
        rows += both(query, written, swept)
    assert rows > 0


@pytest.mark.parametrize("hint", ["MERGE", "SHUFFLE_HASH"])
@pytest.mark.usefixtures("views")
def test_equalities_of_a_function_are_sparks_where_a_hint_asks_for_its_join(
    both: Both, hint: str
) -> None:
    query = f"SELECT /*+ {hint}(s) */ r.id, s.id FROM r JOIN s ON "
    meets, written = (make("ALLEN_MEETS", *PERIODS) for make in (oracle.call, oracle.formula))
    assert is_equi_join(physical(both.spark.sql(query + meets)))
    assert both(query + meets, query + written, swept=0) > 0


@pytest.mark.usefixtures("views")
def test_a_hint_for_an_equi_join_was_heeded_where_an_equality_was_an_alternative(
    both: Both,
) -> None:
    """With the hint, Spark would run a nested loop."""
    query = "SELECT /*+ MERGE(s) */ r.id, s.id FROM r JOIN s ON {} AND ({} OR r.x < s.x)"
    names = ("ALLEN_OVERLAPS", "ALLEN_EQUALS")
    call, written = (
        query.format(*(make(name, *PERIODS) for name in names))
        for make in (oracle.call, oracle.formula)
    )
    assert both(call, written, swept=1) > 0


@pytest.mark.usefixtures("views")
def test_equalities_of_strings_are_sparks(both: Both) -> None:
    query = "SELECT r.id, s.id FROM r JOIN s ON "
    call = "ALLEN_EQUALS(r.name, r.name, s.name, s.name)"
    assert is_equi_join(physical(both.spark.sql(query + call)))
    assert both(query + call, query + "r.name = s.name", swept=0) > 0


def test_equalities_of_floating_point_beside_keys_of_exists(spark: Any, both: Both) -> None:
    """Keys are hashed. An optimizer rule normalizes -0.0 and 0.0 only in the keys that it sees."""
    for name, zero in (("r", "-0D"), ("s", "0D")):
        nan = "double('NaN')"
        values = f"VALUES (1, 1D, {zero}), (2, {zero}, {nan}), (3, {nan}, 5D), (4, NULL, 5D)"
        frame = spark.sql(f"SELECT * FROM {values} AS t(k, ts, te)")
        frame.createOrReplaceTempView(f"float_{name}")
    source = "SELECT k FROM float_r r WHERE EXISTS (SELECT 1 FROM float_s s WHERE {})"
    equals, written = (make("ALLEN_EQUALS", *PERIODS) for make in (oracle.call, oracle.formula))
    for keys, swept in (("", 1), ("r.k = s.k AND ", 0)):
        query = source.format(keys + equals)
        assert both(query, source.format(keys + written), swept) == 3


@pytest.mark.usefixtures("views")
def test_equalities_of_one_table_are_written_out_for_the_source(spark: Any, tmp_path: Any) -> None:
    spark.table("s").write.parquet(str(tmp_path / "s"))
    spark.read.parquet(str(tmp_path / "s")).createOrReplaceTempView("stored")
    for query in (
        "SELECT * FROM stored WHERE ALLEN_MEETS(ts, te, 7, 9)",
        "SELECT * FROM r JOIN stored s ON r.k = s.k WHERE ALLEN_MEETS(s.ts, s.te, 7, 9)",
    ):
        assert re.search(r"PushedFilters: \[.*EqualTo\(te,7\)", physical(spark.sql(query)))


@pytest.mark.usefixtures("views")
def test_a_weak_range_beside_keys_is_left_to_spark(both: Both) -> None:
    for query in (
        "SELECT r.id, s.id FROM r JOIN s ON r.k = s.k AND r.ts < s.ts",
        "SELECT r.id, s.id FROM r JOIN s ON r.k = s.k AND r.x = s.x AND r.te >= s.ts",
    ):
        assert both(query, swept=0) > 0


@pytest.mark.usefixtures("views")
def test_a_weak_range_is_swept_where_that_is_asked_for(conf: Any, both: Both) -> None:
    query = "SELECT r.id, s.id FROM r {} JOIN s ON r.k = s.k AND r.ts < s.ts"
    conf({"spark.sql.intervalsweep.weakRanges": "true"})
    for join_type in ("", "LEFT", "LEFT ANTI"):
        columns = "r.id, s.id" if join_type != "LEFT ANTI" else "r.id"
        assert both(query.format(join_type).replace("r.id, s.id", columns)) > 0


@pytest.mark.extended
@pytest.mark.parametrize("threshold", ["10MB", "-1"])
@pytest.mark.usefixtures("views")
def test_either_side_is_made_boxes_where_that_is_asked_for(
    conf: Any, both: Both, threshold: str
) -> None:
    conf({BROADCAST: threshold})
    for name in oracle.RELATIONS:
        call, written = (fill(SHAPES["count"], name, written=w) for w in (False, True))
        swept = sweeps(physical(both.spark.sql(call)))
        for side in ("left", "RIGHT"):
            conf({"spark.sql.intervalsweep.boxes": side})
            boxes = BOXES.findall(physical(both.spark.sql(call)))
            # If the side can be the boxes of a single sweep, it is.
            assert swept == 0 or boxes == [side.lower()], (name, side, boxes)
            assert both(call, written, swept) > 0
        conf({"spark.sql.intervalsweep.boxes": "auto"})


@pytest.mark.usefixtures("views")
def test_switched_off(spark: Any) -> None:
    query = fill(SHAPES["join on"], "ALLEN_OVERLAPS", written=False)
    assert sweeps(physical(spark.sql(query))) == 1
    with configured(spark, {ENABLED: "false"}):
        frame = spark.sql(query)
        assert sweeps(physical(frame)) == 0
        assert frame.count() > 0


@pytest.mark.usefixtures("views")
def test_same_frame_twice(spark: Any) -> None:
    """Aliases distinguish the attributes of a DataFrame that is joined with itself."""
    frame = spark.table("r")
    a, b = frame.alias("a"), frame.alias("b")
    joined = a.join(b, f.expr(oracle.call("ALLEN_OVERLAPS", ("a.ts", "a.te"), ("b.ts", "b.te"))))
    assert sweeps(physical(joined)) == 1
    with configured(spark, {ENABLED: "false"}):
        expected = a.join(
            b, (f.col("a.ts") < f.col("b.ts")) & f.expr("b.ts < a.te AND a.te < b.te")
        )
        expected = sorted(expected.select("a.id", "b.id").collect())
    assert sorted(joined.select("a.id", "b.id").collect()) == expected
    assert expected


@pytest.mark.usefixtures("views")
def test_results_are_read_twice(spark: Any) -> None:
    """A plan can be executed again, cached, and read in part."""
    frame = spark.sql(fill(SHAPES["join on"], "INTERVAL_INTERSECTS", written=False))
    first = sorted(frame.collect())
    assert sorted(frame.collect()) == first
    assert sorted(frame.cache().collect()) == first
    frame.unpersist()
    assert frame.count() == len(first) > 10
    assert len(frame.take(3)) == 3
    assert len(frame.limit(5).collect()) == 5


@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_a_broadcast_that_is_packed_has_the_number_of_its_rows(
    spark: Any, conf: Any, adaptive: str
) -> None:
    """Adaptive execution uses the number: a relation of at most one row needs no sort."""
    conf({"spark.sql.adaptive.enabled": adaptive})
    rows = spark.range(0, 1000, 1, 7).selectExpr("id AS ts", "id + 2 AS te")
    rows.createOrReplaceTempView("packed")
    joined = spark.sql(
        "SELECT /*+ BROADCAST(s) */ r.ts, s.te FROM packed r JOIN packed s "
        "ON ALLEN_OVERLAPS(r.ts, r.te, s.ts, s.te) ORDER BY s.te DESC"
    )
    found = [tuple(row) for row in joined.collect()]
    assert sweeps(physical(joined)) > 0
    assert found == [(ts, ts + 3) for ts in reversed(range(999))]
    assert metric(joined, "numOutputRows", "BroadcastExchange") == 1000


SIDE = "SELECT id AS ts, id + 2 AS te, id div 10 AS k FROM range(1000)"
MODE = re.compile(r"IntervalSweepJoin .*, (broadcast|by keys|by ranges)")


@pytest.mark.parametrize(
    ("settings", "keys", "mode"),
    [
        ({}, "", "broadcast"),
        ({FACTOR: "1"}, "", "by ranges"),
        ({FACTOR: "0", BROADCAST: "1MB"}, "", "by ranges"),
        ({BROADCAST: "-1"}, "", "by ranges"),
        ({}, "r.k = s.k AND ", "broadcast"),
        ({FACTOR: "1"}, "r.k = s.k AND ", "by keys"),
    ],
)
def test_a_side_is_broadcast_up_to_some_times_of_sparks_threshold(
    spark: Any, conf: Any, settings: dict[str, str], keys: str, mode: str
) -> None:
    side = spark.sql(SIDE)._jdf.queryExecution().optimizedPlan()
    half = (side.stats().sizeInBytes() + 1) // 2
    conf({FACTOR: None, BROADCAST: str(half), **settings})
    joined = spark.sql(
        f"SELECT r.ts, s.te FROM ({SIDE}) r JOIN ({SIDE}) s "
        f"ON {keys}ALLEN_OVERLAPS(r.ts, r.te, s.ts, s.te)"
    )
    assert MODE.findall(physical(joined)) == [mode]
    assert len(joined.collect()) == (900 if keys else 999)
