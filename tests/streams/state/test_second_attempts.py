# SPDX-License-Identifier: Apache-2.0
"""
A micro-batch that is run twice, because the query was killed before it was committed.

The state that the second attempt writes is the same as that of the first one. So Spark may follow a
snapshot of the first attempt by the changes of the second one.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException

from support.streams import arrivals

LATENESS = 20
BEFORE = "R.ts BETWEEN S.ts - INTERVAL 30 SECONDS AND S.ts"
QUERIES = {
    "window union": "SELECT S.id, w.* FROM S LEFT JOIN LATERAL (SELECT count(*) n, sum(v) v FROM R "
    f"WHERE R.k = S.k AND {BEFORE}) w ON true",
    "join": "SELECT S.id, R.id AS other FROM S JOIN R ON R.k = S.k AND interval_intersects("
    "S.ts, S.ts + INTERVAL 30 SECONDS, R.ts, R.ts + INTERVAL 1 SECOND)",
    "history": "SELECT * FROM sequenced(TABLE(SELECT k, count(*) AS n FROM temporal_window(TABLE("
    "SELECT * FROM validtime(TABLE(SELECT * FROM S WHERE ts > '2000-01-01'), 'ts')), "
    "sliding => INTERVAL 30 SECONDS) GROUP BY k))",
    "history of changes": "SELECT * FROM sequenced(TABLE(SELECT k, v FROM "
    "validtime(TABLE(S), 'ts', until_next => array('k'))))",
}


def files(folder: Path, wanted: Iterable[int]) -> None:
    """Lets only these files of each stream arrive, of those that wait."""
    for name in "SR":
        for number in wanted:
            waiting = folder / "waiting" / name / f"{number:04}.parquet"
            shutil.copy2(waiting, folder / name)


def run(spark: Any, query: str, folder: Path) -> None:
    arrivals.read(spark, folder, LATENESS + 1)
    arrivals.run(spark.sql(query), folder)


def rows(spark: Any, folder: Path) -> Any:
    return sorted(map(repr, spark.read.parquet(str(folder / "out")).collect()))


def made(folder: Path, rows: int = 90) -> Path:
    some = arrivals.Arrivals(random.Random(5), rows=rows, files=4, lateness=LATENESS)
    some.write(folder / "waiting")
    for name in "SR":
        (folder / name).mkdir(parents=True)
    return folder


def kill_in_first_batch(folder: Path) -> None:
    """Leaves what the first micro-batch has written when it was killed before its commit."""
    checkpoint = folder / "checkpoint"
    shutil.rmtree(checkpoint / "commits")
    shutil.rmtree(folder / "out")
    later = [*(checkpoint / "offsets").glob("[!0]*"), *checkpoint.glob("state/*/*/[!1]*.*")]
    for path in later:
        if path.is_file():
            path.unlink()


@pytest.mark.extended
@pytest.mark.parametrize("name", QUERIES)
def test_a_snapshot_of_the_first_attempt_is_followed(
    streaming: Any, conf: Any, tmp_path: Path, name: str
) -> None:
    """Rows of the second attempt were not found, so a killed query could never restart."""
    conf({**arrivals.QUICKLY, "spark.sql.shuffle.partitions": "2"})
    query = QUERIES[name]
    whole = made(tmp_path / "whole")
    files(whole, range(5))
    run(streaming, query, whole)

    folder = made(tmp_path / "killed")
    state = folder / "checkpoint" / "state"
    files(folder, [0])
    run(streaming, query, folder)
    kill_in_first_batch(folder)
    shutil.copytree(state, tmp_path / "first")
    assert len(list(state.glob("*/*/1.zip"))) >= 2

    files(folder, [1])
    run(streaming, query, folder)
    assert not list(state.glob("*/*/[!1]*.zip"))
    shutil.copytree(tmp_path / "first", state, dirs_exist_ok=True)

    files(folder, [2, 3, 4])
    run(streaming, query, folder)
    assert rows(streaming, folder) == rows(streaming, whole)
    assert len(rows(streaming, whole)) > 30


def test_a_state_without_some_rows_is_refused(streaming: Any, conf: Any, tmp_path: Path) -> None:
    conf({**arrivals.QUICKLY, "spark.sql.shuffle.partitions": "1"})
    query = QUERIES["window union"]
    few, many = made(tmp_path / "few", rows=8), made(tmp_path / "many")
    for folder in (few, many):
        files(folder, [0, 1])
        run(streaming, query, folder)
    for first in few.glob("checkpoint/state/*/*/*1.*"):
        store = many / first.parent.relative_to(few)
        shutil.copytree(first.parent / "SSTs", store / "SSTs", dirs_exist_ok=True)
        shutil.copy2(first, store)
    files(many, [2, 3, 4])
    with pytest.raises(StreamingQueryException, match=r"STATE_INCOMPLETE\].*lacks \d+ rows"):
        run(streaming, query, many)
