# SPDX-License-Identifier: Apache-2.0
"""Many queries: concurrently, in one plan, in several sessions, in sequence; nothing leaks."""

from __future__ import annotations

import ast
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from support.spark.applications import program
from support.spark.comparison import BROADCAST, ENABLED, OWN_PLAN, Both, bag, configured, physical

BATCH = "spark.sql.intervalsweep.batchRows"
TABLE = "(SELECT id, id % 5 AS k, id AS ts, id + {0} + id % 7 AS te FROM range({1})) {2}"
R, S = TABLE.format(3, 300, "r"), TABLE.format(9, 200, "s")
RELATIONS = (
    "ALLEN_OVERLAPS",
    "INTERVAL_INTERSECTS",
    "ALLEN_DURING",
    "ISEQL_START_PRECEDING",
)


def query(number: int) -> str:
    """One of eight queries: four relations, with and without keys."""
    keys = "r.k = s.k AND " if number % 2 else ""
    call = f"{RELATIONS[number // 2 % 4]}(r.ts, r.te, s.ts, s.te)"
    return f"SELECT r.id, s.id FROM {R} JOIN {S} ON {keys}{call}"


def run(spark: Any, number: int) -> Any:
    frame = spark.sql(query(number))
    assert "IntervalSweepJoin" in physical(frame)
    return bag(frame.collect())


@pytest.mark.parametrize("threshold", ["10MB", "-1"])
def test_eight_queries_at_once(spark: Any, threshold: str) -> None:
    with configured(spark, {**OWN_PLAN, BROADCAST: threshold}):
        expected = [bag(spark.sql(query(number)).collect()) for number in range(8)]
    assert all(expected)
    with configured(spark, {BROADCAST: threshold}), ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda number: run(spark, number), range(8))) == expected


def test_sessions_keep_their_own_settings(spark: Any) -> None:
    """Two concurrent sessions in one JVM: one without the extension, one with tiny batches."""
    plain, tiny = (spark.newSession() for _ in range(2))
    for session in (plain, tiny):
        session.conf.set("spark.sql.intervalsweep.smallGroupPairs", "0")
    plain.conf.set(ENABLED, "false")
    tiny.conf.set(BATCH, "3")
    with ThreadPoolExecutor(2) as threads:
        by_spark = threads.submit(plain.sql(query(0)).collect)
        swept = threads.submit(run, tiny, 0)
        assert "IntervalSweepJoin" not in physical(plain.sql(query(0)))
        assert bag(by_spark.result()) == swept.result() != bag([])


@pytest.mark.extended
def test_ten_joins_in_one_query(both: Both, conf: Any) -> None:
    """Ten joins in one stage, whose task has ten workers at the same time."""
    tables = [
        f"(SELECT id, id AS ts, id + 2 + id % 7 AS te FROM range(0, {rows}, 1, 1)) t{n}"
        for n, rows in enumerate([3] + [150] * 10)
    ]
    called, written = tables[0], tables[0]
    for n in range(1, 11):
        a, b = f"t{n - 1}", f"t{n}"
        called += f" JOIN {tables[n]} ON ISEQL_BEFORE({a}.ts, {a}.te, {b}.ts, {b}.te, delta => 1)"
        written += f" JOIN {tables[n]} ON {b}.ts BETWEEN {a}.te AND {a}.te + 1"
    conf({BROADCAST: "10MB"})
    ends = "SELECT t0.id, t10.id FROM "
    assert both(ends + called, ends + written, 10) == 3 * 2**10


@pytest.mark.extended
def test_a_limit_ends_the_worker_without_noise(tmp_path: Path) -> None:
    """The worker still has much to send when the limit is reached."""
    log = tmp_path / "log"
    printed = program(
        tmp_path,
        f"""
        log = os.open({str(log)!r}, os.O_CREAT | os.O_WRONLY)
        os.dup2(log, 2)
        spark = start(spark__log__level="WARN", spark__sql__intervalsweep__batchRows="100")
        frame = spark.range(0, 20000, 1, 2).selectExpr("id AS ts", "id + 9000 + id % 977 AS te")
        frame.createOrReplaceTempView("r")
        for threshold in ("10MB", "-1"):
            spark.conf.set("spark.sql.autoBroadcastJoinThreshold", threshold)
            query = "SELECT * FROM r JOIN r s ON ALLEN_OVERLAPS(r.ts, r.te, s.ts, s.te) LIMIT 7"
            print(len(swept(spark.sql(query)).collect()))
        time.sleep(1)
        """,
    )
    assert printed.split() == ["7", "7"]
    said = log.read_text(encoding="utf-8")
    assert "WARN" in said, "no log was caught"
    noise = ("Broken", "broken", "reset", "Exception", "Traceback", "IntervalSweep", "ERROR")
    assert not [word for word in noise if word in said], said


@pytest.mark.extended
def test_a_new_session_after_the_first_was_stopped(tmp_path: Path) -> None:
    printed = program(
        tmp_path,
        """
        query = "SELECT count(*) AS n FROM range(99) a JOIN range(99) b ON a.id < b.id"
        for _ in range(2):
            spark = start()
            print(swept(spark.sql(query)).first().n)
            of_jvm = spark._jvm.java.lang.ProcessHandle.current().pid()
            assert workers(spark)
            spark.stop()
            until = time.time() + 20
            while children(of_jvm) and time.time() < until:
                time.sleep(0.1)
            print("left", len(children(of_jvm)))
        """,
    )
    assert printed.split() == ["4851", "left", "0"] * 2


LEAKS = """
def figures():
    jvm = spark._jvm.java.lang.ProcessHandle.current().pid()
    ours = children(jvm)
    threads = spark._jvm.java.lang.Thread.getAllStackTraces().keySet().toArray()
    allocator = spark._jvm.org.apache.spark.sql.util.ArrowUtils.rootAllocator()
    return {
        "processes": len(ours),
        "files of the JVM": len(os.listdir(f"/proc/{jvm}/fd")),
        "files of workers": sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in ours),
        "monitors": sum(thread.getName().startswith("IntervalSweep monitor") for thread in threads),
        "Arrow": allocator.getAllocatedMemory(),
        "children of Arrow's allocator": allocator.getChildAllocators().size(),
    }

def queries(count):
    for number in range(count):
        spark.conf.set("spark.sql.autoBroadcastJoinThreshold", ("10MB", "-1")[number % 2])
        keys = "r.k = s.k AND " if number % 4 > 1 else ""
        limit = " LIMIT 3" if number % 5 == 0 else ""
        rows = swept(spark.sql(
            "SELECT * FROM (SELECT id % 3 AS k, id AS ts, id + 9 AS te FROM range(50)) r JOIN "
            "(SELECT id % 3 AS k, id AS ts, id + 12 AS te FROM range(50)) s "
            f"ON {keys}ALLEN_OVERLAPS(r.ts, r.te, s.ts, s.te){limit}")).collect()
        assert rows

def settled():
    # Spark closes some resources after a garbage collection; a monitor checks twice a second.
    spark._jvm.System.gc()
    time.sleep(1.5)
    return figures()

spark = start(spark__sql__shuffle__partitions="2")
queries(20)
before = settled()
queries(COUNT)
after = settled()
print(before)
print(after)
"""


@pytest.mark.extended
def test_no_process_file_or_memory_is_left_by_queries(tmp_path: Path) -> None:
    printed = program(tmp_path, LEAKS.replace("COUNT", "60"))
    before, after = (ast.literal_eval(line) for line in printed.splitlines())
    # Idle workers and Spark's own pools vary a little; a leak would add one for each query.
    for what, figure in after.items():
        assert figure <= before[what] + 20, f"{what}: {before[what]} before, {figure} after"
    assert after["Arrow"] == before["Arrow"] == 0
    assert after["children of Arrow's allocator"] == after["monitors"] == 0


TILES = "(SELECT id * 100 AS ts, id * 100 + 100 AS te FROM range(0, 10000, 1, 4))"
# A point is always in one tile, but each execution has its points in other places.
NOW = "CAST(reflect('java.lang.System', 'currentTimeMillis') AS BIGINT)"
MOVING = f"""(SELECT id, ({NOW} DIV 20 % 100) * 10000 + id % 5000 AS t
             FROM range(0, 20000, 1, 4))"""


@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize("generated", ["true", "false"])
def test_executions_of_one_plan_at_once_each_have_their_own_ranges(
    spark: Any, conf: Any, adaptive: str, generated: str
) -> None:
    """The input changes; with ranges of another execution, rows beyond a range would be lost."""
    conf(
        {
            BROADCAST: "-1",
            "spark.sql.adaptive.enabled": adaptive,
            "spark.sql.codegen.wholeStage": generated,
            "spark.sql.intervalsweep.rangeRows": "5000",
        }
    )
    for _ in range(2):
        frame = spark.sql(
            f"SELECT s.id FROM {TILES} r JOIN {MOVING} s ON r.ts <= s.t AND s.t < r.te"
        )
        assert "IntervalSweepJoin" in physical(frame)
        assert "ranges" in physical(frame)
        with ThreadPoolExecutor(3) as threads:
            ways = (frame.collect, frame.collect, lambda frame=frame: list(frame.toLocalIterator()))
            for rows in [thread.result() for thread in [threads.submit(way) for way in ways]]:
                assert sorted(row.id for row in rows) == list(range(20000))
