# SPDX-License-Identifier: Apache-2.0
"""The last row before each row, by `max_by` in a subquery: by key, and without pairs."""

from __future__ import annotations

from typing import Any

import pytest

import intervalsweep
from support.spark.comparison import BROADCAST, Both, physical

# Times are unique per key, so each answer is the only one. Some values and orders are NULL.
PROBE = (
    "SELECT id, if(id % 11 = 3, NULL, id % 7) AS k, id * 7919 % 401 AS ts, "
    "if(id % 5 = 2, NULL, id % 13) AS v, concat('v', id) AS c, "
    "if(id % 6 = 1, NULL, id * 104729 % 997) AS o FROM range(400)"
)
BASE = "SELECT id, if(id % 17 = 5, NULL, id % 8) AS k, id * 3571 % 500 - 40 AS ts FROM range(150)"
BEFORE = "SELECT {0} FROM r WHERE r.k = s.k AND r.ts <= s.ts"
QUERIES = {
    "left": f"SELECT s.id, w.* FROM s LEFT JOIN LATERAL ({BEFORE}) w ON true",
    "inner": f"SELECT s.id, w.* FROM s JOIN LATERAL ({BEFORE}) w ON true",
    "scalar": f"SELECT s.id, ({BEFORE}) AS x FROM s",
}
LAST = {
    "value": "max_by(r.v, r.ts)",
    "text": "max_by(r.c, r.ts)",
    "first": "min_by(r.v, r.ts)",
    "other order": "max_by(r.v, r.o)",
    "computed": "max_by(r.v + 1, -r.o)",
}


@pytest.fixture(scope="module", autouse=True)
def views(spark: Any) -> None:
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW r AS {PROBE}")
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW s AS {BASE}")


@pytest.mark.parametrize("threshold", ["-1", "10MB"])
@pytest.mark.parametrize("shape", list(QUERIES))
@pytest.mark.parametrize("name", list(LAST))
def test_last_row_by_key(
    spark: Any, conf: Any, both: Both, name: str, shape: str, threshold: str
) -> None:
    conf({BROADCAST: threshold})
    query = QUERIES[shape].format(LAST[name])
    assert both(query) == 150
    report = intervalsweep.why_not(spark.sql(query))[0]
    assert "keys [" in str(report.how), report
    if name in ("other order", "computed"):
        assert "runs for the aggregate above" in str(report.how), report
        assert "StreamingGroupAggregate" in physical(both.frame)
    else:
        assert str(report.how).endswith("first 1" if name == "first" else "last 1"), report
