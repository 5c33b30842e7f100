# %% [markdown]
# # Time series: sessions, outages and releases
#
# Which sessions were hit by an outage, for how long, and which release was live when they began?
# The functions of `intervalsweep.dataframe` say it without SQL.

# %% tags=["quiet"]
from datetime import timedelta

from pyspark.sql import SparkSession

import intervalsweep
from intervalsweep import plot
from intervalsweep.dataframe import as_of_join, coverage, join, merge

builder = SparkSession.builder.config("spark.ui.showConsoleProgress", "false")
spark = intervalsweep.configure(builder).getOrCreate()

# %%
sessions = spark.sql("""
    SELECT concat('session ', id) AS name, if(id % 2 = 0, 'eu', 'us') AS region, ts,
      ts + make_dt_interval(0, 0, int(20 + id * 13 % 70)) AS te
    FROM (
      SELECT id, TIMESTAMP_NTZ'2026-03-01 08:00' + make_dt_interval(0, 0, int(id * 17)) AS ts
      FROM range(24))
""")
outages = spark.sql("""
    SELECT * FROM VALUES
      ('router', 'eu', TIMESTAMP_NTZ'2026-03-01 09:10', TIMESTAMP_NTZ'2026-03-01 10:00'),
      ('deploy', 'eu', TIMESTAMP_NTZ'2026-03-01 09:45', TIMESTAMP_NTZ'2026-03-01 10:20'),
      ('power', 'us', TIMESTAMP_NTZ'2026-03-01 11:30', TIMESTAMP_NTZ'2026-03-01 12:30'),
      ('cable', 'eu', TIMESTAMP_NTZ'2026-03-01 18:00', TIMESTAMP_NTZ'2026-03-01 19:00')
      AS t(name, region, ts, te)
""")

# %% [markdown]
# ## Sessions that were hit
#
# Intervals are in the columns `ts` and `te`, half-open; other names are said by `on=`. The columns
# of the right side get a suffix where the left side has the name, too.

# %%
hit = join(sessions, outages, "interval_intersects", by="region")
hit.select("name", "name_right", "ts", "te").orderBy("ts", "name_right").show()

# %%
ax = plot.matches(sessions, outages, "interval_intersects", by="region", label="name")

# %% [markdown]
# Sessions that began at most half an hour before an outage struck them: ISEQL's *start preceding*
# with a bound. In the picture each interval `s` is a point; those in the green area match.

# %%
soon = {"relation": "iseql_start_preceding", "delta": timedelta(minutes=30)}
join(sessions, outages, by="region", **soon).select("name", "name_right").show()
ax = plot.relation("iseql_start_preceding", r=(0, 60), s=(20, 75), delta=30)

# %% [markdown]
# ## How long they were hit
#
# Two outages of one region overlap. Summing up the overlaps of a session would count that time
# twice; `coverage` does not. It is in microseconds, as the endpoints are.

# %%
minutes = coverage(sessions, outages, by="region").selectExpr("name", "covered / 6e7 AS minutes")
minutes.where("minutes > 0").orderBy("name").show()
merge(outages, by="region").orderBy("region", "ts").show()

# %% [markdown]
# ## What was live then
#
# The latest release of the region that is not after the start of a session, and not older than two
# hours: an as-of join. Sessions without one are kept, with NULL.

# %%
releases = spark.sql("""
    SELECT * FROM VALUES
      ('1.0', 'eu', TIMESTAMP_NTZ'2026-03-01 07:30'),
      ('1.1', 'eu', TIMESTAMP_NTZ'2026-03-01 10:30'),
      ('1.0', 'us', TIMESTAMP_NTZ'2026-03-01 08:20')
      AS t(release, region, ts)
""")
live = as_of_join(sessions, releases, on="ts", by="region", tolerance=timedelta(hours=2))
live.groupBy("region", "release").count().orderBy("region", "release").show()
