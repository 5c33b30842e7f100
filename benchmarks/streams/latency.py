# SPDX-License-Identifier: Apache-2.0
"""Measures the latency of rows of a window union in real-time mode.

python -m benchmarks.streams.latency --rows 400 --seconds 60

Each row has the time at which it was sent; the query computes the latency just before the sink.
The same rows first go through a query without a window, which shows the latency of Spark's source
alone. Rows have one of a hundred keys; windows are the ten seconds before them. Between two
micro-batches rows wait for the next one, so the measurement lies within the first micro-batch,
which is long enough for all of it.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.machine import heading
from benchmarks.report import write_json
from benchmarks.streams.session import stream_session

SCHEMA = "id INT, k INT, ts TIMESTAMP, v INT, sent DOUBLE"
KEYS, WINDOW = 100, 10
OUT = "CAST(java_method('java.lang.System', 'currentTimeMillis') AS DOUBLE) / 1000 - sent AS taken"
QUERIES = {
    "no window": f"SELECT sent, {OUT}, 0L n, 1 r FROM base",
    "window union": f"""SELECT sent, {OUT}, n, r FROM (
  SELECT base.*, w.* FROM base LEFT JOIN LATERAL (
    SELECT count(*) n, sum(v) s, window_revision() r FROM (SELECT k, ts, v FROM probe) probe
    WHERE probe.k = base.k
      AND probe.ts BETWEEN base.ts - INTERVAL {WINDOW} SECONDS AND base.ts) w ON true)""",
}
SETTINGS = {
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "1",
    "spark.log.level": "OFF",
    "spark.sql.session.timeZone": "UTC",
}
SIDES = ("base", "probe")


class Source:
    """Spark's own in-memory source of rows, without delay."""

    def __init__(self, spark: Any, name: str) -> None:
        from pyspark.sql import DataFrame
        from pyspark.sql import functions as sf

        jvm = spark._jvm
        streams = jvm.org.apache.spark.sql.execution.streaming.sources
        text = jvm.org.apache.spark.sql.Encoders.STRING()
        self._stream = streams.LowLatencyMemoryStream.apply(spark._jsparkSession, 1, text)
        self._convert = jvm.scala.jdk.javaapi.CollectionConverters
        self._jvm = jvm
        lines = DataFrame(self._stream.toDF(), spark)
        rows = lines.select(sf.from_csv("value", SCHEMA).alias("row")).select("row.*")
        rows.withWatermark("ts", "1 second").createOrReplaceTempView(name)

    def add(self, line: str) -> None:
        lines = self._jvm.java.util.ArrayList()
        lines.add(line)
        self._stream.addData(self._convert.asScala(lines))


def paced(rows: int, seconds: float) -> Iterator[int]:
    """Consecutive numbers, `rows` of them a second."""
    start = time.time()
    for number in range(int(rows * seconds)):
        wait = start + number / rows - time.time()
        if wait > 0:
            time.sleep(wait)
        yield number


def send(sources: list[Source], rows: int, seconds: float) -> None:
    rng = random.Random(1)
    for number in paced(rows, seconds):
        now = time.time()
        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(now)) + f".{now % 1:.6f}"[2:]
        line = f"{number},{rng.randrange(KEYS)},{stamp},{number % 100},{now:.6f}"
        sources[number % 2].add(line)


def run(spark: Any, name: str, folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    sources = [Source(spark, side) for side in SIDES]
    file = folder / "latencies"

    def write(row: Any) -> None:
        # Later revisions of a row do not count.
        if row.r == 1:
            with file.open("a", encoding="utf-8") as out:
                out.write(f"{row.sent} {row.taken} {row.n}\n")

    folder.mkdir()
    writer = spark.sql(QUERIES[name]).writeStream.foreach(write).outputMode("update")
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.trigger(realTime=f"{arguments.batch} seconds").start()
    send(sources, arguments.rows, arguments.warm + arguments.seconds)
    # The sink has all rows once the micro-batch has ended.
    ended = len(query.recentProgress)
    while query.isActive and len(query.recentProgress) == ended:
        time.sleep(0.5)
    query.stop()
    if query.exception():
        raise query.exception()
    found = [[float(x) for x in line.split()] for line in file.read_text().splitlines()]
    from_ = min(sent for sent, _, _ in found) + arguments.warm
    some = sorted(1000 * taken for sent, taken, _ in found if sent >= from_)
    return {
        "query": name,
        "rows": len(some),
        "sent": int(arguments.rows * arguments.seconds) // 2,
        "probes in a window": round(statistics.mean(n for *_, n in found), 1),
        **{f"p{p} ms": round(some[min(len(some) - 1, len(some) * p // 100)], 1) for p in (50, 99)},
        "most ms": round(some[-1], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=400, help="a second, of both streams")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--warm", type=float, default=60, help="seconds that do not count")
    parser.add_argument("--batch", type=int, default=150, help="seconds of a micro-batch")
    parser.add_argument("--cores", type=int, default=2, help="state partitions")
    parser.add_argument("--output", type=Path, default=Path("target/benchmarks/streams/latency"))
    arguments = parser.parse_args()
    scratch = Path(tempfile.mkdtemp())
    master = {"spark.master": f"local[{arguments.cores + len(SIDES) + 2}]"}
    spark = stream_session(arguments.cores, "4g", scratch, {**SETTINGS, **master})
    results = []
    for number, name in enumerate(QUERIES):
        results.append(run(spark, name, scratch / str(number), arguments))
        print(json.dumps(results[-1]), flush=True)
    spark.stop()
    options = {key: value for key, value in vars(arguments).items() if key != "output"}
    write_json(
        arguments.output / "latency.json", {**heading(), "options": options, "runs": results}
    )


if __name__ == "__main__":
    main()
