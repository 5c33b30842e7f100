# SPDX-License-Identifier: Apache-2.0
"""Published figures on real data. NOTICE names the sources of the data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.spark.comparison import BROADCAST, OF_MANY_ROWS, Both, physical, sweeps

DATA = Path(__file__).resolve().parents[3] / "sql-examples" / "data"


@pytest.fixture(scope="module")
def tables(spark: Any) -> None:
    for name in ("exons", "fbrain"):
        spark.read.parquet(str(DATA / name)).createOrReplaceTempView(name)
    history = spark.read.csv(str(DATA / "delta_file_history.csv.gz"), header=True, inferSchema=True)
    # Spark reads a compressed file as one partition.
    history.repartition(4).cache().createOrReplaceTempView("history")


EXONS = """
    SELECT count(*) AS n FROM exons e JOIN fbrain f ON e.contig = f.contig
    AND INTERVAL_INTERSECTS(e.pos_start, e.pos_end, f.pos_start, f.pos_end)
"""
CLOSED = """
    SELECT count(*) AS n FROM exons e JOIN fbrain f ON e.contig = f.contig
    AND e.pos_start <= f.pos_end AND f.pos_start <= e.pos_end
"""
HISTORY = """
    SELECT count(*) AS n FROM history a JOIN history b
    ON INTERVAL_INTERSECTS(a.start, a.end, b.start, b.end)
"""
OF_ONE_FOLDER = """
    SELECT a.path_id, b.path_id AS other, greatest(a.start, b.start) AS s, least(a.end, b.end) AS e
    FROM history a JOIN history b ON a.key = b.key AND {0} WHERE a.path_id % 97 = 0
"""


@pytest.mark.parametrize("threshold", ["10MB", "-1"])
@pytest.mark.parametrize(
    ("query", "pairs"), [(EXONS, 54_246), (CLOSED, 54_343), (HISTORY, 172_522_486)]
)
@pytest.mark.usefixtures("tables")
def test_known_answer(spark: Any, conf: Any, query: str, pairs: int, threshold: str) -> None:
    conf({BROADCAST: threshold})
    frame = spark.sql(query)
    assert sweeps(physical(frame)) == 1
    assert frame.first().n == pairs


@pytest.mark.usefixtures("tables")
def test_real_rows(both: Both) -> None:
    called = "ALLEN_DURING(a.start, a.end, b.start, b.end)"
    written = "b.start < a.start AND a.end < b.end"
    both.own = OF_MANY_ROWS
    assert both(OF_ONE_FOLDER.format(called), OF_ONE_FOLDER.format(written)) > 1000
