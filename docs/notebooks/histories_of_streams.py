# %% [markdown]
# # The history of a query, while its rows arrive
#
# Calls start and end. How many run in each city, at any time? The query is plain SQL. Over streams,
# `sequenced` writes each row of its history as soon as it is certain.

# %% tags=["quiet"]
import os
import random
import tempfile
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pyarrow
import pyarrow.parquet
from matplotlib import pyplot
from pyspark.sql import SparkSession

import intervalsweep
from intervalsweep import plot, temporal

PROVIDER = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
builder = (
    SparkSession.builder.config("spark.ui.showConsoleProgress", "false")
    .config("spark.sql.streaming.stateStore.providerClass", PROVIDER)
    .config("spark.sql.shuffle.partitions", 2)
)
spark = intervalsweep.configure(builder).getOrCreate()

# %% [markdown]
# ## Calls
#
# Twelve files arrive one after the other, one for each five minutes. A call arrives up to two
# minutes after its start.

# %%
folder = Path(tempfile.mkdtemp())
draw = random.Random(4)
start = datetime(2026, 1, 1, 9, tzinfo=timezone.utc)
span = (start, start + timedelta(hours=1))

for number in range(12):
    seconds = [300 * number + draw.random() * 300 - draw.random() * 120 for _ in range(3)]
    starts = [start + timedelta(seconds=second) for second in seconds]
    calls = pyarrow.table(
        {
            "city": [draw.choice(["Rome", "Oslo"]) for _ in starts],
            "ts": starts,
            "te": [s + timedelta(seconds=draw.randrange(200, 900)) for s in starts],
        }
    )
    file = folder / f"{number:02}.parquet"
    pyarrow.parquet.write_table(calls, file)
    os.utime(file, (1e9 + number, 1e9 + number))

# %% [markdown]
# ## The history
#
# The stream has a watermark on the start of its periods.

# %%
source = spark.readStream.schema("city STRING, ts TIMESTAMP, te TIMESTAMP")
stream = source.option("maxFilesPerTrigger", 1).parquet(str(folder))
calls = temporal.valid(stream.withWatermark("ts", "2 minutes"), "ts", "te")
running = calls.group_by("city").agg(running="count(*)").frame
writer = running.writeStream.format("memory").queryName("running")
query = writer.trigger(availableNow=True).start()
query.awaitTermination()
spark.table("running").orderBy("ts").show(6)

# %%
ax = plot.history(spark.table("running"), span=span)

# %% [markdown]
# Each step of the picture is a micro-batch. The line is the watermark: the rows on its left have
# ended there, and can no longer change.

# %%
pyplot.rcParams["animation.html"] = "jshtml"
moving = plot.follow(query, spark.table("running"), span=span)
print(moving.to_jshtml().count("frames["), "steps")
pyplot.close()
moving  # noqa: B018

# %% [markdown]
# ## The same query over a table
#
# returns the same rows, as far as the watermark.

# %%
table = temporal.valid(spark.read.parquet(str(folder)), "ts", "te")
history = table.group_by("city").agg(running="count(*)").frame.collect()
written = spark.table("running").collect()
print(len(written), "of", len(history), "rows are written:", set(written) <= set(history))
