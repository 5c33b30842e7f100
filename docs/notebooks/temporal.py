# %% [markdown]
# # Histories: prices, offers, and the plain query
#
# Tables that keep history have a row for each period in which something held. Mark the period,
# write the query that you would write over a table of today, and read the history of its result.

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
# ## Before
#
# What the table has: a bar for each row, which goes to the edge while it has no end.

# %%
ax = plot.history(price_history, span=year)

# %% [markdown]
# ## Two histories become one
#
# The plain left join. Its rows change where one of the two sides does, and a product without an
# offer has NULL while it has none.

# %%
both = prices.left_join(offers, "product")
both.frame.orderBy("product", "ts").show()

# %%
ax = plot.history(both.frame, ["product", "price", "offer"], span=year, color="#009E73")

# %% [markdown]
# ## How many, and how much?
#
# An aggregate returns a row where it changes. `sequenced` takes the query as text.

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
# One instant is the plain query over the rows that are valid then.

# %%
prices.at(date(2024, 6, 15)).frame.orderBy("product").show()

# %% [markdown]
# ## Real data, without Spark
#
# 28,758 versions of the files of a repository, in Unix seconds. How many files were there?

# %%
folders = [Path.cwd(), *Path.cwd().parents]
data = next(folder for folder in folders if (folder / "sql-examples").is_dir())
versions = pyarrow.csv.read_csv(data / "sql-examples" / "data" / "delta_file_history.csv.gz")
files = isat.aggregate(versions.drop(["key"]), on=("start", "end"), files="count")
print(files.num_rows, "changes, at most", max(files.column("files").to_pylist()), "files")

# %% [markdown]
# The life of the ten files that changed most often: versions that touch are one period.

# %%
often = versions.group_by("path_id").aggregate([("start", "count")])
most = often.sort_by([("start_count", "descending")]).slice(0, 10).column("path_id")
some = versions.filter(pyarrow.compute.is_in(versions.column("path_id"), most.combine_chunks()))
lives = isat.distinct(some.drop(["key"]), on=("start", "end"))
ax = plot.history(lives, "path_id", on=("start", "end"))
