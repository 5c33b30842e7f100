# SPDX-License-Identifier: Apache-2.0
"""Key groups that do not fit into memory and are joined in chunks, with the same rows."""

from __future__ import annotations

from typing import Any

import pytest

from support.joins import oracle
from support.joins.join_types import QUERIES
from support.spark.comparison import BROADCAST, SMALL_GROUPS, Both

# With a batch of one row, a chunk has 64 build rows.
PARTS = {
    BROADCAST: "-1",
    "spark.sql.intervalsweep.batchRows": "1",
    "spark.sql.shuffle.partitions": "2",
}
TABLE = """
SELECT id, if(id % 19 = 0, NULL, if(id < 200, 0, id % 50)) AS k1, id % 4 AS x,
  if(id % 3 = 0, 'a', 'b') AS k2, if(id % 17 = 0, NULL, id * {0} % 307) AS ts,
  id * {0} % 307 + id % 13 - 1 + if(id % 29 = 0, 400, 0) AS te FROM range({1})
"""
RESIDUALS = ("", " AND r.x < s.x", " AND r.id > 20 AND s.id > 20")


@pytest.fixture(scope="module")
def tables(spark: Any) -> None:
    """A key with 200 rows, and small keys; without keys, all rows are one group."""
    for name, step, rows in (("r", 7, 330), ("s", 11, 300)):
        spark.sql(TABLE.format(step, rows)).createOrReplaceTempView(name)


def test_a_row_without_a_start_is_returned_once_however_many_parts_it_meets(
    both: Both, tables: None
) -> None:
    """The rows of `s` with the large key take several chunks. A row of `r` meets each chunk."""
    query = QUERIES["left"].format(n=0, on="r.k1 = s.k1 AND {}")
    called, written = (
        query.format(relation("ISEQL_START_PRECEDING"))
        for relation in (oracle.call, oracle.formula)
    )
    assert both(called, written, ways=[PARTS]) > 330
    unmatched = {row.a for row in both.rows if row.c is None}
    assert unmatched >= {17, 34, 51}, "their start is NULL, their key is the large one"


@pytest.mark.parametrize("kind", ["inner", "left", "right", "full", "semi", "anti", "exists or"])
def test_same_rows(both: Both, tables: None, kind: str) -> None:
    template = QUERIES.get(kind, QUERIES["left"].replace("LEFT", "INNER"))
    names = ("INTERVAL_INTERSECTS", "ALLEN_OVERLAPS", "ISEQL_REVERSE_START_PRECEDING")
    called, written = [], []
    for n, residual in enumerate(RESIDUALS):
        for keys in ("", "r.k1 = s.k1 AND "):
            for query, relation in ((called, oracle.call), (written, oracle.formula)):
                on = keys + relation(names[n]) + residual
                query.append(template.format(n=n, on=on))
    ways = (PARTS, {**PARTS, SMALL_GROUPS: "1000000"})
    assert both(" UNION ALL ".join(called), " UNION ALL ".join(written), 6, ways) > 200
