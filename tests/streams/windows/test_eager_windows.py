# SPDX-License-Identifier: Apache-2.0
"""Window unions in update mode: rows are emitted at once, and again when rows arrive for them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from fuzz.streams.windows import union_of
from support.streams import eager, micro_batches
from support.streams.arrivals import Arrivals, at, progresses, read, write
from support.streams.eager import MARKS

pytestmark = pytest.mark.usefixtures("quickly")

TEXT = """SELECT S.id, S.k, S.ts, w.* FROM {S} S LEFT JOIN LATERAL (
  SELECT count(*) c, sum(v) s, max(txt) t, {marks} FROM {R} R WHERE {condition}) w ON true"""
CASES = {
    "behind": "R.k = S.k AND R.ts BETWEEN S.ts - INTERVAL 15 SECONDS AND S.ts",
    "around, no keys": "R.ts BETWEEN S.ts - INTERVAL 2 SECONDS AND S.ts + INTERVAL 3 SECONDS",
    "a text for a key, and more": (
        "R.g = S.g AND R.v > S.v AND R.ts BETWEEN S.ts AND S.ts + INTERVAL 20 SECONDS"
    ),
    "behind its own row": (
        "R.k <=> S.k AND R.ts > S.ts - INTERVAL 30 SECONDS AND R.ts < S.ts - INTERVAL 9 SECONDS"
    ),
    "ends that are computed": (
        "R.k = S.k AND R.ts BETWEEN S.ts - INTERVAL 1 DAY AND S.ts + INTERVAL 1 SECOND"
    ),
}


def text(condition: str) -> str:
    return TEXT.replace("{marks}", MARKS).replace("{condition}", condition)


@pytest.mark.parametrize("case", CASES)
def test_each_revision_is_of_what_has_arrived(spark: Any, tmp_path: Path, case: str) -> None:
    arrivals = Arrivals(random.Random(case), files=4, lateness=60)
    arrivals.write(tmp_path)
    read(spark, tmp_path, arrivals.lateness + 1)
    eager.run(spark.sql(text(CASES[case]).format(S="S", R="R")), tmp_path)
    assert not eager.differences(spark, tmp_path, text(CASES[case]))
    revisions = eager.written(spark, tmp_path)
    assert any(r["revision"] > 1 and not r["final"] for r in revisions)
    assert len({r["batch"] for r in revisions}) > arrivals.files


@pytest.mark.extended
def test_a_stream_with_itself(spark: Any, tmp_path: Path) -> None:
    arrivals = Arrivals(random.Random(23), rows=80, files=4, lateness=60, keys=2)
    arrivals.write(tmp_path)
    read(spark, tmp_path, arrivals.lateness + 1)
    itself = text(CASES["behind"]).replace("{R}", "{S}")
    eager.run(spark.sql(itself.format(S="S")), tmp_path)
    assert not eager.differences(spark, tmp_path, itself)
    assert any(r["revision"] > 1 and not r["final"] for r in eager.written(spark, tmp_path))


def test_a_row_that_nothing_arrives_for_does_not_come_again(spark: Any, tmp_path: Path) -> None:
    row = (None, "a", at(10), 1, 0.0, "p")
    write(tmp_path / "S", [(1, 1, *row[1:]), (2, 2, *row[1:])], 0)
    write(tmp_path / "R", [(11, 3, *row[1:])], 0)
    for number, (key, seconds) in enumerate([(1, 9), (2, 5), (1, 12), (3, 9)], 1):
        write(tmp_path / "S", [(100 + number, 9, "a", at(10), 1, 0.0, "p")], number)
        write(tmp_path / "R", [(11 + number, key, "a", at(seconds), 1, 0.0, "p")], number)
    for name in "SR":
        write(tmp_path / name, [(-1, None, "a", at(100_000), 19, None, None)], 9)
    read(spark, tmp_path, 60)
    behind = text(CASES["behind"])
    query = eager.run(spark.sql(behind.format(S="S", R="R")), tmp_path)
    assert not eager.differences(spark, tmp_path, behind)
    counts = [row for p in progresses(query) for row in p.observedMetrics.values()]
    # The rows of the first micro-batch are emitted three times; the others at once and at the end.
    # The row that is far ahead has no key and no revision.
    assert sum(row.revisions or 0 for row in counts) == 2 * 3 + 4 * 2
    came = [(r["id"], r["batch"], r["c"]) for r in eager.written(spark, tmp_path) if r["id"] < 9]
    last = max(batch for _, batch, _ in came)
    assert sorted(came) == [(1, 0, 0), (1, 1, 1), (1, last, 1), (2, 0, 0), (2, 2, 1), (2, last, 1)]


@pytest.mark.extended
@pytest.mark.parametrize("seed", range(4))
def test_random_unions(spark: Any, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    arrivals = Arrivals(rng, rows=60, files=3, lateness=rng.choice([5, 40]), span=100)
    arrivals.write(tmp_path)
    some = " UNION ALL ".join(union_of(rng, i, is_eager=True) for i in range(4))
    read(spark, tmp_path, arrivals.lateness + 1)
    eager.run(spark.sql(some.format(S="S", R="R")), tmp_path)
    assert not eager.differences(spark, tmp_path, some)


@pytest.mark.parametrize("mode", ["append", "complete"])
def test_revisions_want_update_mode(spark: Any, tmp_path: Path, mode: str) -> None:
    """In append mode, Spark would emit each revision as a row of its own."""
    Arrivals(random.Random(4), rows=20, files=2).write(tmp_path)
    read(spark, tmp_path, 21)
    some = text(CASES["behind"]).format(S="S", R="R")
    if mode == "complete":
        some = f"SELECT id, count(*) n FROM ({some}) WHERE final GROUP BY id"
    writer = spark.sql(some).writeStream.outputMode(mode).format("memory").queryName("revised")
    with pytest.raises(Exception, match=r"INTERVALSWEEP_STREAM\.OUTPUT_MODE") as error:
        writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    assert f"{mode} mode" in str(error.value)


ABOVE = {
    "a count": "SELECT k, count(*) n FROM ({rows}) GROUP BY k",
    "distinct rows": "SELECT DISTINCT id, k, c FROM ({rows})",
    "a limit": "SELECT id FROM ({rows}) LIMIT 5",
    "revisions below a union": """SELECT k, sum(c) n FROM (
        SELECT k, c FROM ({rows}) UNION ALL SELECT k, v FROM S) GROUP BY k""",
}
TOLD_APART = {
    "final rows": """SELECT k, count(*) n FROM (SELECT *, final AS f FROM ({rows}))
        WHERE f GROUP BY k""",
    "final rows, written in another way": """SELECT k, count(*) n FROM ({rows})
        WHERE coalesce(final = true, false) AND id >= 0 GROUP BY k""",
    "by revision": "SELECT revision, count(*) n FROM ({rows}) GROUP BY revision",
    "the last revision": "SELECT id, max_by(c, revision) n FROM ({rows}) GROUP BY id",
    "distinct revisions": "SELECT DISTINCT id, revision FROM ({rows})",
    "a table": "SELECT r.* FROM ({rows}) r JOIN (VALUES (1), (2)) t(k) USING (k)",
}


@pytest.mark.parametrize("above", ABOVE)
def test_an_aggregate_counted_each_revision_as_a_row(
    spark: Any, tmp_path: Path, above: str
) -> None:
    Arrivals(random.Random(4), rows=20, files=2).write(tmp_path)
    read(spark, tmp_path, 21)
    some = text(CASES["behind"]).format(S="S", R="R")
    with pytest.raises(Exception, match=r"UNSUPPORTED\].*with revisions.*where\('is_final'\)"):
        spark.sql(ABOVE[above].format(rows=some))
    with pytest.raises(Exception, match=r"UNSUPPORTED\] Removing duplicates above a window union"):
        spark.sql(some).dropDuplicates(["id"])
    for told in TOLD_APART.values():
        assert spark.sql(told.format(rows=some)).isStreaming


def test_final_rows_can_be_counted(spark: Any, tmp_path: Path) -> None:
    arrivals = Arrivals(random.Random(7), rows=60, files=3)
    arrivals.write(tmp_path)
    read(spark, tmp_path, arrivals.lateness + 1)
    query = TOLD_APART["final rows"].format(rows=text(CASES["behind"]))
    found = micro_batches.run(spark, spark.sql(query.format(S="S", R="R")), tmp_path, mode="update")
    last = {row.k: row.n for row in found.rows}
    counts = spark.sql("SELECT k, count(*) n FROM S_all WHERE id >= 0 GROUP BY k").collect()
    wanted = {row.k: row.n for row in counts}
    # The row that is far ahead has no key: it is final at once.
    assert last == {**wanted, None: wanted[None] + 1}
