# SPDX-License-Identifier: Apache-2.0
"""
The workloads of Scale-OIJ (its Tables II, IV and V), made anew from their parameters.

Events come at a fixed rate; a share of them are probe rows, the others base rows whose windows are
`[ts - window, ts]`. An event arrives up to `lateness` after its time. For the length of one window
before the first base row there are probe rows alone.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


@dataclass(frozen=True)
class Workload:
    """Times are milliseconds, but microseconds in Tables IV and V, taken times 1,000 here."""

    rate: float
    keys: int
    window: int
    lateness: int
    probes: float
    events: int


WORKLOADS = {
    "A": Workload(120, 5, 1000, 1000, 1 / 6, 4_000_000),
    "B": Workload(200, 111, 150_000, 10_000, 1 / 45, 4_000_000),
    "C": Workload(3.375, 45, 8000, 100_000, 1 / 2, 3_000_000),
    "D": Workload(15, 5, 1000, 2000, 1 / 6, 4_000_000),
    "IV": Workload(1, 100, 1000, 100, 1 / 2, 4_000_000),
    "V": Workload(1, 1000, 100, 10, 1 / 2, 4_000_000),
}


@dataclass
class Events:
    """In the order in which they arrive; `first` is the first base row."""

    ts: np.ndarray
    key: np.ndarray
    value: np.ndarray
    is_probe: np.ndarray

    @property
    def first(self) -> int:
        return int(np.argmax(~self.is_probe))


def events(w: Workload, seed: int = 7) -> Events:
    """The events of a workload, the same for the same seed."""
    rng = np.random.default_rng(seed)
    warm = int(w.window * w.rate * w.probes)
    before = np.arange(warm) / (w.rate * w.probes)
    after = w.window + np.arange(w.events) / w.rate
    ts = np.concatenate([before, after]).astype(np.int64)
    is_probe = np.concatenate([np.ones(warm, bool), rng.random(w.events) < w.probes])
    key = rng.integers(0, w.keys, len(ts), dtype=np.int32)
    value = rng.random(len(ts))
    order = np.argsort(ts + rng.random(len(ts)) * w.lateness, kind="stable")
    return Events(ts[order], key[order], value[order], is_probe[order])


def write(w: Workload, folder: Path, batches: int, files: int = 2) -> dict[str, float]:
    """
    Writes the events for micro-batches of `files` files a side; what was written is remembered.

    Returns the number of events, and what all windows have together: pairs, and the sum of values.
    """
    known = folder / "workload.json"
    wanted = {**asdict(w), "batches": batches, "files": files}
    if known.exists():
        found = json.loads(known.read_text())
        if found["workload"] == wanted:
            return dict(found["expected"])
    e = events(w)
    for name, rows in (("base", ~e.is_probe), ("probe", e.is_probe)):
        (folder / name).mkdir(parents=True, exist_ok=True)
        cut = np.array_split(np.arange(len(e.ts)), batches * files)
        for i, part in enumerate(cut):
            taken = part[rows[part]]
            times = pa.array(1_700_000_000_000_000 + e.ts[taken] * 1000, pa.timestamp("us", "UTC"))
            table = pa.table({"k": e.key[taken], "ts": times, "v": e.value[taken]})
            pq.write_table(table, folder / name / f"{i:05}.parquet")
    expected = {"events": len(e.ts), **totals(e, w)}
    known.write_text(json.dumps({"workload": wanted, "expected": expected}))
    return expected


def totals(e: Events, w: Workload) -> dict[str, float]:
    """By sorting and prefix sums: how many pairs all windows have, and the sum of their values."""
    # One number to sort by: keys are far apart.
    apart = int(e.ts.max()) + w.window + 1
    code = e.key.astype(np.int64) * 2 * apart + e.ts
    probes = code[e.is_probe]
    order = np.argsort(probes, kind="stable")
    probes = probes[order]
    sums = np.concatenate([[0.0], np.cumsum(e.value[e.is_probe][order])])
    base = code[~e.is_probe]
    first = np.searchsorted(probes, base - w.window, "left")
    last = np.searchsorted(probes, base, "right")
    return {"pairs": int((last - first).sum()), "sum": float((sums[last] - sums[first]).sum())}
