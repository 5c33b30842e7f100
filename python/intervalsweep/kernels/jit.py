# SPDX-License-Identifier: Apache-2.0
"""How the inner loops are compiled, and the constants that they share.

The loops have to give the right answer as plain Python too (``NUMBA_DISABLE_JIT=1``), so they avoid
arithmetic that relies on wrap-around.

The compiled code is kept on disk, see `cache`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, TypeVar, cast

import numba
from numba import types

from .._progress import Progress
from .cache import KernelCache

_F = TypeVar("_F", bound=Callable[..., Any])
_R = TypeVar("_R")

# Points per block of the second axis, and blocks per block of the upper level.
FAN_OUT = 64
BIG_BLOCK = FAN_OUT * FAN_OUT

# How a side of a box is bounded.
OPEN, INCLUSIVE, STRICT = 0, 1, 2

# Columns of a record of `tables`: where a large group's lookup table starts, how far values are
# shifted to get their slot, and the slot of the group's smallest value.
TABLE, SHIFT, BASE = 0, 1, 2

# Fields of the state of a sweep along the lead axis: the next box, the candidates seen so far.
BOX, CANDIDATES = 0, 1

# Fields of the state of a filter by the second axis: the run under way, the next of its rows, the
# blocks skipped so far.
RUN, ROW, SKIPPED = 0, 1, 2

# Inputs are declared read-only, which accepts both writable arrays and views of Arrow buffers.
INT = types.int64
I64_IN = types.Array(types.int64, 1, "C", readonly=True)
I64_TABLE_IN = types.Array(types.int64, 2, "C", readonly=True)
I32_IN = types.Array(types.int32, 1, "C", readonly=True)
I64_OUT = types.Array(types.int64, 1, "C")
I64_TABLE_OUT = types.Array(types.int64, 2, "C")
I32_OUT = types.Array(types.int32, 1, "C")

# Prepared points: lead, offsets, rank_of, tables, table. Kernels take them apart at once: handing
# the tuple on to a helper would cost a call for each box.
POINTS = types.Tuple((I64_IN, I64_IN, I32_IN, I64_TABLE_IN, I32_IN))

# The loops allocate nothing, so they need not count references to the arrays that helpers are
# handed; counting makes them four times slower. The option is numba's own and undocumented: where
# it is unknown, do without.
_UNCOUNTED: dict[str, Any] = {"nogil": True, "_nrt": False}
try:
    numba.njit(**_UNCOUNTED)(lambda: None)
except KeyError:
    del _UNCOUNTED["_nrt"]


def kernel(*signature: Any) -> Callable[[Callable[..., _R]], Callable[..., _R]]:
    """Compile for one signature, at the first call; cached on disk where a folder can be written.

    Not before, since most queries need a part of the kernels only, and those with many branches
    take a second each.
    """

    def compile_when_called(function: Callable[..., _R]) -> Callable[..., _R]:
        @cache
        def compiled() -> Callable[..., _R]:
            with Progress("compiling, which is done once"):
                try:
                    return _compile(signature, function, KernelCache(function))
                except (RuntimeError, OSError):  # no folder, a full disk: slower, but right
                    return _compile(signature, function, None)

        @wraps(function)
        def call(*arguments: Any) -> _R:
            return compiled()(*arguments)

        return call

    return compile_when_called


def _compile(
    signature: tuple[Any, ...], function: Callable[..., _R], kept: KernelCache | None
) -> Callable[..., _R]:
    """Do what `njit(signature, cache=True)` does, with a cache of our own."""
    compiled: Any = numba.njit(**_UNCOUNTED)(function)
    if compiled is not function:  # as it is with NUMBA_DISABLE_JIT
        if kept is not None:
            compiled._cache = kept
        compiled.compile(signature)
        compiled.disable_compile()
    return cast("Callable[..., _R]", compiled)


def helper(function: _F) -> _F:
    """Mark a function that only kernels call; it is compiled into them."""
    return cast("_F", numba.njit(forceinline=True, **_UNCOUNTED)(function))
