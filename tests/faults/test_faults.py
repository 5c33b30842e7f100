# SPDX-License-Identifier: Apache-2.0
"""Missing packages, workers that fail or die, and cancelled queries."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from support.spark.applications import program

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="finds processes through /proc"
)

# A join with many runs, as two axes are bounded, and with a residual that makes each pair slow.
SLOW = """
def slow(rows, digit):
    frame = spark.range(rows).selectExpr("id", "id AS ts", "id + 50000 + id % 977 AS te")
    frame.createOrReplaceTempView("r")
    return swept(spark.sql(
        "SELECT count(*) AS n FROM r JOIN r s ON ALLEN_OVERLAPS(r.ts, r.te, s.ts, s.te) "
        f"AND sha2(CAST(r.id * s.id AS STRING), 512) > '{digit}'"))
"""
KILLED = """
ROWS = 300

def pairs():
    ends = [(i, i + 50000 + i % 977) for i in range(ROWS)]
    return sum(ts < other < te < end for ts, te in ends for other, end in ends)

def killed():
    found = workers(spark)
    for pid in found:
        os.kill(pid, signal.SIGKILL)
    return bool(found)

def kill_the_first(ended):
    # A new worker would take far longer, as it loads its packages before it answers.
    while not ended.is_set() and not killed():
        time.sleep(0.05)

def replaced():
    with open(LOG, encoding="utf-8") as log:
        return log.read().count("A lost worker of IntervalSweep is replaced")

os.dup2(os.open(LOG, os.O_CREAT | os.O_WRONLY), 2)
spark = start("local[2]", spark__log__level="WARN")
expected = pairs()  # each hash is greater than "0"
deadline = time.time() + 120
while not replaced() and time.time() < deadline:
    while killed():  # idle ones: only a worker that serves may be the first
        time.sleep(0.01)
    ended = threading.Event()
    thread = threading.Thread(target=kill_the_first, args=(ended,))
    thread.start()
    assert slow(ROWS, "0").first().n == expected
    ended.set()
    thread.join()
print("rows", expected, "replaced", replaced())
"""
CANCELLED = """
def work():
    try:
        outcome.append(slow(200_000, "00").first())
    except Exception as error:
        outcome.append(error)

spark = start()
outcome = []
thread = threading.Thread(target=work)
thread.start()
deadline = time.time() + 60
while not workers(spark) and time.time() < deadline:
    time.sleep(0.05)
time.sleep(3)
busy = workers(spark)
assert busy, "no worker was started"
assert thread.is_alive(), f"the query ended before it was cancelled: {outcome}"
spark.sparkContext.cancelAllJobs()
begin = time.time()
thread.join(20)
assert not thread.is_alive(), "the query still runs"
assert "cancelled" in str(outcome[0]).lower(), outcome
while busy & workers(spark) and time.time() < begin + 10:
    time.sleep(0.05)
print("left", len(busy & workers(spark)), "after", round(time.time() - begin, 1))
query = "SELECT count(*) AS n FROM range(9) a JOIN range(9) b ON a.id < b.id"
assert swept(spark.sql(query)).first().n == 36
"""


def interpreter(folder: Path, body: str) -> Path:
    file = folder / "some-python"
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)
    return file


@pytest.mark.extended
def test_a_python_without_numba_is_named_before_data_is_sent(tmp_path: Path) -> None:
    """The interpreter starts without site-packages, and so without pyarrow and numba."""
    python = interpreter(tmp_path, f'exec "{sys.executable}" -S "$@"')
    printed = program(
        tmp_path,
        f"""
        spark = start(spark__pyspark__python={str(python)!r})
        spark.range(10).selectExpr("id AS ts", "id + 2 AS te").createOrReplaceTempView("r")
        frame = swept(spark.sql(
            "SELECT count(*) FROM r JOIN r s ON ALLEN_OVERLAPS(r.ts, r.te, s.ts, s.te)"))
        try:
            frame.collect()
        except Exception as error:
            print(error)
        else:
            raise AssertionError("a worker without its packages answered")
        """,
    )
    assert "numba" in printed or "pyarrow" in printed or "numpy" in printed, printed
    assert sys.executable in printed or str(python) in printed, printed


@pytest.mark.extended
def test_an_interpreter_that_is_not_there_is_named(tmp_path: Path) -> None:
    printed = program(
        tmp_path,
        """
        spark = start(spark__sql__intervalsweep__python="/nowhere/python3")
        spark.range(10).selectExpr("id AS ts", "id + 2 AS te").createOrReplaceTempView("r")
        try:
            spark.sql("SELECT count(*) FROM r JOIN r s ON r.ts < s.te AND s.ts < r.te").collect()
        except Exception as error:
            print(error)
        else:
            raise AssertionError("an interpreter that is not there answered")
        """,
    )
    assert "/nowhere/python3" in printed
    assert "spark.sql.intervalsweep.python" in printed


@pytest.mark.extended
def test_an_exception_in_the_worker_comes_with_its_traceback(tmp_path: Path) -> None:
    """The start-up code of the interpreter makes a function of pyarrow raise an error."""
    python = interpreter(
        tmp_path,
        f'export PYTHONPATH="{tmp_path}/faulty:$PYTHONPATH"\nexec "{sys.executable}" "$@"',
    )
    (tmp_path / "faulty").mkdir()
    (tmp_path / "faulty" / "sitecustomize.py").write_text(
        "import pyarrow.ipc\n"
        "def broken(*arguments, **named):\n"
        "    raise ArithmeticError('a fault on purpose')\n"
        "pyarrow.ipc.open_stream = broken\n"
    )
    printed = program(
        tmp_path,
        f"""
        spark = start(spark__sql__intervalsweep__python={str(python)!r})
        spark.range(10).selectExpr("id AS ts", "id + 2 AS te").createOrReplaceTempView("r")
        try:
            spark.sql("SELECT count(*) FROM r JOIN r s ON r.ts < s.te AND s.ts < r.te").collect()
        except Exception as error:
            print(error)
        else:
            raise AssertionError("the fault was not met")
        """,
    )
    assert "ArithmeticError: a fault on purpose" in printed
    assert "Traceback (most recent call last)" in printed
    assert sys.executable in printed or str(python) in printed


def test_a_killed_worker_is_replaced(tmp_path: Path) -> None:
    """The task asks a new worker; Spark's local mode would not run a failed task again."""
    log = tmp_path / "log"
    try:
        printed = program(tmp_path, f"LOG = {str(log)!r}\n" + SLOW + KILLED)
    except AssertionError as error:
        raise AssertionError(log.read_text(encoding="utf-8")[-4000:]) from error
    assert int(printed.split()[-1]) > 0, f"no worker was killed while it served: {printed}"


@pytest.mark.extended
def test_a_cancelled_query_leaves_no_worker(tmp_path: Path) -> None:
    printed = program(tmp_path, SLOW + CANCELLED)
    assert printed.split()[:2] == ["left", "0"]
