# SPDX-License-Identifier: Apache-2.0
"""The protocol between the JVM and the worker. Integers are big-endian, strings are UTF-8.

    JVM                                      worker
    OPEN      string (JSON, see Plan)    ->  0, string (JSON: versions)
    RESIDENT  string (token)             ->  1 (cached) or 0 (send it); nothing if token is empty
              Arrow stream, unless 1
    STREAM    int32 (1: sums, 0: runs)
              Arrow stream               ->  1, int32 sweep, Arrow stream of runs     (repeated)
                                             0, int64 rows, int64 runs, int64 candidates,
                                             int64 blocks, int64 nanoseconds
    CLOSE                                ->  0

A sweep over periods has no RESIDENT command, and this STREAM command:

    STREAM    int32 (1: the last group continues)
              Arrow stream               ->  1, Arrow stream of periods               (repeated)
                                             0, int64 rows, int64 periods, int64 nanoseconds

Instead of any reply the worker may send -1 and a string with an error. After that it only waits for
the end of the connection. Codes, sweep numbers and the lengths of strings are int32.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal

PROTOCOL = 6

# Commands.
OPEN, RESIDENT, STREAM, CLOSE = 1, 2, 3, 4

# Replies. CACHED answers RESIDENT, RUNS answers STREAM.
ERROR, DONE, CACHED, RUNS = -1, 0, 1, 1

Side = Literal["left", "right"]


@dataclass(frozen=True)
class BoundPlan:
    """A bound of a box: an endpoint of the box's row; ``strict`` excludes equality."""

    endpoint: int
    strict: bool


@dataclass(frozen=True)
class AxisPlan:
    """An axis: an endpoint of the point's row, and its bounds; None means unbounded."""

    point: int
    lower: BoundPlan | None
    upper: BoundPlan | None


@dataclass(frozen=True)
class SweepPlan:
    """A sweep: the side of the boxes, and the axes.

    With ``first_only``, one match per box is enough. With ``sums``, the matches of a box are
    returned as sums if STREAM requests sums.
    """

    boxes: Side
    lead: AxisPlan
    second: AxisPlan | None
    first_only: bool = False
    sums: bool = False


@dataclass(frozen=True)
class PeriodPlan:
    """The OPEN message of a sweep over periods: a ``rule`` for counts, or the ``kinds`` of values.

    For ``length`` see `intervalsweep.kernels.periods.CountSweep`.

    The int64 values of ``kinds`` are followed by ``floats`` sums of float64. For ``empty`` and
    ``ends`` see `intervalsweep.kernels.periods.ValueSweep`. A batch has at most ``max_rows``
    periods.
    """

    rule: str | None
    length: int
    kinds: tuple[str, ...]
    floats: int
    empty: bool
    ends: str
    max_rows: int


@dataclass(frozen=True)
class Plan:
    """The OPEN message of a join: its sweeps. No match is found by two sweeps.

    ``resident`` is the build side, which the worker keeps. ``columns`` is the number of endpoints
    per row of each side. ``clip`` is an inclusive range for the lead coordinate of every match.
    ``max_runs`` is the largest number of runs of a batch. ``cache_bytes`` is the memory for sides
    that the worker may keep for later tasks.
    """

    resident: Side
    sweeps: tuple[SweepPlan, ...]
    columns: dict[Side, int]
    clip: tuple[int, int] | None
    max_runs: int
    cache_bytes: int

    @property
    def streamed(self) -> Side:
        """The probe side, which comes with STREAM."""
        return other(self.resident)


def other(side: Side) -> Side:
    """Return the other side."""
    return "right" if side == "left" else "left"


def parse_plan(text: str) -> Plan | PeriodPlan:
    """Read the JSON of OPEN. Raises ValueError for another protocol version or an invalid plan."""
    data = json.loads(text)
    if data.get("protocol") != PROTOCOL:
        raise ValueError(
            f"the jar speaks protocol {data.get('protocol')}, this worker {PROTOCOL}:"
            " the jar and the Python sources on the executor are of different versions"
        )
    periods = data.get("periods")
    return _join_plan(data) if periods is None else _period_plan(periods, int(data["maxRuns"]))


def _period_plan(data: dict[str, Any], max_rows: int) -> PeriodPlan:
    return PeriodPlan(
        rule=data.get("rule"),
        length=int(data.get("length", 0)),
        kinds=tuple(data.get("values", ())),
        floats=int(data.get("floats", 0)),
        empty=bool(data.get("empty", False)),
        ends=data.get("ends", "changes"),
        max_rows=max_rows,
    )


def _join_plan(data: dict[str, Any]) -> Plan:
    columns: dict[Side, int] = {"left": int(data["left"]), "right": int(data["right"])}
    clip = data.get("range")
    return Plan(
        resident=_side(data["resident"]),
        sweeps=tuple(_sweep(sweep, columns) for sweep in data["sweeps"]),
        columns=columns,
        clip=None if clip is None else (int(clip[0]), int(clip[1])),
        max_runs=int(data["maxRuns"]),
        cache_bytes=int(data["cacheBytes"]),
    )


def _side(name: Any) -> Side:
    if name not in ("left", "right"):
        raise ValueError(f"expected 'left' or 'right', got {name!r}")
    return "left" if name == "left" else "right"


def _sweep(data: dict[str, Any], columns: dict[Side, int]) -> SweepPlan:
    boxes = _side(data["boxes"])
    points = columns[other(boxes)]
    second = data.get("second")
    return SweepPlan(
        boxes=boxes,
        lead=_axis(data["lead"], columns[boxes], points),
        second=None if second is None else _axis(second, columns[boxes], points),
        first_only=bool(data.get("firstOnly", False)),
        sums=bool(data.get("sums", False)),
    )


def _axis(data: dict[str, Any], columns: int, points: int) -> AxisPlan:
    lower, upper = (_bound(data.get(name), columns) for name in ("lower", "upper"))
    return AxisPlan(_position(data["point"], points), lower, upper)


def _bound(data: dict[str, Any] | None, columns: int) -> BoundPlan | None:
    return (
        None
        if data is None
        else BoundPlan(_position(data["endpoint"], columns), bool(data["strict"]))
    )


def _position(value: Any, size: int) -> int:
    if not 0 <= value < size:
        raise ValueError(f"endpoint {value} of a row that has {size}")
    return int(value)


def read_int(infile: BinaryIO) -> int:
    """Read an int32. Raises EOFError at the end of the stream."""
    return int(struct.unpack(">i", _read(infile, 4))[0])


def read_string(infile: BinaryIO) -> str:
    """Read an int32 length and as many bytes. Raises EOFError if they end early."""
    return _read(infile, read_int(infile)).decode("utf-8")


def write_int(outfile: BinaryIO, value: int) -> None:
    """Write an int32."""
    outfile.write(struct.pack(">i", value))


def write_long(outfile: BinaryIO, value: int) -> None:
    """Write an int64."""
    outfile.write(struct.pack(">q", value))


def write_string(outfile: BinaryIO, text: str) -> None:
    """Write an int32 length and the text's bytes."""
    encoded = text.encode("utf-8", errors="backslashreplace")
    write_int(outfile, len(encoded))
    outfile.write(encoded)


def _read(infile: BinaryIO, size: int) -> bytes:
    if size < 0:
        raise ValueError(f"negative length {size}")
    data = infile.read(size)
    if len(data) < size:
        raise EOFError
    return data
