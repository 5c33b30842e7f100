# SPDX-License-Identifier: Apache-2.0
"""Eight threads of queries and two streams on one application, for some minutes.

    python -m load --minutes 10

Fails if a query or a stream fails that is not meant to, if rows are wrong, or if processes, files,
threads or memory grow.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from pathlib import Path

from load.figures import figures, growth
from load.queries import Load
from load.streams import Stream, restarting
from support.spark.session import session

SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.intervalsweep.smallGroupPairs": "0",
    "spark.log.level": "OFF",
    "spark.scheduler.mode": "FAIR",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.ui.retainedExecutions": "10",
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=45)
    given = parser.parse_args()
    spark = session("local[4]", SETTINGS)
    with tempfile.TemporaryDirectory() as folder:
        return _run(spark, given.minutes, given.seed, Path(folder))


def _run(spark: object, minutes: float, seed: int, folder: Path) -> int:
    streams = [Stream(spark, name, folder) for name in ("steady", "restarted")]
    for stream in streams:
        stream.start()
    # The first minute fills caches and pools.
    Load(spark, min(60, minutes * 12), seed).run()
    before = figures(spark)
    load = Load(spark, minutes * 60, seed)
    restarts = threading.Thread(target=restarting, args=(streams[1], load.is_over))
    restarts.start()
    load.run()
    restarts.join()
    after = figures(spark)
    problems = load.errors + growth(before, after)
    for stream in streams:
        problems += filter(None, [stream.error()])
        stream.stop()
        problems += filter(None, [stream.wrong()])
    print(dict(load.counts))
    print("before", before)
    print("after ", after)
    for problem in problems[:20]:
        print(problem)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
