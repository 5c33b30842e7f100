# SPDX-License-Identifier: Apache-2.0
"""Joins that read column vectors of a scan: every type, NULLs, filters, and formats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.spark.comparison import BROADCAST, OF_MANY_ROWS, Both, configured

# Each scan has two batches, the second one partly filled. With Spark's default batch size, Spark's
# own plan would evaluate millions of pairs.
ROWS, BATCH = 800, 512
OWN_ROWS = 6_000  # a batch has 4,096
BATCHES: dict[str, str | None] = {
    "spark.sql.parquet.columnarReaderBatchSize": str(BATCH),
    "spark.sql.orc.columnarReaderBatchSize": str(BATCH),
    "spark.sql.inMemoryColumnarStorage.batchSize": str(BATCH),
}
NUMBERS = {
    "flag": "id % 3 = 0",
    "tiny": "CAST(id % 251 - 125 AS TINYINT)",
    "small": "CAST(id * 10 - 31000 AS SMALLINT)",
    "number": "CAST(id * 600000 - 1800000000 AS INT)",
    "wide": "id * 1000000007000 - 4500000031500000",
    "single": "CAST(id AS FLOAT) / 7 - 100",
    "real": "IF(id % 10 = 0, DOUBLE('NaN'), id / 7 - 100)",
    "day": "DATE_ADD(DATE'1969-06-01', CAST(id % 800 AS INT))",
    "instant": "TIMESTAMP_MICROS(id * 1000003 - 3000000)",
    "local": "CAST(TIMESTAMP_MICROS(id * 1000003 - 3000000) AS TIMESTAMP_NTZ)",
    "span": "MAKE_DT_INTERVAL(0, 0, 0, id - 4000)",
    "months": "MAKE_YM_INTERVAL(0, CAST(id - 4000 AS INT))",
}
TEXTS = {
    "name": "CONCAT('name ', id % 251)",
    "label": "REPEAT(STRING(id), CAST(id % 4 AS INT))",
}
VALUES = NUMBERS | TEXTS
WAYS = {
    "broadcast": {BROADCAST: "10MB"},
    "by ranges": {BROADCAST: "-1"},
    "by small ranges": {
        BROADCAST: "-1",
        "spark.sql.intervalsweep.rangeRows": "200",
        "spark.sql.intervalsweep.batchRows": "90",
    },
    "not adaptive": {BROADCAST: "-1", "spark.sql.adaptive.enabled": "false"},
    "rows": {BROADCAST: "10MB", "spark.sql.parquet.enableVectorizedReader": "false"},
    "interpreted": {BROADCAST: "10MB", "spark.sql.codegen.wholeStage": "false"},
}
ON = "r.ts <= s.ts AND s.ts < r.te"


# PySpark does not collect year-month intervals.
def values(side: str) -> str:
    return ", ".join(
        f"STRING({side}.{name})" if name == "months" else f"{side}.{name}" for name in VALUES
    )


def write(spark: Any, folder: Path, rows: int) -> None:
    """Writes two tables with all types and some NULLs; one is dictionary-encoded."""
    values = [
        f"IF((id + {k}) % 11 = 0, NULL, {value}) AS {name}"
        for k, (name, value) in enumerate(VALUES.items())
    ]
    for name, factor in (("r", 7919), ("s", 6133)):
        start = f"number * {factor} % {rows} DIV 2"
        spread = spark.range(rows).selectExpr("id AS number", f"id * {OWN_ROWS // rows} AS id")
        spread.selectExpr(
            f"IF(id % 101 = 0, NULL, {start}) AS ts",
            f"IF(id % 103 = 0, NULL, {start} + id % 5 - 1) AS te",
            "id",
            "CAST(id % 3 AS INT) AS part",
            "CAST(id AS DECIMAL(9, 2)) AS price",
            *values,
        ).write.option("parquet.enable.dictionary", str(name == "r")).parquet(
            str(folder / name), compression="none"
        )


@pytest.fixture(scope="module")
def files(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("columnar")
    write(spark, folder, ROWS)
    return folder


def view(spark: Any, files: Path) -> None:
    for name in "rs":
        spark.read.parquet(str(files / name)).createOrReplaceTempView(name)


@pytest.fixture
def tables(spark: Any, conf: Callable[..., None], files: Path) -> None:
    conf(BATCHES)
    view(spark, files)


@pytest.mark.extended
def test_batches_of_sparks_own_size(spark: Any, both: Both, tmp_path: Path) -> None:
    write(spark, tmp_path, OWN_ROWS)
    view(spark, tmp_path)
    both.own = OF_MANY_ROWS
    query = f"SELECT {values('r')}, {values('s')} FROM r FULL JOIN s ON {ON}"
    assert both(query, ways=[WAYS["broadcast"], WAYS["by ranges"]]) > OWN_ROWS
    assert "VectorRows" in both.executed()


@pytest.mark.usefixtures("tables")
def test_values_of_every_type(spark: Any, both: Both, drawn: Any) -> None:
    query = f"SELECT {values('r')}, {values('s')} FROM r JOIN s ON {ON}"
    expected = both.expected(query)
    assert expected.total() > ROWS
    for way, settings in drawn(WAYS.items(), 2):
        with configured(spark, settings):
            both.compare(query, 1, expected)
        # Without generated code, Spark reads rows.
        is_by_rows = way in ("rows", "interpreted")
        assert both.executed().count("VectorRows") == (0 if is_by_rows else 2), way


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("kind", ["LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI"])
@pytest.mark.parametrize("way", ["broadcast", "by small ranges"])
def test_rows_that_go_out_alone(
    spark: Any, conf: Callable[..., None], both: Both, kind: str, way: str
) -> None:
    conf(WAYS[way])
    chosen = values("r")
    if kind not in ("LEFT SEMI", "LEFT ANTI"):
        chosen += ", " + values("s")
    columns = f"ts, te, {', '.join(VALUES)}"
    query = (
        f"SELECT {chosen} FROM (SELECT {columns} FROM r) r {kind} JOIN "
        f"(SELECT {columns} FROM s WHERE small % 2 = 0 OR small IS NULL) s ON {ON}"
    )
    assert both(query) > ROWS / 10
    assert "VectorRows" in both.executed()


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    "condition",
    [
        "number > 0",
        "small > 0 AND real < 900 AND NOT flag",
        "name <> 'name 3'",
        "label LIKE '%7%'",
        "day IS NULL",
        "wide % 2 = 0 OR tiny IS NULL",
        "ts < te",
        "ts < te AND ts < number AND day IS NOT NULL AND id < wide",
    ],
)
def test_filters_between_scan_and_join(
    spark: Any, conf: Callable[..., None], both: Both, condition: str
) -> None:
    conf(WAYS["by ranges"])
    query = (
        f"SELECT r.id, r.number, s.id FROM (SELECT * FROM r WHERE {condition}) r "
        f"JOIN (SELECT * FROM s WHERE {condition}) s ON {ON}"
    )
    assert both(query) > 10
    assert "VectorRows" in both.executed()


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("way", ["broadcast", "by ranges"])
def test_columns_by_other_names(
    spark: Any, conf: Callable[..., None], both: Both, way: str
) -> None:
    """Columns are renamed between the scan and the join, and rows are filtered."""
    conf(WAYS[way])
    some = "SELECT id AS who, ts AS low, te AS high, name AS title, tiny, te AS again FROM {}"
    query = (
        "SELECT x.who, x.title, x.again, y.who, y.tiny, y.high "
        f"FROM ({some.format('r')} WHERE ts < te) x JOIN ({some.format('s')} WHERE ts < te) y "
        "ON x.low <= y.low AND y.low < x.high"
    )
    assert both(query) > ROWS / 10
    assert both.executed().count("VectorRows") == 2


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    ("way", "endpoint"),
    [("broadcast", name) for name in NUMBERS if name != "flag"]
    + [(way, name) for way in ("rows", "by small ranges") for name in ("tiny", "day", "real")],
)
def test_endpoints_of_every_type(
    spark: Any, conf: Callable[..., None], both: Both, way: str, endpoint: str
) -> None:
    conf(WAYS[way])
    query = (
        "SELECT r.id, r.tiny, s.id, s.flag FROM (SELECT * FROM r WHERE id % 8 < 2) r "
        "LEFT JOIN (SELECT * FROM s WHERE id % 8 < 2) s "
        f"ON r.{endpoint} <= s.{endpoint} AND r.{endpoint} >= s.{endpoint}"
    )
    assert both(query) > 100
    assert both.executed().count("VectorRows") == (0 if way == "rows" else 2)


@pytest.mark.usefixtures("tables")
def test_endpoints_that_are_computed(spark: Any, conf: Callable[..., None], both: Both) -> None:
    conf(WAYS["broadcast"])
    query = (
        "SELECT r.id, r.tiny, s.id, s.flag FROM r JOIN (SELECT * FROM s WHERE id % 8 < 2) s "
        "ON r.ts + 1 <= s.ts + 1 AND r.ts * 2 >= s.ts * 2"
    )
    assert both(query) > 100
    assert "VectorRows" in both.executed()


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    "keys",
    [
        "r.tiny = s.tiny",
        "r.tiny = s.tiny AND r.real <=> s.real",
        "r.name = s.name",
        "r.name <=> s.name AND r.tiny = s.tiny",
    ],
)
@pytest.mark.parametrize("way", ["broadcast", "by ranges"])
def test_joins_by_keys(
    spark: Any, conf: Callable[..., None], both: Both, keys: str, way: str
) -> None:
    conf(WAYS[way])
    on = f"{keys} AND r.ts <= s.ts AND s.ts < r.te + 2000"
    query = f"SELECT r.id, r.day, s.id, s.label FROM r JOIN s ON {on}"
    assert both(query) > 100
    assert both.executed().count("VectorRows") == 2
    assert ("PackedExchange" in both.executed()) == (way == "by ranges")


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize("key", VALUES)
def test_rows_of_batches_meet_rows_by_keys_of_every_type(
    spark: Any, conf: Callable[..., None], both: Both, key: str, adaptive: str
) -> None:
    """The partition of a key must not depend on how the rows of a side are read."""
    conf({**WAYS["by ranges"], "spark.sql.adaptive.enabled": adaptive})
    conf({"spark.sql.shuffle.partitions": "7"})
    # A filter that is not deterministic is not evaluated over batches.
    spark.table("s").where("id + rand(1) >= 0").createOrReplaceTempView("row_by_row")
    for other, sides in (("s", 2), ("row_by_row", 1)):
        query = (
            f"SELECT r.id, s.id AS other, s.name, STRING(r.{key}) FROM r LEFT JOIN {other} s "
            f"ON r.{key} = s.{key} AND r.ts < s.te AND s.ts < r.te + 9000"
        )
        assert both(query) >= ROWS
        assert sum(row.other is not None for row in both.rows) > ROWS / 4
        assert both.executed().count("VectorRows") == sides
        assert both.executed().count("PackedExchange") >= 2


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("kind", ["INNER", "LEFT", "LEFT SEMI", "LEFT ANTI"])
@pytest.mark.parametrize("key", ["{}.part", "STRING({}.part)"])
def test_joins_by_a_key_that_one_side_lacks(
    spark: Any, conf: Callable[..., None], both: Both, kind: str, key: str
) -> None:
    conf(WAYS["broadcast"])
    query = (
        "SELECT r.id, r.day, r.part FROM (SELECT * FROM r WHERE ts + te IS NOT NULL) r "
        f"{kind} JOIN (SELECT * FROM s WHERE part + id % 1 < 2) s "
        f"ON {key.format('r')} = {key.format('s')} AND {ON}"
    )
    assert both(query) > ROWS / 10
    assert both.executed().count("VectorRows") == 2


def test_bucketed_tables_that_need_no_shuffle(
    spark: Any, conf: Callable[..., None], both: Both, files: Path
) -> None:
    conf({**WAYS["by ranges"], "spark.sql.intervalsweep.batchRows": "5"})
    columns = ["ts", "te", "id", "part"]
    for name in "rs":
        frame = spark.read.parquet(str(files / name)).select(*columns)
        writer = frame.repartition(2, "part").write.bucketBy(2, "part").sortBy("part")
        writer.saveAsTable(f"bucketed_{name}")
    try:
        on = f"r.part = s.part AND {ON}"
        query = f"SELECT r.id, s.id FROM bucketed_r r JOIN bucketed_s s ON {on}"
        assert both(query) > ROWS / 2
        assert "hashpartitioning" not in both.executed()
    finally:
        for name in "rs":
            spark.sql(f"DROP TABLE bucketed_{name}")


@pytest.mark.usefixtures("tables")
def test_decimals_are_read_as_rows(spark: Any, conf: Callable[..., None], both: Both) -> None:
    conf(WAYS["by ranges"])
    query = f"SELECT r.price, s.id, s.number FROM r JOIN s ON {ON}"
    assert both(query) > ROWS
    assert both.executed().count("VectorRows") == 1


@pytest.mark.parametrize("way", ["broadcast", "by ranges"])
def test_cached_orc_and_partitioned_tables(
    spark: Any, conf: Callable[..., None], both: Both, files: Path, tmp_path: Path, way: str
) -> None:
    conf(WAYS[way])
    columns = f"ts, te, id, part, {', '.join(VALUES)}"
    # Spark reads a cached table as rows, and ORC files as vectors.
    r = spark.read.parquet(str(files / "r")).select("ts", "te", "id", "flag", "real").cache()
    r.createOrReplaceTempView("r")
    orc = [c for c in columns.split(", ") if c not in ("span", "months")]
    spark.read.parquet(str(files / "s")).selectExpr(*orc).write.partitionBy("part").orc(
        str(tmp_path / "s")
    )
    spark.read.orc(str(tmp_path / "s")).createOrReplaceTempView("s")
    try:
        query = f"SELECT r.id, r.real, r.flag, s.id, s.part, s.day, s.name FROM r JOIN s ON {ON}"
        assert both(query) > ROWS
        assert both.executed().count("VectorRows") == 1
    finally:
        r.unpersist()


@pytest.mark.usefixtures("tables")
def test_a_limit_stops_in_the_middle_of_a_batch(spark: Any, conf: Callable[..., None]) -> None:
    conf(WAYS["broadcast"])
    rows = spark.sql(f"SELECT r.ts, r.te, s.ts AS point FROM r JOIN s ON {ON} LIMIT 7").collect()
    assert len(rows) == 7
    assert all(row.ts <= row.point < row.te for row in rows)


@pytest.mark.usefixtures("tables")
def test_aggregates(both: Both) -> None:
    ways = [WAYS[way] for way in ("broadcast", "by small ranges")]
    sums = "COUNT(*), SUM(BIGINT(r.number) + s.tiny), COUNT(s.tiny), MIN(s.day), MAX(r.single)"
    for selected, group, rows in (
        (sums, "", 1),
        ("MIN(r.name), MAX(s.label)", "", 1),
        (f"r.part, {sums}", "GROUP BY r.part", 3),
    ):
        assert both(f"SELECT {selected} FROM r JOIN s ON {ON} {group}", ways=ways) == rows
