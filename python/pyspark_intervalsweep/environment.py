# SPDX-License-Identifier: Apache-2.0
"""The worker's process: environment variables, memory limit, sockets.

Uses only the standard library, because it runs before the packages are checked.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from pathlib import Path
from typing import BinaryIO

MEMORY_VARIABLE = "PYSPARK_EXECUTOR_MEMORY_MB"

# Parameters of glibc's mallopt: freed memory is returned to the system from this size on.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_KEPT_BYTES = 128 << 20
_KEPT_BLOCK = 32 << 20  # the most that every version of glibc accepts


def prepare_imports() -> None:
    """Set environment variables that numpy reads at its import."""
    # Nothing here needs linear algebra: its threads would cost start-up time and address space.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def keep_freed_memory() -> None:
    """Let the process reuse the memory of one batch for the next, as far as glibc is its allocator.

    Otherwise glibc returns the memory to the system after each batch, and the system clears every
    page again when it is next used. That took a fifth of a worker's time in a sweep.
    """
    import ctypes

    with contextlib.suppress(AttributeError, OSError):  # another allocator
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_TRIM_THRESHOLD, _KEPT_BYTES)
        mallopt(_MMAP_THRESHOLD, _KEPT_BLOCK)


def memory_limit() -> int | None:
    """Return the worker's memory limit in bytes, or None if there is no limit."""
    megabytes = int(os.environ.get(MEMORY_VARIABLE, "-1"))
    return megabytes * 1024 * 1024 if megabytes > 0 else None


def limit_memory() -> None:
    """Apply the executor's Python memory limit, like pyspark's own worker; never increase it."""
    limit = memory_limit()
    if limit is None:
        return
    try:
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        if soft == resource.RLIM_INFINITY or limit < soft:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    except (ImportError, OSError, ValueError) as error:  # not every system has such limits
        print(f"IntervalSweep: memory limit not set: {error}", file=sys.stderr)


def send_at_once(outfile: BinaryIO) -> None:
    """Switch off Nagle's algorithm on the socket behind ``outfile``, if there is one.

    With Nagle's algorithm each small batch waits about 40 ms for the acknowledgement of the batch
    before. Only the sender can switch it off. Pipes and Unix sockets do not have it.
    """
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(outfile.fileno())) as duplicate:
        if duplicate.family in (socket.AF_INET, socket.AF_INET6):
            duplicate.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def discard(outfile: BinaryIO) -> None:
    """Redirect ``outfile`` to the null device, because the JVM no longer reads it.

    The daemon flushes the stream after the task, and would log a broken pipe with a traceback.
    """
    with contextlib.suppress(OSError), Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), outfile.fileno())
