# SPDX-License-Identifier: Apache-2.0
"""The rows of a side as arrays: read from an Arrow stream, indexed, and cached."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from intervalsweep.kernels import Int32Array, Int64Array, Measures, PointIndex, group_offsets


class SideRows:
    """The rows of one side: ``endpoints``, int64[n] each, and ``groups``, int32[n] or None.

    ``measures`` are the values of the rows that are added up; there may be none.
    """

    def __init__(
        self,
        endpoints: list[Int64Array],
        groups: Int32Array | None,
        size: int,
        measures: Measures,
    ) -> None:
        self.endpoints = endpoints
        self.groups = groups
        self.size = size
        self.measures = measures
        self._indexes: dict[tuple[int, int | None], PointIndex] = {}

    @property
    def nbytes(self) -> int:
        """The size in bytes, with all indexes; arrays that they share are counted twice."""
        groups = 0 if self.groups is None else self.groups.nbytes
        indexes = sum(index.nbytes for index in self._indexes.values())
        columns = sum(column.nbytes for column in self.endpoints)
        return groups + columns + self.measures.nbytes + indexes

    def points(self, lead: int, second: int | None) -> PointIndex:
        """Return the rows as points with these endpoints; builds the index at the first call."""
        key = (lead, second)
        if key not in self._indexes:
            self._indexes[key] = PointIndex(
                self.endpoints[lead],
                None if second is None else self.endpoints[second],
                None if self.groups is None else group_offsets(self.groups),
            )
        return self._indexes[key]


def read_side(infile: BinaryIO, endpoints: int) -> SideRows:
    """Read the rows of a side with so many endpoints; see `read_columns`."""
    groups, columns, size = read_columns(infile, endpoints)
    values = np.array(columns[endpoints:], np.int64).reshape(len(columns) - endpoints, size)
    return SideRows(columns[:endpoints], groups, size, Measures(values))


def read_columns(
    infile: BinaryIO, endpoints: int
) -> tuple[Int32Array | None, list[Int64Array], int]:
    """Read an Arrow stream with the columns [g int32,] e0, e1, .. [m0, ..], including its end mark.

    Returns the groups, the int64 columns (endpoints e, then measures m), and the number of rows.
    The arrays are views of the Arrow buffers if the stream has one batch, else they are copies.
    Raises ValueError for other columns or NULLs, pyarrow.ArrowInvalid for a broken stream.
    """
    with pa.ipc.open_stream(infile) as reader:
        batches = [batch for batch in reader if batch.num_rows > 0]
        schema = reader.schema
    fields = [(f"e{k}", pa.int64()) for k in range(endpoints)]
    measures = sum(name.startswith("m") for name in schema.names)
    fields += [(f"m{k}", pa.int64()) for k in range(measures)]
    grouped = schema.names[:1] == ["g"]
    if grouped:
        fields.insert(0, ("g", pa.int32()))
    if [(field.name, field.type) for field in schema] != fields:
        raise ValueError(f"expected the columns {fields}, got {list(schema)}")
    columns = [_join(batches, k, kind) for k, (_, kind) in enumerate(fields)]
    groups = columns.pop(0) if grouped else None
    return groups, columns, sum(batch.num_rows for batch in batches)


def _join(batches: list[pa.RecordBatch], k: int, kind: pa.DataType) -> npt.NDArray[Any]:
    dtype = np.dtype(f"i{kind.bit_width // 8}")
    parts = [_view(batch.column(k), dtype) for batch in batches]
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.empty(0, dtype)


def _view(column: pa.Array, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return an integer column as an array, without a copy.

    Reads the buffer, because ``to_numpy`` would import pandas if it is installed: half a second.
    """
    if column.null_count:
        raise ValueError(f"expected no NULLs, got {column.null_count}")
    offset = column.offset * dtype.itemsize
    return np.frombuffer(column.buffers()[1], dtype, len(column), offset)


class SideCache:
    """A cache of the most recently used sides: at most ``count`` sides and ``nbytes`` bytes.

    A side that is larger than ``nbytes`` is not kept.
    """

    def __init__(self, count: int, nbytes: int) -> None:
        self._count = count
        self._nbytes = nbytes
        self._sides: OrderedDict[Hashable, SideRows] = OrderedDict()

    def get(self, key: Hashable) -> SideRows | None:
        """Return the side of this key, or None; it becomes the most recently used."""
        if key in self._sides:
            self._sides.move_to_end(key)
        return self._sides.get(key)

    def put(self, key: Hashable, side: SideRows) -> None:
        """Keep a side. Call again when it has grown by an index, so that the limits are applied."""
        self._sides[key] = side
        self._sides.move_to_end(key)
        self._shrink()

    def limit(self, nbytes: int) -> None:
        """Change the limit in bytes; sides above the limit are removed."""
        self._nbytes = nbytes
        self._shrink()

    def _shrink(self) -> None:
        while len(self._sides) > self._count or sum(s.nbytes for s in self) > self._nbytes:
            self._sides.popitem(last=False)

    def __iter__(self) -> Iterator[SideRows]:
        """Iterate over the sides, the least recently used first."""
        return iter(self._sides.values())
