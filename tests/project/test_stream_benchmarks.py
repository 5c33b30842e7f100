# SPDX-License-Identifier: Apache-2.0
"""The oracles of the benchmarks of streams. Tests do not check times."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from benchmarks.streams.histories import workloads as histories
from benchmarks.streams.workloads import (
    START,
    SWEEPS,
    WORKLOADS,
    Workload,
    events,
    sweep,
    totals,
    write,
)

SMALL = {
    **{name: replace(w, events=300) for name, w in WORKLOADS.items() if name not in "BC"},
    "C": replace(WORKLOADS["C"], events=300, window=40, lateness=50),
    "hot": replace(sweep("skew")["skew=0.8"], events=2000, keys=20),
}


@pytest.mark.extended
@pytest.mark.parametrize("name", SMALL)
def test_totals_are_those_of_all_pairs(name: str) -> None:
    w = SMALL[name]
    e = events(w)
    base, probe = ~e.is_probe, e.is_probe
    behind = e.ts[base][:, None] - e.ts[probe][None, :]
    same = e.key[base][:, None] == e.key[probe][None, :]
    pairs = same & (behind >= 0) & (behind <= w.window)
    found = totals(e, w)
    assert found["base"] == base.sum() > 0
    assert found["empty"] == (~pairs.any(axis=1)).sum()
    assert found["pairs"] == pairs.sum() > 0
    assert found["sum"] == pytest.approx((pairs * e.value[probe]).sum())


@pytest.mark.parametrize("w", SMALL.values(), ids=SMALL)
def test_no_event_is_late_or_at_the_epoch(w: Workload) -> None:
    e = events(w)
    latest = np.maximum.accumulate(e.ts)
    assert (e.ts > latest - w.lateness - 1).all()
    assert e.ts.min() >= START


def test_both_systems_are_given_the_same_events(tmp_path: Path) -> None:
    w = SMALL["IV"]
    written = write(w, tmp_path / "IV", batches=3, files=2)
    key = np.fromfile(written.folder / "key.bin", np.int32)
    is_probe = np.fromfile(written.folder / "is_probe.bin", bool)
    for name, rows in (("base", ~is_probe), ("probe", is_probe)):
        files = sorted((written.folder / name).glob("*.parquet"))
        assert len(files) == 6
        found = np.concatenate([pq.read_table(file)["k"].to_numpy() for file in files])
        # The last row closes the windows of the others.
        assert found.tolist() == [*key[rows].tolist(), -1]
    assert write(w, tmp_path / "IV", batches=3, files=2) == written


def test_files_of_the_same_millisecond_were_read_in_no_order(tmp_path: Path) -> None:
    """Spark reads files in the order of their times, and counts the rows of other files as late."""
    write(SMALL["IV"], tmp_path / "events", batches=3, files=2)
    small = histories.Stream("as_of", rows=80, keys=3, rate=0.5, length=9, lateness=4)
    histories.write(small, tmp_path / "history", batches=5)
    folders = [folder for folder in tmp_path.glob("*/*") if folder.is_dir()]
    assert len(folders) == 4
    for folder in folders:
        times = [file.stat().st_mtime for file in sorted(folder.iterdir())]
        assert len(times) >= 5
        assert times == sorted(set(times))


def test_sweeps_change_one_parameter() -> None:
    for what in SWEEPS:
        assert len({repr(w) for w in sweep(what).values()}) == len(SWEEPS[what])


def values_at(rows: list[tuple[int, int, int, int]], key: int, time: int) -> tuple[int, int]:
    """How many rows of a key are valid at a time, and the sum of their values."""
    valid = [value for k, start, end, value in rows if k == key and start <= time < end]
    return len(valid), sum(valid)


@pytest.mark.parametrize("kind", ["running", "sliding"])
def test_totals_of_histories_are_those_of_each_instant(kind: str) -> None:
    stream = histories.Stream(kind, rows=80, keys=3, rate=0.5, length=9, lateness=4)
    frame = histories.generated(stream)
    columns = [column.tolist() for column in histories.events(stream, frame)]
    rows = list(zip(*columns, strict=True))
    latest = frame["start"].cummax()
    assert (frame["start"] > latest - stream.lateness - 1).all()
    ours, flink = histories.totals(stream, frame)

    def result(key: int, time: int) -> float | None:
        count, total = values_at(rows, key, time)
        return None if count == 0 else total / count if kind == "sliding" else count

    found = []
    for key in range(stream.keys):
        for time in range(START, max(row[2] for row in rows) + 2):
            value = result(key, time)
            if value is not None and value != result(key, time - 1):
                found.append(value)
    assert ours == {"rows": len(found), "sum": pytest.approx(sum(found))}
    if kind == "sliding":
        closed = [(k, start, end + 1, value) for k, start, end, value in rows]
        pairs = [values_at(closed, k, start) for k, start, _, _ in rows]
        after = [total / count for count, total in pairs]
    else:
        after = [values_at(rows, row[0], time)[0] for row in rows for time in row[1:3]]
    assert flink == {"rows": len(after), "sum": pytest.approx(sum(after))}
