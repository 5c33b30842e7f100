# SPDX-License-Identifier: Apache-2.0
"""Window unions of two streams: the rows of the same text in batch."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from arrivals import SETTINGS, Arrivals, at, progresses, read, run, write
from comparison import ENABLED, bag, configured, difference

LATERAL = """SELECT S.id, S.k, S.ts, S.x, w.* FROM {S} S LEFT JOIN LATERAL (
  SELECT {aggregates} FROM {R} R WHERE {condition}) w ON true"""


@pytest.fixture(autouse=True)
def _settings(conf: Any) -> None:
    conf(SETTINGS)


def expected(spark: Any, text: str) -> Any:
    """By Spark alone, without the row that is far ahead."""
    with configured(spark, {ENABLED: "false"}):
        return bag(spark.sql(text.format(S="S_all", R="R_all")).where("id >= 0").collect())


def assert_streamed(spark: Any, folder: Path, text: str, lateness: float) -> Any:
    read(spark, folder, lateness)
    query = run(spark.sql(text.format(S="S", R="R")), folder)
    wanted = expected(spark, text)
    got = bag(spark.read.parquet(str(folder / "out")).where("id >= 0").collect())
    assert not difference(wanted, got)
    assert wanted.total() > 0
    return query


EXACT = (
    "count(*) c, count(v) n, sum(v) s, min(v) lo, max(x) hi, avg(v) a, min(txt) t, "
    "sort_array(collect_list(v)) l, count(DISTINCT v) FILTER (WHERE v > 0) d, "
    "max_by(txt, R.id) b, sum(v) + count(*) + first(S.id) z, sum(CAST(v AS DECIMAL(12, 2))) e"
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
def test_stream_is_batch(spark: Any, tmp_path: Path, case: str) -> None:
    arrivals = Arrivals(random.Random(case))
    arrivals.write(tmp_path)
    text = LATERAL.replace("{aggregates}", EXACT).replace("{condition}", CASES[case])
    query = assert_streamed(spark, tmp_path, text, arrivals.lateness + 1)
    assert {p.stateOperators[0].operatorName for p in progresses(query)} == {"transformWithStateExec"}


def test_late_rows_are_dropped_and_what_is_at_the_watermark_is_late(
    spark: Any, tmp_path: Path
) -> None:
    def row(number: int, seconds: float, value: int) -> tuple[Any, ...]:
        return (number, 1, "a", at(seconds), value, None, None)

    # What is late with a micro-batch was decided by the one before it.
    #              first         W 0            W 90                       W 91           W 190, late
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
        condition="R.k = S.k AND R.ts BETWEEN S.ts - INTERVAL 10 SECONDS AND S.ts",
    )
    run(spark.sql(text), tmp_path)
    got = spark.read.parquet(str(tmp_path / "out")).where("id >= 0").orderBy("id").collect()
    # Row 1 of S and rows 11 and 14 of R were late.
    wanted = [(0, 5, 2), (2, 4, 1), (3, 8, 1), (4, None, 0), (5, 33, 2), (6, 72, 2)]
    assert [(r.id, r.s, r.c) for r in got] == wanted


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


def test_another_query_is_refused_by_a_checkpoint(spark: Any, tmp_path: Path) -> None:
    Arrivals(random.Random(4), rows=20, files=2).write(tmp_path)
    read(spark, tmp_path, 21)

    def text(seconds: int) -> str:
        condition = f"R.k = S.k AND R.ts BETWEEN S.ts - INTERVAL {seconds} SECONDS AND S.ts"
        return LATERAL.format(S="S", R="R", aggregates="count(*) c", condition=condition)

    run(spark.sql(text(5)), tmp_path)
    write(tmp_path / "S", [(7, 1, "a", at(200_000), 1, None, None)], 100)
    with pytest.raises(Exception, match="STATE_MISMATCH.*window.*-5000000.*-6000000"):
        run(spark.sql(text(6)), tmp_path)


def test_what_a_stream_cannot_do_is_said(spark: Any, tmp_path: Path, conf: Any) -> None:
    Arrivals(random.Random(5), rows=20, files=2).write(tmp_path)
    read(spark, tmp_path, 21)
    spark.readStream.schema("k INT, ts TIMESTAMP").parquet(str(tmp_path)).createOrReplaceTempView("N")

    def error(condition: str, probe: str = "R") -> str:
        text = LATERAL.format(S="S", R=probe, aggregates="count(*) c", condition=condition)
        with pytest.raises(Exception, match="INTERVALSWEEP_STREAM") as caught:
            spark.sql(text)
        return str(caught.value)

    window = "R.ts BETWEEN S.ts - INTERVAL 1 SECOND AND S.ts"
    assert "NO_WATERMARK" in error(window, "N")
    assert "no lower end" in error("R.k = S.k AND R.ts <= S.ts")
    assert "no lower and upper end" in error("R.k = S.k")
    assert "no upper end" in error("R.ts >= S.ts - INTERVAL '1' DAY")
    conf({"spark.sql.streaming.stateStore.providerClass": None})
    assert "STATE_STORE" in error(window)


def test_rows_come_at_once_with_revisions(spark: Any, tmp_path: Path) -> None:
    arrivals = Arrivals(random.Random(6))
    arrivals.write(tmp_path)
    aggregates = "count(*) c, sum(v) s, window_revision() AS revision, window_is_final() AS final"
    text = LATERAL.replace("{aggregates}", aggregates).replace("{condition}", CASES["keys"])
    read(spark, tmp_path, 21)
    run(spark.sql(text.format(S="S", R="R")), tmp_path, mode="update")
    rows = spark.table("updates").where("id >= 0").collect()
    finals = {r.id: r for r in rows if r.final}
    assert len(finals) == sum(r.final for r in rows)
    for r in rows:
        assert r.final == (r.revision == finals[r.id].revision)
    assert len(rows) > len({(r.id, r.revision) for r in rows if r.final})
    assert len(rows) == len({(r.id, r.revision) for r in rows})
    wanted = expected(spark, text.replace(", window_revision() AS revision, window_is_final() AS final", ""))
    got = bag(spark.table("updates").where("id >= 0 AND final").drop("revision", "final").collect())
    assert not difference(wanted, got)
