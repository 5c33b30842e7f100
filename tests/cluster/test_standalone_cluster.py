# SPDX-License-Identifier: Apache-2.0
"""A master and two workers as in production: separate processes, on two hosts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.spark.applications import program
from support.spark.interpreters import faulty
from support.spark.processes import eventually, with_modules_of
from support.spark.programs import QUERY
from support.spark.servers import SPARK_HOME, standalone_cluster

pytestmark = [
    pytest.mark.extended,
    pytest.mark.skipif(
        not Path("/proc/self/stat").exists(), reason="finds processes through /proc"
    ),
]


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    with standalone_cluster(tmp_path) as address:
        yield address


# The first worker that runs this never answers, so another host must run its task.
HANGS_ONCE = """
try:
    os.mkdir({marker!r})
except FileExistsError:
    return
while True:
    time.sleep(1)
"""


def test_a_speculative_task_gives_no_pair_twice(tmp_path: Path, master: str) -> None:
    """The task whose worker hangs also runs on the other host; only the second run counts."""
    marker = tmp_path / "hangs"
    python = faulty(tmp_path, HANGS_ONCE.format(marker=str(marker)))
    printed = program(
        tmp_path,
        QUERY
        + f"""
spark = start(
    {master!r},
    spark__executor__memory="512m",
    spark__sql__intervalsweep__python={python!r},
    spark__sql__autoBroadcastJoinThreshold="-1",
    spark__speculation="true",
    spark__speculation__interval="100ms",
    spark__speculation__multiplier="1.1",
    spark__speculation__quantile="0.25",
    spark__speculation__minTaskRuntime="500ms",
)
query, formula = queries("FULL")
expected = by_spark(formula)
frame = swept(spark.sql(query))
assert "by ranges" in frame._jdf.queryExecution().executedPlan().toString()
got = rows(frame)
assert os.path.isdir({str(marker)!r}), "no worker hung"
assert got == expected, "rows differ"
print("same", len(got))
spark.stop()
""",
        PYSPARK_PYTHON=sys.executable,
        SPARK_HOME=str(SPARK_HOME),
    )
    assert "same" in printed
    assert eventually(lambda: not with_modules_of(tmp_path), 30), "processes are left"
