# %% [markdown]
# # Without Spark: pandas, Polars and Arrow
#
# `intervalsweep.arrow` has the same relations and the same kernels, and needs neither Spark nor
# Java. A table in, a table of the same library out.

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
# A room that is booked twice: `r` starts first, `s` ends last, and they share a part. (For one
# inside another there is `allen_during`; `interval_intersects` is all of it, and each booking with
# itself.)

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
# The gaps between bookings, room by room:

# %%
print(isa.complement(bookings, by="room"))

# %% [markdown]
# ## Polars, and numbers of matches
#
# How many of a million intervals hold each of some points? No pair is made: `count_matches` needs
# time for the rows, not for the pairs.

# %%
starts = pl.int_range(1_000_000, eager=True)
intervals = pl.DataFrame({"ts": starts, "te": starts + 1000})
points = pl.DataFrame({"ts": [0, 999, 500_000], "te": [1, 1000, 500_001]})
print(isa.count_matches(points, intervals, "interval_intersects"))

# %% [markdown]
# The nearest interval of another table, which may be of another library. Between timestamps, the
# distance is in their unit, here microseconds:

# %%
events = pl.DataFrame({"event": ["fair"], "ts": [pd.Timestamp("2026-05-11")]}).with_columns(
    te=pl.col("ts") + pl.duration(days=2)
)
print(isa.nearest(events, bookings).select("event", "booking", "distance"))
