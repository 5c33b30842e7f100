# SPDX-License-Identifier: Apache-2.0
"""A window union of streams goes on after columns were added at the end of its base rows."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.spark.comparison import OWN_PLAN, bag, configured, difference
from support.streams.arrivals import SCHEMA, Arrivals, read, run

pytestmark = pytest.mark.usefixtures("quickly")

TEXT = """SELECT S.*, w.* FROM {{S}} S LEFT JOIN LATERAL (
  SELECT count(*) c, sum(v) s, min(txt) lo {more} FROM {{R}} R
  WHERE {key} AND R.ts BETWEEN S.ts - INTERVAL {pre} AND S.ts + INTERVAL {fol}) w ON true"""
SECONDS = {"key": "R.k = S.k", "pre": "9 SECONDS", "fol": "30 SECONDS", "more": ""}
MISMATCH = r"STATE_MISMATCH.*{}"


class Files:
    """The files of both streams; the second half of the base rows has one more column."""

    def __init__(self, folder: Path, seed: int, span: int = 200) -> None:
        self.folder, self.arrivals = (
            folder,
            Arrivals(random.Random(seed), rows=120, span=span, last=1e6),
        )
        self.arrivals.write(folder)
        self.later = [file for name in "SR" for file in sorted((folder / name).glob("*"))[3:]]
        for file in self.later:
            file.rename(self.aside(file))

    def aside(self, file: Path) -> Path:
        return self.folder / f"{file.parent.name}-{file.name}"

    def arrive(self, added: pa.DataType) -> None:
        for file in self.later:
            if file.parent.name == "S":
                table = pq.read_table(self.aside(file))
                values = pa.array(range(table.num_rows), pa.int32()).cast(added)
                pq.write_table(table.append_column("added", values), self.aside(file))
            self.aside(file).rename(file)

    def read(self, spark: Any, more: str = "") -> None:
        read(spark, self.folder, self.arrivals.lateness + 1)
        if more:
            folder = str(self.folder / "S")
            stream = spark.readStream.schema(SCHEMA + more).option("maxFilesPerTrigger", 1)
            stream = stream.parquet(folder).withWatermark("ts", "21 seconds")
            stream.createOrReplaceTempView("S")
            spark.read.schema(SCHEMA + more).parquet(folder).createOrReplaceTempView("S_all")

    def written(self, spark: Any) -> Any:
        out = spark.read.option("mergeSchema", "true").parquet(str(self.folder / "out"))
        return out.where("id >= 0")


@pytest.mark.parametrize(
    "case",
    [
        {},
        {"key": "R.k % 3 <=> S.k % 3 AND R.g = S.g"},
        {"key": "R.k = S.k AND R.v > S.v"},
        {"pre": "'1' DAY", "fol": "'1' DAY"},
    ],
    ids=str,
)
def test_kept_rows_have_null(spark: Any, conf: Any, tmp_path: Path, case: dict[str, str]) -> None:
    conf({"spark.sql.session.timeZone": "Europe/Berlin"} if "pre" in case else {})
    files = Files(tmp_path, len(str(case)), span=200_000 if "pre" in case else 200)
    text = TEXT.format(**SECONDS | case)
    files.read(spark)
    run(spark.sql(text.format(S="S", R="R")), tmp_path)
    before = {row.id for row in files.written(spark).collect()}
    files.arrive(pa.string())
    files.read(spark, ", added STRING")
    run(spark.sql(text.format(S="S", R="R")), tmp_path)
    with configured(spark, OWN_PLAN):
        wanted = spark.sql(text.format(S="S_all", R="R_all")).where("id >= 0")
        expected = bag(wanted.select(sorted(wanted.columns)).collect())
    found = files.written(spark)
    got = found.select(sorted(found.columns)).collect()
    kept = [row for row in got if row.id not in before and row.added is None]
    assert len([row for row in kept if row.c > 0]) > 3
    assert any(row.added is not None for row in got)
    assert not difference(expected, bag(got))


def test_eager(spark: Any, tmp_path: Path) -> None:
    files = Files(tmp_path, 5)
    more = ", window_revision() revision, window_is_final() is_final"
    text = TEXT.format(**SECONDS | {"more": more})
    rows: list[Any] = []

    def update() -> None:
        writer = spark.sql(text.format(S="S", R="R")).writeStream.outputMode("update")
        writer = writer.foreachBatch(lambda frame, _: rows.extend(frame.collect()))
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
        assert writer.trigger(availableNow=True).start().awaitTermination(300)

    files.read(spark)
    update()
    early = {row.id for row in rows if row.is_final}
    rows.clear()
    files.arrive(pa.string())
    files.read(spark, ", added STRING")
    update()
    finals = {row.id: row for row in rows if row.is_final}
    assert any(row.added is None and row.revision > 1 and row.c for row in finals.values())
    assert any(row.added is not None for row in finals.values())
    assert {n for n in early | set(finals) if n >= 0} == {row[0] for row in files.arrivals.base}


@pytest.mark.parametrize("before", [", added INT", ", added STRING, another STRING"])
def test_other_columns_are_refused(spark: Any, tmp_path: Path, before: str) -> None:
    """A column with another type, or a missing column, would not fit the state."""
    files = Files(tmp_path, 7)
    text = TEXT.format(**SECONDS)
    files.read(spark, before)
    run(spark.sql(text.format(S="S", R="R")), tmp_path)
    files.arrive(pa.string())
    files.read(spark, ", added STRING")
    with pytest.raises(Exception, match=MISMATCH.format("columns of the base rows")):
        run(spark.sql(text.format(S="S", R="R")), tmp_path)


def test_another_column_of_the_probe_rows_is_refused(spark: Any, tmp_path: Path) -> None:
    """Stored rows do not have the column, so aggregates over it would be wrong."""
    files = Files(tmp_path, 8)
    files.read(spark)
    run(spark.sql(TEXT.format(**SECONDS).format(S="S", R="R")), tmp_path)
    files.arrive(pa.string())
    files.read(spark)
    text = TEXT.format(**SECONDS | {"more": ", max(x) hi"})
    with pytest.raises(Exception, match=MISMATCH.format("columns of the probe rows")):
        run(spark.sql(text.format(S="S", R="R")), tmp_path)
