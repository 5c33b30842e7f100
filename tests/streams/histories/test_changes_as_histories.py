# SPDX-License-Identifier: Apache-2.0
"""`validtime` with `until_next`: streams and tables of changes, in which a row has no end."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException

from intervalsweep import table_functions, temporal
from support.streams import arrivals
from support.streams.arrivals import at
from support.streams.histories import TIME
from support.streams.histories import streamed as run

SCHEMA = "id INT, v INT, seq INT, op STRING, at TIMESTAMP"
ARROW = pa.schema(
    [("id", pa.int32()), ("v", pa.int32()), ("seq", pa.int32()), ("op", pa.string()), ("at", TIME)]
)
FAR = 1000
Row = tuple[Any, ...]


def some_changes(rng: random.Random, count: int) -> list[Row]:
    """Changes (id, value, number, operation, seconds), out of order by less than 8 seconds."""
    rows = [
        (
            rng.choice([None, 1, 2, 3]),
            rng.randrange(3),
            number,
            rng.choice("uuud"),
            rng.randrange(60),
        )
        for number in range(count)
    ]
    return sorted(rows, key=lambda row: row[4] + rng.random() * 8)


def periods(rows: list[Row], order: bool) -> list[Row]:
    """The changes that are no deletions, each with the next instant of its id."""
    found = []
    for row in rows:
        of_id = [other for other in rows if other[0] == row[0]]
        later = [other[4] for other in of_id if other[4] > row[4]]
        is_last = all(o[2] <= row[2] for o in of_id if o[4] == row[4])
        if row[3] != "d" and (is_last or not order):
            found.append((*row[:4], row[4], min(later) if later else None))
    return found


def views(spark: Any, folder: Path, options: str, delay: int = 9) -> None:
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    stream = reader.parquet(str(folder)).withWatermark("at", f"{delay} seconds")
    stream.createOrReplaceTempView("changes")
    spark.read.schema(SCHEMA).parquet(str(folder)).createOrReplaceTempView("past")
    for name, rows in (("c", "changes"), ("p", "past")):
        spark.sql(
            f"CREATE OR REPLACE TEMP VIEW {name} AS "
            f"SELECT * FROM validtime(TABLE({rows}), 'at', {options})"
        )


OPTIONS = """until_next => array('id'), deleted => "op = 'd'\""""
ORDERED = f"{OPTIONS}, order => array('seq')"


@pytest.fixture
def changes(streaming: Any, conf: Any, tmp_path: Path) -> list[Row]:
    """Changes in four files, and one that is far ahead."""
    conf({"spark.sql.shuffle.partitions": "2", "spark.sql.session.timeZone": "UTC"})
    rows = some_changes(random.Random(3), 60)
    parts = [rows[a : a + 15] for a in range(0, 60, 15)]
    for number, part in enumerate([*parts, [(9, 9, 99, "u", FAR)]]):
        timed = [(*row[:4], at(row[4])) for row in part]
        arrivals.write(tmp_path / "changes", timed, number, ARROW)
    return rows


def timed(rows: list[Row]) -> Counter[Row]:
    return Counter((*row[:-2], *(None if t is None else at(t) for t in row[-2:])) for row in rows)


@pytest.mark.parametrize("order", [False, True])
def test_changes_of_a_table(
    streaming: Any, changes: list[Row], tmp_path: Path, order: bool
) -> None:
    views(streaming, tmp_path / "changes", ORDERED if order else OPTIONS)
    history = streaming.sql("SELECT * FROM sequenced(TABLE(SELECT * FROM p WHERE v < 9))")
    assert history.columns == ["id", "v", "seq", "op", "at", "te"]
    assert Counter(map(tuple, history.collect())) == timed(periods(changes, order))


@pytest.mark.parametrize("order", [False, True])
def test_changes_of_a_stream_are_those_of_a_table(
    streaming: Any, changes: list[Row], tmp_path: Path, order: bool
) -> None:
    views(streaming, tmp_path / "changes", ORDERED if order else OPTIONS)
    text = "SELECT id, v, seq, op FROM {} WHERE v > 0"
    history = streaming.sql(f"SELECT * FROM sequenced(TABLE({text.format('c')}))")
    query, found = run(history, tmp_path / "final")
    wanted = [row for row in periods(changes, order) if row[1] and row[5] is not None]
    assert found == timed(wanted)
    assert len(wanted) > 15
    stored = [p.observedMetrics["intervalsweep_valid_rows_1"] for p in query.recentProgress]
    assert max(row.storedRows for row in stored) < 60


@pytest.mark.extended
def test_replaced_changes_leave_the_state(streaming: Any, conf: Any, tmp_path: Path) -> None:
    conf({"spark.sql.shuffle.partitions": "1", "spark.sql.session.timeZone": "UTC"})
    rows = [(n % 3, n, n, "u", 10 * n) for n in range(400)]
    for number in range(20):
        part = [(*row[:4], at(row[4])) for row in rows[20 * number : 20 * number + 20]]
        arrivals.write(tmp_path / "changes", part, number, ARROW)
    views(streaming, tmp_path / "changes", OPTIONS, delay=0)
    history = streaming.sql("SELECT * FROM sequenced(TABLE(SELECT id, v FROM c))")
    query, found = run(history, tmp_path / "final")
    wanted = [(*row[:2], row[4], row[4] + 30) for row in rows if row[4] + 30 <= 3990]
    assert found == timed(wanted)
    counts = [p.observedMetrics["intervalsweep_valid_rows_1"] for p in query.recentProgress]
    assert max(row.storedRows for row in counts) <= 60
    assert sum(row.expiredRows for row in counts) > 300


def test_the_last_of_an_instant_by_order_and_without_a_key(spark: Any) -> None:
    log = spark.sql(
        "SELECT * FROM VALUES (1, NULL, 'a'), (1, 2, 'b'), (1, 1, 'c'), (4, 1, 'd'), (NULL, 1, 'e')"
        " AS t(ts, seq, v)"
    )
    history = temporal.valid(log, "ts", until_next=(), order="seq").frame
    assert sorted(map(tuple, history.select("v", "ts", "te").collect())) == [
        ("a", 1, 4),
        ("d", 4, None),
    ]
    plain = table_functions.validtime(log, "ts", until_next=["v"], deleted="v = 'd'")
    found = table_functions.sequenced(plain, names=("f", "t")).select("v", "f", "t").collect()
    assert sorted(map(tuple, found)) == [(v, 1, None) for v in "abc"]


def test_floats_that_are_equal_are_one_key(spark: Any) -> None:
    log = spark.sql(
        "SELECT * FROM VALUES (0D, 1), (-0D, 3), (double('NaN'), 2), (double('NaN'), 5) t(k, ts)"
    )
    found = temporal.valid(log, "ts", until_next="k").frame.select("ts", "te").collect()
    assert sorted(map(tuple, found), key=str) == [
        (1, 3),
        (2, 5),
        (3, None),
        (5, None),
    ]


WRONG = {
    "te => 'v', until_next => array('id')": "`te` of validtime must be absent with until_next",
    "nulls => 'drop', until_next => array('id')": "`nulls` of validtime must be absent",
    "deleted => 'v = 1'": "`deleted` of validtime must be absent without until_next",
    "order => array('v')": "`order` of validtime must be absent without until_next",
    "until_next => array('id'), deleted => 'v'": "`deleted` of validtime must be a condition",
    "until_next => array('id'), deleted => 'max(v) = 1'": "`deleted` of validtime must be a cond",
    "until_next => array('id'), deleted => 'w = 1'": "w",
    "until_next => array('x')": "x",
    "until_next => 1": "`until_next` of validtime must be a STRING or an array of STRINGs",
    "until_next => array('m')": "until_next compares rows by the column `m`",
    "until_next => array('id'), order => array('m')": "until_next compares rows by the column `m`",
}


@pytest.mark.parametrize("options", WRONG)
def test_wrong_options(spark: Any, options: str) -> None:
    table = "(SELECT 1 AS id, 2 AS v, map(1, 2) AS m, 3 AS ts)"
    with pytest.raises(AnalysisException, match=WRONG[options]):
        spark.sql(f"SELECT * FROM validtime(TABLE({table}), 'ts', {options})")
