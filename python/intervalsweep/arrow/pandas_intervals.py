# SPDX-License-Identifier: Apache-2.0
"""Columns of `pandas.Interval`, read as half-open intervals and written in their own convention."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from intervalsweep._errors import EndpointValueError
from intervalsweep.arrow.encoding import Encoding, decode_floats

# How far the left and the right end of an interval are moved to make it half-open.
_STEPS = {"left": (0, 0), "right": (1, 1), "both": (0, 1), "neither": (1, 0)}


def is_pandas_interval(kind: Any) -> bool:
    """Return whether a type is that of a pandas column of intervals."""
    return getattr(kind, "extension_name", None) == "pandas.interval"


def ends_of_intervals(name: str, column: Any, *, as_floats: bool) -> tuple[Any, Any]:
    """Return the starts and ends of half-open intervals with the values of the column.

    An end that is not half-open moves by the smallest step of its type: a floating-point number to
    the next one, as does a whole number with `as_floats`. Raises EndpointValueError if there is no
    such value.
    """
    kind = column.type
    struct = pa.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type)
    ends = []
    for place, step in enumerate(_STEPS[kind.closed]):
        field = pc.struct_field(struct, [place])
        ends.append(_moved(name, field.cast(pa.float64()) if as_floats else field, step))
    return ends[0], ends[1]


def intervals_of(name: str, kind: Any, start: Any, end: Any) -> Any:
    """Return half-open intervals as a column of pandas intervals, closed as those of `kind`."""
    ends = [
        _moved(name, pa.chunked_array([one]) if isinstance(one, pa.Array) else one, -step)
        for one, step in zip((start, end), _STEPS[kind.closed], strict=True)
    ]
    wanted = type(kind)(ends[0].type, kind.closed)
    fields = [field.name for field in wanted.storage_type]
    storage = pa.StructArray.from_arrays([one.combine_chunks() for one in ends], fields)
    return pa.ExtensionArray.from_storage(wanted, storage)


def _moved(name: str, column: Any, step: int) -> Any:
    if step == 0:
        return column
    encoding = Encoding([column.type])
    values, valid = encoding.encode(column)
    if encoding.is_float:  # to the next number, which is the next integer of the encoding
        finite = np.isfinite(decode_floats(values))
        return pa.chunked_array([encoding.decode(np.where(finite, values + step, values), valid)])
    moved, fits = encoding.moved(values, step)
    if not (fits | ~valid).all():
        raise EndpointValueError(
            f"A closed end of {name} is the last value of its type and has no half-open form: "
            "remove such rows."
        )
    try:
        found = encoding.decode(moved, valid).cast(column.type)
    except pa.ArrowInvalid as error:
        raise EndpointValueError(f"A closed end of {name} is out of range: {error}") from error
    return pa.chunked_array([found])
