# SPDX-License-Identifier: Apache-2.0
"""Columns of codes with a dictionary of values: Categorical and Enum of pandas and Polars."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

# pyarrow cannot take rows of views.
_WITHOUT_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}


def without_views(kind: Any) -> Any:
    """Return a type with plain strings in place of string views."""
    return _WITHOUT_VIEWS.get(kind, kind)


def unified(column: Any) -> Any:
    """Return a column of codes with a single dictionary and 32-bit codes; others unchanged.

    An Enum of Polars and an ordered Categorical of pandas are ordered dictionaries.
    """
    kind = column.type
    if not pa.types.is_dictionary(kind):
        return column
    values = without_views(kind.value_type)
    chunks = [
        pa.DictionaryArray.from_arrays(
            chunk.indices.cast(pa.int32()), chunk.dictionary.cast(values), ordered=kind.ordered
        )
        for chunk in column.chunks
    ]
    wanted = pa.dictionary(pa.int32(), values, kind.ordered)
    return pa.chunked_array(chunks, wanted).unify_dictionaries()


def plain(column: Any) -> Any:
    """Return the values of a column of codes; other columns unchanged."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def alike(one: Any, other: Any) -> tuple[Any, Any]:
    """Return two columns that can become one: codes stay codes if they have the same meaning."""
    if not any(pa.types.is_dictionary(column.type) for column in (one, other)):
        return one, other
    if one.type == other.type and (not one.type.ordered or _categories(one, other)):
        return one, other
    return plain(one), plain(other)


def _categories(one: Any, other: Any) -> bool:
    """Return whether two ordered columns have the same categories."""
    dictionaries = [chunk.dictionary for column in (one, other) for chunk in column.chunks]
    return all(dictionary.equals(dictionaries[0]) for dictionary in dictionaries)


def sort_values(column: Any) -> Any:
    """Return a column whose order is that of the values: of ordered categories, their codes."""
    if not pa.types.is_dictionary(column.type):
        return column
    if not column.type.ordered:
        return plain(column)
    chunks = [chunk.indices for chunk in _chunks(column)]
    codes = pa.chunked_array(chunks, pa.int32())
    return codes if isinstance(column, pa.ChunkedArray) else codes.combine_chunks()


def _chunks(column: Any) -> list[Any]:
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]


def either(mask: Any, one: Any, other: Any) -> Any:
    """Return a column with the value of `one` where the mask is true, else that of `other`."""
    one, other = alike(one, other)
    if not pa.types.is_dictionary(one.type):
        return pc.if_else(pa.array(mask), one.cast(other.type), other)
    both = pa.chunked_array([*one.chunks, *other.chunks], one.type)
    places = pc.if_else(
        pa.array(mask), pa.array(range(len(one))), pa.array(range(len(one), len(both)))
    )
    return both.take(places)


def as_enums(frame: Any, table: Any) -> Any:
    """Return a Polars DataFrame whose ordered columns of codes are Enums again."""
    import polars

    enums = {}
    for field in table.schema:
        if pa.types.is_dictionary(field.type) and field.type.ordered:
            chunks = table.column(field.name).chunks
            categories = polars.Series(chunks[0].dictionary if chunks else [], dtype=polars.String)
            enums[field.name] = polars.Enum(categories)
    return frame.cast(enums) if enums else frame
