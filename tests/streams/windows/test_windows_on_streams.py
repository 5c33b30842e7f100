# SPDX-License-Identifier: Apache-2.0
"""Window unions of two streams return the rows of the same query over tables."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path
from typing import Any

import pytest

from support.spark.comparison import bag, difference
from support.streams import micro_batches, streaming_process
from support.streams.arrivals import (
    QUICKLY,
    Arrivals,
    assert_streamed,
    assert_written,
    at,
    expected,
    progresses,
    read,
    run,
    write,
)

pytestmark = pytest.mark.usefixtures("quickly")

LATERAL = """SELECT S.id, S.k, S.ts, S.x, w.* FROM {S} S LEFT JOIN LATERAL (
  SELECT {aggregates} FROM {R} R WHERE {condition}) w ON true"""


EXACT = (
    "count(*) c, count(v) n, sum(v) total, min(v) lo, max(x) hi, avg(v) a, min(txt) t, "
    "sort_array(collect_list(v)) l, count(DISTINCT v) FILTER (WHERE v > 0) d, "
    "max_by(txt, R.id) b, sum(v) + count(*) z, sum(CAST(v AS DECIMAL(12, 2))) e"
)
CASES = {
    "keys": "R.k = S.k AND R.ts BETWEEN S.ts - INTERVAL 15 SECONDS AND S.ts",
    "no keys, both ways": "R.ts >= S.ts - INTERVAL 2 SECONDS AND R.ts < S.ts + INTERVAL 3 SECONDS",
    "two keys, ahead": (
        "S.k <=> R.k AND S.g = R.g AND R.v > -10 AND R.ts > S.ts + INTERVAL 1 SECOND "
        "AND R.ts <= S.ts + INTERVAL 10 SECONDS"
    ),
    "behind, and more": (
        "R.k = S.k AND R.v >= S.v AND S.id % 3 < 2 AND R.ts BETWEEN S.ts - INTERVAL 30 SECONDS "
        "AND S.ts - INTERVAL 5 SECONDS"
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_stream_is_batch(spark: Any, tmp_path: Path, conf: Any, case: str) -> None:
    if case == "behind, and more":
        conf({"spark.sql.intervalsweep.streamFanout": "2"})
    arrivals = Arrivals(random.Random(case))
    arrivals.write(tmp_path)
    text = LATERAL.replace("{aggregates}", EXACT).replace("{condition}", CASES[case])
    query = assert_streamed(spark, tmp_path, text, arrivals.lateness + 1)
    assert {p.stateOperators[0].operatorName for p in progresses(query)} == {
        "transformWithStateExec"
    }


BY_KEY = "R.k = S.k AND R.ts BETWEEN S.ts - INTERVAL 15 SECONDS AND S.ts"
# Case -> the join with the lateral subquery. The last file has a row with v = 19 and g = 'a'.
FORMS = {
    "having, left": f"""LEFT JOIN LATERAL (
        SELECT count(*) c, sum(v) m FROM {{R}} R WHERE {BY_KEY} HAVING count(*) > 2) w ON true""",
    "having, inner": f"""JOIN LATERAL (
        SELECT count(*) c, max(txt) m FROM {{R}} R WHERE {BY_KEY} HAVING sum(v) > S.v) w""",
    "a filter and columns above": f"""CROSS JOIN LATERAL (
        SELECT 60 / c AS c, m + S.id AS m FROM (
          SELECT count(*) c, sum(v) m, min(x) unused FROM {{R}} R WHERE {BY_KEY})
        WHERE c BETWEEN 1 AND 4) w""",
    "having and on, left": f"""LEFT JOIN LATERAL (
        SELECT count(*) c, avg(v) m FROM {{R}} R WHERE {BY_KEY} HAVING count(*) > 1) w
        ON w.m > S.v AND S.id % 4 > 0""",
    "on, inner": f"""JOIN LATERAL (
        SELECT count(*) c, min(v) m FROM {{R}} R WHERE {BY_KEY}) w ON w.m < S.v""",
    "a table joined by a comma": f"""LEFT JOIN LATERAL (
        SELECT count(*) c, sum(R.v * t.f) m FROM {{R}} R, (VALUES ('a', 2), ('b', 3)) t(g, f)
        WHERE t.g = R.g AND {BY_KEY}) w ON true""",
    "columns of both": """LEFT JOIN LATERAL (
        SELECT count(*) c, sum(y) m FROM (
          SELECT R.v + S.v AS y, R.k AS key, R.ts AS at FROM {R} R WHERE R.v > -15) p
        WHERE p.key = S.k AND p.y <> 3
          AND p.at BETWEEN S.ts - INTERVAL 15 SECONDS AND S.ts) w ON true""",
    "never": f"""LEFT JOIN LATERAL (
        SELECT count(*) c, sum(v) m FROM {{R}} R WHERE false AND {BY_KEY}) w ON true""",
}


@pytest.mark.parametrize("form", FORMS)
def test_subqueries_of_any_form(spark: Any, tmp_path: Path, form: str) -> None:
    arrivals = Arrivals(random.Random(form), rows=120, files=3)
    arrivals.write(tmp_path)
    text = f"SELECT S.id, S.k, S.ts, w.c, w.m FROM {{S}} S {FORMS[form]}"
    assert_streamed(spark, tmp_path, text, arrivals.lateness + 1)
    found = {row.c is None for row in rows(spark, tmp_path)}
    is_dropped = form in ("having, left", "having and on, left")
    assert found == ({True, False} if is_dropped else {False})


@pytest.mark.parametrize(
    ("more", "on"), [("HAVING count(*) > 2", "true"), ("", "w.c > 2")], ids=["having", "on"]
)
def test_revisions_have_no_condition(spark: Any, tmp_path: Path, more: str, on: str) -> None:
    """A sink would keep a row that an earlier revision has emitted and a later one does not."""
    Arrivals(random.Random(6), rows=20, files=2).write(tmp_path)
    read(spark, tmp_path, 21)

    def query(having: str, condition: str) -> str:
        return (
            "SELECT S.id, w.* FROM S LEFT JOIN LATERAL (SELECT count(*) c, window_revision() r "
            f"FROM R WHERE {BY_KEY} {having}) w ON {condition}"
        )

    assert "WindowUnion" in str(spark.sql(query("", "true"))._jdf.queryExecution().analyzed())
    with pytest.raises(Exception, match=r"UNSUPPORTED\].*condition on revisions.*leave it out"):
        spark.sql(query(more, on))


def test_rows_that_come_once_may_be_written_in_update_mode(spark: Any, tmp_path: Path) -> None:
    arrivals = Arrivals(random.Random(31), rows=80, files=3)
    arrivals.write(tmp_path)
    read(spark, tmp_path, arrivals.lateness + 1)
    text = LATERAL.replace("{aggregates}", "count(*) c, sum(v) s").replace(
        "{condition}", CASES["keys"]
    )
    found = micro_batches.run(spark, spark.sql(text.format(S="S", R="R")), tmp_path, mode="update")
    wanted = expected(spark, text)
    assert wanted.total() == len(arrivals.base)
    assert not difference(wanted, bag(row for row in found.rows if row.id >= 0))


@pytest.mark.extended
def test_after_a_restart_the_last_windows_wait_for_a_row(
    spark: Any, tmp_path: Path, conf: Any
) -> None:
    """Spark's first micro-batch after a restart has data. Spark's own windows wait, too."""
    arrivals = Arrivals(random.Random(3), rows=40, files=2)
    arrivals.write(tmp_path)
    text = LATERAL.replace("{aggregates}", "count(*) c").replace("{condition}", CASES["keys"])
    read(spark, tmp_path, arrivals.lateness + 1)
    frame = spark.sql(text.format(S="S", R="R"))
    own = spark.sql("SELECT count(*) c FROM S GROUP BY window(ts, '10 seconds')")
    seen = []
    for step, data in enumerate(("false", "true", "true")):
        conf({"spark.sql.streaming.noDataMicroBatches.enabled": data})
        if step == 2:
            for name in "SR":
                write(tmp_path / name, [(-2, None, "a", at(arrivals.last + 1), 19, None, None)], 99)
        counts = []
        for name, each in (("own", own), ("ours", frame)):
            query = run(each, tmp_path / name)
            counts.append(spark.read.parquet(str(tmp_path / name / "out")).count())
        seen.append(counts)
        assert (
            "transformWithStateExec"
            in {p.stateOperators[0].operatorName for p in progresses(query)}
            or step == 1
        )
    assert seen[0] == seen[1]
    assert all(before < after for before, after in zip(seen[1], seen[2], strict=True))
    assert seen[2][1] >= len(arrivals.base) - 5


@pytest.mark.extended
def test_days_of_the_calendar_have_23_to_25_hours(spark: Any, tmp_path: Path, conf: Any) -> None:
    conf({"spark.sql.session.timeZone": "Europe/Berlin"})
    start = dt.datetime(2024, 3, 30)
    arrivals = Arrivals(random.Random(12), lateness=3600, span=3 * 86400, last=1e6, start=start)
    arrivals.write(tmp_path)
    condition = "R.k = S.k AND R.ts BETWEEN S.ts - INTERVAL '1' DAY AND S.ts + INTERVAL '1' DAY"
    text = LATERAL.replace("{aggregates}", EXACT).replace("{condition}", condition)
    assert_streamed(spark, tmp_path, text, arrivals.lateness + 1)


WINDOW = "R.ts BETWEEN S.ts - INTERVAL 10 SECONDS AND S.ts"


@pytest.mark.parametrize(
    ("condition", "fanout"),
    [(f"R.k = S.k AND {WINDOW}", "1"), (f"R.k = S.k AND {WINDOW}", "2"), (WINDOW, "1")],
)
def test_late_rows_are_dropped_and_what_is_at_the_watermark_is_late(
    spark: Any, tmp_path: Path, conf: Any, condition: str, fanout: str
) -> None:
    conf({"spark.sql.intervalsweep.streamFanout": fanout})

    def row(number: int, seconds: float, value: int) -> tuple[Any, ...]:
        return (number, 1, "a", at(seconds), value, None, None)

    # A row is late if it is at or before the watermark of the previous micro-batch. For these
    # micro-batches, that watermark is 0, 0, 90, 91 and 190.
    for name, rows in {
        "S": [
            [row(0, 100, 0)],
            [row(5, 101, 0)],
            [row(1, 90, 0), row(2, 91, 0), row(3, 200, 0)],
            [row(6, 201, 0)],
            [row(4, 190.5, 0)],
        ],
        "R": [
            [row(10, 100, 1)],
            [row(15, 101, 32)],
            [row(11, 90, 2), row(12, 90.000001, 4), row(13, 200, 8)],
            [row(16, 201, 64)],
            [row(14, 190, 16)],
        ],
    }.items():
        for i, some in enumerate([*rows, [row(-1, 100_000, 0)]]):
            write(tmp_path / name, some, i)
    read(spark, tmp_path, 10)
    text = LATERAL.format(
        S="S",
        R="R",
        aggregates="sum(v) s, count(*) c",
        condition=condition,
    )
    query = run(spark.sql(text), tmp_path)
    got = spark.read.parquet(str(tmp_path / "out")).where("id >= 0").orderBy("id").collect()
    # Row 1 of S and rows 11 and 14 of R are late, and each counts once although copies were sent.
    late = sum(row.lateRows or 0 for p in progresses(query) for row in p.observedMetrics.values())
    assert late == 3
    assert sum(p.stateOperators[0].numRowsDroppedByWatermark for p in progresses(query)) == 3
    wanted = [(0, 5, 2), (2, 4, 1), (3, 8, 1), (4, None, 0), (5, 33, 2), (6, 72, 2)]
    assert [(r.id, r.s, r.c) for r in got] == wanted


def test_a_stream_with_itself(spark: Any, tmp_path: Path) -> None:
    """One view is used on both sides, so Spark reads the source twice."""
    arrivals = Arrivals(random.Random(21), files=3)
    arrivals.write(tmp_path)
    text = """SELECT a.id, w.* FROM {S} a LEFT JOIN LATERAL (
      SELECT count(*) c, sum(b.v) s, max(b.id) m FROM {S} b
      WHERE a.k = b.k AND b.ts BETWEEN a.ts - INTERVAL 15 SECONDS AND a.ts) w ON true"""
    assert_streamed(spark, tmp_path, text, arrivals.lateness + 1)


def test_the_first_by_arrival_is_one_of_the_window(spark: Any, tmp_path: Path) -> None:
    """`first` may return any row of the window."""
    arrivals = Arrivals(random.Random(22), files=3)
    arrivals.write(tmp_path)
    read(spark, tmp_path, arrivals.lateness + 1)
    text = LATERAL.replace("{aggregates}", "first(R.id) f, last(R.id) l").replace(
        "{condition}", CASES["keys"]
    )
    run(spark.sql(text.format(S="S", R="R")), tmp_path)
    some = {(row.id, one) for row in rows(spark, tmp_path) for one in (row.f, row.l) if one}
    all_of = LATERAL.replace("{aggregates}", "collect_list(R.id) l").replace(
        "{condition}", CASES["keys"]
    )
    of_all = spark.sql(all_of.format(S="S_all", R="R_all")).where("id >= 0").collect()
    assert some <= {(row.id, one) for row in of_all for one in row.l}
    assert {one for one, _ in some} == {row.id for row in of_all if row.l}
    assert len(some) > 100


def rows(spark: Any, folder: Path) -> Any:
    return spark.read.parquet(str(folder / "out")).where("id >= 0").collect()


SCALAR = """(SELECT {} FROM {{R}} R
    WHERE R.k = S.k AND R.ts BETWEEN S.ts - INTERVAL 15 SECONDS AND S.ts)"""
SCALARS = {
    "selected": f"SELECT S.id, S.ts, {SCALAR.format('sum(v)')} AS s FROM {{S}} S",
    "two, and more": (
        f"SELECT S.id, 1 + {SCALAR.format('count(*)')} AS c, "
        f"coalesce({SCALAR.format('max(v)')}, S.v) AS m FROM {{S}} S WHERE S.x IS NULL OR S.x > 0"
    ),
    "a condition": (
        f"SELECT S.id, S.v FROM {{S}} S WHERE {SCALAR.format('count(*)')} > 2 AND "
        "(S.v > 0 OR S.id < 0)"
    ),
}


@pytest.mark.parametrize("case", SCALARS)
def test_scalar_subqueries(spark: Any, tmp_path: Path, case: str) -> None:
    arrivals = Arrivals(random.Random(case), files=3)
    arrivals.write(tmp_path)
    query = assert_streamed(spark, tmp_path, SCALARS[case], arrivals.lateness + 1)
    operators = 2 if case.startswith("two") else 1
    assert {len(p.stateOperators) for p in progresses(query)} == {operators}
    # The names are the same in each run, unlike ids of expressions.
    names = {name for p in progresses(query) for name in p.observedMetrics}
    assert names == {f"intervalsweep_window_union_{i + 1}" for i in range(operators)}


def test_the_second_of_two_equal_window_unions_never_ended(spark: Any, tmp_path: Path) -> None:
    """If Spark reuses the shuffle of equal inputs, the second operator has no watermark."""
    arrivals = Arrivals(random.Random(13), files=2)
    arrivals.write(tmp_path)
    inner = LATERAL.replace("{aggregates}", "count(*) c, sum(v) s").replace(
        "{condition}", CASES["keys"]
    )
    text = f"SELECT * FROM ({inner}) UNION ALL SELECT * FROM ({inner})"
    assert_streamed(spark, tmp_path, text, arrivals.lateness + 1)


def test_an_aggregate_by_time_above_and_progress(spark: Any, tmp_path: Path) -> None:
    arrivals = Arrivals(random.Random(11), files=3)
    arrivals.write(tmp_path)
    inner = LATERAL.replace("{aggregates}", "count(*) c, sum(v) s").replace(
        "{condition}", CASES["keys"]
    )
    text = f"""SELECT window.start, count(*) n, sum(c) c, min(id) AS id
               FROM ({inner}) GROUP BY window(ts, '1 minute')"""
    query = assert_streamed(spark, tmp_path, text, arrivals.lateness + 1)
    counts = [row for p in progresses(query) for row in p.observedMetrics.values()]
    assert sum(row.lateRows or 0 for row in counts) == 0
    assert max(row.storedRows or 0 for row in counts) > 0
    # Only the rows that are far ahead are left.
    assert counts[-1].storedRows <= 4
    assert sum(row.expiredRows or 0 for row in counts) > 0


@pytest.mark.extended
def test_killed_again_and_again_each_row_is_written_once(spark: Any, tmp_path: Path) -> None:
    rng = random.Random(8)
    arrivals = Arrivals(rng, rows=120, files=5)
    arrivals.write(tmp_path)
    text = LATERAL.replace("{aggregates}", "count(*) c, sum(v) s").replace(
        "{condition}", CASES["keys"]
    )
    sql = text.format(S="S", R="R")
    streaming_process.describe_windows(tmp_path, sql, arrivals.lateness + 1, QUICKLY)
    assert streaming_process.run_and_kill([tmp_path], rng, most=3) == 3
    read(spark, tmp_path, arrivals.lateness + 1)
    assert_written(spark, tmp_path, text)


@pytest.mark.extended
def test_a_checkpoint_goes_on(spark: Any, tmp_path: Path) -> None:
    arrivals = Arrivals(random.Random(3), files=3)
    text = LATERAL.replace("{aggregates}", EXACT).replace("{condition}", CASES["keys"])
    arrivals.write(tmp_path)
    later = {name: sorted((tmp_path / name).glob("*"))[1:] for name in "SR"}
    for files in later.values():
        for file in files:
            file.rename(tmp_path / f"{file.parent.name}-{file.name}")
    read(spark, tmp_path, 21)
    for i in range(3):
        run(spark.sql(text.format(S="S", R="R")), tmp_path)
        for files in later.values():
            (tmp_path / f"{files[i].parent.name}-{files[i].name}").rename(files[i])
    assert_streamed(spark, tmp_path, text, 21)


# Change -> (text of the query, its replacement, error message).
CHANGES = {
    "window": ("- INTERVAL 5 SECONDS", "- INTERVAL 6 SECONDS", r"window.*-5000000.*-6000000"),
    "argument": ("max(v > 3)", "max(v > 4)", r"probe rows.*\(v > 3\) BOOLEAN.*\(v > 4\) BOOLEAN"),
    "key": ("R.k <=> S.k", "R.k <=> coalesce(S.k, 1)", "base rows.*coalesce"),
}


def test_another_query_is_refused_by_a_checkpoint(spark: Any, tmp_path: Path) -> None:
    Arrivals(random.Random(4), rows=20, files=2).write(tmp_path)
    text = LATERAL.format(
        S="S",
        R="R",
        aggregates="count(*) c, max(v > 3) m",
        condition=("R.k <=> S.k AND R.ts BETWEEN S.ts - INTERVAL 5 SECONDS AND S.ts"),
    )
    read(spark, tmp_path, 21)
    run(spark.sql(text), tmp_path)
    for number in (100, 101):
        write(tmp_path / "S", [(7, 1, "a", at(200_000), 1, None, None)], number)
    for before, after, error in CHANGES.values():
        assert before in text
        with pytest.raises(Exception, match=f"(?s)STATE_MISMATCH.*{error}"):
            run(spark.sql(text.replace(before, after)), tmp_path)
    # The unchanged query goes on.
    run(spark.sql(text), tmp_path)


def test_what_a_stream_cannot_do_is_said(spark: Any, tmp_path: Path, conf: Any) -> None:
    Arrivals(random.Random(5), rows=20, files=2).write(tmp_path)
    read(spark, tmp_path, 21)
    spark.readStream.schema("k INT, ts TIMESTAMP").parquet(str(tmp_path)).createOrReplaceTempView(
        "N"
    )

    def error(condition: str, probe: str = "R", aggregates: str = "count(*) c") -> str:
        text = LATERAL.format(S="S", R=probe, aggregates=aggregates, condition=condition)
        with pytest.raises(Exception, match="INTERVALSWEEP_STREAM") as caught:
            spark.sql(text)
        return str(caught.value)

    window = "R.ts BETWEEN S.ts - INTERVAL 1 SECOND AND S.ts"
    assert "NO_WATERMARK" in error(window, "N")
    assert "no lower end" in error("R.k = S.k AND R.ts <= S.ts")
    assert "no lower and upper end" in error("R.k = S.k")
    assert "no upper end" in error("R.ts >= S.ts - INTERVAL '1' DAY")
    for varies in ("sum(v + rand()) s", "max(current_timestamp()) s"):
        found = error(window, aggregates=varies)
        assert "UNSUPPORTED" in found
        assert "compute it as a column of the stream that it reads" in found
    scalar = "SELECT S.id, (SELECT count(*) FROM R WHERE R.k = S.k) FROM S"
    with pytest.raises(Exception, match=r"INTERVALSWEEP_STREAM\.UNBOUNDED_STATE"):
        spark.sql(scalar)
    conf({"spark.sql.streaming.stateStore.providerClass": None})
    assert "STATE_STORE" in error(window)


def test_the_window_is_over_the_second_of_two_times(spark: Any, tmp_path: Path) -> None:
    """After a join by Spark both times have a watermark. Only the first one was considered."""
    arrivals = Arrivals(random.Random(17), rows=60, files=3)
    arrivals.write(tmp_path)
    text = """SELECT p.*, w.* FROM (
        SELECT S.id, R.id other, S.k, S.ts, R.ts AS at FROM {S} S JOIN {R} R
          ON S.k = R.k AND R.ts BETWEEN S.ts AND S.ts + INTERVAL 5 SECONDS) p
      LEFT JOIN LATERAL (SELECT count(*) c, sum(v) s FROM {R} q
        WHERE q.k = p.k AND q.ts BETWEEN p.at - INTERVAL 9 SECONDS AND p.at) w ON true"""
    assert_streamed(spark, tmp_path, text, arrivals.lateness + 1)
    found = spark.sql(text.format(S="S", R="R"))
    marked = {f.name for f in found.schema if "spark.watermarkDelayMs" in f.metadata}
    assert marked == {"at"}


def test_a_window_of_one_instant(spark: Any, tmp_path: Path) -> None:
    arrivals = Arrivals(random.Random(18), files=3, span=40)
    arrivals.write(tmp_path)
    text = LATERAL.replace("{aggregates}", "count(*) c, sum(v) s").replace(
        "{condition}", "R.ts = S.ts AND R.g = S.g"
    )
    assert_streamed(spark, tmp_path, text, arrivals.lateness + 1)
    assert max(row.c for row in rows(spark, tmp_path)) > 1
