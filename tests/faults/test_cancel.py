# SPDX-License-Identifier: Apache-2.0
"""A cancelled query: its tasks end at once, wherever they are, not when the join ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.spark.applications import program
from support.spark.cancelling import PRELUDE

WAYS = {
    "broadcast": ("10MB", ""),
    "by keys": ("-1", "r.k = s.k AND "),
    "by ranges": ("-1", ""),
}
# All pairs match by their intervals, and none by the residual condition, so the task outputs no row
# at which it could notice a kill. 4 * 10^10 pairs take minutes.
REJECTED = "hash(r.id, s.id) = 0 AND r.id + s.id < 0"


@pytest.mark.extended
@pytest.mark.parametrize("way", WAYS)
def test_a_cancelled_task_went_on_expanding_runs_of_which_no_pair_goes_out(
    tmp_path: Path, way: str
) -> None:
    threshold, keys = WAYS[way]
    printed = program(
        tmp_path,
        PRELUDE
        + f"""
spark.conf.set("spark.sql.autoBroadcastJoinThreshold", {threshold!r})
for is_generated in ("true", "false"):
    spark.conf.set("spark.sql.codegen.wholeStage", is_generated)
    on = "ON {keys}" + ALL + " AND {REJECTED}"
    cancelled("SELECT * FROM r JOIN r s " + on)
    cancelled("SELECT * FROM r LEFT SEMI JOIN r s " + on)
""",
    )
    assert len(printed.splitlines()) == 4, printed


@pytest.mark.extended
def test_a_cancelled_task_went_on_expanding_pairs_that_a_filter_above_rejects(
    tmp_path: Path,
) -> None:
    """The filter is slow, so a thousand pairs take as long as millions."""
    printed = program(
        tmp_path,
        PRELUDE
        + """
slow = "reflect('java.util.concurrent.locks.LockSupport', 'parkNanos', 50000L)"
pairs = f"SELECT r.id, s.id AS id2 FROM r JOIN r s ON {ALL}"
query = f"SELECT * FROM ({pairs}) WHERE length({slow}) = -1"
for is_generated in ("true", "false"):
    spark.conf.set("spark.sql.codegen.wholeStage", is_generated)
    cancelled(query)
""",
    )
    assert len(printed.splitlines()) == 2, printed


@pytest.mark.extended
def test_a_cancelled_task_went_on_looking_for_matches_of_a_small_group(tmp_path: Path) -> None:
    """The task joins a small group by itself, and the second axis rejects the candidates."""
    printed = program(
        tmp_path,
        PRELUDE
        + """
spark.conf.set("spark.sql.intervalsweep.smallGroupPairs", str(1 << 62))
spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "10MB")
cancelled("SELECT count(*) FROM r JOIN r s ON r.ts <= s.ts AND s.te < r.te")
""",
    )
    assert len(printed.splitlines()) == 1, printed
