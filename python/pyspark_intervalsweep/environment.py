# SPDX-License-Identifier: Apache-2.0
"""What the worker sets up around itself. Standard library only: it runs before the checks."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import socket
import stat
import sys
import tempfile
from pathlib import Path
from typing import BinaryIO

MEMORY_VARIABLE = "PYSPARK_EXECUTOR_MEMORY_MB"


def prepare_imports() -> None:
    """Set what numpy and numba read once, when they are imported."""
    # No linear algebra here: its threads would only cost start-up time and address space.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    prepare_cache()


def prepare_cache() -> None:
    """Name a folder for compiled kernels where numba would find none, and fail."""
    if not os.environ.get("NUMBA_CACHE_DIR"):
        folder = _cache_folder()
        if folder is not None:
            os.environ["NUMBA_CACHE_DIR"] = str(folder)


def memory_limit() -> int | None:
    """Return the worker's memory limit in bytes, or None."""
    megabytes = int(os.environ.get(MEMORY_VARIABLE, "-1"))
    return megabytes * 1024 * 1024 if megabytes > 0 else None


def limit_memory() -> None:
    """Apply the executor's Python memory limit, as pyspark's own worker does; never raise it."""
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
    """Switch Nagle's algorithm off on the socket behind ``outfile``, if there is one.

    With it, each small batch waits some 40 ms for the acknowledgement of the one before. Only the
    sending side can switch it off. Pipes and unix sockets know no such thing.
    """
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(outfile.fileno())) as duplicate:
        if duplicate.family in (socket.AF_INET, socket.AF_INET6):
            duplicate.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def discard(outfile: BinaryIO) -> None:
    """Have what is still to be sent go nowhere, where nobody is left to read it.

    The daemon flushes the stream after the task, and would log a broken pipe with its traceback.
    """
    with contextlib.suppress(OSError), Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), outfile.fileno())


def _cache_folder() -> Path | None:
    """Return a folder for compiled kernels, or None where numba finds a place by itself.

    numba tries the folder of the source files, then the user's cache folder. Executors often run
    with read-only sources and without a home; then a folder of this user alone under the system's
    temporary one serves, so that not every new worker compiles. What is loaded from it is run:
    it must belong to this user and be closed to all others.
    """
    package = importlib.util.find_spec("intervalsweep")
    if package is None or package.origin is None:
        return None
    sources = Path(package.origin).parent / "kernels" / "__pycache__"
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    if any(_can_create(folder) for folder in (sources, home / "numba")):
        return None
    folder = Path(tempfile.gettempdir()) / f"intervalsweep-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return None
    private = stat.S_ISDIR(status.st_mode) and not status.st_mode & 0o077
    return folder if private and status.st_uid == os.getuid() else None


def _can_create(folder: Path) -> bool:
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
