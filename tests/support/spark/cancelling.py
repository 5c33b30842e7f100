# SPDX-License-Identifier: Apache-2.0
"""The first part of a program that cancels queries and measures how long their tasks go on."""

from __future__ import annotations

PRELUDE = """
def tasks():
    # The number of threads that run a task, also of tasks that the driver has given up.
    stacks = spark._jvm.java.lang.Thread.getAllStackTraces().values()
    lowest = [[frame.getClassName() for frame in list(stack)[-5:]] for stack in stacks]
    return sum("org.apache.spark.executor.Executor$TaskRunner" in frames for frames in lowest)

def await_tasks(wanted, seconds):
    begin = time.time()
    found = tasks()
    while (found > 0) != wanted and time.time() < begin + seconds:
        time.sleep(0.1)
        found = tasks()
    assert (found > 0) == wanted, f"{found} tasks after {time.time() - begin:.1f} s"
    return time.time() - begin

def cancelled(query, busy=3):
    frame = swept(spark.sql(query))
    outcome = []
    def work():
        try:
            outcome.append(frame.collect())
        except Exception as error:
            outcome.append(error)
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    # Jobs before the join end by themselves.
    for _ in range(9):
        await_tasks(True, 60)
        time.sleep(busy)
        if tasks() > 0:
            break
    else:
        raise AssertionError(f"no long task: {outcome}")
    assert thread.is_alive(), f"ended before it was cancelled: {outcome}"
    spark.sparkContext.cancelAllJobs()
    seconds = await_tasks(False, 10)
    thread.join(20)
    assert "cancelled" in str(outcome[0]).lower(), outcome
    print(round(seconds, 1), query[:60])

def tables(rows):
    frame = spark.range(rows).selectExpr("id", "0 AS k", "id AS ts", "id + 1000000 AS te")
    frame.createOrReplaceTempView("r")

spark = start()
tables(200_000)
ALL = "r.ts < s.te AND s.ts < r.te"
"""
