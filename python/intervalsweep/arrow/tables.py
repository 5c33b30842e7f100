# SPDX-License-Identifier: Apache-2.0
"""Reads and returns tables of any library, reads interval columns, and numbers keys."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from intervalsweep._errors import ArgumentError, EndpointTypeError
from intervalsweep._signatures import Frame
from intervalsweep.arrow.dictionaries import as_enums, plain, unified, without_views
from intervalsweep.arrow.pandas_intervals import (
    ends_of_intervals,
    intervals_of,
    is_pandas_interval,
)
from intervalsweep.arrow.threads import in_threads
from intervalsweep.columns import Ends, check_columns, names_of, not_a_struct
from intervalsweep.kernels import Int32Array
from intervalsweep.kernels.string_keys import first_rows

_OFFSET_TYPES = {pa.string(): np.int32, pa.large_string(): np.int64}

# Keys are numbered up to so many times the number of rows.
_MOST_GROUPS_OF_A_ROW = 2

RowNumbers = npt.NDArray[np.signedinteger[Any]]


def as_table(data: Any) -> Any:
    """Return a table of any library as a `pyarrow.Table`, without a copy if possible."""
    if isinstance(data, pa.Table):
        return _usable(data)
    if _library(data) == "polars" and type(data).__name__ == "LazyFrame":
        raise ArgumentError("A LazyFrame has no rows yet: call .collect() on it first.")
    if type(data).__module__.startswith("pyspark.pandas"):
        raise ArgumentError(
            "intervalsweep.arrow does not take pandas-on-Spark DataFrames: use "
            "intervalsweep.dataframe with .to_spark(), or call .to_pandas() first."
        )
    if _library(data) == "pyspark":
        raise ArgumentError(
            "intervalsweep.arrow does not take Spark DataFrames: use intervalsweep.dataframe, or "
            "call .toArrow() first."
        )
    if _library(data) == "pandas":
        return _usable(pa.Table.from_pandas(data, preserve_index=False))
    if hasattr(data, "__arrow_c_stream__"):
        return _usable(pa.table(data))
    raise ArgumentError(
        f"{type(data).__name__} is not a table: give a pyarrow.Table, a pandas or Polars DataFrame "
        "or an object with __arrow_c_stream__."
    )


def _usable(table: Any) -> Any:
    """Convert columns whose rows pyarrow cannot take: string views, and codes of several kinds."""
    fields = [field.with_type(without_views(field.type)) for field in table.schema]
    wanted = pa.schema(fields, table.schema.metadata)
    table = table if wanted.equals(table.schema) else table.cast(wanted)
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            column = unified(table.column(place))
            table = table.set_column(place, field.with_type(column.type), column)
    return table


def like(data: Frame, table: Any) -> Frame:
    """Return a result as a table of the library of `data`."""
    if _library(data) == "pandas":
        table = table.to_pandas()
    elif _library(data) == "polars":
        import polars

        table = as_enums(polars.from_arrow(table), table)
    return cast("Frame", table)


def _library(data: Any) -> str:
    return type(data).__module__.split(".")[0]


def column_of(table: Any, name: str, rows: RowNumbers) -> Any:
    """Return the values of a column at these row numbers; -1 gives NULL."""
    return table.column(name).take(pa.array(rows, mask=rows < 0))


def take(table: Any, rows: RowNumbers) -> Any:
    """Return the rows with these numbers; -1 gives a row of NULLs."""
    places = pa.array(rows, mask=rows < 0)
    columns = in_threads(lambda column: column.take(places), table.columns, rows.size)
    return pa.Table.from_arrays(columns, schema=table.schema)


def ends_of(table: Any, side: str, ends: Ends, *, as_floats: bool = False) -> tuple[Any, Any]:
    """Return the columns of start and end: two, the fields of a struct, or pandas intervals.

    `as_floats` says that they will be compared with floating-point numbers.
    """
    names = names_of(ends)
    check_columns(side, table.column_names, *names)
    columns = [table.column(name) for name in names]
    if len(columns) == 1 and is_pandas_interval(columns[0].type):
        return ends_of_intervals(names[0], columns[0], as_floats=as_floats)
    if len(columns) == 1:
        struct = columns[0].combine_chunks()
        if not pa.types.is_struct(struct.type) or struct.type.num_fields != 2:
            raise EndpointTypeError(not_a_struct(names[0], struct.type))
        # `struct_field` also applies the NULLs of the struct.
        return pc.struct_field(struct, [0]), pc.struct_field(struct, [1])
    start, end = columns
    return start, end


def has_pandas_intervals(table: Any, ends: Ends) -> bool:
    """Return whether the intervals are one column of pandas intervals."""
    names = names_of(ends)
    return len(names) == 1 and is_pandas_interval(table.schema.field(names[0]).type)


def with_ends(table: Any, ends: Ends, start: Any, end: Any) -> Any:
    """Return a table whose interval columns are replaced by other starts and ends."""
    names, columns = names_of(ends), ends_in(table.schema, ends, start, end)
    for name, column in zip(names, columns, strict=True):
        table = table.set_column(table.schema.get_field_index(name), name, column)
    return table


def ends_in(schema: Any, ends: Ends, start: Any, end: Any) -> list[Any]:
    """Return starts and ends in the form of a table: two columns, or one of intervals."""
    names = names_of(ends)
    if len(names) == 2:
        return [start, end]
    kind = schema.field(names[0]).type
    if is_pandas_interval(kind):
        return [intervals_of(names[0], kind, start, end)]
    fields = [kind.field(i).name for i in range(2)]
    return [pa.StructArray.from_arrays([start, end], fields)]


def groups_of(
    left: Any,
    right: Any,
    keys: Sequence[tuple[str, str]],
    *,
    null_equals_null: bool = False,
) -> tuple[Int32Array, Int32Array]:
    """Return the group number of each row of both tables: equal keys have equal numbers.

    A NULL key gives -1, which matches nothing. With `null_equals_null` NULL is a key like others.
    """
    size = left.num_rows
    codes = [_codes(one, [left.column(one), right.column(other)]) for one, other in keys]
    if null_equals_null:
        codes = [of_key + 1 for of_key in codes]
    groups = reduce(_paired, codes) if codes else np.zeros(size + right.num_rows, dtype=np.int32)
    return groups[:size], groups[size:]


def groups_in(table: Any, names: Sequence[str]) -> Int32Array:
    """Return the group number of each row of one table by these columns; NULL equals NULL."""
    pairs = [(name, name) for name in names]
    return groups_of(table, table.slice(0, 0), pairs, null_equals_null=True)[0]


def with_group_of_nulls(groups: Int32Array, others: Int32Array) -> Int32Array:
    """Return `groups` with a new number in place of -1, which occurs neither there nor in `others`.

    So rows with a NULL key are kept, and still match no row of the other side.
    """
    new = max(groups.max(initial=0), others.max(initial=0)) + 1
    return np.where(groups < 0, new, groups).astype(np.int32, copy=False)


def _paired(numbers: Int32Array, codes: Int32Array) -> Int32Array:
    """Return a number for each distinct pair, or -1 if one of the two is -1.

    The numbers are not much larger than there are rows, so that pairing them with a further key
    cannot overflow.
    """
    null = (numbers < 0) | (codes < 0)
    both = np.where(null, 0, numbers * np.int64(int(codes.max(initial=0)) + 1) + codes)
    if both.max(initial=0) >= _MOST_GROUPS_OF_A_ROW * both.size:
        both = np.unique(both, return_inverse=True)[1]
    return np.where(null, -1, both).astype(np.int32)


def _codes(name: str, columns: list[Any]) -> Int32Array:
    columns = [plain(column) for column in columns]
    fields = [pa.schema([("key", column.type)]) for column in columns]
    try:
        kind = pa.unify_schemas(fields, promote_options="permissive").field(0).type
    except pa.ArrowTypeError as error:
        raise EndpointTypeError(f"The keys {name} have no common type: {error}") from error
    if not _is_comparable(kind):
        raise EndpointTypeError(
            f"{name} is {kind}, whose values cannot be compared: use its fields or elements as "
            "columns of their own, or leave the column out."
        )
    values = pa.chunked_array([chunk for c in columns for chunk in c.cast(kind).chunks], kind)
    if pa.types.is_floating(kind):
        values = pc.add(values, 0.0)  # turns -0.0 into 0.0
    codes = _codes_of_texts(values)
    if codes is None:
        codes = _codes_of_numbers(values)
    if codes is None:
        codes = values.combine_chunks().dictionary_encode().indices.fill_null(-1).to_numpy()
    return np.asarray(codes, dtype=np.int32)


def _is_comparable(kind: Any) -> bool:
    return not (pa.types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType))


def _codes_of_numbers(values: Any) -> Int32Array | None:
    """Return the distance of each whole number to the smallest if they are close; else None."""
    if not pa.types.is_integer(values.type) or pa.types.is_uint64(values.type):
        return None
    least, largest = pc.min_max(values).as_py().values()
    if least is None or largest - least >= _MOST_GROUPS_OF_A_ROW * len(values):
        return None
    numbers = values.fill_null(least).to_numpy()
    distances: Int32Array = np.subtract(numbers, least, dtype=np.int64).astype(np.int32)
    if values.null_count:
        distances[values.is_null().to_numpy()] = -1
    return distances


def _codes_of_texts(values: Any) -> Int32Array | None:
    """Return the codes of texts if most of them equal the text before; else None.

    Genome files are sorted by contig, for example. Comparing two texts is cheaper than a look-up in
    a dictionary.
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
