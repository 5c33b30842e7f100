# SPDX-License-Identifier: Apache-2.0
"""All kinds of worker failures: their error messages, and that no process is left."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

from support.spark.applications import program
from support.spark.comparison import AGGREGATE_RUNS, BROADCAST, configured, physical
from support.spark.interpreters import faulty, interpreter
from support.spark.processes import eventually, workers

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="finds processes through /proc"
)

PYTHON = "spark.sql.intervalsweep.python"
QUERY = (
    "SELECT count(*) AS n FROM (SELECT id AS ts, id + 10 AS te FROM range(1000)) r JOIN "
    "(SELECT id AS ts, id + 15 AS te FROM range(1000)) s ON ALLEN_OVERLAPS(r.ts, r.te, s.ts, s.te)"
)
ROWS = 8_955


def failure(spark: Any, python: str, query: str = QUERY) -> str:
    """The error of a query with workers of this interpreter; asserts that no worker is left."""
    before = workers(spark)
    with configured(spark, {PYTHON: python, BROADCAST: "10MB"}):
        frame = spark.sql(query)
        assert "IntervalSweepJoin" in physical(frame)
        with pytest.raises(Py4JJavaError) as caught:
            frame.collect()
    assert eventually(lambda: workers(spark) <= before), "a failed worker still lives"
    assert spark.sql(QUERY).first().n == ROWS, "the session is broken"
    return str(caught.value)


ENDED = "ended before it answered"
HALF = """
import io
def half(number, runs):
    out, self._out = self._out, io.BytesIO()
    real.Task._send(self, number, runs)
    out.write(self._out.getvalue()[: len(self._out.getvalue()) // 2])
    out.flush()
    os._exit(0)
self._send = half
"""
SAID = {
    "an exception in a kernel": (
        "def broken(*_):\n    raise ArithmeticError('on purpose')\n"
        "real.RunSweep.__iter__ = real.RunSweep.sums = broken",
        ["Traceback (most recent call last)", "ArithmeticError: on purpose", "in _stream"],
    ),
    "no memory": ("bytearray(1 << 60)", ["MemoryError", "spark.executor.pyspark.memory"]),
    "killed": ("os.kill(os.getpid(), 9)", [ENDED, "spark.executor.pyspark.memory"]),
    "an exit": ("os._exit(0)", [ENDED]),
    "half an answer": (HALF, [ENDED]),
    "a text": ("os.write(self._out.fileno(), b'Hello')", ["no answer", "the status"]),
    "a negative length": (
        "os.write(self._out.fileno(), b'\\xff' * 8)",
        ["no answer", "length -1"],
    ),
}
# Definitions for faults that send runs.
RUNS = """
import io, struct
import numpy as np

def runs(box, first, count, size=1):
    return real.RunBatch(*(np.full(size, n, np.int32) for n in (box, first, count)))

def altered(old, new):
    out, self._out = self._out, io.BytesIO()
    self._send(0, runs(0, 0, 1, size=1000))
    out.write(self._out.getvalue().replace(struct.pack("<q", old), struct.pack("<q", new)))
    out.flush()
    self._out = out

def prefixed(length, rest=b""):
    os.write(self._out.fileno(), struct.pack(">iiI", 1, 0, 0xFFFFFFFF))
    os.write(self._out.fileno(), struct.pack("<i", length) + rest)

"""
OUTSIDE = "runs that are not within"
ANSWERS = {
    "a text of a gigabyte": (
        "os.write(self._out.fileno(), struct.pack('>ii', -1, 1 << 30))",
        "a text of the length 1073741824",
    ),
    "a message of no Arrow": ("prefixed(8, b'no Arrow' * 9)", "runs with"),
    "a schema of a gigabyte": ("prefixed(1 << 30)", "1073741824 bytes of metadata"),
    "a schema of a negative length": ("prefixed(-9)", "-9 bytes of metadata"),
    "other columns": (
        "real._RUN_FIELDS = [(c, real.pa.int32()) for c in 'abc']\nself._send(0, runs(0, 0, 1))",
        "the columns",
    ),
    "a batch of a gigabyte": ("altered(12000, 1 << 30)", "1073741824 bytes of 1000 rows"),
    "values outside of the message": ("altered(8000, 1 << 20)", "runs with"),
    "more rows than in the message": ("altered(1000, 1001)", "runs with"),
    "more runs than asked for": ("self._send(0, runs(0, 0, 1, size=1 << 20))", "1048576 rows"),
    "runs of no sweep": ("self._send(7, runs(0, 0, 1))", "runs with"),
    "a box too many": ("self._send(0, runs(1000, 0, 1))", OUTSIDE),
    "points far beyond": ("self._send(0, runs(0, 1 << 30, 1 << 30))", OUTSIDE),
    "a run of no points": ("self._send(0, runs(0, 0, 0))", OUTSIDE),
    "a run that is not counted": ("self._send(0, runs(0, 0, 1))", "runs in its answer"),
    "zeros": ("os.write(self._out.fileno(), bytes(1 << 10))", "that there are 0 rows"),
}
SUMS = {
    "more points than there are": ("self._send(0, runs(0, 0, 1001))", OUTSIDE),
    "no point": ("self._send(0, runs(0, 0, 0))", OUTSIDE),
    "a sum that was not asked for": (
        "self._send(0, real.SumBatch(*runs(0, 0, 1), np.ones((1, 1), np.int64)))",
        "the columns",
    ),
}


@pytest.mark.parametrize("fault", SAID)
def test_what_is_said_of_a_worker_with(spark: Any, tmp_path: Path, fault: str) -> None:
    body, words = SAID[fault]
    python = faulty(tmp_path, body)
    said = failure(spark, python)
    for word in (*words, python):
        assert word in said, f"{word!r} is not in\n{said}"


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_is_none_with(spark: Any, tmp_path: Path, answer: str) -> None:
    """The worker sends one wrong answer, and then goes on as usual."""
    body, words = ANSWERS[answer]
    with configured(spark, {AGGREGATE_RUNS: "false"}):
        said = failure(spark, faulty(tmp_path, RUNS + body))
    assert "sent what is no answer" in said
    assert words in said


@pytest.mark.parametrize("answer", SUMS)
def test_a_sum_is_none_with(spark: Any, tmp_path: Path, answer: str) -> None:
    body, words = SUMS[answer]
    said = failure(spark, faulty(tmp_path, RUNS + body))
    assert "sent what is no answer" in said
    assert words in said


def test_sources_of_another_version_are_named(spark: Any, tmp_path: Path) -> None:
    other = "import pyspark_intervalsweep.protocol as protocol\nprotocol.PROTOCOL = 99\n"
    said = failure(spark, interpreter(tmp_path, modules={"sitecustomize.py": other}))
    assert "the jar speaks protocol 6, this worker 99" in said
    assert "are of different versions" in said


STOP = "os.kill(os.getpid(), 19)"
STOPS = {
    "before it answers": STOP,
    # The rows have arrived, and the worker is asked whether it can serve the next task.
    "after it answered": (
        f"def stop():\n    self._out.flush()\n    {STOP}\nself._keep_resident = stop"
    ),
}


@pytest.mark.parametrize("when", STOPS)
def test_a_stopped_worker_does_not_outlive_a_cancelled_query(
    spark: Any, tmp_path: Path, when: str
) -> None:
    errors: list[Exception] = []

    def run() -> None:
        try:
            spark.sql(QUERY).collect()
        except Exception as error:
            errors.append(error)

    before = workers(spark)
    with configured(spark, {PYTHON: faulty(tmp_path, STOPS[when]), BROADCAST: "10MB"}):
        thread = threading.Thread(target=run)
        thread.start()
        try:
            assert eventually(lambda: stopped(workers(spark) - before), 60)
            assert thread.is_alive()
        finally:
            spark.sparkContext.cancelAllJobs()
            thread.join(20)
    assert not thread.is_alive(), "the query still waits for its worker"
    assert "cancelled" in str(errors[0]).lower()
    assert eventually(lambda: workers(spark) <= before), "a stopped worker is left"
    assert spark.sql(QUERY).first().n == ROWS


def stopped(processes: set[int]) -> bool:
    return any(
        Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "T"
        for pid in processes
    )


@pytest.mark.extended
def test_too_little_memory_for_python_is_said_with_the_setting(tmp_path: Path) -> None:
    """The operating system enforces the limit of Spark's setting."""
    printed = program(
        tmp_path,
        """
        spark = start(spark__executor__pyspark__memory="64m")
        try:
            spark.sql("SELECT * FROM range(9) a JOIN range(9) b ON a.id < b.id").collect()
        except Exception as error:
            print(error)
        print("left", len(workers(spark)))
        """,
    )
    assert "MemoryError" in printed or ENDED in printed, printed
    assert "spark.executor.pyspark.memory" in printed
    assert printed.split()[-2:] == ["left", "0"]
