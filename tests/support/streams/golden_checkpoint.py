# SPDX-License-Identifier: Apache-2.0
"""
Checkpoints that were written by streams of earlier versions.

`PYTHONPATH=tests python -m support.streams.golden_checkpoint FILE` writes a checkpoint of this
version, with the rows that were emitted and the input files to come.
The name of the file begins with the name of the query.

Spark stores absolute paths of a checkpoint and of its input files; here they are replaced.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import tarfile
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.spark.comparison import bag
from support.spark.session import session
from support.streams import arrivals, open_intervals
from support.streams.arrivals import SETTINGS


@dataclass(frozen=True)
class Query:
    """A query over two streams, `S` and `R`."""

    text: str
    folders: str = "SR"

    def write(self, folder: Path) -> None:
        arrivals.Arrivals(random.Random(24), rows=600, files=12).write(folder)

    def read(self, spark: Any, folder: Path) -> None:
        """Creates the streams `S` and `R`, and the tables `S_all` and `R_all` with their rows."""
        arrivals.read(spark, folder, LATENESS)


class OpenQuery(Query):
    """A query over ongoing intervals: a row tells that an interval has started, or has ended."""

    def write(self, folder: Path) -> None:
        open_intervals.random_arrivals(folder, random.Random(24), rows=150, cuts=12).write()

    def read(self, spark: Any, folder: Path) -> None:
        rows = open_intervals.arrivals(folder, [])
        rows.tables(spark)
        for name, side in zip("SR", self.folders, strict=True):
            ended = spark.table(side).where("te IS NOT NULL")
            ended.createOrReplaceTempView(f"{name}_all")
        rows.streams(spark)
        for name, side in zip("SR", self.folders, strict=True):
            open_intervals.marked(spark.table(side)).createOrReplaceTempView(name)


QUERIES = {
    "ongoing_join": OpenQuery(
        """SELECT S.id, S.k, R.id AS other FROM {S} S JOIN {R} R
      ON S.k = R.k AND INTERVAL_INTERSECTS(S.ts, S.te, R.ts, R.te)
      WHERE S.id < 1000000 AND R.id < 1000000""",
        folders="ab",
    ),
    "window_union": Query(
        """SELECT S.id, S.k, S.ts, S.x, w.* FROM {S} S LEFT JOIN LATERAL (
      SELECT count(*) c, count(v) n, sum(v) total, min(v) lo, max(x) hi, avg(v) a, min(txt) t,
        sort_array(collect_list(v)) l, max_by(txt, R.id) b, sum(CAST(v AS DECIMAL(12, 2))) e
      FROM {R} R WHERE R.k = S.k AND R.ts BETWEEN S.ts - INTERVAL 15 SECONDS AND S.ts) w ON true"""
    ),
    "bucket_sums": Query(
        """SELECT S.id, S.k, S.ts, w.* FROM {S} S LEFT JOIN LATERAL (
      SELECT count(*) c, count(v) n, sum(v) total, min(v) lo, max(x) hi, min(txt) t
      FROM {R} R WHERE R.ts BETWEEN S.ts - INTERVAL 150 SECONDS AND S.ts) w ON true"""
    ),
    "stream_join": Query(
        """SELECT S.id, S.k, S.ts, S.x, R.id AS other, R.txt
      FROM (SELECT *, ts + INTERVAL 15 SECONDS AS te FROM {S} WHERE ts IS NOT NULL) S
      LEFT JOIN (SELECT *, ts + INTERVAL 9 SECONDS AS te FROM {R} WHERE ts IS NOT NULL) R
      ON S.k = R.k AND INTERVAL_INTERSECTS(S.ts, S.te, R.ts, R.te)"""
    ),
}
LATENESS = 21
ONE_PARTITION = {**SETTINGS, "spark.sql.shuffle.partitions": "1"}
PLACE = b"/a/folder/of/its/own"


def query(archive: Path) -> Query:
    """The query of a checkpoint."""
    return next(query for name, query in QUERIES.items() if archive.name.startswith(name))


def stream(spark: Any, folder: Path, asked: Query) -> Any:
    """Runs the stream over all files; returns the rows that were emitted, as a bag."""
    out = folder / "out"

    def keep(frame: Any, number: int) -> None:
        frame.write.mode("overwrite").parquet(str(out / str(number)))

    asked.read(spark, folder)
    writer = spark.sql(asked.text.format(S="S", R="R")).writeStream.foreachBatch(keep)
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination(300)
    return bag(spark.read.parquet(str(out / "*")).where("id >= 0").collect())


def make(spark: Any, archive: Path) -> None:
    """Reads the first ten files of each stream, and archives the others as the files to come."""
    folder = Path(tempfile.mkdtemp())
    asked = query(archive)
    asked.write(folder)
    hold_back(folder, asked)
    seen = stream(spark, folder, asked)
    (folder / "seen.json").write_text(json.dumps(sorted(seen.elements())))
    shutil.rmtree(folder / "out")
    for crc in folder.rglob(".*.crc"):
        crc.unlink()
    moved(folder, str(folder).encode(), PLACE)
    with tarfile.open(archive, "w:xz") as tar:
        for part in sorted(folder.iterdir()):
            tar.add(part, part.name, filter=_anonymous)
    shutil.rmtree(folder)


def unpack(archive: Path, folder: Path) -> Counter[str]:
    """Creates a folder in which the stream goes on; returns the rows that were emitted before."""
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    moved(folder, PLACE, str(folder).encode())
    return Counter(json.loads((folder / "seen.json").read_text()))


def hold_back(folder: Path, asked: Query) -> None:
    """Keeps all files but the first ten of each stream for later."""
    later = {name: sorted((folder / name).glob("*"))[10:] for name in asked.folders}
    for name, files in later.items():
        (folder / f"later-{name}").mkdir()
        for file in files:
            file.rename(folder / f"later-{name}" / file.name)


def arrive(folder: Path, asked: Query) -> None:
    """Adds the files that were not read before the checkpoint."""
    for name in asked.folders:
        for file in sorted((folder / f"later-{name}").iterdir()):
            file.rename(folder / name / file.name)


def moved(folder: Path, before: bytes, after: bytes) -> None:
    """Replaces paths in the text files of a checkpoint."""
    for file in (folder / "checkpoint").rglob("*"):
        if file.is_file() and file.suffix not in (".zip", ".sst"):
            content = file.read_bytes()
            if before in content:
                file.write_bytes(content.replace(before, after))


def _anonymous(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    return info


def main(archive: Path) -> None:
    spark = session("local[1]", ONE_PARTITION)
    make(spark, archive)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
