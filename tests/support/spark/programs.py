# SPDX-License-Identifier: Apache-2.0
"""Queries for programs that start their own Spark."""

TOTALS = (
    "SELECT count(*) AS n, sum(r.ts + s.te) AS t FROM "
    "(SELECT id % 7 AS k, id AS ts, id + 10 + id % 3 AS te FROM range(2000)) r JOIN "
    "(SELECT id % 7 AS k, id AS ts, id + 5 + id % 11 AS te FROM range(2000)) s ON {keys}"
)
FUNCTION = "ALLEN_OVERLAPS(r.ts, r.te, s.ts, s.te)"
FORMULA = "r.ts < s.ts AND s.ts < r.te AND r.te < s.te"

# The source of functions that programs use.
QUERY = """
def table(step, rows):
    return (f"(SELECT id, id * {step} % 3001 AS ts, id * {step} % 3001 + id % 40 AS te "
            f"FROM range(0, {rows}, 1, 4))")

def rows(frame):
    return sorted(map(repr, frame.collect()))

def queries(kind):
    columns = "r.id" if kind in ("LEFT SEMI", "LEFT ANTI") else "r.id, s.id"
    text = f"SELECT {columns} FROM {table(7, 3000)} r {kind} JOIN {table(11, 2000)} s ON "
    formula = "r.ts < s.ts AND s.ts < r.te AND r.te < s.te"
    return text + "ALLEN_OVERLAPS(r.ts, r.te, s.ts, s.te)", text + formula

def by_spark(query):
    spark.conf.set("spark.sql.intervalsweep.enabled", "false")
    frame = spark.sql(query)
    assert "IntervalSweepJoin" not in frame._jdf.queryExecution().executedPlan().toString()
    expected = rows(frame)
    spark.conf.set("spark.sql.intervalsweep.enabled", "true")
    assert expected
    return expected
"""
