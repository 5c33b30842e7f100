# SPDX-License-Identifier: Apache-2.0
"""Checks of input arrays: dtype, shape and size, on which the compiled loops rely."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Int64Array = npt.NDArray[np.int64]
Int32Array = npt.NDArray[np.int32]

# Row numbers are int32 in the worker protocol.
MAX_ROWS = np.iinfo(np.int32).max

NO_INT64: Int64Array = np.empty(0, dtype=np.int64)
NO_INT32: Int32Array = np.empty(0, dtype=np.int32)


def _column(name: str, values: npt.ArrayLike, dtype: Any, size: int | None) -> npt.NDArray[Any]:
    array = np.asarray(values)
    if array.dtype != dtype:
        raise ValueError(f"{name}: expected dtype {np.dtype(dtype)}, got {array.dtype}")
    if array.ndim != 1:
        raise ValueError(f"{name}: expected one dimension, got shape {array.shape}")
    if size is not None and array.size != size:
        raise ValueError(f"{name}: expected {size} values, got {array.size}")
    if array.size > MAX_ROWS:
        raise ValueError(f"{name}: {array.size} values are more than the limit of {MAX_ROWS}")
    return np.require(array, requirements=["C", "A"])


def int64_column(name: str, values: npt.ArrayLike, size: int | None = None) -> Int64Array:
    """Return ``values`` as a contiguous, aligned int64 array, without a copy if they are one.

    Raises ValueError with the column's name if dtype, shape or ``size`` are different.
    """
    return _column(name, values, np.int64, size)


def int32_column(name: str, values: npt.ArrayLike, size: int | None = None) -> Int32Array:
    """Return ``values`` as a contiguous, aligned int32 array; see :func:`int64_column`."""
    return _column(name, values, np.int32, size)


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a read-only view: numba accepts no writable array for a read-only field of a tuple.

    The type of a named tuple must be exact. Arrays that are arguments may be writable.
    """
    view = array.view()
    view.flags.writeable = False
    return view
