# SPDX-License-Identifier: Apache-2.0
"""Sweeps over periods that are cancelled, lose their workers, or have little memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.spark.applications import PRELUDE as APPLICATION
from support.spark.applications import program
from support.spark.cancelling import PRELUDE
from support.spark.interpreters import faulty

SWEPT = """
def swept(frame):
    assert "PeriodSweep" in frame._jdf.queryExecution().executedPlan().toString()
    return frame

def valid(rows, keys):
    spark.range(rows).selectExpr(
        f"id % {keys} AS k", "id * 7919 % 10000019 AS ts", "id * 7919 % 10000019 + 100 AS te"
    ).createOrReplaceTempView("rows_of_r")
    marked = "validtime(TABLE(rows_of_r), 'ts', 'te')"
    spark.sql(f"CREATE OR REPLACE TEMP VIEW v AS SELECT * FROM {marked}")

def history(query):
    return f"SELECT * FROM sequenced(TABLE({query}))"
"""

# Finds the node of a frame that sweeps.
NODES = """
def nodes(plan):
    below = [plan.children().apply(i) for i in range(plan.children().size())]
    return [plan, *(node for child in below for node in nodes(child))]

def sweep(frame):
    plan = frame._jdf.queryExecution().executedPlan()
    [node] = [n for n in nodes(plan) if n.nodeName() == "PeriodSweep"]
    return node
"""


@pytest.mark.extended
def test_a_cancelled_sweep_ends_at_once(tmp_path: Path) -> None:
    printed = program(
        tmp_path,
        PRELUDE
        + SWEPT
        + """
valid(100_000_000, 1000)
cancelled(history("SELECT k, count(*) AS n FROM v GROUP BY k") + " WHERE n < 0")
cancelled(history("SELECT count(*) AS n FROM v") + " WHERE n < 0")
cancelled(history("SELECT DISTINCT k % 1 AS k FROM v") + " WHERE te < 0")
""",
    )
    lines = printed.splitlines()
    assert len(lines) == 3, printed
    assert all(float(line.split()[0]) <= 2 for line in lines), printed


# The first worker that runs this dies after it has sent half of its answer.
DIES_ONCE = """
import io
stream = self._periods.stream
def half(infile, outfile):
    whole = io.BytesIO()
    stream(infile, whole)
    answer = whole.getvalue()
    try:
        os.mkdir({marker!r})
    except FileExistsError:
        outfile.write(answer)
        return
    outfile.write(answer[: len(answer) // 2])
    outfile.flush()
    os.kill(os.getpid(), 9)
self._periods.stream = half
"""


@pytest.mark.extended
def test_a_sweep_whose_worker_dies_is_tried_again(tmp_path: Path) -> None:
    """With keys and with ranges of time, no period is lost, and none is returned twice."""
    marker = str(tmp_path / "died")
    python = faulty(tmp_path, DIES_ONCE.format(marker=marker))
    printed = program(
        tmp_path,
        SWEPT
        + f"""
def failed_tasks():
    tracker = spark.sparkContext.statusTracker()
    stages = [stage for number in range(100) if (stage := tracker.getStageInfo(number))]
    return sum(stage.numFailedTasks for stage in stages)

spark = start("local[2,4]", spark__sql__intervalsweep__python={python!r},
              spark__sql__intervalsweep__batchRows="1024")
valid(20_000, 10)
for number, query in enumerate((
        "SELECT k, count(*) AS n FROM v GROUP BY k", "SELECT count(*) AS n FROM v")):
    died = [sorted(map(tuple, swept(spark.sql(history(query))).collect()), key=repr)]
    assert failed_tasks() == number + 1, failed_tasks()
    # No worker dies now, because the first one has died.
    assert died == [sorted(map(tuple, spark.sql(history(query)).collect()), key=repr)]
    assert sum(row[-3] * (row[-1] - row[-2]) for row in died[0] if row[-3]) == 2_000_000
    os.rmdir({marker!r})
print("the same")
""",
    )
    assert printed.split()[-2:] == ["the", "same"]


@pytest.mark.extended
def test_a_sweep_whose_workers_always_die_ends_and_leaves_none(tmp_path: Path) -> None:
    python = faulty(tmp_path, "os.kill(os.getpid(), 9)")
    printed = program(
        tmp_path,
        SWEPT
        + f"""
spark = start("local[1,2]", spark__sql__intervalsweep__python={python!r})
valid(1000, 10)
try:
    swept(spark.sql(history("SELECT DISTINCT k FROM v"))).collect()
except Exception as error:
    print(error)
print("left", len(workers(spark)))
""",
    )
    assert "failed 2 times" in printed
    assert "ended before it answered" in printed
    assert printed.split()[-2:] == ["left", "0"]


@pytest.mark.extended
def test_a_cancelled_sweep_leaves_no_worker(tmp_path: Path) -> None:
    printed = program(
        tmp_path,
        SWEPT
        + """
def work():
    try:
        outcome.append(frame.collect())
    except Exception as error:
        outcome.append(error)

def awaited(condition, seconds):
    end = time.time() + seconds
    while not condition() and time.time() < end:
        time.sleep(0.05)
    assert condition(), outcome

spark = start("local[2]")
valid(5_000_000, 100)
frame = swept(spark.sql(history("SELECT k, count(*) AS n FROM v GROUP BY k") + " WHERE n < 0"))
outcome = []
thread = threading.Thread(target=work, daemon=True)
thread.start()
awaited(lambda: workers(spark), 120)
spark.sparkContext.cancelAllJobs()
thread.join(20)
assert "cancelled" in str(outcome[0]).lower(), outcome
awaited(lambda: not workers(spark), 10)
print("left", len(workers(spark)))
""",
    )
    assert printed.split()[-2:] == ["left", "0"]


IN_LITTLE_MEMORY = """
spark = start(
    spark__driver__memory="640m", spark__sql__adaptive__enabled="false",
    spark__memory__fraction="0.1", spark__sql__intervalsweep__batchRows="4096")
"""


@pytest.mark.extended
def test_one_group_with_all_rows_in_little_memory(tmp_path: Path) -> None:
    """Spark's sort spills the rows of the one key, and the sweep reads them in chunks."""
    printed = program(
        tmp_path,
        APPLICATION
        + SWEPT
        + NODES
        + IN_LITTLE_MEMORY
        + """
valid(1_000_000, 1)
frame = swept(spark.sql("SELECT count(*) AS n, sum((te - ts) * c) AS t FROM ("
    + history("SELECT k, count(*) AS c FROM v GROUP BY k") + ")"))
row = frame.collect()[0]
assert row.t == 100_000_000, row
node = sweep(frame)
names = ("pythonDataSent", "kernelTime", "peakMemory", "spillSize")
values = {name: node.metrics().apply(name).value() for name in names}
assert all(values.values()), values
print(values)
""",
    )
    assert "spillSize" in printed


@pytest.mark.extended
def test_a_hot_key_in_little_memory(tmp_path: Path) -> None:
    """Half of the rows have one key, and the others have fifty. One of several tasks spills."""
    printed = program(
        tmp_path,
        APPLICATION
        + SWEPT
        + NODES
        + IN_LITTLE_MEMORY
        + """
valid(1_000_000, "100 * (id % 2)")
frame = swept(spark.sql("SELECT k, sum((te - ts) * c) AS t FROM ("
    + history("SELECT k, count(*) AS c FROM v GROUP BY k") + ") GROUP BY k"))
rows = {row.k: row.t for row in frame.collect()}
assert rows == {0: 50_000_000, **{k: 1_000_000 for k in range(1, 100, 2)}}, rows
print("spilled", sweep(frame).metrics().apply("spillSize").value())
""",
    )
    assert int(printed.split()[-1]) > 0


@pytest.mark.extended
def test_a_sort_that_takes_over_spilled_hundreds_of_small_files(tmp_path: Path) -> None:
    """Spills must be few: reading hundreds of files at once takes too much of a GiB of memory."""
    printed = program(
        tmp_path,
        SWEPT
        + f"""
import glob
folder = {str(tmp_path / "local")!r}
spark = start(
    "local[2]", spark__driver__memory="1g", spark__sql__adaptive__enabled="false",
    spark__sql__shuffle__partitions="4", spark__local__dir=folder)
valid(20_000_000, 1000)
frame = swept(spark.sql("SELECT count(*) AS n, sum((te - ts) * c) AS t FROM ("
    + history("SELECT k, count(*) AS c, sum(k) AS s FROM v GROUP BY k") + ")"))
most, is_over = 0, threading.Event()

def look():
    global most
    while not is_over.wait(0.02):
        most = max(most, len(glob.glob(folder + "/**/temp_local_*", recursive=True)))

looking = threading.Thread(target=look)
looking.start()
row = frame.collect()[0]
is_over.set()
looking.join()
assert row.t == 2_000_000_000, row
print("files", most)
""",
    )
    assert 2 < int(printed.split()[-1]) < 60, printed
