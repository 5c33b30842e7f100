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
