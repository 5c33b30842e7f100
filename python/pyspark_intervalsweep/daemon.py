# SPDX-License-Identifier: Apache-2.0
"""Forks workers. Spark runs it as ``python -m pyspark_intervalsweep.daemon WORKER_MODULE``.

It is ``pyspark.daemon`` with the packages and kernels of the workers imported. So a new worker
starts in milliseconds and shares this memory. A fork loses threads; of the imports only pyarrow's
jemalloc starts one, which it starts again in a child.
"""

from __future__ import annotations

from pyspark.daemon import manager

from . import worker  # noqa: F401  (imports all that a worker needs, and never fails)

if __name__ == "__main__":
    manager()
