# %% [markdown]
# # SQL on real data: exons and open chromatin
#
# Which exons of the human genome lie in a region where the DNA of the foetal brain is open (a DNase
# hotspot)? The data is two tables of intervals on the 24 chromosomes, 438,694 exons and 198,621
# hotspots. Both are in the repository, in `sql-examples/data`.

# %% tags=["quiet"]
from pathlib import Path

from pyspark.sql import SparkSession

import intervalsweep
from intervalsweep import plot

builder = SparkSession.builder.config("spark.ui.showConsoleProgress", "false")
spark = intervalsweep.configure(builder).getOrCreate()

# %%
folders = [Path.cwd(), *Path.cwd().parents]
data = next(folder for folder in folders if (folder / "sql-examples").is_dir())
for view, folder in (("exons", "exons"), ("hotspots", "fbrain")):
    table = spark.read.parquet(str(data / "sql-examples" / "data" / folder))
    table.createOrReplaceTempView(view)
spark.sql("SELECT * FROM exons LIMIT 3").show()

# %% [markdown]
# ## The join
#
# Two intervals share a base if they intersect. The function can be used wherever a condition can;
# chromosomes are compared by plain equality.

# %%
overlaps = spark.sql("""
    SELECT e.contig, count(*) AS pairs,
      sum(least(e.pos_end, h.pos_end) - greatest(e.pos_start, h.pos_start)) AS shared_bases
    FROM exons e JOIN hotspots h
      ON e.contig = h.contig
      AND INTERVAL_INTERSECTS(e.pos_start, e.pos_end, h.pos_start, h.pos_end)
    GROUP BY e.contig
    ORDER BY pairs DESC
""")
overlaps.show(5)

# %% [markdown]
# Does the query use `IntervalSweepJoin`, or does Spark compare all rows of the same chromosome?

# %%
print(intervalsweep.why_not(overlaps))

# %% [markdown]
# ## A picture of a region
#
# Chromosome 1 between the bases 850,000 and 1,000,000: the first 30 exons and all 28
# hotspots. Rows without a match are pale.

# %%
stretch = "contig = 'chr1' AND pos_end < 1000000"
exons = spark.table("exons").where(stretch + " AND pos_start > 850000").distinct()
hotspots = spark.table("hotspots").where(stretch + " AND pos_start > 850000")
ax = plot.matches(
    exons, hotspots, "interval_intersects", on=("pos_start", "pos_end"), by="contig", limit=30
)

# %% [markdown]
# ## How the work is distributed
#
# The smaller table was broadcast to all tasks. Two large tables are both partitioned by chromosome.
# Chromosomes differ in size, and so do the tasks:

# %%
spark.sql("SET spark.sql.autoBroadcastJoinThreshold = -1")
spark.sql("SET spark.sql.shuffle.partitions = 8")
spark.sql("SET spark.sql.adaptive.coalescePartitions.enabled = false")
overlaps = spark.sql("""
    SELECT count(*) FROM exons e JOIN hotspots h
      ON e.contig = h.contig
      AND INTERVAL_INTERSECTS(e.pos_start, e.pos_end, h.pos_start, h.pos_end)
""")
print(overlaps.first())
ax = plot.tasks(spark)

# %% [markdown]
# The query waits for the largest task. If that task reads many times the median, Spark splits it
# into several tasks, by the thresholds in `spark.sql.adaptive.skewJoin.*`.
