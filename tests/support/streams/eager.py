# SPDX-License-Identifier: Apache-2.0
"""
Window unions of streams in update mode: rows are emitted at once, with later revisions.

After each micro-batch the last revision of each row must equal the row of Spark's batch query over
the rows that have arrived.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from support.spark.comparison import OWN_PLAN, bag, configured, difference, rows_of_each
from support.streams.arrivals import SCHEMA, ended

MARKS = "window_revision() AS revision, window_is_final() AS final"


def run(frame: Any, folder: Path, seconds: int = 300) -> Any:
    """Runs a stream over all files; each micro-batch writes into its own folder."""

    def write(rows: Any, number: int) -> None:
        rows.write.mode("overwrite").parquet(str(folder / "out" / f"batch={number}"))

    writer = frame.writeStream.outputMode("update").trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    return ended(writer.foreachBatch(write).start(), seconds)


def written(spark: Any, folder: Path) -> list[dict[str, Any]]:
    """The revisions of rows, in order of emission, without those of the row that is far ahead."""
    rows = spark.read.parquet(str(folder / "out")).where("id >= 0").collect()
    found = [row.asDict() for row in rows]
    return sorted(found, key=lambda r: (r["batch"], r["revision"]))


def last(revisions: list[dict[str, Any]], batch: int) -> Any:
    """The last revision of each row up to a micro-batch, as a bag."""
    marks = ("batch", "revision", "final")
    rows = {}
    for r in revisions:
        if r["batch"] <= batch:
            values = tuple(value for name, value in r.items() if name not in marks)
            rows[(r.get("u"), r["id"])] = values
    return bag(rows.values())


def arrived(folder: Path) -> dict[int, int]:
    """The number of files of each stream that were read by the end of each micro-batch."""
    found = {}
    for file in (folder / "checkpoint" / "offsets").glob("[0-9]*"):
        offsets = [json.loads(line) for line in file.read_text().splitlines()[2:] if line != "-"]
        found[int(file.name)] = 1 + max(offset["logOffset"] for offset in offsets)
    return found


def in_batch(spark: Any, folder: Path, text: str, counts: Iterable[int]) -> dict[int, Any]:
    """Spark's own rows for the first files of each stream, by the number of files.

    One query computes several numbers, because each query costs time, as does each union branch.
    """
    with configured(spark, OWN_PLAN):
        found = rows_of_each(
            sorted(set(counts)), lambda count: _of_files(spark, folder, text, count)
        )
    return {count: bag(rows) for count, rows in found.items()}


def _of_files(spark: Any, folder: Path, text: str, count: int) -> Any:
    for name in "SR":
        some = [str(file) for file in sorted((folder / name).glob("*.parquet"))[:count]]
        spark.read.schema(SCHEMA).parquet(*some).createOrReplaceTempView(f"{name}_some")
    rows = spark.sql(text.format(S="S_some", R="R_some")).where("id >= 0")
    return rows.drop("revision", "final")


def differences(spark: Any, folder: Path, text: str, some: list[int] | None = None) -> str:
    """A message about wrong revisions in some micro-batches, by default in all; empty if right."""
    revisions, files = written(spark, folder), arrived(folder)
    some = sorted(files) if some is None else some
    wanted = in_batch(spark, folder, text, (files[batch] for batch in some))
    for batch in some:
        if found := difference(wanted[files[batch]], last(revisions, batch)):
            return f"{text}\nafter micro-batch {batch}, of {files[batch]} files:\n{found}"
    return out_of_order(revisions)


def out_of_order(revisions: list[dict[str, Any]]) -> str:
    """A message unless revisions count from 1 on, and the last one, and only it, is final."""
    seen: dict[Any, dict[str, Any]] = {}
    for r in revisions:
        key = (r.get("u"), r["id"])
        before = seen.get(key, {"revision": 0, "final": False})
        if r["revision"] != before["revision"] + 1 or before["final"]:
            return f"{r} came after {before}"
        seen[key] = r
    return "".join(f"{r} is not final" for r in seen.values() if not r["final"])
