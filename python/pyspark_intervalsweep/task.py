# SPDX-License-Identifier: Apache-2.0
"""Serves the commands of one connection: reads rows, returns runs or sums. Independent of Spark."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from typing import BinaryIO

import pyarrow as pa

from intervalsweep.kernels import Bounds, Boxes, RunBatch, RunSweep, SumBatch

from . import packages, protocol
from .environment import memory_limit
from .periods import PeriodTask
from .protocol import AxisPlan, PeriodPlan, Plan, SweepPlan
from .sides import SideCache, SideRows, read_side

_RUN_FIELDS = [(name, pa.int32()) for name in RunBatch._fields]

# Build sides that a process keeps after a task: the broadcasts of a few joins in turn.
CACHED_SIDES = 4


def _cache_bytes(wanted: int) -> int:
    """Return the size of the cache: at most a quarter of the worker's memory limit."""
    limit = memory_limit()
    return wanted if limit is None else min(wanted, limit // 4)


class Task:
    """The state of one task: its plan and its resident side, the build side.

    An error ends the task where it is raised. The JVM sees the error in place of the next reply
    that it reads. RESIDENT without a token has no reply, so its error replaces that of STREAM.
    """

    _cache = SideCache(CACHED_SIDES, 0)

    def __init__(self, infile: BinaryIO, outfile: BinaryIO) -> None:
        self._in = infile
        self._out = outfile
        self._plan: Plan | None = None
        self._periods: PeriodTask | None = None
        self._resident: SideRows | None = None
        self._token = ""

    def run(self) -> None:
        """Serve commands until CLOSE. Raises EOFError if the JVM closes the connection before."""
        commands = {
            protocol.OPEN: self._open,
            protocol.RESIDENT: self._load_resident,
            protocol.STREAM: self._stream,
        }
        while (command := protocol.read_int(self._in)) != protocol.CLOSE:
            if command not in commands:
                raise ValueError(f"unknown command {command}")
            commands[command]()
            self._out.flush()
        protocol.write_int(self._out, protocol.DONE)
        self._out.flush()

    def _open(self) -> None:
        plan = protocol.parse_plan(protocol.read_string(self._in))
        self._plan = self._periods = self._resident = None
        if isinstance(plan, PeriodPlan):
            self._periods = PeriodTask(plan)
        else:
            self._plan = plan
            self._cache.limit(_cache_bytes(plan.cache_bytes))
        versions = {name: packages.version(name) for name in packages.MINIMUM_VERSIONS}
        versions |= {"python": platform.python_version(), "executable": sys.executable}
        protocol.write_int(self._out, protocol.DONE)
        protocol.write_string(self._out, json.dumps(versions))
        protocol.write_long(self._out, os.getpid())

    def _load_resident(self) -> None:
        token = protocol.read_string(self._in)
        plan = self._opened()
        columns = plan.columns[plan.resident]
        self._token = f"{token}/{columns}" if token else ""
        self._resident = self._cache.get(self._token) if token else None
        if token:
            known = self._resident is not None
            protocol.write_int(self._out, protocol.CACHED if known else protocol.DONE)
            self._out.flush()
        if self._resident is None:
            self._resident = read_side(self._in, columns)
        self._keep_resident()

    def _keep_resident(self) -> None:
        if self._token and self._resident is not None:
            self._cache.put(self._token, self._resident)

    def _stream(self) -> None:
        if self._periods is not None:
            self._periods.stream(self._in, self._out)
            return
        plan = self._opened()
        wants_sums = protocol.read_int(self._in) == 1
        streamed = read_side(self._in, plan.columns[plan.streamed])
        resident = self._resident
        if resident is None:
            raise ValueError("STREAM before RESIDENT")
        if (streamed.groups is None) != (resident.groups is None):
            raise ValueError("only one of the sides has a column g")
        candidates = runs = skipped = busy = 0
        for number, sweep_plan in enumerate(plan.sweeps):
            boxes, points = streamed, resident
            if sweep_plan.boxes == plan.resident:
                boxes, points = points, boxes
            started = time.perf_counter_ns()
            sweep = _sweep(sweep_plan, plan, boxes, points)
            sums = wants_sums and sweep_plan.sums
            for batch in sweep.sums(points.measures) if sums else sweep:
                busy += time.perf_counter_ns() - started
                self._send(number, batch)
                started = time.perf_counter_ns()
            busy += time.perf_counter_ns() - started
            candidates += sweep.candidates
            runs += sweep.runs
            skipped += sweep.skipped
        protocol.write_int(self._out, protocol.DONE)
        for figure in (streamed.size, runs, candidates, skipped, busy):
            protocol.write_long(self._out, figure)
        self._keep_resident()  # it may have new indexes

    def _send(self, number: int, matches: RunBatch | SumBatch) -> None:
        fields = list(_RUN_FIELDS)
        columns = list(matches[:3])
        if isinstance(matches, SumBatch):
            columns += list(matches.sums)
            fields += [(f"s{k}", pa.int64()) for k in range(len(matches.sums))]
        arrays = [
            pa.Array.from_buffers(kind, column.size, [None, pa.py_buffer(column)])
            for (_, kind), column in zip(fields, columns, strict=True)
        ]
        schema = pa.schema(fields)
        protocol.write_int(self._out, protocol.RUNS)
        protocol.write_int(self._out, number)
        with pa.ipc.new_stream(self._out, schema) as writer:
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
        self._out.flush()

    def _opened(self) -> Plan:
        if self._plan is None:
            raise ValueError("the first command must be OPEN")
        return self._plan


def _sweep(sweep: SweepPlan, plan: Plan, boxes: SideRows, points: SideRows) -> RunSweep:
    second = sweep.second
    index = points.points(sweep.lead.point, None if second is None else second.point)
    lead_bounds = _bounds(sweep.lead, boxes)
    second_bounds = None if second is None else _bounds(second, boxes)
    bounded = Boxes(boxes.size, lead_bounds, second_bounds, boxes.groups)
    return RunSweep(
        index, bounded, clip=plan.clip, max_runs=plan.max_runs, first_only=sweep.first_only
    )


def _bounds(axis: AxisPlan, boxes: SideRows) -> Bounds:
    lower, upper = axis.lower, axis.upper
    return Bounds(
        None if lower is None else boxes.endpoints[lower.endpoint],
        None if upper is None else boxes.endpoints[upper.endpoint],
        lower_strict=lower is not None and lower.strict,
        upper_strict=upper is not None and upper.strict,
    )
