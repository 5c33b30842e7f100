# SPDX-License-Identifier: Apache-2.0
"""A cancelled query: its tasks end at once, wherever they are, and not with the join."""

from __future__ import annotations

from pathlib import Path

import pytest

from applications import program

# All pairs match the intervals, and none the rest of the condition: nothing goes out in whose way a
# kill could be noticed. 4 * 10^10 pairs take minutes.
PRELUDE = """
def tasks():
    # Threads that run a task: a driver that has given a task up does not count.
    stacks = spark._jvm.java.lang.Thread.getAllStackTraces().values()
    lowest = [[frame.getClassName() for frame in list(stack)[-5:]] for stack in stacks]
    return sum("org.apache.spark.executor.Executor$TaskRunner" in frames for frames in lowest)

def await_tasks(wanted, seconds):
    begin = time.time()
    found = tasks()
    while (found > 0) != wanted and time.time() < begin + seconds:
        time.sleep(0.1)
        found = tasks()
    assert (found > 0) == wanted, f"{found} tasks after {time.time() - begin:.1f} s"
    return time.time() - begin

def cancelled(query, busy=3):
    frame = swept(spark.sql(query))
    outcome = []
    def work():
        try:
            outcome.append(frame.collect())
        except Exception as error:
            outcome.append(error)
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    # The jobs before the join end by themselves.
    for _ in range(9):
        await_tasks(True, 60)
        time.sleep(busy)
        if tasks() > 0:
            break
    else:
        raise AssertionError(f"no long task: {outcome}")
    assert thread.is_alive(), f"ended before it was cancelled: {outcome}"
    spark.sparkContext.cancelAllJobs()
    seconds = await_tasks(False, 10)
    thread.join(20)
    assert "cancelled" in str(outcome[0]).lower(), outcome
    print(round(seconds, 1), query[:60])

def tables(rows):
    frame = spark.range(rows).selectExpr("id", "0 AS k", "id AS ts", "id + 1000000 AS te")
    frame.createOrReplaceTempView("r")

spark = start()
tables(200_000)
ALL = "r.ts < s.te AND s.ts < r.te"
"""
WAYS = {
    "broadcast": ("10MB", ""),
    "by keys": ("-1", "r.k = s.k AND "),
    "by ranges": ("-1", ""),
}
REJECTED = "hash(r.id, s.id) = 0 AND r.id + s.id < 0"


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


def test_a_cancelled_task_went_on_expanding_pairs_that_a_filter_above_rejects(
    tmp_path: Path,
) -> None:
    """A slow one, so that a thousand pairs take as long as millions."""
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
    """In the task itself, candidates that the second axis rejects."""
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
