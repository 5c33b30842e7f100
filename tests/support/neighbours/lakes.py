# SPDX-License-Identifier: Apache-2.0
"""The tests of Delta and Iceberg: one description of a format, and programs that run with both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from support.neighbours.maven import jars
from support.spark.applications import program


@dataclass(frozen=True)
class Lake:
    """A format of tables, and how a session uses it."""

    # The name after USING.
    format: str
    # The Maven coordinates of its jar.
    artifact: str
    # The settings of a session; `{folder}` is a new folder.
    settings: Mapping[str, str]
    # The namespace of the tables.
    namespace: str
    # A query for the first version of the table `{0}`, as time travel names it.
    first_version: str

    def check_tables(self, folder: Path) -> None:
        """Joins, MERGE, time travel, the property of a table, and streams."""
        assert self._run(folder, TABLES) == TABLES_EXPECTED

    def check_recipes(self, folder: Path) -> None:
        """The MERGE statements of the page of recipes change a table as its queries say."""
        assert self._run(folder, RECIPES) == RECIPES_EXPECTED

    def _run(self, folder: Path, steps: str) -> list[str]:
        settings = {key: value.format(folder=folder) for key, value in self.settings.items()}
        settings["spark.jars"] = ",".join(map(str, jars(self.artifact)))
        setup = f"""
from support.neighbours.checks import ROCKSDB, bag, plan, relations, same
spark = start(spark__sql__streaming__stateStore__providerClass=ROCKSDB, **{settings!r})
FORMAT, CHECKPOINT = {self.format!r}, {str(folder / "checkpoint")!r}
spark.sql("CREATE NAMESPACE IF NOT EXISTS {self.namespace}")
spark.sql("USE {self.namespace}")
VERSION = lambda table: spark.sql({self.first_version!r}.format(table)).first()[0]
"""
        return program(folder, setup + steps).splitlines()


TABLES = """

ROWS = ("SELECT id, id % 7 AS k, TIMESTAMP '2026-01-01' + make_dt_interval(0, 0, id % 500) AS ts, "
        "TIMESTAMP '2026-01-01' + make_dt_interval(0, 0, id % 500 + 1 + id % 20) AS te "
        "FROM range({0}, {1})")
spark.sql(f"CREATE TABLE r USING {FORMAT} AS " + ROWS.format(0, 400))
spark.sql(f"CREATE TABLE s USING {FORMAT} PARTITIONED BY (k) AS " + ROWS.format(300, 900))
print("joins", relations(spark, "r", "s") > 10000)

# MERGE with an interval condition, and with plain comparisons in another table.
changes = ("(SELECT id AS i, k AS ck, ts AS cs, te AS ce FROM s WHERE id % 50 = 0) c")
written = {"sweep": "INTERVAL_INTERSECTS(t.ts, t.te, cs, ce)", "plain": "t.ts < ce AND cs < t.te"}
for name, condition in written.items():
    spark.sql(f"CREATE TABLE {name} USING {FORMAT} AS SELECT * FROM r")
    spark.conf.set("spark.sql.intervalsweep.enabled", str(name == "sweep").lower())
    spark.sql(f"MERGE INTO {name} t USING {changes} ON t.id = i - 300 AND {condition} "
              "WHEN MATCHED THEN UPDATE SET t.k = 100 + ck "
              "WHEN NOT MATCHED THEN INSERT (id, k, ts, te) VALUES (1000 + i, ck, cs, ce)")
spark.conf.set("spark.sql.intervalsweep.enabled", "true")
merged = bag(spark.table("sweep"))
print("merge", merged == bag(spark.table("plain")), len(merged) > 400,
      merged != bag(spark.table("r")))

# Time travel: both versions in one join.
spark.sql("INSERT INTO r " + ROWS.format(400, 450))
both = (f"SELECT a.id, b.id FROM r VERSION AS OF {VERSION('r')} a JOIN r b "
        "ON ALLEN_OVERLAPS(a.ts, a.te, b.ts, b.te) AND a.k = b.k")
print("travel", len(same(spark, both)) > 0)

# A history: the property of the table says which columns are its period.
spark.sql(f"CREATE TABLE h USING {FORMAT} TBLPROPERTIES ('validtime' = 'ts,te') "
          "AS SELECT * FROM r")
history = spark.sql("SELECT * FROM sequenced(TABLE(SELECT k, count(*) AS n FROM (SELECT * FROM "
                    "validtime(TABLE(h))) GROUP BY k))")
marked = spark.sql("SELECT * FROM sequenced(TABLE(SELECT k, count(*) AS n FROM (SELECT * FROM "
                   "validtime(TABLE(r), 'ts', 'te')) GROUP BY k))")
print("history", bag(history) == bag(marked), history.count() > 100)

# A stream out of a table and into a table: the window union equals that of the tables.
def watermarked(name):
    return spark.readStream.table(name).withWatermark("ts", "1 minute")

spark.sql(f"CREATE TABLE out (id BIGINT, n BIGINT) USING {FORMAT}")
base, probe = watermarked("r").select("id", "k", "ts"), watermarked("s").select("k", "ts")
base.createOrReplaceTempView("base"); probe.createOrReplaceTempView("probe")
QUERY = ("SELECT b.id, w.n FROM {0} b LEFT JOIN LATERAL (SELECT count(*) AS n FROM {1} p "
         "WHERE p.k = b.k AND p.ts BETWEEN b.ts - INTERVAL '30' MINUTES AND b.ts) w ON true")
writer = spark.sql(QUERY.format("base", "probe")).writeStream.outputMode("append")
writer = writer.format(FORMAT).option("checkpointLocation", CHECKPOINT)
writer = writer.trigger(availableNow=True)
query = writer.toTable("out")
query.awaitTermination()
batch = dict(tuple(row) for row in spark.sql(QUERY.format("r", "s")).collect())
streamed = bag(spark.table("out"))
print("stream", len(streamed) > 200, all(batch[i] == n for i, n in streamed),
      len({i for i, _ in streamed}) == len(streamed), sum(n for _, n in streamed) > 0)
"""

TABLES_EXPECTED = [
    "joins True",
    "merge True True True",
    "travel True",
    "history True True",
    "stream True True True True",
]


# Rows with duplicates, rows that touch or overlap, and open ends.
RECIPES = """
from support.docs import pages

ROWS = ("SELECT concat('p', id % {1}) AS product, "
        "CAST(if(id % 5 = 0, NULL, id % 3) AS INT) AS price, "
        "DATE '2024-01-01' + 10 * CAST(id % 7 AS INT) AS valid_from, "
        "if(id % 11 = 0, NULL, DATE '2024-01-11' + 10 * CAST(id % 7 + id % 3 AS INT)) AS valid_to "
        "FROM range({0}) CROSS JOIN (VALUES (1), (2))")
GIVEN = {
    "changes": ROWS.format(20, 9),
    "feed": "SELECT concat('p', id % 14) AS product, CAST(id % 4 AS INT) AS price, "
            "DATE '2024-01-06' + 5 * CAST(id % 13 AS INT) AS changed, id % 6 = 0 AS gone, "
            "id AS seq FROM range(20)",
}
for name, query in GIVEN.items():
    spark.sql(f"CREATE TEMPORARY VIEW {name} AS {query}")
recipes = pages.statements_by_heading(pages.ROOT / "docs" / "temporal" / "recipes.md")

def run(heading):
    # Runs the statements below a heading; returns the rows of the last one.
    for statement in recipes[heading]:
        if statement.split()[3] not in ("prices", *GIVEN):
            last = spark.sql(statement)
    return bag(last)

def merged(query, merge):
    # True if MERGE makes the table equal to the rows of a query, and leaves some rows as they are.
    spark.sql(f"CREATE OR REPLACE TABLE prices USING {FORMAT} AS " + ROWS.format(60, 12))
    before, expected = bag(spark.table("prices")), run(query)
    run(merge)
    after = bag(spark.table("prices"))
    assert after == expected, (after, expected)
    return 0 < len(set(before) & set(after)) < len(set(before))

spark.sql(f"CREATE TABLE prices USING {FORMAT} AS " + ROWS.format(60, 12))
run("Recipes for tables with history")
print("portion", merged("Upsert", "Write the result"))
run("Apply a batch of changes")
print("batch", merged("Batch as a query", "Batch as MERGE"))
"""

RECIPES_EXPECTED = ["portion True", "batch True"]
