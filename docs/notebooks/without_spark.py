# %% [markdown]
# # Without Spark: pandas, Polars and Arrow
#
# `intervalsweep.arrow` has the same relations and the same kernels, and needs neither Spark nor
# Java. Each function takes tables and returns a table of the same library.

# %%
import pandas as pd
import polars as pl

from intervalsweep import arrow as isa
from intervalsweep import plot

eve = pd.Timestamp("2026-04-30")
bookings = pd.DataFrame(
    {
        "room": ["blue", "blue", "blue", "red", "red"],
        "booking": ["b1", "b2", "b3", "b4", "b5"],
        "ts": eve + pd.to_timedelta([1, 3, 8, 2, 6], unit="D"),
        "te": eve + pd.to_timedelta([4, 6, 10, 5, 9], unit="D"),
    }
)

# %% [markdown]
# ## Bookings that overlap
#
# Which rooms are booked twice? With `allen_overlaps`, `r` starts first, `s` ends last, and both
# have a time in common. (`allen_during` finds bookings inside another one. `interval_intersects`
# finds all of these, and each booking with itself.)

# %%
double = isa.join(bookings, bookings, "allen_overlaps", by="room")
print(double[["room", "booking", "booking_right"]])

# %%
ax = plot.matches(bookings, bookings, "allen_overlaps", by="room", label="booking")

# %%
ax = plot.relation("allen_overlaps")

# %% [markdown]
# ## Free rooms
#
# The gaps between the bookings of each room:

# %%
print(isa.complement(bookings, by="room"))

# %% [markdown]
# ## Polars, and counts of matches
#
# How many of a million intervals contain each of three points? `count_matches` makes no pairs: its
# time depends on the rows, not on the pairs.

# %%
starts = pl.int_range(1_000_000, eager=True)
intervals = pl.DataFrame({"ts": starts, "te": starts + 1000})
points = pl.DataFrame({"ts": [0, 999, 500_000], "te": [1, 1000, 500_001]})
print(isa.count_matches(points, intervals, "interval_intersects"))

# %% [markdown]
# `nearest` finds the nearest interval of another table, which may be of another library. A distance
# between timestamps is in their unit, here microseconds:

# %%
events = pl.DataFrame({"event": ["fair"], "ts": [pd.Timestamp("2026-05-11")]}).with_columns(
    te=pl.col("ts") + pl.duration(days=2)
)
print(isa.nearest(events, bookings).select("event", "booking", "distance"))
