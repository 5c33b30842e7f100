# SPDX-License-Identifier: Apache-2.0
"""A sweep over periods: reads rows sorted by group and start, returns periods.

See :mod:`.protocol` for the messages.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from intervalsweep.kernels.periods import CountSweep, ValueSweep

from . import protocol
from .protocol import PeriodPlan
from .sides import read_columns

# Every row has a start and an end.
_ENDS = 2


class PeriodTask:
    """The sweep of one task. A large group comes in several STREAM commands."""

    def __init__(self, plan: PeriodPlan) -> None:
        self._plan = plan
        self._sweep: CountSweep | ValueSweep = (
            ValueSweep(plan.kinds, plan.floats, empty=plan.empty, ends=plan.ends)
            if plan.rule is None
            else CountSweep(plan.rule, plan.length)
        )

    def stream(self, infile: BinaryIO, outfile: BinaryIO) -> None:
        """Serve a STREAM command."""
        goes_on = protocol.read_int(infile) == 1
        groups, columns, size = read_columns(infile, _ENDS)
        if groups is None:
            groups = np.zeros(size, np.int32)
        periods = busy = 0
        started = time.perf_counter_ns()
        for batch in self._feed(groups, columns, goes_on=goes_on):
            busy += time.perf_counter_ns() - started
            periods += batch[0].size
            for first in range(0, batch[0].size, self._plan.max_rows):
                part = [column[first : first + self._plan.max_rows] for column in batch]
                _send(outfile, part)
            started = time.perf_counter_ns()
        busy += time.perf_counter_ns() - started
        protocol.write_int(outfile, protocol.DONE)
        for figure in (size, periods, busy):
            protocol.write_long(outfile, figure)

    def _feed(
        self, groups: npt.NDArray[np.int32], columns: list[npt.NDArray[np.int64]], *, goes_on: bool
    ) -> Iterator[list[npt.NDArray[np.int64] | npt.NDArray[np.int32]]]:
        """Yield the columns of periods: row, start, end, and the number of copies or the values."""
        start, end, *measures = columns
        if isinstance(self._sweep, CountSweep):
            for found in self._sweep.feed(groups, start, end, measures[0], goes_on=goes_on):
                yield [found.row, found.start, found.end, found.count]
            return
        kinds = len(self._plan.kinds)
        whole = np.array(measures[:kinds], np.int64).reshape(kinds, start.size)
        floats = np.array(measures[kinds:], np.int64).reshape(self._plan.floats, start.size)
        values = self._sweep.feed(
            groups, start, end, whole, floats.view(np.float64), goes_on=goes_on
        )
        for batch in values:
            numbers = np.ascontiguousarray(batch.floats).view(np.int64)
            yield [batch.row, batch.start, batch.end, *batch.values, *numbers]


def _send(outfile: BinaryIO, columns: list[npt.NDArray[np.int64] | npt.NDArray[np.int32]]) -> None:
    names = ["row", "start", "end", *(f"s{k}" for k in range(len(columns) - 3))]
    kinds = [pa.int32(), *(pa.int64() for _ in columns[1:])]
    schema = pa.schema(list(zip(names, kinds, strict=True)))
    arrays = [
        pa.Array.from_buffers(kind, column.size, [None, pa.py_buffer(np.ascontiguousarray(column))])
        for kind, column in zip(kinds, columns, strict=True)
    ]
    protocol.write_int(outfile, protocol.RUNS)
    with pa.ipc.new_stream(outfile, schema) as writer:
        writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
