# SPDX-License-Identifier: Apache-2.0
"""Plans of joins of streams, and errors if they cannot be planned."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

from support.streams import joined
from support.streams.arrivals import QUICKLY
from support.streams.joined import ENDS


@pytest.fixture
def streams(spark: Any, conf: Any, tmp_path: Path) -> Any:
    conf(QUICKLY)
    arrivals = joined.random_arrivals(tmp_path, random.Random(1), rows=2, cuts=1)
    arrivals.write()
    arrivals.streams(spark)
    return spark


@pytest.mark.parametrize(
    ("join", "says"),
    [
        (
            f"a LEFT JOIN b ON a.k = b.k AND allen_overlaps({ENDS})",
            [
                "StreamJoin LeftOuter",
                r"keys \[a\.k = b\.k\]",
                "boxes left",
                r"axes \[b\.ts in \(a\.ts, a\.te\), b\.te in \(a\.te, inf\)\]",
                r"left rows leave at .*\bte\b",
                r"right rows leave at .*\bts\b",
            ],
        ),
        (
            "a JOIN b ON a.v < b.v AND a.w > b.w AND "
            "a.ts BETWEEN b.ts - INTERVAL 3 SECONDS AND b.ts + INTERVAL 4 SECONDS",
            [
                "StreamJoin Inner",
                r"axes \[b\.v in \(a\.v, inf\), b\.w in \(-inf, a\.w\)\]",
                r"left rows leave at .*\bts\b.*3",
                r"right rows leave at .*\bts\b.*4",
            ],
        ),
        (f"a LEFT ANTI JOIN b ON allen_during({ENDS})", ["StreamJoin LeftAnti", "reversed"]),
    ],
    ids=["keys", "inequalities", "anti"],
)
def test_explain_has_what_is_swept_and_when_rows_leave(
    streams: Any, tmp_path: Path, join: str, says: list[str]
) -> None:
    query = joined.start_and_wait(streams.sql(f"SELECT a.id FROM {join}"), tmp_path / "check", [])
    physical = query._jsq.explainInternal(False)
    line = next(line for line in physical.splitlines() if "StreamJoin" in line)
    for part in says:
        assert re.search(part, line), (part, line)
    assert "PartitionedBatches" in physical
    assert "OperatorOutput" in physical


@pytest.mark.parametrize(
    ("condition", "says"),
    [
        ("a.v + b.v > (SELECT max(v) FROM few)", "Conditions with subqueries or Python functions"),
        ("of_python(a.v, b.v)", "of_python"),
        ("a.v + b.v > unix_timestamp(current_timestamp())", "depend on the current time"),
    ],
    ids=["subquery", "python", "now"],
)
def test_what_cannot_be_looked_at_later_is_refused(streams: Any, condition: str, says: str) -> None:
    streams.range(3).selectExpr("id AS v").createOrReplaceTempView("few")
    streams.udf.register("of_python", lambda v, other: v < other, "boolean")
    with pytest.raises(Exception, match=r"\[INTERVALSWEEP_STREAM\.UNSUPPORTED\]") as error:
        streams.sql(f"SELECT a.id FROM a LEFT JOIN b ON allen_overlaps({ENDS}) AND {condition}")
    assert says in str(error.value)
    assert "cannot be joined as streams: " in str(error.value)
