# SPDX-License-Identifier: Apache-2.0
"""What joins of streams keep: another join is refused by name."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import joined
import open_intervals
from arrivals import QUICKLY
from joined import ENDS
from open_intervals import named


@pytest.fixture
def streaming(spark: Any, conf: Any) -> Any:
    conf({**QUICKLY, "spark.sql.shuffle.partitions": "1"})
    return spark


JOIN = "SELECT a.id FROM (SELECT id, k, ts, te, v FROM a) a JOIN b ON a.k = b.k AND {} AND a.v < 9"
RELATION = f"interval_intersects({ENDS})"
# What another query has instead, and what the error says: before and now.
CHANGES = {
    "relation": (
        RELATION,
        f"allen_overlaps({ENDS})",
        r"other condition: there it is .*interval_intersects\(.*, here .*allen_overlaps\(",
    ),
    "kind": (" JOIN b", " LEFT JOIN b", "other type of join: there it is INNER, here LEFT OUTER"),
    "columns": (
        "ts, te, v FROM",
        "ts, te, v + 0.5 AS v FROM",
        r"other columns of the left side: there it is .*, v INT, here .*, v DECIMAL",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_another_join_is_refused_with_what_differs(
    streaming: Any, tmp_path: Path, change: str
) -> None:
    arrivals = joined.random_arrivals(tmp_path, random.Random(51), rows=10, cuts=2)
    arrivals.streams(streaming)
    arrivals.write(1)
    text = JOIN.format(RELATION)
    before, after, says = CHANGES[change]
    assert before in text
    joined.start_and_wait(streaming.sql(text), tmp_path / "checkpoint", [])
    arrivals.write()
    other = streaming.sql(text.replace(before, after))
    with pytest.raises(Exception, match=rf"(?s)\[INTERVALSWEEP_STREAM\.STATE_MISMATCH\].*{says}"):
        joined.start_and_wait(other, tmp_path / "checkpoint", [])
    joined.start_and_wait(streaming.sql(text), tmp_path / "checkpoint", [])


def test_another_join_of_open_intervals_is_refused_so(streaming: Any, tmp_path: Path) -> None:
    arrivals = open_intervals.random_arrivals(tmp_path, random.Random(52), rows=5, cuts=2)
    arrivals.streams(streaming)
    arrivals.write(2)

    def start(relation: str) -> None:
        query = open_intervals.joins(streaming, named(relation), "k")
        joined.start_and_wait(query, tmp_path / "checkpoint", [])

    start("ALLEN_OVERLAPS")
    arrivals.write()
    says = r"other condition: there it is .*allen_overlaps\(.*, here .*allen_during\("
    with pytest.raises(Exception, match=rf"(?s)STATE_MISMATCH\].*{says}"):
        start("ALLEN_DURING")
    start("ALLEN_OVERLAPS")
