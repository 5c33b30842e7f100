# %% [markdown]
# # As of: what changed last before this?
#
# The history of `delta-io/delta` on GitHub, in `sql-examples/data`: 28,758 periods in which a file
# did not change. Each start of a period is a change of a file. Which change of another file came
# last before it? What were the three before it? The same query then runs over streams.

# %% tags=["quiet"]
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

import intervalsweep
from intervalsweep import plot
from intervalsweep.dataframe import as_of_join, nearest

PROVIDER = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
builder = (
    SparkSession.builder.config("spark.ui.showConsoleProgress", "false")
    .config("spark.sql.streaming.stateStore.providerClass", PROVIDER)
    .config("spark.sql.shuffle.partitions", 2)
)
spark = intervalsweep.configure(builder).getOrCreate()

# %%
folders = [Path.cwd(), *Path.cwd().parents]
data = next(folder for folder in folders if (folder / "sql-examples").is_dir())
file = str(data / "sql-examples" / "data" / "delta_file_history.csv.gz")
periods = spark.read.csv(file, header=True, inferSchema=True)
changes = periods.selectExpr("path_id AS path", "key AS folder", "timestamp_seconds(start) AS at")
changes.createOrReplaceTempView("changes")
spark.sql("SELECT count(*), count(DISTINCT path), count(DISTINCT at) FROM changes").show()

# %% [markdown]
# ## The last change before
#
# For each change the last one in the same folder, at an earlier time. Many files change at once; of
# equal times, the second column of `ORDER BY` decides.

# %%
last = spark.sql("""
    SELECT c.path, c.folder, c.at, b.path AS path_before, b.at AS at_before
    FROM changes c LEFT JOIN LATERAL (
      SELECT path, at FROM changes b
      WHERE b.folder = c.folder AND b.at < c.at
      ORDER BY b.at DESC, b.path LIMIT 1) b ON true
""")
last.where("path = 1").orderBy("at").show(3)
print("changes without one before them:", last.where("at_before IS NULL").count())

# %% [markdown]
# Spark alone compares each change with all changes of its folder. The plan shows the search, and
# the report agrees:

# %%
print(intervalsweep.why_not(last))

# %% [markdown]
# ## The three changes before
#
# How fast does a folder change? The time from the third change before it to each change, on average
# by folder.

# %%
spark.sql("""
    SELECT c.folder, count(*) AS changes,
      round(avg(unix_seconds(c.at) - unix_seconds(b.third)) / 3600) AS hours
    FROM changes c JOIN LATERAL (
      SELECT min(at) AS third, count(*) AS n FROM (
        SELECT at FROM changes b WHERE b.folder = c.folder AND b.at < c.at
        ORDER BY b.at DESC LIMIT 3)) b ON b.n = 3
    GROUP BY c.folder ORDER BY changes DESC
""").show(4)

# %% [markdown]
# ## In Python
#
# The next change of the folder `docs` after each change of `src`, within a day.

# %%
docs = changes.where("folder = 'docs'").drop("folder")
src = changes.where("folder = 'src'").drop("folder")
followed = as_of_join(
    src, docs, on="at", direction="forward", tolerance="1 day", how="inner", suffix="_docs"
)
print("changes of src with a change of docs within a day:", followed.count())

# %% [markdown]
# For the first periods of two files, the two nearest ones of the other file that do not overlap:

# %%
some = periods.selectExpr("path_id AS path", "start AS ts", "`end` AS te").orderBy("ts").cache()
one, other = (some.where(f"path = {path}").limit(6) for path in (1, 3))
near = nearest(one, other, k=2, overlapping=False)
near.select("ts", "ts_right", "distance").orderBy("ts", "distance").show(4)
ax = plot.matches(one, other, "interval_intersects")

# %% [markdown]
# ## Over streams
#
# The changes arrive in files, one for each year. The query is the same text over streaming views. A
# row is written when no earlier change can arrive any more, and the state has one row per folder. A
# last row, far ahead, moves the watermark past all others.

# %%
work = Path(tempfile.mkdtemp())
years = [
    row.year for row in changes.selectExpr("year(at) AS year").distinct().sort("year").collect()
]
for year in years:
    part = changes.where(f"year(at) = {year}").coalesce(1)
    part.write.mode("append").parquet(str(work / "in"))
ahead = spark.sql("SELECT -1 AS path, 'none' AS folder, TIMESTAMP'2100-01-01' AS at")
ahead.coalesce(1).write.mode("append").parquet(str(work / "in"))

for name in ("c", "b"):
    stream = spark.readStream.schema(changes.schema).option("maxFilesPerTrigger", 1)
    arrived = stream.parquet(str(work / "in")).withWatermark("at", "1 hour")
    arrived.createOrReplaceTempView(f"{name}_arrived")

as_stream = spark.sql("""
    SELECT c.path, c.folder, c.at, b.path AS path_before, b.at AS at_before
    FROM c_arrived c LEFT JOIN LATERAL (
      SELECT path, at FROM b_arrived b
      WHERE b.folder = c.folder AND b.at < c.at
      ORDER BY b.at DESC, b.path LIMIT 1) b ON true
""")
writer = as_stream.writeStream.format("parquet").trigger(availableNow=True)
query = writer.option("checkpointLocation", str(work / "checkpoint")).start(str(work / "out"))
query.awaitTermination()

# %%
written = spark.read.parquet(str(work / "out")).where("path >= 0")
rest = written.exceptAll(last).count() + last.exceptAll(written).count()
metrics = query.recentProgress[-1].observedMetrics.items()
stored = next(row.storedRows for name, row in metrics if "as_of_join" in name)
print(f"{written.count()} rows, all as over tables: {rest == 0}; {stored} rows in the state")
