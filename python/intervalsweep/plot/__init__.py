# SPDX-License-Identifier: Apache-2.0
"""Pictures, by matplotlib: `pip install 'intervalsweep[plot]'`.

    from intervalsweep import plot

    plot.matches(sessions, outages, "interval_intersects", by="region")
    plot.history(works, "skill")
    plot.relation("allen_overlaps")
    plot.tasks(spark)
    plot.batches(query)
    plot.follow(query, spark.table("running"), span=(first, last))

Each function draws on the given Axes, or on those of a new picture, and returns the Axes. Use
matplotlib to change titles and limits, to save files, and to show the picture.
"""

from intervalsweep._requirements import check_packages

check_packages("intervalsweep.plot", "matplotlib")

from intervalsweep.plot.box import relation  # noqa: E402
from intervalsweep.plot.following import follow  # noqa: E402
from intervalsweep.plot.histories import history  # noqa: E402
from intervalsweep.plot.matching import matches  # noqa: E402
from intervalsweep.plot.progress import batches  # noqa: E402
from intervalsweep.plot.skew import tasks  # noqa: E402

__all__ = ["batches", "follow", "history", "matches", "relation", "tasks"]
