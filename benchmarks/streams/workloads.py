# SPDX-License-Identifier: Apache-2.0
"""
Generates the workloads of Scale-OIJ (its Tables II, IV and V) from their parameters.

Events come at a fixed rate. A share of them are probe rows; the others are base rows with the
window `[ts - window, ts]`. An event arrives up to `lateness` after its time. Before the first base
row there are only probe rows, for the length of one window.
"""

from __future__ import annotations

import json
import math
import os
import shutil
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


@dataclass(frozen=True)
class Workload:
    """
    The parameters of a workload.

    Times are in milliseconds. Tables IV and V have microseconds; their times are multiplied by
    1,000. `hot` is the share of events whose key is one of ten temporarily hot keys (Figure 14).
    With `overlaps`, events are intervals of length `value * window`, and the query finds the pairs
    in which a base interval overlaps a probe interval (`ALLEN_OVERLAPS`).
    """

    rate: float
    keys: int
    window: int
    lateness: int
    probes: float
    events: int
    hot: float = 0.0
    overlaps: bool = False


WORKLOADS = {
    "A": Workload(120, 5, 1000, 1000, 1 / 6, 6_000_000),
    "B": Workload(200, 111, 150_000, 10_000, 1 / 45, 3_000_000),
    "C": Workload(3.375, 45, 8000, 100_000, 1 / 2, 3_000_000),
    "D": Workload(15, 5, 1000, 2000, 1 / 6, 4_000_000),
    "IV": Workload(1, 100, 1000, 100, 1 / 2, 6_000_000),
    "V": Workload(1, 1000, 100, 10, 1 / 2, 6_000_000),
    # Not in the paper. With 60 micro-batches, a window spans thirty micro-batches with base rows.
    "long": Workload(1, 100, 2_000_000, 100, 1 / 2, 1_000_000),
}

# Joins by a relation, of intervals of 100 ms on average; an interval has six or seven matches.
RELATIONS = {
    "keyed": Workload(2, 10, 200, 10, 1 / 2, 4_000_000, overlaps=True),
    "keyless": Workload(0.2, 1, 200, 10, 1 / 2, 2_000_000, overlaps=True),
}

# Variations of Table IV, one parameter at a time: the paper's Figures 8, 9, 7 and 14.
SWEEPS: dict[str, list[float]] = {
    "keys": [1, 10, 100, 1000, 10_000],
    "window": [100, 1000, 10_000, 100_000],
    "lateness": [10, 100, 1000, 10_000, 100_000],
    "skew": [0.0, 0.5, 0.8, 0.95],
}
SWEPT_EVENTS = 3_000_000
HOT_KEYS = 10
# The time of the first event. Spark and Flink treat rows at or before the epoch as late.
START = 1_700_000_000_000
MARKER = -1  # the key of the rows that close the last windows


def sweep(what: str) -> dict[str, Workload]:
    """Variants of Table IV, by name."""
    base = replace(WORKLOADS["IV"], events=SWEPT_EVENTS)
    if what == "skew":
        return {f"skew={x}": replace(base, keys=10_000, hot=float(x)) for x in SWEEPS[what]}
    variants: dict[str, Any] = {f"{what}={x}": {what: int(x)} for x in SWEEPS[what]}
    return {name: replace(base, **changed) for name, changed in variants.items()}


@dataclass
class Events:
    """Events in the order of arrival; `first` is the position of the first base row."""

    ts: np.ndarray
    key: np.ndarray
    value: np.ndarray
    is_probe: np.ndarray

    @property
    def first(self) -> int:
        return int(np.argmax(~self.is_probe))


def events(w: Workload, seed: int = 7) -> Events:
    """The events of a workload; the same seed gives the same events."""
    rng = np.random.default_rng(seed)
    warm = int(w.window * w.rate * w.probes)
    before = np.arange(warm) / (w.rate * w.probes)
    after = w.window + np.arange(w.events) / w.rate
    ts = np.concatenate([before, after]).astype(np.int64)
    is_probe = np.concatenate([np.ones(warm, bool), rng.random(w.events) < w.probes])
    key = rng.integers(0, w.keys, len(ts), dtype=np.int32)
    value = rng.random(len(ts))
    order = np.argsort(ts + rng.random(len(ts)) * w.lateness, kind="stable")
    if w.hot:
        key = hot_keys(w, key, rng)
    return Events(START + ts[order], key[order], value[order], is_probe[order])


def hot_keys(w: Workload, key: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Keys are hot in groups of ten, one group after the other, all for the same time."""
    turns = rng.permutation(w.keys).astype(np.int32).reshape(-1, HOT_KEYS)
    turn = np.arange(len(key)) * len(turns) // len(key)
    hot = turns[turn, rng.integers(0, HOT_KEYS, len(key))]
    return np.where(rng.random(len(key)) < w.hot, hot, key)


@dataclass(frozen=True)
class Written:
    """A workload in a folder, and the expected totals over all windows."""

    folder: Path
    workload: Workload
    batches: int
    files: int
    expected: dict[str, float]

    @property
    def warm(self) -> int:
        """
        The number of micro-batches that are not measured.

        Two, or more if the base rows begin later.
        """
        batch = self.expected["events"] / self.batches
        return min(max(2, math.ceil(self.expected["first"] / batch)), self.batches - 1)

    @property
    def warm_events(self) -> int:
        return round(self.warm * self.expected["events"] / self.batches)


def read(folder: Path) -> Written | None:
    """The workload that was written to a folder, or None."""
    known = folder / "workload.json"
    if not known.exists():
        return None
    found = json.loads(known.read_text())
    workload = Workload(**found.pop("workload"))
    return Written(folder, workload, **found)


def write(w: Workload, folder: Path, batches: int, files: int = 2) -> Written:
    """
    Writes the events for micro-batches of `files` files a side, unless they are already there.

    Flink gets the same events in the same order, as one binary file for each column.
    """
    found = read(folder)
    if found and (found.workload, found.batches, found.files) == (w, batches, files):
        return found
    shutil.rmtree(folder, ignore_errors=True)
    e = events(w)
    write_parquet(e, w, folder, batches * files)
    for column in fields(e):
        getattr(e, column.name).tofile(folder / f"{column.name}.bin")
    answer = overlapping(e, w) if w.overlaps else totals(e, w)
    expected = {"events": len(e.ts), "first": e.first, **answer}
    written = Written(folder, w, batches, files, expected)
    values = asdict(written)
    del values["folder"]
    (folder / "workload.json").write_text(json.dumps(values))
    return written


def write_parquet(e: Events, w: Workload, folder: Path, files: int) -> None:
    """
    Writes `files` files a side, in the order of arrival.

    The last file has one more row, whose time moves the watermark past all other rows. An aggregate
    of a join in Spark has a watermark that is a window behind.
    """
    end = int(e.ts.max()) + w.lateness + w.window + 1
    for name, rows in (("base", ~e.is_probe), ("probe", e.is_probe)):
        (folder / name).mkdir(parents=True)
        cut = np.array_split(np.arange(len(e.ts)), files)
        for i, part in enumerate(cut):
            taken = part[rows[part]]
            key, ts, value = e.key[taken], e.ts[taken], e.value[taken]
            if i == len(cut) - 1:
                key, ts, value = (
                    np.append(key, np.int32(MARKER)),
                    np.append(ts, end),
                    np.append(value, 0.0),
                )
            times = pa.array(ts * 1000, pa.timestamp("us", "UTC"))
            table = pa.table({"k": key, "ts": times, "v": value})
            file = folder / name / f"{i:05}.parquet"
            pq.write_table(table, file)
            set_turn(file, i)


def set_turn(file: Path, number: int) -> None:
    """Makes a file the `number`-th of its stream, from 0 on.

    Spark reads the oldest file first. Files of the same millisecond are in no order.
    """
    os.utime(file, (number + 1, number + 1))


def totals(e: Events, w: Workload) -> dict[str, float]:
    """
    The expected totals of window unions, by sorting and prefix sums.

    They are the numbers of base rows, of base rows with an empty window and of pairs, and the sum
    of the pairs' values.
    """
    # One number for key and time: the numbers of two keys are far apart.
    apart = int(e.ts.max()) - START + w.window + 1
    code = e.key.astype(np.int64) * 2 * apart + e.ts - START
    probes = code[e.is_probe]
    order = np.argsort(probes, kind="stable")
    probes = probes[order]
    sums = np.concatenate([[0.0], np.cumsum(e.value[e.is_probe][order])])
    base = code[~e.is_probe]
    first = np.searchsorted(probes, base - w.window, "left")
    last = np.searchsorted(probes, base, "right")
    return {
        "rows": len(base),
        "base": len(base),
        "empty": int((last == first).sum()),
        "pairs": int((last - first).sum()),
        "sum": float((sums[last] - sums[first]).sum()),
    }


def overlapping(e: Events, w: Workload) -> dict[str, float]:
    """The number of overlapping pairs and the sum of the probes' values, pair by pair."""
    apart = int(e.ts.max()) - START + w.window + 1
    start = e.key.astype(np.int64) * 2 * apart + e.ts - START
    end = start + 1 + (e.value * w.window).astype(np.int64)
    order = np.argsort(start[e.is_probe], kind="stable")
    starts, ends, values = (column[e.is_probe][order] for column in (start, end, e.value))
    pairs, total = 0, 0.0
    for some in np.array_split(np.flatnonzero(~e.is_probe), 1 + len(start) // 1_000_000):
        first = np.searchsorted(starts, start[some], "right")
        count = np.searchsorted(starts, end[some], "left") - first
        of = np.repeat(np.arange(len(some)), count)
        before = np.cumsum(count) - count
        probe = np.arange(count.sum()) - before[of] + first[of]
        found = probe[end[some][of] < ends[probe]]
        pairs += len(found)
        total += float(values[found].sum())
    return {"rows": pairs, "pairs": pairs, "sum": total}
