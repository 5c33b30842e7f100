# SPDX-License-Identifier: Apache-2.0
"""A join of streams goes on after columns were added at the end of its sides."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from support.spark.comparison import OWN_PLAN, bag, configured, difference
from support.streams.joined import (
    ENDS,
    FAR,
    SCHEMA,
    Arrivals,
    random_arrivals,
    start_and_wait,
)

pytestmark = pytest.mark.usefixtures("quickly")

ADDED = ", added STRING, another DOUBLE"
JOINS = {
    "inner": f"JOIN b ON a.k = b.k AND interval_intersects({ENDS})",
    "no keys": f"JOIN b ON allen_overlaps({ENDS})",
    "left": f"LEFT JOIN b ON a.k = b.k AND interval_intersects({ENDS})",
    "full, two keys": f"FULL JOIN b ON a.k = b.k AND a.g = b.g AND allen_during({ENDS})",
    "a residual": f"LEFT JOIN b ON a.k = b.k AND interval_intersects({ENDS}) AND a.v + b.w < 9",
    "semi": f"LEFT SEMI JOIN b ON a.k = b.k AND interval_intersects({ENDS})",
    "anti": f"LEFT ANTI JOIN b ON a.k = b.k AND interval_intersects({ENDS})",
}


def rows_in(arrivals: Arrivals, batches: int) -> int:
    return sum(len(rows) for batch in arrivals.batches[:batches] for rows in batch.values())


def add_values(folder: Path, sides: str, first: int) -> None:
    """Adds values of the new columns to the files that have not been read yet."""
    for side in sides:
        for file in sorted((folder / side).glob("*"))[first:]:
            rows, modified = [json.loads(s) for s in file.read_text().splitlines()], file.stat()
            for number, row in enumerate(rows):
                row |= {"added": "x" * (number % 7), "another": number / 4}
            file.write_text("".join(json.dumps(row) + "\n" for row in rows))
            os.utime(file, (modified.st_atime, modified.st_mtime))


def selected(name: str, later: dict[str, str]) -> str:
    sides = "a" if name in ("semi", "anti") else "ab"
    columns = ["a.id", *(["b.id bid"] if "b" in sides else [])]
    columns += [f"{side}.added added_{side}" for side in later if side in sides]
    return f"SELECT {', '.join(columns)} FROM a {JOINS[name]}"


def read(spark: Any, arrivals: Arrivals, later: dict[str, str]) -> None:
    arrivals.streams(spark)
    for side, columns in later.items():
        source = spark.readStream.schema(SCHEMA + columns).option("maxFilesPerTrigger", 1)
        stream = source.json(str(arrivals.folder / side))
        stream.withWatermark("ts", f"{arrivals.lateness} seconds").createOrReplaceTempView(side)


def in_batch(spark: Any, arrivals: Arrivals, later: dict[str, str], sql: str) -> Any:
    for side in "ab":
        table = spark.read.schema(SCHEMA + later.get(side, ""))
        table.json(str(arrivals.folder / side)).createOrReplaceTempView(side)
    with configured(spark, OWN_PLAN):
        return near(spark.sql(sql).collect())


def near(rows: list[Any]) -> Any:
    """The rows without those that are far away, which may still find a match."""
    return bag(row for row in map(tuple, rows) if FAR not in row)


@pytest.mark.parametrize("later", [{"a": ADDED}, {"a": ADDED, "b": ", added STRING"}], ids=str)
@pytest.mark.parametrize("name", JOINS)
def test_kept_rows_have_null(spark: Any, tmp_path: Path, name: str, later: dict[str, str]) -> None:
    # Rows that end before they start are not joined, so there are none.
    arrivals = random_arrivals(
        tmp_path, random.Random(f"columns, {name}"), 150, 6, reversed_too=False
    )
    # A single micro-batch may be empty.
    first = next(n for n in range(1, 7) if rows_in(arrivals, n) > 100)
    checkpoint = tmp_path / "checkpoint"
    before: list[Any] = []
    after: list[Any] = []
    arrivals.streams(spark)
    arrivals.write(first)
    start_and_wait(spark.sql(selected(name, {})), checkpoint, before)
    arrivals.write()
    add_values(tmp_path, "".join(later), first)
    read(spark, arrivals, later)
    start_and_wait(spark.sql(selected(name, later)), checkpoint, after)
    assert any(row.added_a is None for row in after)
    assert any(row.added_a is not None for row in after)
    # Rows that were emitted before the restart do not have the columns.
    width = 1 if name in ("semi", "anti") else 2
    wanted = in_batch(spark, arrivals, later, selected(name, later))
    got = [(*row, *[None] * (len(after[0]) - width)) for row in before] + after
    assert not difference(wanted, near(got))


@pytest.mark.parametrize(
    "columns", ["id, k, ts, te", "id, k, w, g, ts, te, v, seq"], ids=["fewer", "others"]
)
def test_other_columns_are_refused(spark: Any, tmp_path: Path, columns: str) -> None:
    arrivals = random_arrivals(tmp_path, random.Random(1), 60, 4)
    checkpoint = tmp_path / "checkpoint"
    arrivals.streams(spark)
    arrivals.write(2)
    some = f"SELECT a.id FROM (SELECT {{}} FROM a) a {JOINS['inner']}"
    start_and_wait(spark.sql(some.format("id, k, v, g, ts, te, w, seq")), checkpoint, [])
    arrivals.write()
    with pytest.raises(Exception, match="STATE_MISMATCH"):
        start_and_wait(spark.sql(some.format(columns)), checkpoint, [])


def test_other_names_of_tables_are_the_same_join(spark: Any, tmp_path: Path) -> None:
    arrivals = random_arrivals(tmp_path, random.Random(3), rows=24, cuts=3, reversed_too=False)
    found: list[Any] = []
    for first, (left, right) in ((2, ("a", "b")), (None, ("x", "y"))):
        arrivals.write(first)
        arrivals.streams(spark)
        ends = f"{left}.ts, {left}.te, {right}.ts, {right}.te"
        query = spark.sql(
            f"SELECT {left}.id, {right}.id bid FROM a {left} LEFT JOIN b {right} "
            f"ON {left}.k = {right}.k AND interval_intersects({ends})"
        )
        start_and_wait(query, tmp_path / "checkpoint", found)
    wanted = in_batch(spark, arrivals, {}, f"SELECT a.id, b.id bid FROM a {JOINS['left']}")
    assert difference(wanted, near(found)) == ""
    assert wanted.total() > 20
