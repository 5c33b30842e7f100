# SPDX-License-Identifier: Apache-2.0
"""Threads that run good, failing, cancelled and limited queries until a time."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

TABLE = (
    "SELECT id, id % 17 AS k, id * 7919 % 20000 AS ts, id * 7919 % 20000 + 1 + id % 400 AS te "
    "FROM range(8000)"
)
KEYED = "load_r a JOIN load_r b ON a.k = b.k AND ALLEN_OVERLAPS(a.ts, a.te, b.ts, b.te)"
PLAIN = "load_r a JOIN load_r b ON a.ts < b.te AND b.ts < a.te"
MARKED = "(SELECT * FROM validtime(TABLE(load_r), 'ts', 'te'))"
GOOD = (
    f"SELECT count(*) AS n, sum(a.id * 3 + b.id) AS s FROM {KEYED}",
    f"SELECT a.k, count(*) AS n, max(b.id) AS s FROM {PLAIN} AND a.id < 300 "
    "GROUP BY a.k ORDER BY 1",
    f"SELECT count(*) AS n, sum(m) AS s FROM (SELECT * FROM sequenced(TABLE("
    f"SELECT k, sum(id) AS m FROM {MARKED} GROUP BY k)))",
    "SELECT count(*) AS n, sum(c) AS s FROM (SELECT a.id, plus_one(b.id) AS c FROM "
    f"{KEYED} WHERE a.id < 500)",
)
LIMITED = f"SELECT a.id, b.id AS other FROM {PLAIN} LIMIT 10"
FAILING = f"SELECT count(*), sum(1 DIV (a.id - b.id)) FROM {PLAIN} AND a.k = b.k"
# Minutes of work: 64 million pairs, each rejected by a condition on both rows.
LONG = (
    "SELECT count(*) FROM load_r a JOIN load_r b ON a.ts < b.te + 20000 AND b.ts < a.te + 20000 "
    "AND hash(a.id, b.id) % 1000003 = 7 AND length(repeat(cast(a.id AS STRING), 50)) < 0"
)


class Load:
    """The results of all threads: counts of queries, and the errors that are nobody's fault."""

    def __init__(self, spark: Any, seconds: float, seed: int) -> None:
        self.counts: Counter[str] = Counter()
        self.errors: list[str] = []
        self._spark = spark
        self._until = time.monotonic() + seconds
        self._seed = seed
        spark.udf.register("plus_one", lambda x: x + 1, "long")
        spark.sql(TABLE).createOrReplaceTempView("load_r")
        self._expected = [spark.sql(query).collect() for query in GOOD]
        assert all(rows and rows[0].n > 0 for rows in self._expected)

    def is_over(self) -> bool:
        return time.monotonic() > self._until

    def run(self) -> None:
        """Runs eight threads to the end: four good, one limited, two failing, one cancelled."""
        kinds = [self._good] * 4 + [self._limited, self._failing, self._failing, self._cancelled]
        threads = [
            threading.Thread(target=self._repeat, args=(kind, self._seed + number))
            for number, kind in enumerate(kinds)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _repeat(self, kind: Callable[[random.Random], None], seed: int) -> None:
        rng = random.Random(seed)
        while not self.is_over():
            try:
                kind(rng)
                self.counts[kind.__name__.strip("_")] += 1
            except Exception as error:
                self.errors.append(f"{kind.__name__}: {str(error)[:2000]}")

    def _good(self, rng: random.Random) -> None:
        number = rng.randrange(len(GOOD))
        if self._spark.sql(GOOD[number]).collect() != self._expected[number]:
            self.errors.append(f"wrong rows: {GOOD[number]}")

    def _limited(self, _: random.Random) -> None:
        if len(self._spark.sql(LIMITED).collect()) != 10:
            self.errors.append(f"wrong rows: {LIMITED}")

    def _failing(self, _: random.Random) -> None:
        try:
            self._spark.sql(FAILING).collect()
        except Exception as error:
            if "DIVIDE_BY_ZERO" in str(error):
                return
            raise
        self.errors.append(f"no error: {FAILING}")

    def _cancelled(self, rng: random.Random) -> None:
        session = self._spark.newSession()
        session.sql(TABLE).createOrReplaceTempView("load_r")
        tag = f"load-{rng.random()}"
        caught: list[str] = []

        def work() -> None:
            session.addTag(tag)
            try:
                session.sql(LONG).collect()
            except Exception as error:
                caught.append(str(error))

        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(rng.uniform(0.1, 2.0))
        while thread.is_alive():
            session.interruptTag(tag)
            thread.join(0.5)
        if caught and "ancel" not in caught[0] and "nterrupt" not in caught[0]:
            self.errors.append(f"cancelled: {caught[0][:2000]}")
