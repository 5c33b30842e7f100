# SPDX-License-Identifier: Apache-2.0
"""Relations over one table push the same filters to the source as their formulas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.joins import oracle
from support.joins.oracle import Limit
from support.spark.comparison import Both, bag, physical
from support.spark.metrics import metric

PUSHED = re.compile(r"(PushedFilters|PartitionFilters): \[(.*?)\](?=, \w+:|\s*$)", re.MULTILINE)
PERIOD, CONSTANT = ("ts", "te"), ("40", "60")


def asked(frame: Any) -> list[tuple[str, list[str]]]:
    """The partition filters and the pushed filters of each scan of a plan."""
    execution = frame._jdf.queryExecution()
    plan = frame.sparkSession._jvm.PythonSQLUtils.explainString(execution, "formatted")
    found = PUSHED.findall(plan)
    return [(kind, sorted(re.sub(r"#\d+", "", text).split(", "))) for kind, text in found]


def check(both: Both, query: str, written: str, swept: int = 0) -> list[str]:
    """Compares the rows and the filters of the call and the formula; returns the filters."""
    both(query, written, swept)
    expected, got = asked(both.spark.sql(written)), asked(both.spark.sql(query))
    assert got == expected
    return [text for _, texts in expected for text in texts if text]


def row(number: int) -> dict[str, Any]:
    start: int | None = number % 100
    end: int | None = number % 100 + number % 7 - 1
    return {
        "id": number,
        "k": number % 3,
        "ts": None if number % 31 == 0 else start,
        "te": None if number % 37 == 0 else end,
    }


@pytest.fixture(scope="module", autouse=True)
def tables(spark: Any, tmp_path_factory: Any) -> Iterator[None]:
    base = tmp_path_factory.mktemp("tables")
    for name, step in (("t", 1), ("u", 2)):
        rows = [row(n * step) for n in range(400)]
        frame = spark.createDataFrame(pa.Table.from_pylist(rows))
        frame.orderBy("ts").coalesce(1).write.parquet(str(base / name))
        spark.read.parquet(str(base / name)).createOrReplaceTempView(name)
    spark.sql("SELECT id, struct(ts, te) AS p FROM t").write.parquet(str(base / "periods"))
    spark.read.parquet(str(base / "periods")).createOrReplaceTempView("periods")
    spark.sql("SELECT id, te, ts FROM t WHERE id < 100").write.partitionBy("ts").saveAsTable("days")
    yield
    spark.sql("DROP TABLE days")


@pytest.mark.parametrize("name", list(oracle.RELATIONS))
def test_a_relation_over_one_table_is_not_pushed_to_the_source(both: Both, name: str) -> None:
    query = "SELECT * FROM t WHERE "
    r, s = (PERIOD, CONSTANT) if len(name) % 2 else (CONSTANT, PERIOD)
    called, written = oracle.call(name, r, s), oracle.formula(name, r, s)
    pushed = check(both, query + called, query + written)
    assert len(pushed) > 1
    either = f"{query} k = 1 OR NOT "
    assert asked(both.spark.sql(either + called)) == asked(both.spark.sql(either + written))


def test_row_groups_without_a_match_are_read(spark: Any, tmp_path: Any) -> None:
    table = pa.table({"ts": range(10_000), "te": range(3, 10_003)})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=100)
    frame = spark.read.parquet(str(tmp_path / "t.parquet"))
    frame = frame.where("INTERVAL_INTERSECTS(ts, te, 5000, 5010)")
    assert len(frame.collect()) == 12
    assert metric(frame, "numOutputRows", of="Scan") <= 200


EXACT = "({later}) - ({earlier}) <= "
UNITS = {
    "SMALLINT": ("CAST({} AS SMALLINT)", "5", EXACT + "5"),
    "INT": ("CAST({} AS INT)", "5", EXACT + "5"),
    "BIGINT": ("CAST({} AS BIGINT)", "5", EXACT + "5"),
    "BIGINT, fraction": ("CAST({} AS BIGINT)", "5.7", EXACT + "5.7"),
    "DECIMAL": ("CAST({} AS DECIMAL(7, 2)) / 4", "1.2", EXACT + "1.2"),
    "wide DECIMAL": ("CAST({} AS DECIMAL(30, 4))", "5.5", EXACT + "5.5"),
    "FLOAT": ("CAST({} / 10.0D AS FLOAT)", "0.3", EXACT + "0.3"),
    "DOUBLE": ("CAST({} AS DOUBLE) / 10", "0.3", EXACT + "0.3D"),
    "DATE": ("date_add(DATE'2020-01-01', {})", "5", "datediff({later}, {earlier}) <= 5"),
    "TIMESTAMP": (
        "timestamp_seconds({} * 3600)",
        "INTERVAL '5' HOUR",
        EXACT + "INTERVAL '5' HOUR",
    ),
    "TIMESTAMP, months": (
        "timestamp_seconds({} * 86400 * 9)",
        "INTERVAL '1' MONTH",
        "{later} <= {earlier} + INTERVAL '1' MONTH",
    ),
}


@pytest.mark.parametrize("unit", list(UNITS))
def test_the_bound_of_a_parameter_is_not_pushed_to_the_source(
    spark: Any, both: Both, tmp_path: Any, unit: str
) -> None:
    """Months cannot be subtracted from a constant, so one of the two parameters is not pushed."""
    of, argument, written = UNITS[unit]
    columns = f"id, {of.format('CAST(ts AS INT)')} AS ts, {of.format('CAST(te AS INT)')} AS te"
    spark.sql(f"SELECT {columns} FROM t").write.parquet(str(tmp_path / "typed"))
    spark.read.parquet(str(tmp_path / "typed")).createOrReplaceTempView("typed")
    constant = (of.format("40"), of.format("43"))
    limit = Limit(argument, written)
    query = "SELECT * FROM typed WHERE "
    bounds = rows = 0
    for r, s in ((PERIOD, constant), (constant, PERIOD)):
        call = oracle.call("ISEQL_LEFT_OVERLAP", r, s, limit, limit)
        formula = oracle.formula("ISEQL_LEFT_OVERLAP", r, s, limit, limit)
        rows += both(query + call, query + formula, 0)
        plain = asked(spark.sql(query + oracle.call("ISEQL_LEFT_OVERLAP", r, s)))
        bounds += len(set(asked(spark.sql(query + call))[-1][1]) - set(plain[-1][1]))
    assert rows > 0
    assert bounds == (2 if "months" in unit else 4)


ONE_SIDE = {
    "comma": "SELECT t.id, u.id FROM t, u WHERE {rs} AND {t}",
    "on": "SELECT t.id, u.id FROM t JOIN u ON {t} AND {rs} AND {u}",
    "keys": "SELECT t.id, u.id FROM t JOIN u ON t.k = u.k AND {rs} WHERE {t} AND {u}",
    "left join, on": "SELECT t.id, u.id FROM t LEFT JOIN u ON {rs} AND {u}",
    "left join, where": "SELECT t.id, u.id FROM t LEFT JOIN u ON {rs} WHERE {t}",
    "full join, where": "SELECT t.id, u.id FROM t FULL JOIN u ON {rs} WHERE {t}",
    "exists": "SELECT id FROM t WHERE {t} AND EXISTS (SELECT 1 FROM u WHERE {rs} AND {u})",
    "exists, of the outside": "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE {rs} AND {t})",
    "not exists": "SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE {rs} AND {u})",
    "lateral": "SELECT t.id, x.id FROM t, LATERAL (SELECT * FROM u WHERE {rs} AND {u}) x WHERE {t}",
    "below a projection": "SELECT a, b FROM (SELECT t.id AS a, u.id AS b, t.ts, t.te FROM t JOIN u "
    "ON {rs}) t WHERE {t}",
    "either": "SELECT t.id, u.id FROM t, u WHERE {rs} AND ({t} OR t.k = 1)",
}


@pytest.mark.parametrize("name", list(ONE_SIDE))
def test_a_relation_over_one_side_of_a_join_is_not_pushed_to_the_source(
    both: Both, name: str
) -> None:
    t, u = ("t.ts", "t.te"), ("u.ts", "u.te")
    number = list(ONE_SIDE).index(name)
    between = ("INTERVAL_INTERSECTS", "ALLEN_DURING", "ISEQL_BEFORE")[number % 3]
    one = ("ISEQL_DURING", "INTERVAL_INTERSECTS")[number % 2]

    def filled(make: Any) -> str:
        sides = {"t": make(one, t, CONSTANT), "u": make(one, u, ("50", "60"))}
        return ONE_SIDE[name].format(rs=make(between, t, u), **sides)

    query, written = filled(oracle.call), filled(oracle.formula)
    rows = both(query, written, 1)
    frame = both.spark.sql(query)
    assert asked(frame) == asked(both.spark.sql(written))
    assert sum("LessThan" in text for _, texts in asked(frame) for text in texts) >= 1
    assert rows > 0


def test_a_relation_between_the_sides_of_a_join_is_no_filter(both: Both) -> None:
    """A relation over both sides in a WHERE stays the condition of the join."""
    t, u = ("t.ts", "t.te"), ("u.ts", "u.te")
    for name in ("ALLEN_DURING", "ISEQL_BEFORE", "INTERVAL_INTERSECTS"):
        query = "SELECT t.id, u.id FROM t, (SELECT DISTINCT * FROM u) u WHERE "
        assert both(query + oracle.call(name, t, u), query + oracle.formula(name, t, u)) >= 0
        plan = physical(both.spark.sql(query + oracle.call(name, t, u)))
        assert not re.search(rf"Filter .*{name}", plan, re.IGNORECASE)


def test_a_relation_over_fields_of_a_struct_is_not_pushed_to_the_source(both: Both) -> None:
    query = "SELECT id FROM periods WHERE {}"
    called = query.format("INTERVAL_INTERSECTS(p, struct(40L, 60L))")
    written = query.format(oracle.formula("INTERVAL_INTERSECTS", ("p.ts", "p.te"), CONSTANT))
    assert "LessThan(p.ts,60)" in check(both, called, written)


def test_partitions_without_a_match_are_read(both: Both) -> None:
    query = "SELECT id FROM days WHERE {}"
    called, written = (
        query.format(make("ISEQL_START_PRECEDING", PERIOD, CONSTANT))
        for make in (oracle.call, oracle.formula)
    )
    check(both, called, written)
    frame = both.spark.sql(called)
    frame.collect()
    assert 0 < metric(frame, "numPartitions", of="Scan") <= 41


def test_a_relation_over_a_cached_table_reads_all_batches(spark: Any, conf: Any) -> None:
    conf({"spark.sql.inMemoryColumnarStorage.batchSize": "100"})
    cached = spark.range(0, 10_000, 1, 1).selectExpr("id AS ts", "id + 3 AS te").cache()
    try:
        assert cached.count() == 10_000
        frame = cached.where("INTERVAL_INTERSECTS(ts, te, 5000, 5010)")
        assert len(frame.collect()) == 12
        assert metric(frame, "numOutputRows", of="InMemoryTableScan") <= 300
    finally:
        cached.unpersist()


def test_a_stream_is_not_filtered_at_its_source(spark: Any, tmp_path: Any) -> None:
    """As in Spark, a filter on event time stays above the watermark; the other one is pushed."""
    data = "SELECT id, timestamp_seconds(ts) AS ts, timestamp_seconds(te) AS te FROM t"
    spark.sql(data).write.parquet(str(tmp_path / "in"))
    stream = spark.readStream.schema("id LONG, ts TIMESTAMP, te TIMESTAMP")
    constant = ("timestamp_seconds(40)", "timestamp_seconds(60)")
    frames = {}
    for make in (oracle.call, oracle.formula):
        name = f"sink_{make.__name__}"
        frame = stream.parquet(str(tmp_path / "in")).withWatermark("ts", "1 minute")
        frame = frame.where(make("INTERVAL_INTERSECTS", PERIOD, constant))
        sink = frame.writeStream.format("memory").queryName(name).trigger(availableNow=True)
        query = sink.option("checkpointLocation", str(tmp_path / name)).start()
        query.awaitTermination(120)
        plan = str(query._jsq.explainInternal(False))
        filters = sorted(PUSHED.findall(re.sub(r"#\d+", "", plan)))
        frames[make.__name__] = (bag(spark.table(name).collect()), filters)
    assert frames["call"] == frames["formula"]
    assert frames["call"][0].total() > 0
    assert "GreaterThan(te," in str(frames["call"][1])
