"""A master and two workers as they run in production: processes of their own, on two hosts."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from applications import clean_environment, program
from interpreters import eventually, faulty
from test_retries import QUERY, of_folder

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="finds processes through /proc"
)
SPARK_HOME = Path(pyspark.__file__).resolve().parent
DEPLOY = "org.apache.spark.deploy"
# Both are this machine's, and for Spark they are two.
HOSTS = ("127.0.0.1", "127.0.0.2")


def start(folder: Path, name: str, host: str, *arguments: str) -> subprocess.Popen[bytes]:
    command = ["bash", str(SPARK_HOME / "bin" / "spark-class"), f"{DEPLOY}.{name}", "--host", host]
    with (folder / f"{name}-{host}.log").open("wb") as log:
        return subprocess.Popen(
            [*command, "--port", "0", "--webui-port", "0", *arguments],
            cwd=folder,
            env=clean_environment(SPARK_HOME=str(SPARK_HOME), SPARK_LOCAL_IP=host),
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    """The address of a cluster with a core on each host."""
    processes = [start(tmp_path, "master.Master", HOSTS[0])]
    try:
        log = tmp_path / f"master.Master-{HOSTS[0]}.log"
        assert eventually(lambda: "I have been elected leader" in log.read_text(), 60)
        (address,) = set(re.findall(r"spark://127\.0\.0\.1:\d+", log.read_text()))
        limits = ("--cores", "1", "--memory", "1g", "--work-dir", str(tmp_path / "work"))
        processes += [start(tmp_path, "worker.Worker", host, *limits, address) for host in HOSTS]
        assert eventually(lambda: log.read_text().count("Registering worker") == 2, 60)
        yield address
    finally:
        for process in processes:
            os.killpg(process.pid, signal.SIGTERM)
        for process in processes:
            process.wait(60)


# The first worker to come here never answers; it is for another host to do its task.
HANGS_ONCE = """
try:
    os.mkdir({marker!r})
except FileExistsError:
    return
while True:
    time.sleep(1)
"""


def test_a_speculative_task_gives_no_pair_twice(tmp_path: Path, master: str) -> None:
    """The task whose worker hangs runs on the other host as well, and only that one counts."""
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
    assert eventually(lambda: not of_folder(tmp_path), 30), "processes are left"
