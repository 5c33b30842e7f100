# SPDX-License-Identifier: Apache-2.0
"""What tests of Delta and Iceberg share: tables, and a program with the same steps for both."""

from __future__ import annotations

from pathlib import Path

from support.spark.applications import program

# `FORMAT` is delta or iceberg; `name` is the identifier of a table; `{t}` a namespace prefix.
STEPS = """
from support.neighbours.checks import bag, plan, relations, same

ROWS = ("SELECT id, id % 7 AS k, TIMESTAMP '2026-01-01' + make_dt_interval(0, 0, id % 500) AS ts, "
        "TIMESTAMP '2026-01-01' + make_dt_interval(0, 0, id % 500 + 1 + id % 20) AS te "
        "FROM range({0}, {1})")
spark.sql(f"CREATE TABLE {T}r USING {FORMAT} AS " + ROWS.format(0, 400))
spark.sql(f"CREATE TABLE {T}s USING {FORMAT} PARTITIONED BY (k) AS " + ROWS.format(300, 900))
print("joins", relations(spark, T + "r", T + "s") > 10000)

# MERGE with an interval condition, and with plain comparisons in another table.
changes = (f"(SELECT id AS i, k AS ck, ts AS cs, te AS ce FROM {T}s WHERE id % 50 = 0) c")
written = {"sweep": "INTERVAL_INTERSECTS(t.ts, t.te, cs, ce)", "plain": "t.ts < ce AND cs < t.te"}
for name, condition in written.items():
    spark.sql(f"CREATE TABLE {T}{name} USING {FORMAT} AS SELECT * FROM {T}r")
    spark.conf.set("spark.sql.intervalsweep.enabled", str(name == "sweep").lower())
    spark.sql(f"MERGE INTO {T}{name} t USING {changes} ON t.id = i - 300 AND {condition} "
              "WHEN MATCHED THEN UPDATE SET t.k = 100 + ck "
              "WHEN NOT MATCHED THEN INSERT (id, k, ts, te) VALUES (1000 + i, ck, cs, ce)")
spark.conf.set("spark.sql.intervalsweep.enabled", "true")
merged = bag(spark.table(T + "sweep"))
print("merge", merged == bag(spark.table(T + "plain")), len(merged) > 400,
      merged != bag(spark.table(T + "r")))

# Time travel: both versions in one join.
spark.sql(f"INSERT INTO {T}r " + ROWS.format(400, 450))
both = (f"SELECT a.id, b.id FROM {T}r VERSION AS OF {VERSION()} a JOIN {T}r b "
        "ON ALLEN_OVERLAPS(a.ts, a.te, b.ts, b.te) AND a.k = b.k")
print("travel", len(same(spark, both)) > 0)

# A history: the property of the table says which columns are its period.
spark.sql(f"CREATE TABLE {T}h USING {FORMAT} TBLPROPERTIES ('validtime' = 'ts,te') "
          f"AS SELECT * FROM {T}r")
history = spark.sql(f"SELECT * FROM sequenced(TABLE(SELECT k, count(*) AS n FROM (SELECT * FROM "
                    f"validtime(TABLE({T}h))) GROUP BY k))")
marked = spark.sql(f"SELECT * FROM sequenced(TABLE(SELECT k, count(*) AS n FROM (SELECT * FROM "
                   f"validtime(TABLE({T}r), 'ts', 'te')) GROUP BY k))")
print("history", bag(history) == bag(marked), history.count() > 100)

# A stream out of a table and into a table: the window union equals that of the tables.
def watermarked(name):
    return spark.readStream.table(T + name).withWatermark("ts", "1 minute")

spark.sql(f"CREATE TABLE {T}out (id BIGINT, n BIGINT) USING {FORMAT}")
base, probe = watermarked("r").select("id", "k", "ts"), watermarked("s").select("k", "ts")
base.createOrReplaceTempView("base"); probe.createOrReplaceTempView("probe")
QUERY = ("SELECT b.id, w.n FROM {0} b LEFT JOIN LATERAL (SELECT count(*) AS n FROM {1} p "
         "WHERE p.k = b.k AND p.ts BETWEEN b.ts - INTERVAL '30' MINUTES AND b.ts) w ON true")
writer = spark.sql(QUERY.format("base", "probe")).writeStream.outputMode("append")
writer = writer.format(FORMAT).option("checkpointLocation", CHECKPOINT)
writer = writer.trigger(availableNow=True)
query = writer.toTable(T + "out")
query.awaitTermination()
batch = dict(tuple(row) for row in spark.sql(QUERY.format(T + "r", T + "s")).collect())
streamed = bag(spark.table(T + "out"))
print("stream", len(streamed) > 200, all(batch[i] == n for i, n in streamed),
      len({i for i, _ in streamed}) == len(streamed), sum(n for _, n in streamed) > 0)
"""

EXPECTED = [
    "joins True",
    "merge True True True",
    "travel True",
    "history True True",
    "stream True True True True",
]


def check(folder: Path, setup: str) -> None:
    """Runs all steps. `setup` starts the session and defines FORMAT, T, VERSION and CHECKPOINT."""
    printed = program(folder, setup + STEPS)
    assert printed.splitlines() == EXPECTED
