# SPDX-License-Identifier: Apache-2.0
"""`window_event_time()`: the time of a final window, and operators that use it downstream."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from support.spark.comparison import Both, bag, difference
from support.streams.arrivals import Arrivals, expected, progresses, read, run, written
from support.streams.window_rows import SCHEMA, rows

pytestmark = pytest.mark.usefixtures("quickly")

AHEAD = "R.k = S.k AND R.ts BETWEEN S.ts - INTERVAL 5 SECONDS AND S.ts + INTERVAL 8 SECONDS"
BEHIND = "R.k = S.k AND R.ts BETWEEN S.ts - INTERVAL 9 SECONDS AND S.ts - INTERVAL 2 SECONDS"
NO_WINDOW = r"\[INTERVALSWEEP_STREAM\.NO_WINDOW\] window_event_time\(\)"


def lateral(condition: str, time: str = ", window_event_time() at") -> str:
    return f"""{{S}} S LEFT JOIN LATERAL (
        SELECT count(*) c, sum(v) s{time} FROM {{R}} R WHERE {condition}) w ON true"""


# A stream never emits the windows of rows that are far ahead, so the queries exclude these rows.
ABOVE = {
    "an aggregate": """SELECT 1 id, window(at, '20 seconds') w, k, count(*) n, sum(c) c, max(s) s
        FROM ({window}) WHERE at < '2024-01-02' GROUP BY 2, 3""",
    "a join": """SELECT a.id, b.id other, a.c, a.at FROM ({window}) a
        JOIN {R} b ON a.g = b.g AND b.ts BETWEEN a.at - INTERVAL 1 SECOND AND a.at""",
}
ENDS = {AHEAD: "greatest(S.ts, S.ts + INTERVAL 8 SECONDS)", BEHIND: "S.ts"}


@pytest.mark.parametrize("condition", ENDS)
@pytest.mark.parametrize("above", ABOVE)
def test_what_follows_is_that_of_tables(
    spark: Any, tmp_path: Path, above: str, condition: str
) -> None:
    arrivals = Arrivals(random.Random(above + condition), rows=60, files=2)
    arrivals.write(tmp_path)
    read(spark, tmp_path, arrivals.lateness + 1)
    window = f"SELECT S.id, S.g, S.k, w.* FROM {lateral(condition)}"
    text = ABOVE[above].replace("{window}", window)
    query = run(spark.sql(text.format(S="S", R="R")), tmp_path)
    assert {len(p.stateOperators) for p in progresses(query)} == {2}
    # Spark does not support outer columns in the aggregate of a subquery.
    window = f"SELECT S.id, S.g, S.k, w.*, {ENDS[condition]} at FROM {lateral(condition, '')}"
    wanted = expected(spark, ABOVE[above].replace("{window}", window))
    assert wanted.total() > 5
    assert not difference(wanted, written(spark, tmp_path))
    tables = spark.sql(text.format(S="S_all", R="R_all")).where("id >= 0")
    assert not difference(wanted, bag(tables.collect()))


def test_the_time_has_the_watermark_alone(spark: Any, tmp_path: Path) -> None:
    Arrivals(random.Random(1), rows=4, files=2).write(tmp_path)
    read(spark, tmp_path, 5)

    def marked(what: str, time: str) -> set[str]:
        for condition in (AHEAD, BEHIND):
            frame = spark.sql(f"SELECT {what} FROM {lateral(condition, time)}".format(S="S", R="R"))
            fields = {f.name for f in frame.schema if "spark.watermarkDelayMs" in f.metadata}
            found.setdefault(condition, fields)
        return found.pop(AHEAD) | {f"behind: {name}" for name in found.pop(BEHIND)}

    found: dict[str, set[str]] = {}
    assert marked("S.*, w.*", ", window_event_time() at") == {"at", "behind: at"}
    assert marked("*", ", max(x) at") == {"behind: ts"}
    assert marked("*", ", window_event_time() at, window_revision() r") == set()


ON_TABLES = (
    ("AND probe.at < base.at + INTERVAL 2 MINUTES", "base.at + INTERVAL '119.999999' SECOND"),
    ("AND probe.at <= base.at", "base.at"),
    ("AND base.at + INTERVAL '3' DAY >= probe.at AND v > 1", "base.at + INTERVAL '3' DAY"),
)


@pytest.mark.parametrize("join", ["LEFT JOIN", "CROSS JOIN"])
def test_tables(spark: Any, both: Both, join: str) -> None:
    for name, number in (("base", 40), ("probe", 60)):
        frame = spark.createDataFrame(rows(number, number), SCHEMA)
        frame.createOrReplaceTempView(name)
    time = ", window_event_time() e, date_trunc('HOUR', window_event_time()) h"
    text = f"""SELECT base.*, w.* {{outside}} FROM base {join} LATERAL (
        SELECT count(*) c {{inside}} FROM probe WHERE probe.k = base.k
          AND probe.at > base.at - INTERVAL 3 MINUTES {{upper}}) w"""
    text += " ON true" if join == "LEFT JOIN" else ""
    for upper, end in ON_TABLES:
        query = text.format(inside=time, outside="", upper=upper)
        outside = f", {end} e, date_trunc('HOUR', {end}) h"
        assert both(query, text.format(inside="", outside=outside, upper=upper)) > 20


@pytest.mark.parametrize(
    "query",
    [
        "SELECT window_event_time()",
        "SELECT * FROM a JOIN LATERAL (SELECT window_event_time() t FROM a b WHERE a.n = b.n) w",
        "SELECT * FROM a JOIN LATERAL (SELECT max(v), window_event_time() t FROM a b"
        " WHERE b.at > a.at) w",
        "SELECT * FROM a JOIN LATERAL (SELECT max(v), window_event_time() t FROM a b"
        " WHERE b.ts BETWEEN a.ts - 3 AND a.ts) w",
        "SELECT * FROM a WHERE EXISTS (SELECT * FROM a b WHERE b.at < window_event_time())",
    ],
)
def test_no_window_is_said(spark: Any, query: str) -> None:
    spark.createDataFrame(rows(3, 3), SCHEMA).createOrReplaceTempView("a")
    with pytest.raises(Exception, match=NO_WINDOW):
        spark.sql(query)


def test_switched_off(spark: Any, conf: Any) -> None:
    conf({"spark.sql.intervalsweep.enabled": "false"})
    spark.createDataFrame(rows(3, 3), SCHEMA).createOrReplaceTempView("a")
    timed = "(SELECT k, v, at AS ts FROM a)"
    with pytest.raises(Exception, match=NO_WINDOW):
        spark.sql(f"SELECT * FROM {lateral(AHEAD)}".format(S=timed, R=timed))


def test_arguments_are_refused(spark: Any) -> None:
    with pytest.raises(Exception, match="WRONG_NUM_ARGS"):
        spark.sql("SELECT window_event_time(1)")
