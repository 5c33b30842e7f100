# %% [markdown]
# # Features of events, as they arrive
#
# How many payments has a card made in the ten minutes before a request, and how large were they?
# The same query runs on tables for training a model, and on streams for serving it.

# %% tags=["quiet"]
import os
import random
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow
import pyarrow.parquet
from pyspark.sql import SparkSession

import intervalsweep
from intervalsweep import plot

PROVIDER = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
builder = (
    SparkSession.builder.config("spark.ui.showConsoleProgress", "false")
    .config("spark.sql.streaming.stateStore.providerClass", PROVIDER)
    .config("spark.sql.shuffle.partitions", 2)
)
spark = intervalsweep.configure(builder).getOrCreate()

# %% [markdown]
# ## Events
#
# Each side has twelve files, one for each minute, which arrive one after the other. An event
# arrives up to thirty seconds after its time, so the files overlap in time.

# %%
folder = Path(tempfile.mkdtemp())
draw = random.Random(1)
start = datetime(2026, 1, 1, 9)


def write(name: str, minute: int, rows: int) -> None:
    seconds = [60 * minute + draw.random() * 60 - draw.random() * 30 for _ in range(rows)]
    events = {
        "id": range(rows * minute, rows * (minute + 1)),
        "card": [f"c{draw.randrange(200)}" for _ in seconds],
        "at": [start + timedelta(seconds=second) for second in seconds],
        "amount": [draw.randrange(1, 100) for _ in seconds],
    }
    file = folder / name / f"{minute:02}.parquet"
    file.parent.mkdir(exist_ok=True)
    at = pyarrow.array(events.pop("at"), pyarrow.timestamp("us", "UTC"))
    pyarrow.parquet.write_table(pyarrow.table({**events, "at": at}), file)
    os.utime(file, (1e9 + minute, 1e9 + minute))


for minute in range(12):
    write("requests", minute, 2_000)
    write("payments", minute, 5_000)

# %% [markdown]
# ## On tables

# %%
FEATURES = """
SELECT r.id, r.card, r.at, w.* FROM requests r LEFT JOIN LATERAL (
  SELECT count(*) AS payments, sum(p.amount) AS paid, max(p.amount) AS largest
  FROM payments p
  WHERE p.card = r.card AND p.at BETWEEN r.at - INTERVAL '10' MINUTE AND r.at
) w ON true
"""
for name in ("requests", "payments"):
    spark.read.parquet(str(folder / name)).createOrReplaceTempView(name)
trained = spark.sql(FEATURES).collect()
print(len(trained), "requests,", sum(row.payments for row in trained), "payments in their windows")

# %% [markdown]
# ## On streams
#
# Now the views are streams with watermarks: an event may be a minute late. A request is emitted
# when its window is final.

# %%
for name in ("requests", "payments"):
    schema = spark.table(name).schema
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    stream = stream.parquet(str(folder / name)).withWatermark("at", "1 minute")
    stream.createOrReplaceTempView(name)
writer = spark.sql(FEATURES).writeStream.format("memory").queryName("served")
writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
query = writer.trigger(availableNow=True).start()
query.awaitTermination()
served = spark.table("served").collect()
print(len(served), "requests are final, all as over tables:", set(served) <= set(trained))

# %% [markdown]
# The other requests wait for events that advance the watermark. Each bar is a micro-batch. First,
# the events that it processed in a second; the first micro-batch also compiles code.

# %%
ax = plot.batches(query)

# %% [markdown]
# Second, the duration of each micro-batch. An event that arrives meanwhile waits for its end.

# %%
ax = plot.batches(query, measure="seconds")

# %% [markdown]
# Third, the rows of state after each micro-batch: payments of ten minutes, and requests that are
# not final.

# %%
ax = plot.batches(query, measure="state")
