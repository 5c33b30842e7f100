# %% [markdown]
# # Time series: sessions, outages and releases
#
# Which sessions were hit by an outage, for how long, and which release was live when they began?
# The functions of `intervalsweep.dataframe` answer this without SQL.

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
# Intervals are half-open, in the columns `ts` and `te`; `on=` gives other names. Columns of the
# right side get a suffix if the left side has a column of the same name.

# %%
hit = join(sessions, outages, "interval_intersects", by="region")
hit.select("name", "name_right", "ts", "te").orderBy("ts", "name_right").show()

# %%
ax = plot.matches(sessions, outages, "interval_intersects", by="region", label="name")

# %% [markdown]
# Sessions that began at most half an hour before an outage hit them: ISEQL's *start preceding* with
# a limit `delta`. In the picture each interval `s` is a point; points in the green area match.

# %%
soon = {"relation": "iseql_start_preceding", "delta": timedelta(minutes=30)}
join(sessions, outages, by="region", **soon).select("name", "name_right").show()
ax = plot.relation("iseql_start_preceding", r=(0, 60), s=(20, 75), delta=30)

# %% [markdown]
# ## How long they were hit
#
# Two outages of one region overlap. A sum over the overlaps of a session would count the common
# time twice; `coverage` does not. It returns microseconds, the unit of the endpoints.

# %%
minutes = coverage(sessions, outages, by="region").selectExpr("name", "covered / 6e7 AS minutes")
minutes.where("minutes > 0").orderBy("name").show()
merge(outages, by="region").orderBy("region", "ts").show()

# %% [markdown]
# ## The release at the start of a session
#
# An as-of join finds the latest release of the region at or before the start of a session, and not
# older than two hours. Sessions without a release are kept, with NULL.

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
