# SPDX-License-Identifier: Apache-2.0
"""Tables of any library in and out, their keys as group numbers, their intervals as integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from intervalsweep._naming import Ends, check_columns, names_of
from intervalsweep.arrow.encoding import Encoding, Mask
from intervalsweep.kernels import Int32Array, Int64Array
from intervalsweep.kernels.arrays import MAX_ROWS
from intervalsweep.kernels.texts import first_rows
from intervalsweep.session import IntervalSweepError

# Twice as many rows have numbers of 32 bits, too: sets number both ends of each row.
_SMALL = MAX_ROWS // 2

_OFFSET_TYPES = {pa.string(): np.int32, pa.large_string(): np.int64}

RowNumbers = npt.NDArray[np.signedinteger[Any]]


def as_table(data: Any) -> Any:
    """Return a `pyarrow.Table` of a table of any library, without a copy where that is possible."""
    if isinstance(data, pa.Table):
        return _without_views(data)
    if _library(data) == "pandas":
        return pa.Table.from_pandas(data, preserve_index=False)
    if hasattr(data, "__arrow_c_stream__"):
        return _without_views(pa.table(data))
    raise IntervalSweepError(
        f"{type(data).__name__} is no table: give a pyarrow.Table, a pandas or Polars DataFrame, "
        "or an object with __arrow_c_stream__."
    )


def _without_views(table: Any) -> Any:
    """Strings as Polars has them, which pyarrow cannot take rows of."""
    plain = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    fields = [field.with_type(plain.get(field.type, field.type)) for field in table.schema]
    wanted = pa.schema(fields, table.schema.metadata)
    return table if wanted.equals(table.schema) else table.cast(wanted)


def like(data: Any, table: Any) -> Any:
    """Return a result as a table of the library that the data is of."""
    if _library(data) == "pandas":
        return table.to_pandas()
    if _library(data) == "polars":
        import polars

        return polars.from_arrow(table)
    return table


def _library(data: Any) -> str:
    return type(data).__module__.split(".")[0]


def take(table: Any, rows: RowNumbers) -> Any:
    """Return the rows of these numbers; -1 is a row of NULLs."""
    return table.take(pa.array(rows, mask=rows < 0))


def ends_of(table: Any, side: str, ends: Ends) -> tuple[Any, Any]:
    """Return the columns of start and end: two, or the fields of one struct."""
    names = names_of(ends)
    check_columns(side, table.column_names, *names)
    columns = [table.column(name) for name in names]
    if len(columns) == 1:
        struct = columns[0].combine_chunks()
        if not pa.types.is_struct(struct.type) or struct.type.num_fields != 2:
            raise IntervalSweepError(f"{names[0]} is {struct.type}, not a struct of two fields.")
        # Its fields under the NULLs of the struct.
        return pc.struct_field(struct, [0]), pc.struct_field(struct, [1])
    start, end = columns
    return start, end


def groups_of(
    left: Any,
    right: Any,
    keys: Sequence[tuple[str, str]],
    *,
    null_equals_null: bool = False,
) -> tuple[Int32Array, Int32Array]:
    """Return the group number of each row: equal keys have equal numbers.

    NULL has -1, which matches nothing, or equals itself.
    """
    size = left.num_rows
    codes = [_codes(one, [left.column(one), right.column(other)]) for one, other in keys]
    if null_equals_null:
        codes = [of_key + 1 for of_key in codes]
    groups = reduce(_paired, codes) if codes else np.zeros(size + right.num_rows, dtype=np.int32)
    return groups[:size], groups[size:]


def _paired(numbers: Int32Array, codes: Int32Array) -> Int32Array:
    """Return a number for each two, without gaps: with a third it might overflow; -1 if one is."""
    null = (numbers < 0) | (codes < 0)
    both = np.where(null, 0, numbers * np.int64(int(codes.max(initial=0)) + 1) + codes)
    return np.where(null, -1, np.unique(both, return_inverse=True)[1]).astype(np.int32)


def _codes(name: str, columns: list[Any]) -> Int32Array:
    plain = [c.cast(c.type.value_type) if pa.types.is_dictionary(c.type) else c for c in columns]
    fields = [pa.schema([("key", column.type)]) for column in plain]
    try:
        kind = pa.unify_schemas(fields, promote_options="permissive").field(0).type
    except pa.ArrowTypeError as error:
        raise IntervalSweepError(f"The keys {name} have no common type: {error}") from error
    values = pa.chunked_array([chunk for c in plain for chunk in c.cast(kind).chunks], kind)
    if pa.types.is_floating(kind):
        values = pc.add(values, 0.0)  # -0.0 is 0.0
    codes = _codes_of_texts(values)
    if codes is None:
        codes = values.combine_chunks().dictionary_encode().indices.fill_null(-1).to_numpy()
    return np.asarray(codes, dtype=np.int32)


def _codes_of_texts(values: Any) -> Int32Array | None:
    """Return the codes of texts of which few differ from the one before; None of others.

    Files of a genome are sorted by contig: to compare two texts takes less than to look one up.
    """
    offset_type = _OFFSET_TYPES.get(values.type)
    if values.null_count or offset_type is None:
        return None
    texts, lengths = [], []
    for chunk in filter(len, values.chunks):
        _, offsets, data = chunk.buffers()
        rows = slice(chunk.offset, chunk.offset + len(chunk) + 1)
        firsts = first_rows(
            np.frombuffer(offsets, offset_type)[rows], np.frombuffer(data or b"", np.uint8)
        )
        if firsts is None:
            return None
        texts.append(chunk.take(pa.array(firsts)))
        lengths.append(np.diff(firsts, append=len(chunk)))
    if not texts:
        return None
    codes = pa.chunked_array(texts).combine_chunks().dictionary_encode().indices
    return np.repeat(codes.to_numpy(), np.concatenate(lengths))


@dataclass(frozen=True)
class Side:
    """Rows of one side that can match: their numbers, groups and ends as integers."""

    numbers: RowNumbers | None  # of all rows as they come, None: they need not be written and read
    groups: Int32Array
    ends: dict[str, Int64Array]

    @property
    def size(self) -> int:
        """How many they are."""
        return self.groups.size

    @property
    def rows(self) -> RowNumbers:
        """Their numbers."""
        if self.numbers is not None:
            return self.numbers
        return np.arange(self.size, dtype=np.int32 if self.size <= _SMALL else np.int64)

    @staticmethod
    def of(encoding: Encoding, ends: tuple[Any, Any], groups: Int32Array, used: set[str]) -> Side:
        """Leaves out the rows whose key or whose `used` endpoint (`ts`, `te`) is NULL."""
        kept: Mask = groups >= 0
        values = {}
        for name, column in zip(("ts", "te"), ends, strict=True):
            if name in used:
                values[name], valid = encoding.encode(column)
                kept = kept & valid
        return Side(None, groups, values).where(kept)

    def where(self, mask: Mask) -> Side:
        """Return the rows for which the mask is true."""
        return self if mask.all() else self.take(mask)

    def take(self, which: RowNumbers | Mask) -> Side:
        """Return the rows of these numbers, in this order, or for which the mask is true."""
        ends = {name: array[which] for name, array in self.ends.items()}
        return Side(self.rows[which], self.groups[which], ends)
