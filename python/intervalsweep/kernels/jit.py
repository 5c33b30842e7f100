# SPDX-License-Identifier: Apache-2.0
"""Compiles the inner loops, and defines the types and constants that they share.

The loops must give the right answer as plain Python, too (``NUMBA_DISABLE_JIT=1``), so they avoid
arithmetic that relies on wrap-around.

Compiled code is kept on disk, see `cache`.
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

# The kinds of a bound of a box: unbounded, ``<=``, ``<``.
OPEN, INCLUSIVE, STRICT = 0, 1, 2

# Columns of `tables`, which has a row for each large group: the group's first entry in `table`, the
# right shift that turns a value into an entry number, and the entry number of the group's smallest
# value, which is subtracted.
TABLE, SHIFT, BASE = 0, 1, 2

# Fields of the state of a search on the lead axis: the next box, and the candidates found so far.
BOX, CANDIDATES = 0, 1

# Fields of the state of a filter by the second axis: the current run, its next row, and the blocks
# skipped so far.
RUN, ROW, SKIPPED = 0, 1, 2

# Inputs are declared read-only, which accepts writable arrays as well as views of Arrow buffers.
INT = types.int64
I64_IN = types.Array(types.int64, 1, "C", readonly=True)
I64_TABLE_IN = types.Array(types.int64, 2, "C", readonly=True)
I32_IN = types.Array(types.int32, 1, "C", readonly=True)
I64_OUT = types.Array(types.int64, 1, "C")
I64_TABLE_OUT = types.Array(types.int64, 2, "C")
I32_OUT = types.Array(types.int32, 1, "C")
F64_TABLE_IN = types.Array(types.float64, 2, "C", readonly=True)
F64_TABLE_OUT = types.Array(types.float64, 2, "C")

# Prepared points: lead, offsets, rank_of, tables, table; see `join`. Kernels unpack the tuple at
# their start: passing the tuple on to a helper would cost a call for each box.
POINTS = types.Tuple((I64_IN, I64_IN, I32_IN, I64_TABLE_IN, I32_IN))

# Only Python calls kernels, so they need no entry points for C, which take long to compile.
#
# The loops allocate nothing, so they need no reference counts for the arrays that they pass to
# helpers; counting makes the loops four times slower. `_nrt` is an internal, undocumented option of
# numba. If numba does not know the option, leave it out.
_OPTIONS: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True, "_nrt": False}
try:
    numba.njit(**_OPTIONS)(lambda: None)
except KeyError:
    del _OPTIONS["_nrt"]


def kernel(*signature: Any) -> Callable[[Callable[..., _R]], Callable[..., _R]]:
    """Compile a function for one signature at its first call, with a cache on disk if possible.

    Most queries need only some of the kernels, and a kernel with many branches takes a second to
    compile. So kernels are not compiled at import.
    """

    def compile_when_called(function: Callable[..., _R]) -> Callable[..., _R]:
        @cache
        def compiled() -> Callable[..., _R]:
            with Progress("compiling, which is done once"):
                try:
                    return _compile(signature, function, KernelCache(function))
                except (RuntimeError, OSError):  # no folder, a full disk: compile without a cache
                    return _compile(signature, function, None)

        @wraps(function)
        def call(*arguments: Any) -> _R:
            return compiled()(*arguments)

        return call

    return compile_when_called


def _compile(
    signature: tuple[Any, ...], function: Callable[..., _R], kept: KernelCache | None
) -> Callable[..., _R]:
    """Compile like `njit(signature, cache=True)`, but with our own cache."""
    compiled: Any = numba.njit(**_OPTIONS)(function)
    if compiled is not function:  # with NUMBA_DISABLE_JIT njit returns the function itself
        if kept is not None:
            compiled._cache = kept
        compiled.compile(signature)
        compiled.disable_compile()
    return cast("Callable[..., _R]", compiled)


def helper(function: _F) -> _F:
    """Mark a function that only kernels call; it is inlined into them.

    A helper has no entry point for Python, which would take as long to compile as the helper. So a
    call from Python crashes the process, except with ``NUMBA_DISABLE_JIT``.
    """
    inlined = numba.njit(forceinline=True, no_cpython_wrapper=True, **_OPTIONS)
    return cast("_F", inlined(function))
