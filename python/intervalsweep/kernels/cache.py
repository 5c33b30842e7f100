# SPDX-License-Identifier: Apache-2.0
"""Keeps compiled kernels on disk, and decides when they are out of date.

numba reuses the code of a function until its file changes. But helpers and constants of other files
are compiled into a kernel, too. So all kernels have the same key: a hash of the sources in this
folder and the folders below.

The first folder that can be written is used: `__pycache__` next to the sources, the user's cache
folder, or a private folder of this user in the system's temporary folder. Executors often run with
read-only sources and without a home directory, and a new worker should not have to compile. Loaded
code is executed, so the temporary folder must belong to this user and be closed to all others.
`NUMBA_CACHE_DIR` takes precedence over all of these.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from numba.core import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache

FOLDER = Path(__file__).resolve().parent


@cache
def source_key() -> str:
    """Return a hash of the names and contents of the sources of all kernels."""
    found = hashlib.sha256()
    for file in sorted(FOLDER.rglob("*.py")):
        found.update(f"{file.relative_to(FOLDER).as_posix()}\0".encode())
        found.update(file.read_bytes())
    return found.hexdigest()


class _Place:
    """The locator that numba asks for the folder, key and name of a function's compiled code."""

    def __init__(self, folder: Path, function: Callable[..., Any]) -> None:
        self._folder = folder
        self._name = f"{function.__module__}-{function.__code__.co_firstlineno}"

    def get_cache_path(self) -> str:
        return str(self._folder)

    def ensure_cache_path(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=self._folder).close()

    def get_source_stamp(self) -> str:
        return source_key()

    def get_disambiguator(self) -> str:
        return self._name

    @classmethod
    def from_function(cls, function: Callable[..., Any], _: str) -> _Place | None:
        folder = cache_folder(str(config.CACHE_DIR))
        return None if folder is None else cls(folder, function)


class _Code(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Place,)


class KernelCache(FunctionCache):  # type: ignore[misc]
    """numba's cache for one function, with our folder and key.

    Raises RuntimeError if no folder can be written.
    """

    _impl_class = _Code


@cache
def cache_folder(chosen: str = "") -> Path | None:
    """Return the first folder that can be written, or None."""
    if chosen:
        return _writable(Path(chosen) / f"intervalsweep-{_here()}")
    return next(filter(None, map(_writable, _folders())), None) or _private_folder()


def _folders() -> Iterator[Path]:
    yield FOLDER / "__pycache__"
    with contextlib.suppress(RuntimeError):  # a user without a home directory
        home = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
        yield Path(home) / "intervalsweep" / f"kernels-{_here()}"


def _here() -> str:
    """Return a name for this installation: others may have kernels of the same name and line."""
    return hashlib.sha256(str(FOLDER).encode()).hexdigest()[:16]


def _writable(folder: Path) -> Path | None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return None
    return folder


def _private_folder() -> Path | None:
    folder = Path(tempfile.gettempdir()) / f"intervalsweep-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return None
    private = stat.S_ISDIR(status.st_mode) and not status.st_mode & 0o077
    if not private or status.st_uid != os.getuid():
        return None
    return _writable(folder / f"kernels-{_here()}")
