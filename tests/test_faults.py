"""What goes wrong around a worker: the person reads why, and no process is left behind."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from applications import run_program
from comparison import BROADCAST, configured
from interpreters import busy, eventually, faulty, interpreter, workers

PYTHON = "spark.sql.intervalsweep.python"
QUERY = (
    "SELECT count(*) AS n FROM range(100) a JOIN range(100) b ON a.id <= b.id AND b.id < a.id + 5"
)
PAIRS = 490
# 5 * 10^11 pairs: what waits for all of them is not waited for.
ENDLESS = "SELECT {} FROM range(1000000) a JOIN range(1000000) b ON a.id <= b.id"

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")


def jvm(spark: Any) -> int:
    return int(spark._jvm.java.lang.ProcessHandle.current().pid())


def failure(spark: Any, python: str) -> str:
    """The words in which the query fails with this interpreter; with the usual one it succeeds."""
    with configured(spark, {PYTHON: python}), pytest.raises(Exception) as raised:
        spark.sql(QUERY).collect()
    assert spark.sql(QUERY).first().n == PAIRS
    return str(raised.value)


def test_missing_packages_are_named_with_interpreter_and_command(
    spark: Any, tmp_path: Path
) -> None:
    """Without site-packages (-S) Python has only what Spark puts on its path: pyspark."""
    words = failure(spark, interpreter(tmp_path, options="-S"))
    for package in ("numpy", "pyarrow", "numba"):
        assert f"{package} >= " in words
    assert words.count("but it is not installed") >= 3
    assert str(tmp_path / "python") in words, "the interpreter as it was set"
    assert sys.executable in words, "the interpreter that it is"
    assert "-m pip install 'numpy>=" in words


@pytest.mark.parametrize(
    ("package", "module", "problem"),
    [
        ("numba", "__version__ = '0.50.1'", "found 0.50.1"),
        ("pyarrow", "__version__ = '9.0.0'", "found 9.0.0"),
        ("pyarrow", "raise ImportError('no libarrow')", "its import fails: no libarrow"),
    ],
)
def test_package_that_is_old_or_broken_is_named(
    spark: Any, tmp_path: Path, package: str, module: str, problem: str
) -> None:
    words = failure(spark, interpreter(tmp_path, modules={f"{package}/__init__.py": module}))
    assert f"{package} >= " in words
    assert problem in words
    assert sys.executable in words
    assert f"-m pip install '{package}>=" in words


def test_interpreter_that_does_not_exist_is_named_with_the_setting(spark: Any) -> None:
    words = failure(spark, "/no/such/python")
    assert "cannot start a worker with the Python interpreter '/no/such/python'" in words
    assert PYTHON in words


@pytest.mark.parametrize("broadcast", ["10m", "-1"])
def test_exception_in_the_worker_arrives_with_its_traceback(
    spark: Any, conf: Any, tmp_path: Path, broadcast: str
) -> None:
    conf({BROADCAST: broadcast})
    words = failure(spark, faulty(tmp_path, "raise LookupError('of the test')"))
    assert "Traceback (most recent call last)" in words
    assert "LookupError: of the test" in words
    assert "in fault" in words, "the function of the traceback"
    assert str(tmp_path / "python") in words
    assert sys.executable in words


def test_worker_that_always_dies_fails_the_query_in_words(spark: Any, tmp_path: Path) -> None:
    python = faulty(tmp_path, "os.kill(os.getpid(), 9)")
    words = failure(spark, python)
    assert f"The IntervalSweep worker ({python} -m pyspark_intervalsweep.worker) ended" in words
    assert "spark.executor.pyspark.memory" in words


def test_task_whose_worker_was_killed_is_retried(tmp_path: Path) -> None:
    """The first worker of each query kills itself when the rows are there; the marker says so."""
    python = faulty(
        tmp_path,
        f"""
        try:
            os.close(os.open({str(tmp_path / "killed")!r}, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        os.kill(os.getpid(), 9)
        """,
    )
    program = f"""
    from pathlib import Path
    for broadcast in ("10m", "-1"):
        spark.conf.set({BROADCAST!r}, broadcast)
        print(spark.sql({QUERY!r}).first().n, Path("killed").exists())
        Path("killed").unlink()
    """
    settings = {"spark.master": "local[2,4]", PYTHON: python, "spark.sql.shuffle.partitions": "3"}
    assert run_program(tmp_path, program, settings).splitlines() == [f"{PAIRS} True"] * 2


def cancelled(spark: Any, query: str, is_running: Any) -> None:
    """Runs a query in a thread of its own and cancels it, without interrupting threads."""

    def collect() -> None:
        spark.sparkContext.setJobGroup("endless", "cancelled by the test", interruptOnCancel=False)
        spark.sql(query).collect()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(collect)
        try:
            assert eventually(lambda: is_running() or running.done(), 30)
            time.sleep(1)
            assert not running.done(), running.exception()
        finally:
            spark.sparkContext.cancelJobGroup("endless")
        assert "cancelled" in str(running.exception(timeout=30)).lower()


@linux
@pytest.mark.parametrize("doing", ["while True: pass", "time.sleep(1000)"])
def test_cancelled_query_ends_a_worker_that_does_not_answer(
    spark: Any, tmp_path: Path, doing: str
) -> None:
    before = workers(jvm(spark))
    marker = tmp_path / "running"
    python = faulty(tmp_path, f"Path({str(marker)!r}).touch()\n{doing}")
    with configured(spark, {PYTHON: python}):
        cancelled(spark, QUERY, marker.exists)
    assert eventually(lambda: workers(jvm(spark)) <= before), "the worker is gone"
    assert spark.sql(QUERY).first().n == PAIRS


@linux
@pytest.mark.parametrize("broadcast", ["10m", "-1"])
def test_cancelled_query_ends_its_tasks_and_workers(
    spark: Any, conf: Any, tmp_path: Path, broadcast: str
) -> None:
    before = workers(jvm(spark))
    conf({BROADCAST: broadcast, PYTHON: interpreter(tmp_path)})
    cancelled(spark, ENDLESS.format("sum(a.id + b.id)"), lambda: workers(jvm(spark)) - before)
    tracker = spark.sparkContext._jsc.sc().statusTracker()
    tasks = [tracker.getExecutorInfos()[k].numRunningTasks for k in range(1)]
    assert eventually(lambda: all(count() == 0 for count in tasks)), "no task runs on"
    assert eventually(lambda: workers(jvm(spark)) <= before), "no worker is left"


@linux
@pytest.mark.parametrize("broadcast", ["10m", "-1"])
def test_limit_stops_the_join_and_its_worker(
    spark: Any, conf: Any, tmp_path: Path, broadcast: str
) -> None:
    conf({BROADCAST: broadcast, PYTHON: interpreter(tmp_path)})
    assert len(spark.sql(ENDLESS.format("a.id, b.id") + " LIMIT 5").collect()) == 5
    assert eventually(lambda: not busy(jvm(spark))), "no worker goes on"


@linux
@pytest.mark.parametrize("broadcast", ["10m", "-1"])
def test_idle_workers_serve_the_next_queries(
    spark: Any, conf: Any, tmp_path: Path, broadcast: str
) -> None:
    before = workers(jvm(spark))
    conf({BROADCAST: broadcast, PYTHON: interpreter(tmp_path)})
    seen = set()
    for _ in range(10):
        assert spark.sql(QUERY).first().n == PAIRS
        seen |= workers(jvm(spark)) - before
    assert 1 <= len(seen) <= 2, "one for each of the two cores, for all ten queries"
