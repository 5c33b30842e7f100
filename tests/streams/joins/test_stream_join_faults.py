# SPDX-License-Identifier: Apache-2.0
"""Joins of streams whose processes are killed: the sink has each row once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from support.spark.applications import SPARK_HOME
from support.streams import join_cases, joined, streaming_process
from support.streams.join_cases import Case

pytestmark = pytest.mark.extended


def planned(spark: Any, arrivals: joined.Arrivals, cases: list[Case]) -> list[Case]:
    arrivals.streams(spark)
    frame = spark.sql(join_cases.union(cases))
    return join_cases.as_planned(cases, frame._jdf.queryExecution().analyzed().toString())


@pytest.fixture
def streaming(spark: Any, conf: Any) -> Any:
    conf({joined.PROVIDER: joined.ROCKSDB, "spark.sql.shuffle.partitions": "2"})
    return spark


def test_killed_between_and_within_micro_batches(streaming: Any, tmp_path: Path) -> None:
    rng = random.Random(31)
    arrivals = joined.random_arrivals(tmp_path, rng, rows=60, cuts=8)
    cases = planned(streaming, arrivals, join_cases.random_cases(rng, 6))
    arrivals.write()
    settings = {"spark.sql.shuffle.partitions": "2"}
    streaming_process.describe_joins(arrivals, join_cases.union(cases), settings)
    assert streaming_process.run_and_kill([tmp_path], rng, most=5) > 2
    wanted = join_cases.wanted(arrivals, cases)
    assert wanted.total() > 100
    assert joined.bag(joined.written(streaming, tmp_path)) == wanted


def test_an_executor_is_lost_and_no_pair_with_it(streaming: Any, tmp_path: Path) -> None:
    """Completeness as in the SPO-Join paper (Section 6): all pairs are counted."""
    rng = random.Random(32)
    arrivals = joined.random_arrivals(tmp_path, rng, rows=800, cuts=10)
    condition = "a.w > b.w AND a.v < b.v AND abs(a.seq - b.seq) < 100"
    cases = [Case("INNER", condition, condition, by_number=True)]
    arrivals.write()
    settings = {"spark.sql.shuffle.partitions": "4"}
    streaming_process.describe_joins(arrivals, join_cases.union(cases), settings)
    environment = {
        **os.environ,
        "SPARK_HOME": str(SPARK_HOME),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": "--conf spark.executor.memory=512m pyspark-shell",
    }
    command = streaming_process.command([tmp_path], "local-cluster[2,1,1024]")
    process = subprocess.Popen(command, env=environment)
    try:
        for commits in (2, 5):
            wait_for(process, tmp_path, commits)
            os.kill(executors(process.pid)[0], signal.SIGKILL)
        assert process.wait(timeout=500) == 0
    finally:
        process.kill()
    wanted = join_cases.wanted(arrivals, cases)
    found = joined.bag(joined.written(streaming, tmp_path))
    assert (found.total(), wanted.total() > 1000) == (wanted.total(), True)
    assert found == wanted


def wait_for(process: subprocess.Popen[bytes], folder: Path, commits: int) -> None:
    while len(list((folder / "checkpoint" / "commits").glob("[0-9]*"))) < commits:
        assert process.poll() is None, "it ended before a process was killed"
        time.sleep(0.05)


def executors(pid: int) -> list[int]:
    """The executors among the descendants of a process."""
    found: list[int] = []
    # Some processes end during the search.
    with suppress(FileNotFoundError, ProcessLookupError):
        if b"ExecutorBackend" in Path(f"/proc/{pid}/cmdline").read_bytes():
            found.append(pid)
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += executors(int(child))
    return found
