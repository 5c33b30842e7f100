# SPDX-License-Identifier: Apache-2.0
"""Small key groups and tiny inputs are joined in the task, without a worker, with the same rows."""

from __future__ import annotations

from typing import Any

import pytest

from support.joins import oracle
from support.spark.comparison import BROADCAST, SMALL_GROUPS, Both, configured
from support.spark.metrics import metric

TABLE = """
SELECT id, id % {keys} AS k, id * 7 % 150 AS ts, id * 7 % 150 + id % 90 AS te FROM range({rows})
"""
QUERY = "SELECT r.id AS a, s.id AS b FROM r JOIN s ON {0}"
NAMES = ("INTERVAL_INTERSECTS", "ALLEN_OVERLAPS", "ISEQL_START_PRECEDING", "ALLEN_BEFORE")


def make(spark: Any, rows: int, keys: int) -> None:
    for name in "rs":
        spark.sql(TABLE.format(rows=rows, keys=keys)).createOrReplaceTempView(name)


@pytest.mark.parametrize("threshold", ["10MB", "-1"])
@pytest.mark.parametrize("keys", ["", "r.k = s.k AND "])
def test_a_tiny_query_starts_no_worker(
    spark: Any, conf: Any, both: Both, threshold: str, keys: str
) -> None:
    conf({BROADCAST: threshold})
    make(spark, rows=600, keys=20)
    for name in NAMES[threshold == "-1" :: 2]:
        called, written = (QUERY.format(keys + f(name)) for f in (oracle.call, oracle.formula))
        counts = []
        for limit in ("1048576", "0"):
            with configured(spark, {SMALL_GROUPS: limit}):
                assert both(called, written) > 0
            assert (metric(both.frame, "pythonDataSent") == 0) == (limit != "0")
            counts.append([metric(both.frame, m) for m in ("numOutputRows", "candidates", "runs")])
        assert counts[0] == counts[1], "both ways find the same runs"
        assert min(counts[0]) > 0


def test_large_groups_go_to_the_worker(spark: Any, conf: Any, both: Both) -> None:
    conf({BROADCAST: "-1", SMALL_GROUPS: "100"})
    for keys, is_small in ((300, True), (3, False)):
        make(spark, rows=900, keys=keys)
        on = "r.k = s.k AND " + oracle.call("INTERVAL_INTERSECTS")
        assert both(QUERY.format(on)) > 0
        assert (metric(both.frame, "pythonDataSent") == 0) == is_small


@pytest.mark.extended
@pytest.mark.parametrize("threshold", ["10MB", "-1"])
def test_few_rows_with_many_pairs_need_no_worker_for_one_axis(
    spark: Any, conf: Any, both: Both, threshold: str
) -> None:
    """There are 600 x 600 pairs; each row needs two binary searches of at most 10 steps."""
    make(spark, rows=600, keys=1)
    for limit, name, is_small in (
        ("12000", "ISEQL_START_PRECEDING", True),
        ("12000", "ISEQL_REVERSE_START_PRECEDING", True),
        ("12000", "ALLEN_OVERLAPS", False),
        ("100", "ISEQL_START_PRECEDING", False),
    ):
        conf({BROADCAST: threshold, SMALL_GROUPS: limit})
        called, written = (QUERY.format(f(name)) for f in (oracle.call, oracle.formula))
        assert both(called, written) > 0
        assert (metric(both.frame, "pythonDataSent") == 0) == is_small, name


@pytest.mark.parametrize("limit", ["1048576", "0"])
def test_the_last_group_has_no_row_with_endpoints(
    spark: Any, conf: Any, both: Both, limit: str
) -> None:
    conf({BROADCAST: "-1", SMALL_GROUPS: limit, "spark.sql.shuffle.partitions": "1"})
    for name, end in (("r", "id + 5"), ("s", "if(id % 10 > 6, NULL, id + 5)")):
        spark.sql(
            f"SELECT id, id % 10 AS k, id AS ts, {end} AS te FROM range(60)"
        ).createOrReplaceTempView(name)
    for join in ("JOIN", "LEFT JOIN", "FULL JOIN", "RIGHT JOIN"):
        on = "r.k = s.k AND {}"
        query = f"SELECT r.id AS a, s.id AS b FROM r {join} s ON {on}"
        called, written = (
            query.format(f("INTERVAL_INTERSECTS")) for f in (oracle.call, oracle.formula)
        )
        assert both(called, written) > 0
