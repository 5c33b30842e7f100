# SPDX-License-Identifier: Apache-2.0
"""Windows and fragments of calendar units, and closed ends with a step."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from pyspark.errors import AnalysisException

from intervalsweep import temporal
from support.spark.comparison import configured

BERLIN = {"spark.sql.session.timeZone": "Europe/Berlin"}
DAY = "SELECT 1 AS k, {kind} '{ts}' AS ts, {kind} '{te}' AS te"


def ends(spark: Any, call: str, kind: str, ts: str, te: str = "2030-01-01") -> list[Any]:
    table = DAY.format(kind=kind, ts=ts, te=te)
    query = f"SELECT CAST(ts AS STRING), CAST(te AS STRING) FROM {call}, ts => 'ts', te => 'te')"
    with configured(spark, BERLIN):
        return sorted(map(tuple, spark.sql(query.replace("(t,", f"(TABLE({table}),")).collect()))


@pytest.mark.parametrize(
    ("length", "ts", "end"),
    [
        ("fixed => 'DAY'", "2024-07-10 15:00:00", "2024-07-11 00:00:00"),
        ("fixed => INTERVAL '1' DAY", "2024-07-10 15:00:00", "2024-07-11 02:00:00"),
        ("fixed => 'DAY'", "2024-03-31 01:30:00", "2024-04-01 00:00:00"),
        ("fixed => 'week'", "2024-07-10 15:00:00", "2024-07-15 00:00:00"),
        ("fixed => '2 DAYS', origin => '2024-07-09'", "2024-07-10 15:00:00", "2024-07-11 00:00:00"),
        ("fixed => 'QUARTER'", "2024-07-10 15:00:00", "2024-10-01 00:00:00"),
        ("fixed => 'YEAR'", "2024-07-10 15:00:00", "2025-01-01 00:00:00"),
        ("sliding => 'DAY'", "2024-03-30 15:00:00", "2024-03-31 15:00:00"),
        ("sliding => INTERVAL '1' DAY", "2024-03-30 15:00:00", "2024-03-31 16:00:00"),
        ("sliding => '2 MONTHS'", "2024-12-31 15:00:00", "2025-02-28 15:00:00"),
    ],
)
def test_windows_in_the_zone_of_the_session(spark: Any, length: str, ts: str, end: str) -> None:
    assert ends(spark, f"temporal_window(t, {length}", "TIMESTAMP", ts) == [(ts, end)]


@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP_NTZ"])
@pytest.mark.parametrize(("unit", "end"), [("DAY", "07-11"), ("WEEK", "07-15"), ("MONTH", "08-01")])
def test_windows_of_other_types(spark: Any, kind: str, unit: str, end: str) -> None:
    ((_, found),) = ends(spark, f"temporal_window(t, fixed => '{unit}'", kind, "2024-07-10")
    assert found[:10] == f"2024-{end}"


@pytest.mark.parametrize(
    ("length", "kind", "ts", "te", "cuts"),
    [
        ("'MONTH'", "DATE", "2024-01-31", "2024-04-10", ["2024-02-29", "2024-03-31"]),
        ("INTERVAL '2' MONTH", "DATE", "2024-01-31", "2024-04-10", ["2024-03-31"]),
        ("'DAY'", "TIMESTAMP", "2024-03-30 12:00:00", "2024-04-01 01:00:00",
         ["2024-03-31 12:00:00"]),
        ("INTERVAL '1' DAY", "TIMESTAMP", "2024-03-30 12:00:00", "2024-04-01 01:00:00",
         ["2024-03-31 13:00:00"]),
        ("'1 week'", "TIMESTAMP_NTZ", "2024-03-30 12:00:00", "2024-04-10 00:00:00",
         ["2024-04-06 12:00:00"]),
    ],
)  # fmt: skip
def test_fragments(spark: Any, length: str, kind: str, ts: str, te: str, cuts: list[str]) -> None:
    got = ends(spark, f"temporal_split(t, {length}", kind, ts, te)
    assert got == [*zip([ts, *cuts], [*cuts, te], strict=True)]


@pytest.mark.parametrize("length", ["'FORTNIGHT'", "'0 DAYS'", "'-1 DAY'"])
def test_units_that_do_not_exist(spark: Any, length: str) -> None:
    with pytest.raises(AnalysisException, match=r"SEQUENCED\.LENGTH"):
        ends(spark, f"temporal_window(t, fixed => {length}", "DATE", "2024-01-01")


def test_closed_ends_with_a_step_touch(spark: Any) -> None:
    frame = spark.sql(
        "SELECT * FROM VALUES ('a', TIMESTAMP '2024-01-01', TIMESTAMP '2024-01-31 23:59:59'), "
        "('a', TIMESTAMP '2024-02-01', TIMESTAMP '9999-12-31 23:59:59') AS t(x, ts, te)"
    )
    for step, rows in ((None, 2), (timedelta(seconds=1), 1)):
        marked = temporal.valid(frame, "ts", "te", closed="both", step=step)
        found = marked.coalesce().frame.collect()
        assert len(found) == rows
    assert found[0].te is None
    numbers = (
        "SELECT * FROM validtime(TABLE(SELECT 1 AS ts, 5 AS te), 'ts', 'te', closed => 'both', {})"
    )
    step = spark.sql(f"SELECT * FROM sequenced(TABLE({numbers.format('step => 10')}))")
    assert [tuple(row) for row in step.collect()] == [(1, 15)]
    for wrong in ("step => INTERVAL '1' DAY", "step => 0", "step => 0.5"):
        with pytest.raises(AnalysisException, match=r"SEQUENCED\.LENGTH"):
            spark.sql(f"SELECT * FROM sequenced(TABLE({numbers.format(wrong)}))")
    with pytest.raises(AnalysisException, match="`step` of validtime must be absent"):
        spark.sql(f"SELECT * FROM sequenced(TABLE({numbers.format('step => 1')}))".replace(
            "closed => 'both', ", ""))  # fmt: skip


@pytest.mark.parametrize(
    ("zone", "origin", "around"),
    [
        # At 00:01 the clock was set back to 23:01 on the day before, once at a month's end.
        ("America/St_Johns", None, "2006-10-29 03:00:00Z"),
        ("America/St_Johns", None, "2009-11-01 03:00:00Z"),
        ("America/New_York", "2024-01-01 01:30:00", "2024-11-03 06:00:00Z"),
        ("Europe/Berlin", "2024-01-01 02:30:00", "2024-03-31 01:00:00Z"),
        ("America/Sao_Paulo", None, "2018-11-04 03:00:00Z"),
        ("Pacific/Apia", "2011-01-30 00:00:00", "2011-12-30 10:00:00Z"),
        ("Europe/Berlin", "2030-12-31 12:00:00", "2024-02-29 11:00:00Z"),
    ],
)
@pytest.mark.parametrize("unit", ["DAY", "2 DAYS", "MONTH", "WEEK"])
def test_a_window_ends_where_the_clock_changes(
    spark: Any, unit: str, zone: str, origin: str | None, around: str
) -> None:
    """A window has its start, and ends where the bucket of `temporal_resample` ends."""
    with configured(spark, {"spark.sql.session.timeZone": zone}):
        spark.sql(
            f"SELECT id, TIMESTAMP '{around}' + id * INTERVAL '10' MINUTE AS ts "
            "FROM range(-300, 300)"
        ).createOrReplaceTempView("instants")
        more = "" if origin is None else f", origin => TIMESTAMP '{origin}'"
        windows = spark.sql(
            "SELECT id, unix_micros(ts) AS ts, unix_micros(te) AS te FROM temporal_window("
            f"TABLE(instants), fixed => '{unit}', ts => 'ts'{more})"
        ).collect()
        buckets = spark.sql(
            "SELECT id, unix_micros(ts) AS ts, unix_micros(bucket_end) AS te "
            "FROM temporal_resample(TABLE(SELECT *, ts + INTERVAL '1' SECOND AS te FROM instants), "
            f"'{unit}', ts => 'ts', te => 'te'{more})"
        ).collect()
    assert len(windows) == 600
    assert all(row.ts < row.te for row in windows)
    assert sorted(map(tuple, windows)) == sorted(map(tuple, buckets))


def test_ends_beyond_the_type_are_unbounded(spark: Any) -> None:
    for start, window in (
        ("100Y", "sliding => 100"),
        ("100Y", "fixed => 100"),
        ("2147483640", "sliding => 10"),
        ("99.5BD", "sliding => 1"),
        ("DATE '+5881580-07-01'", "sliding => 30"),
        ("DATE '+5881580-07-01'", "sliding => '30 DAYS'"),
        ("DATE '+5881580-07-01'", "fixed => 'MONTH'"),
    ):
        call = f"temporal_window(TABLE(SELECT {start} AS ts), {window}, ts => 'ts')"
        assert spark.sql(f"SELECT te FROM {call}").first().te is None, (start, window)


def test_ends_that_move_beyond_the_type(spark: Any) -> None:
    marked = (
        "SELECT * FROM validtime(TABLE(SELECT {} AS ts, {} AS te), 'ts', 'te', closed => '{}', "
        "step => 10)"
    )
    for ts, te, closed, expected in (
        ("1", "2147483640", "both", [(1, None)]),
        ("100Y", "120Y", "both", [(100, None)]),
        ("1", "2", "neither", []),
        # A start beyond the type must not become NULL, which would mean "since ever".
        ("2147483640", "CAST(NULL AS INT)", "neither", []),
        ("2147483647", "CAST(NULL AS INT)", "neither", []),
        ("9223372036854775806", "CAST(NULL AS BIGINT)", "neither", []),
        ("CAST(NULL AS INT)", "7", "neither", [(None, 7)]),
    ):
        query = marked.format(ts, te, closed)
        got = spark.sql(f"SELECT * FROM sequenced(TABLE({query}))").collect()
        assert [tuple(row) for row in got] == expected, (ts, te, closed)
    moved = (
        "SELECT * FROM sequenced(TABLE(SELECT * FROM validtime("
        "TABLE(SELECT -128Y AS ts, 5Y AS te), 'ts', 'te')), closed => 'neither')"
    )
    assert [tuple(row) for row in spark.sql(moved).collect()] == [(None, 5)]
    last_day = (
        "SELECT * FROM sequenced(TABLE(SELECT * FROM validtime(TABLE(SELECT DATE '9999-12-31' "
        "AS ts, CAST(NULL AS DATE) AS te), 'ts', 'te', closed => 'right')))"
    )
    assert spark.sql(last_day).collect() == []
