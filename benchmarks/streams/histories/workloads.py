# SPDX-License-Identifier: Apache-2.0
"""
Generates streams of periods, of events and of changes, and the totals of their results.

Rows start at a fixed rate and arrive up to `lateness` after their start. A period lasts `length` on
average, exponentially distributed; the window of an event lasts exactly that long. Half of the rows
of an as-of join are changes of a value, the others ask for the value.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.streams.workloads import set_turn

START = 1_700_000_000_000
ASKS = -1  # the value of a row that asks for a value
LAST = 10  # the number of events of an average
MARKER = -1  # the key of the row that moves the watermark past all others
MARKER_VALUE = -2  # its value, unless it has an end


@dataclass(frozen=True)
class Stream:
    """
    The parameters of a stream. Times are in milliseconds, the rate in rows a millisecond.

    `before` is the number of rows in the first file: periods that are valid when the others begin.
    """

    kind: str
    rows: int
    keys: int
    rate: float
    length: int
    lateness: int = 10_000
    before: int = 0


STREAMS = {
    # How many periods of a key are valid, whenever that changes.
    "running": Stream("running", 6_000_000, 1_000, 1 / 6, 300_000),
    # The average of a key's events of the last 15 minutes, whenever it changes.
    "sliding": Stream("sliding", 3_000_000, 1_000, 1 / 6, 900_000),
    # The value of a key at the time of a row of another stream.
    "as_of": Stream("as_of", 6_000_000, 100_000, 1 / 6, 0),
    # The average of the last events of a key, at each event.
    "last": Stream("last", 3_000_000, 1_000, 1 / 6, 0),
    # Micro-batches of 10,000 rows, with few and with many rows that are valid.
    "short": Stream("running", 300_000, 1_000, 1 / 6, 60_000, 1_000, 10_000),
    "long": Stream("running", 300_000, 1_000, 1 / 6, 6_000_000, 1_000, 1_000_000),
}


@dataclass(frozen=True)
class Written:
    """A stream in a folder, and the expected totals of its history in our and in Flink's form."""

    folder: Path
    stream: Stream
    batches: int
    ours: dict[str, float]
    flink: dict[str, float]


def read(folder: Path) -> Written | None:
    """The stream that was written to a folder, or None."""
    known = folder / "stream.json"
    if not known.exists():
        return None
    found = json.loads(known.read_text())
    return Written(folder, Stream(**found.pop("stream")), **found)


def write(stream: Stream, folder: Path, batches: int) -> Written:
    """Writes a CSV file for each micro-batch, and one with all rows, unless they are there."""
    found = read(folder)
    if found and (found.stream, found.batches) == (stream, batches):
        return found
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rows = generated(stream)
    rows.to_csv(folder / "all.csv", index=False, header=False)
    first, rest = rows[: stream.before], rows[stream.before :]
    parts = [first] if stream.before else []
    cut = np.array_split(np.arange(len(rest)), batches)
    parts += [rest.iloc[part] for part in cut]
    parts[-1] = pd.concat([parts[-1], marker(stream, rows)])
    for name, of in sides(stream).items():
        (folder / name).mkdir()
        for i, part in enumerate(parts):
            own = part[of(part["third"])]
            file = folder / name / f"{i:05}.csv"
            own.to_csv(file, index=False, header=False)
            set_turn(file, i)
    ours, flink = totals(stream, rows)
    written = Written(folder, stream, batches, ours, flink)
    described = {key: value for key, value in asdict(written).items() if key != "folder"}
    (folder / "stream.json").write_text(json.dumps(described))
    return written


def sides(stream: Stream) -> dict[str, Callable[[Any], Any]]:
    """The folders of Spark's streams, and which rows they have by their third column."""
    if stream.kind != "as_of":
        return {"batches": lambda third: third == third}
    return {"asking": lambda third: third <= ASKS, "changes": lambda third: third != ASKS}


def generated(stream: Stream, seed: int = 11) -> pd.DataFrame:
    """The rows in the order of arrival: key, start, and the end or the value."""
    draw = np.random.default_rng(seed)
    count = stream.rows + stream.before
    key = draw.integers(0, stream.keys, count)
    start = START + (np.arange(stream.rows) / stream.rate).astype(np.int64)
    # The remaining time of a period with an exponential length is as long as a whole one.
    age = draw.exponential(stream.length, stream.before).astype(np.int64) + 1
    start = np.concatenate([START - np.sort(age)[::-1], start])
    if stream.kind in ("sliding", "last", "as_of"):
        third = draw.integers(1, 200, count)
        if stream.kind == "as_of":
            third[draw.random(count) < 0.5] = ASKS
    else:
        third = np.maximum(start, START) + 1 + draw.exponential(stream.length, count).astype(int)
    late = draw.random(count) * stream.lateness
    late[: stream.before] = 0
    order = np.argsort(np.maximum(start, START - 1) + late, kind="stable")
    return pd.DataFrame({"key": key[order], "start": start[order], "third": third[order]})


def marker(stream: Stream, rows: pd.DataFrame) -> pd.DataFrame:
    """A row behind the ends of all others."""
    _, _, end, _ = events(stream, rows)
    at = int(end.max()) + stream.lateness + 1
    third = at + 1 if stream.kind == "running" else MARKER_VALUE
    return pd.DataFrame({"key": [MARKER], "start": [at], "third": [third]})


def events(
    stream: Stream, rows: pd.DataFrame
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Keys, starts, ends and values of the rows."""
    key, start, third = (rows[name].to_numpy() for name in rows)
    if stream.kind != "running":
        return key, start, start + stream.length, third
    return key, start, third, np.zeros(len(rows), np.int64)


def totals(stream: Stream, rows: pd.DataFrame) -> tuple[dict[str, float], dict[str, float]]:
    """
    The number of result rows and the sum of their values.

    Ours has a row for each period in which the value stays the same. Flink's has one for each
    event: for a count the starts and the ends, for an average the starts. Its window has both ends.
    """
    key, start, end, value = events(stream, rows)
    if stream.kind in LOOKING_BACK:
        found = LOOKING_BACK[stream.kind](key, start, value)
        return found, found
    is_sliding = stream.kind == "sliding"
    ours = changes(key, start, end, value, is_sliding)
    if not is_sliding:
        at, count, _ = running(key, start, end, value)
        code, last = np.unique(at, return_inverse=True)
        after = np.zeros(len(code))
        after[last] = count  # the last of an instant
        return ours, {"rows": len(at), "sum": float(after[last].sum())}
    at, count, total = running(key, start, end + 1, value)
    code, last = np.unique(at, return_inverse=True)
    average = np.zeros(len(code))
    average[last] = total / np.maximum(count, 1)
    where = np.searchsorted(code, joined(key, start))
    return ours, {"rows": len(start), "sum": float(average[where].sum())}


def as_of(key: np.ndarray, start: np.ndarray, value: np.ndarray) -> dict[str, float]:
    """A row for each row that asks, with the value of its key before it, if there is one."""
    order = np.argsort(joined(key, start), kind="stable")
    key, value = key[order], value[order]
    change = np.where(value != ASKS, np.arange(len(value)), -1)
    last = np.maximum.accumulate(change)
    found = np.where((last >= 0) & (key[last] == key), value[last], 0)
    asks = value == ASKS
    return {"rows": int(asks.sum()), "sum": float(found[asks].sum())}


def last_events(key: np.ndarray, start: np.ndarray, value: np.ndarray) -> dict[str, float]:
    """The average of each event and those before it, `LAST` at most."""
    order = np.argsort(joined(key, start), kind="stable")
    key, value = key[order], value[order]
    position = np.arange(len(key))
    begins = np.maximum.accumulate(np.where(np.append(True, key[1:] != key[:-1]), position, 0))
    first = np.maximum(begins, position - LAST + 1)
    sums = np.append(0, np.cumsum(value))
    averages = (sums[position + 1] - sums[first]) / (position + 1 - first)
    return {"rows": len(key), "sum": float(averages.sum())}


LOOKING_BACK = {"as_of": as_of, "last": last_events}


def joined(key: np.ndarray, time: np.ndarray) -> np.ndarray:
    """One number for a key and a time, in the order of both."""
    number: np.ndarray = key.astype(np.int64) * (1 << 42) + (time - START + (1 << 41))
    return number


def running(
    key: np.ndarray, start: np.ndarray, end: np.ndarray, value: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each start and end, in order: key and time, and the count and the sum after it."""
    at = np.concatenate([joined(key, start), joined(key, end)])
    step = np.concatenate([np.ones(len(key), np.int64), -np.ones(len(key), np.int64)])
    change = np.concatenate([value, -value])
    order = np.argsort(at, kind="stable")
    # All rows of a key end, so the sums of the next key begin at zero.
    return at[order], np.cumsum(step[order]), np.cumsum(change[order])


def changes(
    key: np.ndarray, start: np.ndarray, end: np.ndarray, value: np.ndarray, is_sliding: bool
) -> dict[str, float]:
    """The totals of the history in which each row is as long as its value stays the same."""
    at, count, total = running(key, start, end, value)
    last = np.append(at[1:] != at[:-1], True)
    count, total = count[last], total[last]
    result = total / np.maximum(count, 1) if is_sliding else count.astype(float)
    result[count == 0] = np.nan  # no row
    before = np.concatenate([[np.nan], result[:-1]])
    written = (count > 0) & (result != before)
    return {"rows": int(written.sum()), "sum": float(result[written].sum())}
