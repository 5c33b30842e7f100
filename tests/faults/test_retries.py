# SPDX-License-Identifier: Apache-2.0
"""Tasks that Spark runs again, as workers die or an executor is lost, return no row twice."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from support.spark.applications import SPARK_HOME, program
from support.spark.interpreters import faulty
from support.spark.processes import eventually, with_modules_of
from support.spark.programs import QUERY

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="finds processes through /proc"
)

# The first worker that runs this without the folder dies after it has sent half of its answer.
DIES_ONCE = """
send = self._send
def die(number, runs):
    send(number, runs)
    try:
        os.mkdir({marker!r})
    except FileExistsError:
        return
    os.kill(os.getpid(), 9)
self._send = die
"""
# All workers log that they have begun. The first one logs its daemon, too, and stops.
STOPS_ONCE = """
with open({log!r}, "a") as log:
    log.write("begun ")
try:
    os.mkdir({marker!r})
except FileExistsError:
    return
with open({marker!r} + "/daemon", "w") as file:
    file.write(str(os.getppid()))
time.sleep(100)
"""


@pytest.mark.extended
def test_a_worker_that_always_dies_ends_the_query_with_its_last_words(tmp_path: Path) -> None:
    python = faulty(tmp_path, "real.RunSweep.__iter__ = lambda sweep: os.abort()")
    printed = program(
        tmp_path,
        f"""
        spark = start("local[1,4]", spark__sql__intervalsweep__python={python!r},
                      spark__python__worker__faulthandler__enabled="true")
        try:
            spark.sql("SELECT * FROM range(9) a JOIN range(9) b ON a.id < b.id").collect()
        except Exception as error:
            print(error)
        print("left", len(workers(spark)))
        """,
    )
    assert "failed 4 times" in printed
    assert "ended before it answered" in printed
    assert "Fatal Python error: Aborted" in printed
    assert "in _stream" in printed
    assert printed.split()[-2:] == ["left", "0"]


@pytest.mark.extended
def test_joins_by_ranges_whose_worker_dies_have_no_row_twice(tmp_path: Path) -> None:
    marker = str(tmp_path / "died")
    python = faulty(tmp_path, DIES_ONCE.format(marker=marker))
    printed = program(
        tmp_path,
        QUERY
        + f"""
spark = start("local[2,4]", spark__sql__intervalsweep__python={python!r},
              spark__sql__intervalsweep__batchRows="50",
              spark__sql__autoBroadcastJoinThreshold="-1")
for kind in ("LEFT", "FULL", "LEFT SEMI", "LEFT ANTI"):
    query, formula = queries(kind)
    frame = swept(spark.sql(query))
    assert "by ranges" in frame._jdf.queryExecution().executedPlan().toString()
    got = rows(frame)
    os.rmdir({marker!r})  # fails if no worker died
    assert got == by_spark(formula), kind
    print(kind.replace(" ", "_"))
""",
    )
    assert printed.split() == ["LEFT", "FULL", "LEFT_SEMI", "LEFT_ANTI"]


@pytest.mark.extended
def test_a_lost_executor_gives_no_pair_twice(tmp_path: Path) -> None:
    marker, log = tmp_path / "stopped", tmp_path / "begun"
    log.touch()
    python = faulty(tmp_path, STOPS_ONCE.format(marker=str(marker), log=str(log)))
    printed = program(
        tmp_path,
        QUERY
        + f"""
def executor():
    daemon = int(open({str(marker / "daemon")!r}).read())
    jvm = spark._jvm.java.lang.ProcessHandle.current().pid()
    (found,) = [pid for pid in children(jvm) if daemon in children(pid)
                and b"ExecutorBackend" in open(f"/proc/{{pid}}/cmdline", "rb").read()]
    return found

def lose_the_executor():
    while not os.path.exists({str(marker / "daemon")!r}) or log.read_text().count("begun") < 2:
        time.sleep(0.1)
    os.kill(executor(), signal.SIGKILL)

if __name__ == "__main__":
    from pathlib import Path
    log = Path({str(log)!r})
    spark = start(
        "local-cluster[2,1,1024]",
        spark__executor__memory="512m",
        spark__sql__intervalsweep__python={python!r},
    )
    query, formula = queries("INNER")
    expected = by_spark(formula)
    thread = threading.Thread(target=lose_the_executor)
    thread.start()
    got = rows(swept(spark.sql(query)))
    thread.join()
    assert got == expected, "rows differ"
    print("begun", log.read_text().count("begun"))
    spark.stop()
""",
        SPARK_HOME=str(SPARK_HOME),
        PYSPARK_PYTHON=sys.executable,
    )
    # The probe side has four partitions, and so four tasks.
    assert int(printed.split()[-1]) > 4, f"no task ran again: {printed}"
    assert eventually(lambda: not with_modules_of(tmp_path), 20), "processes are left"
