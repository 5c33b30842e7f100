# %% [markdown]
# # Histories: prices, offers, and the plain query
#
# Tables with history have one row for each period in which a value was valid. Mark the period and
# write the query for a single day; `sequenced` returns the history of its result.

# %% tags=["quiet"]
from datetime import date
from pathlib import Path

import pyarrow.compute
import pyarrow.csv
from pyspark.sql import SparkSession

import intervalsweep
from intervalsweep import plot, temporal
from intervalsweep.arrow import temporal as isat

builder = SparkSession.builder.config("spark.ui.showConsoleProgress", "false")
spark = intervalsweep.configure(builder).getOrCreate()

# %%
price_history = spark.sql("""
    SELECT * FROM VALUES
      ('tea', 3, DATE '2024-01-01', DATE '2024-06-01'), ('tea', 4, DATE '2024-06-01', NULL),
      ('cup', 9, DATE '2024-03-01', DATE '2024-09-01')
      AS t(product, price, ts, te)
""")
offer_history = spark.sql("""
    SELECT * FROM VALUES ('tea', 'spring', DATE '2024-05-01', DATE '2024-07-01')
      AS t(product, offer, ts, te)
""")
prices = temporal.valid(price_history, "ts", "te")
offers = temporal.valid(offer_history, "ts", "te")
year = (date(2024, 1, 1), date(2025, 1, 1))

# %% [markdown]
# ## The input
#
# The table of prices, with a bar for each row. A bar without an end is still valid, and reaches the
# edge.

# %%
ax = plot.history(price_history, span=year)

# %% [markdown]
# ## Two histories become one
#
# The plain left join. A new row starts whenever a price or an offer changes. A product has NULL
# during periods without an offer.

# %%
both = prices.left_join(offers, "product")
both.frame.orderBy("product", "ts").show()

# %%
ax = plot.history(both.frame, ["product", "price", "offer"], span=year, color="#009E73")

# %% [markdown]
# ## How many, and how much?
#
# An aggregate returns one row for each change of its value. `sequenced` takes the query as text.

# %%
counts = temporal.sequenced(
    spark, "SELECT count(*) AS products, max(price) AS most FROM p", p=prices, period=year
)
counts.orderBy("ts").show()

# %%
ax = plot.history(counts, "products", span=year, color="#009E73")

# %% [markdown]
# ## The day of an order
#
# `at` returns the rows that are valid on one day.

# %%
prices.at(date(2024, 6, 15)).frame.orderBy("product").show()

# %% [markdown]
# ## Real data, without Spark
#
# 28,758 versions of the files of a repository, in Unix seconds. How many files existed at a time?

# %%
folders = [Path.cwd(), *Path.cwd().parents]
data = next(folder for folder in folders if (folder / "sql-examples").is_dir())
versions = pyarrow.csv.read_csv(data / "sql-examples" / "data" / "delta_file_history.csv.gz")
files = isat.aggregate(versions.drop(["key"]), on=("start", "end"), files="count")
print(files.num_rows, "changes, at most", max(files.column("files").to_pylist()), "files")

# %% [markdown]
# The lifetimes of the ten files that changed most often. Versions that touch become one period.

# %%
often = versions.group_by("path_id").aggregate([("start", "count")])
most = often.sort_by([("start_count", "descending")]).slice(0, 10).column("path_id")
some = versions.filter(pyarrow.compute.is_in(versions.column("path_id"), most.combine_chunks()))
lives = isat.distinct(some.drop(["key"]), on=("start", "end"))
ax = plot.history(lives, "path_id", on=("start", "end"))
