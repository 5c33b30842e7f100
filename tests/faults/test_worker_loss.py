# SPDX-License-Identifier: Apache-2.0
"""Workers that are lost or stuck, settings of Spark that touch workers, and failing neighbours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

from support.spark.applications import program
from support.spark.comparison import BROADCAST, configured, physical
from support.spark.interpreters import faulty, interpreter
from support.spark.processes import eventually, workers

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="finds processes through /proc"
)

PYTHON = "spark.sql.intervalsweep.python"
TIMEOUT = "spark.sql.intervalsweep.workerTimeout"
JOIN = (
    "SELECT count(*) AS n FROM (SELECT id AS ts, id + 10 AS te FROM range(1000)) r JOIN "
    "(SELECT id AS ts, id + 15 AS te FROM range(1000)) s ON ALLEN_OVERLAPS(r.ts, r.te, s.ts, s.te)"
)
HISTORY = """
    SELECT count(*) AS n FROM (SELECT * FROM sequenced(TABLE(
      SELECT sum(id) AS total FROM (SELECT * FROM validtime(TABLE(
        SELECT id, id AS ts, id + 10 AS te FROM range(1000)), 'ts', 'te')))))"""
# An aggregate without groups also has a row before the first and after the last period.
RESULTS = {JOIN: 8_955, HISTORY: 1_009 + 2}


def answer(spark: Any, query: str, python: str, **settings: str) -> int:
    with configured(spark, {PYTHON: python, BROADCAST: "10MB", **settings}):
        frame = spark.sql(query)
        assert "IntervalSweepJoin" in physical(frame) or "PeriodSweep" in physical(frame)
        return int(frame.first().n)


def error(spark: Any, python: str, **settings: str) -> str:
    before = workers(spark)
    with pytest.raises(Py4JJavaError) as caught:
        answer(spark, JOIN, python, **settings)
    assert eventually(lambda: workers(spark) <= before), "a worker is left"
    assert spark.sql(JOIN).first().n == RESULTS[JOIN], "the session is broken"
    return str(caught.value)


LOST = {
    "killed": "os.kill(os.getpid(), 9)",
    "an exit in the middle of an answer": (
        "import io\n"
        "def half(number, runs):\n"
        "    out, self._out = self._out, io.BytesIO()\n"
        "    real.Task._send(self, number, runs)\n"
        "    out.write(self._out.getvalue()[:40])\n"
        "    out.flush()\n"
        "    os._exit(0)\n"
        "self._send = half"
    ),
}


@pytest.mark.parametrize(
    ("how", "query"),
    [*((how, JOIN) for how in LOST), ("killed", HISTORY)],
    ids=[*LOST, "killed, of a history"],
)
def test_a_lost_worker_is_replaced_once(spark: Any, tmp_path: Path, how: str, query: str) -> None:
    """Spark's local mode tries each task once, so a second try of the task cannot hide the loss."""
    mark = tmp_path / "lost"
    body = "\n".join(f"    {line}" for line in LOST[how].splitlines())
    fault = f"if not os.path.exists({str(mark)!r}):\n    open({str(mark)!r}, 'w').close()\n{body}"
    assert answer(spark, query, faulty(tmp_path, fault)) == RESULTS[query]
    assert mark.exists(), "no worker was lost"


@pytest.mark.extended
def test_a_worker_that_does_nothing_is_ended(spark: Any, tmp_path: Path) -> None:
    said = error(spark, faulty(tmp_path, "os.kill(os.getpid(), 19)"), **{TIMEOUT: "10s"})
    assert "did nothing for 10 s while a task waited for it" in said
    assert TIMEOUT in said


@pytest.mark.extended
def test_a_worker_that_computes_for_longer_than_the_timeout_is_not_ended(
    spark: Any, tmp_path: Path
) -> None:
    busy = "end = time.process_time() + 12\nwhile time.process_time() < end: pass"
    assert answer(spark, JOIN, faulty(tmp_path, busy), **{TIMEOUT: "10s"}) == RESULTS[JOIN]


@pytest.mark.extended
def test_an_interpreter_that_never_answers_is_an_error(spark: Any, tmp_path: Path) -> None:
    silent = interpreter(tmp_path, modules={"sitecustomize.py": "import time\ntime.sleep(20)\n"})
    said = error(spark, silent, **{TIMEOUT: "2s"})
    assert "cannot start a worker" in said
    assert "did not answer within 2 s" in said


SETTINGS = {
    "workers that serve one task": {"spark.python.worker.reuse": "false"},
    "no daemon": {"spark.python.use.daemon": "false"},
    "one task and no daemon": {
        "spark.python.worker.reuse": "false",
        "spark.python.use.daemon": "false",
    },
    "Unix sockets": {"spark.python.unix.domain.socket.enabled": "true"},
    "one idle worker": {"spark.python.factory.idleWorkerMaxPoolSize": "1"},
    "a fault handler": {"spark.python.worker.faulthandler.enabled": "true"},
    "an idle timeout": {
        "spark.python.worker.idleTimeoutSeconds": "1",
        "spark.python.worker.killOnIdleTimeout": "true",
    },
    "workers killed at a failed flush": {"spark.python.daemon.killWorkerOnFlushFailure": "true"},
    "logging of workers": {"spark.sql.pyspark.worker.logging.enabled": "true"},
    "limited memory": {"spark.executor.pyspark.memory": "4g"},
}


@pytest.mark.extended
@pytest.mark.parametrize("which", SETTINGS)
def test_queries_end_under_each_setting_of_spark_for_workers(tmp_path: Path, which: str) -> None:
    """With workers that serve one task, the second query never ended."""
    printed = program(
        tmp_path,
        f"""
        from pyspark.sql.functions import udf
        settings = {SETTINGS[which]!r}
        spark = start(**settings)
        assert all(spark.sparkContext.getConf().get(key) == settings[key] for key in settings)
        plus = udf(lambda x: x + 1, "long")
        for number in range(3):
            print(spark.sql({JOIN!r}).first().n, spark.sql({HISTORY!r}).first().n,
                  len(spark.sql({JOIN.replace("count(*) AS n", "*")!r} + " LIMIT 5").collect()),
                  spark.range(9).select(plus("id")).count())
        """,
    )
    assert printed.split() == ["8955", "1011", "5", "9"] * 3


NEIGHBOURS = """
spark = start()
spark.sql(
    "SELECT id, id % 17 AS k, id * 7919 % 20000 AS ts, id * 7919 % 20000 + 1 + id % 400 AS te "
    "FROM range(8000)").createOrReplaceTempView("r")
good = ("SELECT count(*) AS n, sum(a.id * 3 + b.id) AS s FROM r a JOIN r b "
        "ON a.k = b.k AND ALLEN_OVERLAPS(a.ts, a.te, b.ts, b.te)")
bad = ("SELECT count(*), sum(1 DIV (a.id - b.id)) FROM r a JOIN r b "
       "ON a.ts < b.te AND b.ts < a.te AND a.k = b.k")
expected = swept(spark.sql(good)).collect()
assert expected[0].n > 0
until = time.time() + SECONDS
failed, innocent, good_ones = [], [], []

def fail():
    while time.time() < until:
        try:
            spark.sql(bad).collect()
        except Exception as error:
            failed.append("DIVIDE_BY_ZERO" in str(error))

def work():
    while time.time() < until:
        try:
            good_ones.append(spark.sql(good).collect() == expected)
        except Exception as error:
            innocent.append(str(error)[:2000])

threads = [threading.Thread(target=run) for run in (fail, fail, work, work)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(failed) > 3 and all(failed), len(good_ones) > 3 and all(good_ones))
print(len(innocent), *innocent[:1])
"""


@pytest.mark.parametrize("seconds", [10, pytest.param(90, marks=pytest.mark.extended)])
def test_a_failing_query_does_not_end_the_workers_of_another_one(
    tmp_path: Path, seconds: int
) -> None:
    """Spark took the interrupt of a failed query's task for a dead daemon, and restarted it."""
    printed = program(tmp_path, NEIGHBOURS.replace("SECONDS", str(seconds)))
    assert printed.split()[:3] == ["True", "True", "0"], printed
