"""Real data, whose answers other programs know too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from comparison import BROADCAST, physical, sweeps

DATA = Path(__file__).resolve().parent.parent / "sql-examples" / "data"


@pytest.fixture(scope="module", autouse=True)
def tables(spark: Any) -> None:
    for name in ("exons", "fbrain"):
        spark.read.parquet(str(DATA / name)).createOrReplaceTempView(name)
    history = spark.read.csv(
        str(DATA / "delta_file_history.csv.gz"),
        schema="path_id INT, key STRING, start BIGINT, end BIGINT",
        header=True,
    )
    history.createOrReplaceTempView("history")


def answer(spark: Any, query: str) -> int:
    frame = spark.sql(query)
    plan = physical(frame)
    assert sweeps(plan) == 1, plan
    return int(frame.first()[0])


@pytest.mark.parametrize("broadcast", ["100m", "-1"])
def test_exons_in_hotspots(spark: Any, conf: Any, broadcast: str) -> None:
    conf({BROADCAST: broadcast})
    query = """
        SELECT count(*) FROM exons e JOIN fbrain f ON e.contig = f.contig
        AND INTERVAL_INTERSECTS(e.pos_start, e.pos_end, f.pos_start, f.pos_end)
    """
    assert answer(spark, query) == 54_246


@pytest.mark.parametrize("broadcast", ["100m", "-1"])
def test_files_that_lived_at_the_same_time(spark: Any, conf: Any, broadcast: str) -> None:
    """No key, and 4,314 distinct starts among 28,758: ties everywhere."""
    conf({BROADCAST: broadcast})
    query = """
        SELECT count(*) FROM history a JOIN history b
        ON INTERVAL_INTERSECTS(a.start, a.end, b.start, b.end)
    """
    assert answer(spark, query) == 172_522_486
