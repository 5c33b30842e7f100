# SPDX-License-Identifier: Apache-2.0
"""`sequenced` over streams: the rows are those of the history of the same rows as tables."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import functions as sf

import intervalsweep
from intervalsweep import temporal
from support.spark.metrics import metric_of_stream
from support.streams import arrivals
from support.streams.arrivals import at
from support.streams.histories import TIME, canonical, streamed

SCHEMA = "id INT, k INT, v INT, ts TIMESTAMP, te TIMESTAMP"
ARROW = pa.schema(
    [("id", pa.int32()), ("k", pa.int32()), ("v", pa.int32()), ("ts", TIME), ("te", TIME)]
)
FAR = 1000
Row = tuple[Any, ...]


def write(folder: Path, number: int, rows: list[Row]) -> None:
    """A micro-batch of rows (id, k, v, start in seconds, end in seconds)."""
    timed = [(*r[:3], at(r[3]), None if r[4] is None else at(r[4])) for r in rows]
    arrivals.write(folder, timed, number, ARROW)


def some_rows(rng: random.Random, first: int, count: int) -> list[Row]:
    """Rows in the order of their starts, give or take 8 seconds; some without an end."""
    rows = []
    for number in range(first, first + count):
        start = 2 * number + rng.randrange(8)
        end = None if rng.random() < 0.05 else start + rng.randrange(-1, 30)
        rows.append((number, rng.randrange(3), rng.randrange(4) * 10, start, end))
    return rows


@pytest.fixture
def calls(streaming: Any, conf: Any, tmp_path: Path) -> Any:
    """The view `c` of a stream, and the view `p` of the same rows as a table."""
    conf({"spark.sql.shuffle.partitions": "1", "spark.sql.session.timeZone": "UTC"})
    rng = random.Random(7)
    for number in range(4):
        write(tmp_path / "calls", number, some_rows(rng, number * 15, 15))
    write(tmp_path / "calls", 4, [(-1, 9, 9, FAR, FAR + 1)])
    views(streaming, tmp_path / "calls")
    return streaming


def views(spark: Any, folder: Path, delay: int = 20) -> None:
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    stream = reader.parquet(str(folder)).withWatermark("ts", f"{delay} seconds")
    stream.createOrReplaceTempView("calls")
    spark.read.schema(SCHEMA).parquet(str(folder)).createOrReplaceTempView("past")
    for name, rows in (("c", "calls"), ("p", "past")):
        spark.sql(
            f"CREATE OR REPLACE TEMP VIEW {name} AS "
            f"SELECT * FROM validtime(TABLE({rows}), 'ts', 'te')"
        )


def in_batch(spark: Any, query: str, until: dt.datetime | None = None) -> Counter[Row]:
    """The history by the tables, from the first watermark on; the rows that end up to a time."""
    rows = spark.sql(
        f"SELECT * FROM sequenced(TABLE({query}), coalesce => true, "
        "period => array(TIMESTAMP'1970-01-01', NULL))"
    ).collect()
    last = until or at(FAR - 20)
    return Counter(tuple(row) for row in rows if row[-1] is not None and row[-1] <= last)


QUERIES = {
    "count": "SELECT k, count(*) AS n FROM {c} GROUP BY k",
    "total": "SELECT count(*) AS n, max(v) AS v FROM {c}",
    "distinct": "SELECT DISTINCT v FROM {c}",
    "left join": "SELECT a.k, a.v, b.v AS w FROM {c} a LEFT JOIN {c} b ON a.k = b.k AND a.v < b.v",
    "except": "SELECT k FROM {c} WHERE v > 0 EXCEPT ALL SELECT k FROM {c} WHERE v = 10",
    "not exists": "SELECT k, v FROM {c} a WHERE NOT EXISTS "
    "(SELECT 1 FROM {c} b WHERE b.k = a.k AND b.v > a.v)",
    "top": "SELECT k, v FROM {c} ORDER BY v DESC, k LIMIT 2",
    "sliding": "SELECT k, max(v) AS v FROM temporal_window(TABLE({c}), "
    "sliding => INTERVAL '15' SECONDS) GROUP BY k",
    "rollup": "SELECT k, v, count(*) AS n FROM {c} GROUP BY ROLLUP (k, v)",
    "window": "SELECT k, row_number() OVER (PARTITION BY k ORDER BY v, id) AS n FROM {c}",
    "subquery as a key": "SELECT (SELECT count(*) FROM {c} b WHERE b.k = a.k) AS m, "
    "count(*) AS n FROM {c} a GROUP BY 1",
    "first row beside an aggregate": "SELECT b.n, a.k FROM (SELECT k, row_number() OVER "
    "(ORDER BY v, id) AS n FROM {c}) a RIGHT JOIN (SELECT count(*) AS n FROM {c} HAVING "
    "count(*) > 1) b ON a.k = b.n AND a.n = 1",
    "first row": "SELECT a.k, b.n FROM (SELECT k, n FROM (SELECT k, row_number() OVER "
    "(ORDER BY v, id) AS n FROM {c}) a WHERE n = 1) a RIGHT JOIN (SELECT count(DISTINCT k) AS n "
    "FROM {c} HAVING count(*) > 1) b ON a.k = b.n",
    "table": "SELECT c.k, p.v FROM {c} c JOIN p ON c.k = p.k AND c.v = p.v AND p.id < 20",
}


QUICK = ("count", "table")


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.extended) for n in QUERIES]
)
def test_the_rows_are_those_of_tables(calls: Any, tmp_path: Path, name: str) -> None:
    text = QUERIES[name]
    wanted = in_batch(calls, text.format(c="p"))
    history = calls.sql(f"SELECT * FROM sequenced(TABLE({text.format(c='c')}))")
    _, rows = streamed(history, tmp_path / "final")
    assert wanted.total() > 1
    assert rows == wanted


COMBINED = {
    "aggregates": "SELECT k, count(*) AS n, sum(v) AS v, avg(id + 0.5D) AS a, max(id) AS id "
    "FROM {c} WHERE v > 0 GROUP BY k",
    "total": "SELECT min(id) AS id, sum(1.5 * v) AS v FROM {c}",
    "distinct": "SELECT DISTINCT k FROM {c}",
    "union": "SELECT k FROM {c} UNION SELECT k + 1 FROM {c} WHERE v > 10",
    "except all": "SELECT k FROM {c} EXCEPT ALL SELECT k FROM {c} WHERE v > 10",
    "with the rows themselves": "SELECT a.id, b.n FROM {c} a "
    "JOIN (SELECT k, count(*) AS n FROM {c} GROUP BY k) b ON a.k = b.k",
}


@pytest.mark.parametrize(
    "name",
    [n if n == "except all" else pytest.param(n, marks=pytest.mark.extended) for n in COMBINED],
)
def test_rows_that_are_valid_in_the_whole_slice_are_combined(
    calls: Any, tmp_path: Path, name: str
) -> None:
    """A sweep reads one row for all of them, and returns the same."""
    wanted = in_batch(calls, COMBINED[name].format(c="p"))
    history = calls.sql(f"SELECT * FROM sequenced(TABLE({COMBINED[name].format(c='c')}))")
    query, rows = streamed(history, tmp_path / "final")
    assert rows == wanted
    assert wanted.total() > 1
    # In the last micro-batch, those without an end.
    assert metric_of_stream(query, "combinedRows", "SliceHistory") > 1


@pytest.mark.parametrize(
    "operator", ["temporal_split", pytest.param("temporal_coalesce", marks=pytest.mark.extended)]
)
def test_long_rows_are_written_in_fragments(calls: Any, tmp_path: Path, operator: str) -> None:
    """Each fragment is written when it has ended, also of a row without an end."""
    query = "SELECT k, v FROM {} WHERE k = 1"
    history = calls.sql(
        f"SELECT * FROM sequenced(TABLE(SELECT v, k FROM {operator}("
        f"TABLE({query.format('c')}), max_length => INTERVAL '7' SECONDS)))"
    )
    _, found = streamed(history, tmp_path / "final")
    last = at(FAR - 20)
    rows = calls.sql(
        f"SELECT v, k, ts, te FROM sequenced(TABLE({query.format('p')}), coalesce => true)"
    ).collect()
    wanted: Counter[Row] = Counter()
    for v, k, start, end in rows:
        step = dt.timedelta(seconds=7)
        while start < (end or last):
            until = min(start + step, end or start + step)
            wanted[v, k, start, until] += until <= last
            start = until
    assert found == +wanted
    assert max(row[2] for row in rows if row[3] is None) < at(FAR // 2)


def test_windows_of_a_stream_need_no_state(calls: Any, tmp_path: Path) -> None:
    stream = calls.readStream.schema(SCHEMA).parquet(str(tmp_path / "calls"))
    stream.createOrReplaceTempView("calls")  # without a watermark
    text = "SELECT * FROM temporal_window(TABLE({}), sliding => INTERVAL '15' SECONDS, ts => 'ts'"
    query, found = streamed(calls.sql(f"{text.format('calls')}, te => 'te')"), tmp_path / "w")
    assert found == Counter(map(tuple, calls.sql(f"{text.format('past')}, te => 'te')").collect()))
    assert found.total() > 40
    assert not query.lastProgress.stateOperators


@pytest.mark.extended
@pytest.mark.parametrize(
    "call",
    [
        "temporal_except_strict(TABLE(SELECT k, ts, te FROM {0} WHERE v < 20), "
        "TABLE(SELECT k, ts, te FROM {0} WHERE v = 20)",
        "temporal_coalesce(TABLE(SELECT k, ts, te FROM {0})",
        "temporal_split(TABLE(SELECT k, ts, te FROM {0} WHERE te IS NOT NULL), "
        "max_length => INTERVAL '3' SECONDS",
    ],
)
def test_an_operator_alone(calls: Any, tmp_path: Path, call: str) -> None:
    text = f"SELECT * FROM {call}, ts => 'ts', te => 'te')"
    _, found = streamed(calls.sql(text.format("calls")), tmp_path / "out")
    wanted = Counter(map(tuple, calls.sql(text.format("past")).collect()))
    last = at(FAR - 20)
    ended = Counter({r: n for r, n in wanted.items() if r[-1] is not None and r[-1] <= last})
    assert found.total() > 20
    assert found == (wanted if "temporal_split" in call else ended)


@pytest.mark.parametrize(
    "call",
    [
        "interval_split(TABLE({0}), 'ts', 'te', keys => array('k'), count => 'n')",
        "interval_merge(TABLE({0}), 'ts', 'te', gap => INTERVAL 3 SECONDS, keys => array('v'))",
        *(
            pytest.param(call, marks=pytest.mark.extended)
            for call in (
                "interval_merge(TABLE(SELECT * FROM {0} WHERE id % 5 = 0), 'ts', 'te', "
                "nulls => 'drop', count => 'n')",
                "interval_merge(TABLE({0}), 'ts', 'te', keys => 'id', gap => INTERVAL 1 MINUTE)",
                "interval_split(TABLE({0}), 'ts', 'te', nulls => 'drop')",
                "interval_complement(TABLE({0}), 'ts', 'te', keys => array('k', 'v'))",
                "interval_complement(TABLE(SELECT * FROM {0} WHERE id % 9 = 0 AND te IS NOT NULL), "
                "'ts', 'te')",
            )
        ),
    ],
)
def test_interval_sets_of_a_stream(calls: Any, tmp_path: Path, call: str) -> None:
    history = calls.sql(f"SELECT * FROM {call.format('calls')}")
    in_batch = calls.sql(f"SELECT * FROM {call.format('past')}")
    assert history.columns == in_batch.columns
    _, found = streamed(history, tmp_path / "out")
    end = history.columns.index("te")
    rows = Counter(map(tuple, in_batch.collect()))
    last = at(FAR - 20)
    ended = Counter({r: n for r, n in rows.items() if r[end] is not None and r[end] <= last})
    assert ended.total() > 1
    assert found == ended


VEHICLES = [
    (5, 18.28, 5.27, "05:00:08"),
    (2, 21.33, 4.62, "05:01:32"),
    (4, 19.69, 9.97, "05:02:16"),
    (1, 99.0, 9.0, "23:00:00"),  # moves the watermark
]


@pytest.mark.extended
def test_listings_of_the_paper_on_temporal_operators(
    streaming: Any, conf: Any, tmp_path: Path
) -> None:
    """The windows of Section 2.6, and the averages of Section 4.3.2 that follow from them."""
    conf({"spark.sql.shuffle.partitions": "1", "spark.sql.session.timeZone": "UTC"})
    types = [("lane", pa.int32()), ("speed", pa.float64()), ("length", pa.float64()), ("at", TIME)]
    for number, (*values, time) in enumerate(VEHICLES):
        row = (*values, dt.datetime.fromisoformat(f"1993-03-11 {time}"))
        arrivals.write(tmp_path / "highway", [row], number, pa.schema(types))
    reader = streaming.readStream.schema("lane INT, speed DOUBLE, length DOUBLE, at TIMESTAMP")
    rows = reader.option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "highway"))
    rows.withWatermark("at", "1 second").createOrReplaceTempView("highway")
    window = (
        "temporal_window(TABLE(SELECT * FROM validtime(TABLE(highway), 'at', "
        "names => array('ts', 'te'))), sliding => INTERVAL '15' MINUTES)"
    )

    def told(query: str, name: str) -> list[tuple[Any, ...]]:
        history = streaming.sql(f"SELECT * FROM sequenced(TABLE({query}))")
        found = streamed(history, tmp_path / name)[1]
        return sorted((f"{t:%H:%M:%S}", f"{u:%H:%M:%S}", *values) for *values, t, u in found)

    assert told(f"SELECT lane, speed FROM {window}", "windows") == [
        ("05:00:08", "05:15:08", 5, 18.28),
        ("05:01:32", "05:16:32", 2, 21.33),
        ("05:02:16", "05:17:16", 4, 19.69),
    ]
    averages = f"SELECT round(avg(speed), 3) AS mean FROM {window}"
    listing = [
        ("05:00:08", "05:01:32", 18.28),
        ("05:01:32", "05:02:16", 19.805),
        ("05:02:16", "05:15:08", 19.767),  # the paper cuts this off: 19.766
        ("05:15:08", "05:16:32", 20.51),
        ("05:16:32", "05:17:16", 19.69),
    ]
    # Before them comes the time without vehicles.
    assert told(averages, "averages")[1:] == listing
    section = f"SELECT 1 AS section FROM ({averages} HAVING count(*) > 0) WHERE mean < 19.8"
    # The query of Section 2.2, with another limit.
    assert told(section, "sections") == [
        ("05:00:08", "05:01:32", 1),
        ("05:02:16", "05:15:08", 1),
        ("05:16:32", "05:17:16", 1),
    ]


@pytest.mark.extended
def test_early_pieces_touch_and_are_the_rows_together(calls: Any, tmp_path: Path) -> None:
    text = QUERIES["count"]
    early = calls.sql(f"SELECT * FROM sequenced(TABLE({text.format(c='c')}), emit => 'early')")
    query, pieces = streamed(early, tmp_path / "early")
    marks = {at_watermark(p) for p in query.recentProgress}
    assert any(piece[-1] in marks for piece in pieces)
    joined = canonical(pieces.elements())
    ended_rows = Counter({r: n for r, n in joined.items() if r[-1] < max(marks)})
    assert ended_rows == in_batch(calls, text.format(c="p"))


def at_watermark(progress: Any) -> dt.datetime:
    return dt.datetime.fromisoformat(progress.eventTime["watermark"].rstrip("Z"))


def test_a_restart_goes_on_and_another_query_is_refused(calls: Any, tmp_path: Path) -> None:
    text = "SELECT * FROM sequenced(TABLE({}))"
    counts = QUERIES["count"].format(c="c")
    later = tmp_path / "calls" / "0004.parquet"
    aside = later.rename(tmp_path / "0004.parquet")
    streamed(calls.sql(text.format(counts)), tmp_path)
    aside.rename(later)
    write(tmp_path / "calls", 5, [(-2, 9, 9, 2 * FAR, 2 * FAR + 1)])
    _, rows = streamed(calls.sql(text.format(counts)), tmp_path)
    assert rows == in_batch(calls, QUERIES["count"].format(c="p"), at(2 * FAR - 20))
    write(tmp_path / "calls", 6, [(-3, 9, 9, 3 * FAR, 3 * FAR + 1)])
    with pytest.raises(StreamingQueryException, match=r"STATE_MISMATCH\].*Different query"):
        streamed(calls.sql(text.format(counts.replace("count(*)", "max(v)"))), tmp_path)


@pytest.mark.extended
@pytest.mark.parametrize("emit", ["final", "early"])
def test_a_part_of_the_history(calls: Any, tmp_path: Path, emit: str) -> None:
    """Streams returned the whole history, whatever `period` was."""
    period = f"period => array(TIMESTAMP'{at(20)}', TIMESTAMP'{at(70)}')"
    text = f"SELECT * FROM sequenced(TABLE({QUERIES['total']}), {{}}{period})"
    wanted = calls.sql(text.format("coalesce => true, ", c="p")).collect()
    _, rows = streamed(calls.sql(text.format(f"emit => '{emit}', ", c="c")), tmp_path)
    assert len(wanted) > 3
    assert canonical(rows.elements()) == Counter(map(tuple, wanted))


@pytest.mark.extended
def test_another_kind_of_join_is_another_query(calls: Any, tmp_path: Path) -> None:
    join = "SELECT a.k FROM c a {} JOIN c b ON a.k = b.k AND a.v < b.v"
    text = "SELECT * FROM sequenced(TABLE({}))"
    streamed(calls.sql(text.format(join.format(""))), tmp_path)
    write(tmp_path / "calls", 5, [(-2, 9, 9, 2 * FAR, 2 * FAR + 1)])
    with pytest.raises(StreamingQueryException, match=r"STATE_MISMATCH\].*Different query"):
        streamed(calls.sql(text.format(join.format("LEFT"))), tmp_path)


@pytest.mark.extended
def test_late_rows_are_dropped_and_counted(streaming: Any, conf: Any, tmp_path: Path) -> None:
    conf({"spark.sql.shuffle.partitions": "1", "spark.sql.session.timeZone": "UTC"})
    for number, start in enumerate((100, 200, 300, 110, 1000)):
        write(
            tmp_path / "calls", number, [(number, 1, 1, start, start + 5), (9, 2, 2, start, None)]
        )
    views(streaming, tmp_path / "calls", delay=10)
    history = streaming.sql("SELECT * FROM sequenced(TABLE(SELECT id FROM c WHERE k = 1))")
    query, rows = streamed(history, tmp_path)
    assert rows == Counter((n, at(s), at(s + 5)) for n, s in [(0, 100), (1, 200), (2, 300)])
    counts = [p.observedMetrics["intervalsweep_valid_rows_1"] for p in query.recentProgress]
    assert sum(row.lateRows for row in counts) == 1
    assert counts[-1].storedRows == 1
    everything = streaming.sql("SELECT * FROM sequenced(TABLE(SELECT id FROM c))")
    query, _ = streamed(everything, tmp_path / "all")
    assert query.lastProgress.observedMetrics["intervalsweep_valid_rows_1"].openRows == 4


@pytest.mark.extended
@pytest.mark.parametrize("emit", ["final", "early"])
def test_an_aggregate_by_time_can_follow(calls: Any, tmp_path: Path, emit: str) -> None:
    """The end of the period is the event time of a row."""

    def per_minute(rows: Any) -> Any:
        minutes = rows.groupBy(sf.window("te", "1 minute").alias("w"))
        return minutes.agg(sf.sum(rows.n).alias("n")).selectExpr("w.start", "n")

    text = f"SELECT * FROM sequenced(TABLE({QUERIES['count']}), {{}})"
    history = calls.sql(text.format(f"emit => '{emit}'", c="c"))
    _, pieces = streamed(history, tmp_path / "pieces")
    rows = calls.createDataFrame(list(pieces.elements()), history.schema)
    wanted = Counter(map(tuple, per_minute(rows).collect()))
    _, found = streamed(per_minute(history), tmp_path / "minutes")
    assert found.total() > 2
    assert found == Counter({r: n for r, n in wanted.items() if r[0] < at(FAR - 80)})


def test_histories_of_python(calls: Any, tmp_path: Path) -> None:
    stream = temporal.valid(calls.table("calls"), "ts", "te")
    counts = stream.group_by("k").agg(n="count(*)")
    _, rows = streamed(counts.emit("final").frame, tmp_path)
    assert rows == in_batch(calls, QUERIES["count"].format(c="p"))
    given = temporal.sequenced(calls, QUERIES["count"].format(c="c"), emit="early")
    assert given.isStreaming


def test_the_plan_shows_the_query_and_its_operators(calls: Any) -> None:
    history = calls.sql(f"SELECT * FROM sequenced(TABLE({QUERIES['count'].format(c='c')}))")
    plan = history._jdf.queryExecution().analyzed().toString()
    for node in ("OpenResults", "SliceHistory", "ValidRows", "Aggregate [k", "StreamRows 0"):
        assert node in plan


def test_the_report_has_the_joins_of_each_micro_batch(calls: Any) -> None:
    text = "SELECT a.k, b.v FROM c a JOIN c b ON a.k = b.k"
    (row,) = intervalsweep.why_not(calls.sql(f"SELECT * FROM sequenced(TABLE({text}))"))
    assert row.swept
    assert row.how.endswith(", in each micro-batch")
    assert not intervalsweep.why_not(
        calls.sql(f"SELECT * FROM sequenced(TABLE({QUERIES['count'].format(c='c')}))")
    )


ERRORS = [
    (
        "STREAM.NO_WATERMARK",
        "SELECT * FROM validtime(TABLE(bare), 'ts', 'te')",
        "",
        "withWatermark",
    ),
    (
        "STREAM.NO_WATERMARK",
        "SELECT * FROM validtime(TABLE(calls), 'te', names => array('f', 't'))",
        "",
        "watermark is on ts",
    ),
    (
        "SEQUENCED.NO_SNAPSHOT_FORM",
        "SELECT c.id FROM c JOIN (SELECT id FROM bare) USING (id)",
        "",
        "not marked",
    ),
    (
        "SEQUENCED.ARGUMENT",
        "SELECT * FROM c",
        ", at => TIMESTAMP'2024-01-01'",
        "filter its history",
    ),
    ("SEQUENCED.ARGUMENT", "SELECT * FROM c", ", emit => 'now'", "'final' or 'early'"),
    ("SEQUENCED.PERIOD_TYPE", "SELECT * FROM validtime(TABLE(bare_days), 'day')", "", "TIMESTAMP"),
    ("SEQUENCED.NO_SNAPSHOT_FORM", "SELECT * FROM c LIMIT 1", "", "ORDER BY"),
    (
        "SEQUENCED.NO_SNAPSHOT_FORM",
        "SELECT DISTINCT k FROM temporal_coalesce(TABLE(c), INTERVAL 1 HOUR)",
        "",
        "max_length below other operators on streams",
    ),
    (
        "SEQUENCED.ARGUMENT",
        "SELECT * FROM temporal_split(TABLE(c), INTERVAL 1 HOUR)",
        ", emit => 'early'",
        "'final' for rows of at most",
    ),
    (
        "SEQUENCED.ARGUMENT",
        "SELECT * FROM validtime(TABLE(calls), 'ts', until_next => array('id'), "
        "deleted => 'v > (SELECT 1)')",
        "",
        "without subqueries",
    ),
    (
        "SEQUENCED.NO_SNAPSHOT_FORM",
        "SELECT * FROM temporal_window(TABLE(SELECT DISTINCT k FROM c), fixed => INTERVAL 1 DAY)",
        "",
        "apply it to the stream itself",
    ),
    ("SEQUENCED.NO_SNAPSHOT_FORM", "SELECT rand() AS x FROM c", "", "not deterministic"),
]


@pytest.mark.parametrize(("name", "query", "options", "says"), ERRORS)
def test_errors(calls: Any, name: str, query: str, options: str, says: str) -> None:
    rate = calls.readStream.format("rate").load()
    bare = rate.selectExpr("CAST(value AS INT) AS id", "timestamp AS ts", "timestamp AS te")
    bare.createOrReplaceTempView("bare")
    bare.selectExpr("id", "date(ts) AS day").createOrReplaceTempView("bare_days")
    with pytest.raises(AnalysisException) as error:
        calls.sql(f"SELECT * FROM sequenced(TABLE({query}){options})")
    assert f"[INTERVALSWEEP_{name}]" in str(error.value)
    assert says in str(error.value)


def test_the_previous_watermark_must_be_known(calls: Any, conf: Any) -> None:
    conf({"spark.sql.streaming.statefulOperator.allowMultiple": "false"})
    with pytest.raises(AnalysisException, match=r"SETTING\].*allowMultiple=false"):
        calls.sql("SELECT * FROM sequenced(TABLE(SELECT * FROM c))")
