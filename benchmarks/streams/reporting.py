# SPDX-License-Identifier: Apache-2.0
"""Measures the delay of pairs after they are certain: Figure 20 of the paper on sweeping joins.

python -m benchmarks.streams.reporting [--rows 1000] [--batches 60]

The relation is "r contains s", the paper's reverse during join. A pair is certain when s ends and r
has not ended. Samples of real intervals arrive in three ways:

open    a row when an interval starts and a row when it ends, `stream_join(open_id=)`
ended   a row when an interval has ended
sorted  as ended, but in the order of starts, which a merge join needs: a row waits for all
        rows that started before it

As in the paper, latency is measured in the intervals' own time, in mean lengths of intervals. A
micro-batch has all rows that arrive in one of `--batches` equal steps of time; the length of a step
is shown as well.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.machine import heading
from benchmarks.papers.loops.iterators import Intervals
from benchmarks.papers.loops.tuples import Sides, real
from benchmarks.report import write_json
from benchmarks.streams.session import stream_session
from benchmarks.streams.workloads import set_turn

SCHEMA = "id LONG, ts TIMESTAMP, te TIMESTAMP, at TIMESTAMP"
SECOND = 1_000_000
# The first instant, in microseconds. Rows at the epoch would be late.
START = 10**15
Events = tuple[Any, Any, Any]  # by event: arrival, row number, True if the end is known


def opened(rows: Intervals) -> Events:
    """A row at each start and at each end, in the order of time."""
    size = len(rows.ts)
    when = np.concatenate([rows.ts, rows.te])
    number, has_end = np.tile(np.arange(size), 2), np.repeat([False, True], size)
    order = np.argsort(when, kind="stable")
    return when[order], number[order], has_end[order]


def ended(rows: Intervals) -> Events:
    order = np.argsort(rows.te, kind="stable")
    return rows.te[order], order, np.ones(len(order), bool)


def in_order(rows: Intervals) -> Events:
    """Rows by start; a row arrives when all rows that started before it have ended."""
    order = np.argsort(rows.ts, kind="stable")
    return np.maximum.accumulate(rows.te[order]), order, np.ones(len(order), bool)


WAYS: dict[str, tuple[Callable[[Intervals], Events], str]] = {
    "open": (opened, "at"),
    "ended": (ended, "te"),
    "sorted": (in_order, "ts"),
}
TITLES = {
    "open": "starts and ends",
    "ended": "rows that have ended",
    "sorted": "ended, in order of start",
}


def sample(rows: Intervals, size: int, seed: int) -> Intervals:
    random = np.random.default_rng(seed)
    chosen = np.sort(random.choice(len(rows.ts), min(size, len(rows.ts)), replace=False))
    return Intervals(rows.ts[chosen], rows.te[chosen])


def write(folder: Path, rows: Intervals, events: Events, step: float, batches: int) -> None:
    """Writes a file for each step of time, and a last file with a row far beyond all others."""
    when, number, has_end = events
    far = int(step * (batches + 1))
    folder.mkdir(parents=True)
    for batch in range(batches + 2):
        in_batch = (when >= batch * step) & (when < (batch + 1) * step)
        chosen = number[in_batch]
        start, end, at = rows.ts[chosen], rows.te[chosen], when[in_batch]
        ends = has_end[in_batch]
        if batch == batches + 1:
            start, end, at, ends = (np.array([far + n]) for n in (0, 1, 1, True))
            chosen = np.array([-1])
        columns = {
            "id": pa.array(chosen),
            "ts": _times(start),
            "te": _times(end, ~ends.astype(bool)),
            "at": _times(at),
        }
        file = folder / f"{batch:05}.parquet"
        pq.write_table(pa.table(columns), file)
        set_turn(file, batch)


def _times(seconds: Any, missing: Any = None) -> Any:
    micros = pa.array(START + seconds * SECOND, pa.int64(), mask=missing)
    return micros.cast(pa.timestamp("us", tz="UTC"))


def reported(spark: Any, way: str, sides: Sides, batches: int) -> Any:
    """The delay of each pair, in seconds of the intervals' time."""
    from intervalsweep.dataframe import stream_join

    events, clock = WAYS[way]
    last = max(int(side.te.max()) for side in sides)
    step = (last + 1) / batches
    with tempfile.TemporaryDirectory() as folder:

        def stream(name: str, rows: Intervals) -> Any:
            write(Path(folder) / name, rows, events(rows), step, batches)
            source = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
            return source.parquet(f"{folder}/{name}").withWatermark(clock, "1 second")

        r, s = stream("r", sides[0]), stream("s", sides[1])
        longest = max(int((side.te - side.ts).max()) for side in sides)
        if way == "open":
            pairs = stream_join(r, s, "allen_contains", open_id="id")
        else:
            most = timedelta(seconds=longest)
            pairs = stream_join(r, s, "allen_contains", max_length=most)
        found: list[tuple[int, int]] = []

        def take(batch: Any, number: int) -> None:
            found.extend((number, row.id_right) for row in batch.select("id_right").collect())

        writer = pairs.writeStream.foreachBatch(take).trigger(availableNow=True)
        writer.option("checkpointLocation", f"{folder}/checkpoint").start().awaitTermination()
    # All rows of a micro-batch have arrived at the end of its step.
    return np.array([(batch + 1) * step - sides[1].te[s] for batch, s in found])


def expected(r: Intervals, s: Intervals) -> int:
    within = (r.ts[:, None] < s.ts) & (s.te < r.te[:, None])
    return int(within.sum())


def measured(spark: Any, name: str, sides: Sides, batches: int) -> Iterator[dict[str, Any]]:
    """A line for each way of arrival; no line if there are no pairs."""
    wanted = expected(*sides)
    lengths = np.concatenate([side.te - side.ts for side in sides])
    mean = float(lengths.mean())
    step = (max(int(side.te.max()) for side in sides) + 1) / batches
    for way in WAYS if wanted else ():
        took = reported(spark, way, sides, batches)
        if len(took) != wanted:
            raise SystemExit(f"{name}, {way}: {len(took)} pairs, not {wanted}")
        yield {
            "data": name,
            "rows come": way,
            "pairs": wanted,
            "mean latency": round(float(took.mean()) / mean, 3),
            "a micro-batch": round(step / mean, 3),
        }


def draw(lines: list[dict[str, Any]], file: Path) -> None:
    """Draws a group of bars for each data set."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    _, axes = pyplot.subplots(figsize=(6, 3.2))
    sets = list(dict.fromkeys(line["data"] for line in lines))
    for number, way in enumerate(WAYS):
        heights = [line["mean latency"] for line in lines if line["rows come"] == way]
        axes.bar(np.arange(len(sets)) + number / 4, heights, 0.25, label=TITLES[way])
    axes.set_xticks(np.arange(len(sets)) + 0.25, sets)
    axes.set_ylabel("latency, mean lengths of intervals")
    axes.legend()
    axes.figure.savefig(file, dpi=120, bbox_inches="tight")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("sql-examples/data"))
    parser.add_argument("--rows", type=int, default=1000, help="of each side")
    parser.add_argument("--batches", type=int, default=60)
    parser.add_argument("--output", type=Path, default=Path("target/benchmarks/streams"))
    arguments = parser.parse_args()
    spark = stream_session(2, "4g", Path(tempfile.mkdtemp()), {"spark.sql.session.timeZone": "UTC"})
    lines: list[dict[str, Any]] = []
    for name, (r, s) in real(arguments.data).items():
        sides = sample(r, arguments.rows, 1), sample(s, arguments.rows, 2)
        for line in measured(spark, name, sides, arguments.batches):
            lines.append(line)
            print(json.dumps(line), flush=True)
    spark.stop()
    options = {"rows": arguments.rows, "batches": arguments.batches}
    report = {**heading(), "options": options, "lines": lines}
    write_json(arguments.output / "reporting.json", report)
    draw(lines, arguments.output / "reporting.png")


if __name__ == "__main__":
    main()
