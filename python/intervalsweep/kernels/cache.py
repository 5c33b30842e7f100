# SPDX-License-Identifier: Apache-2.0
"""Where compiled kernels are kept on disk, and what makes them out of date.

numba keeps the code of a function until the file changes that holds it, but helpers and constants
of other files are compiled into it. So all kernels have one key: a hash of the sources of this
folder and of those below it.

They are kept beside their sources, where that can be written, else in the user's cache folder, else
in one of this user alone under the system's temporary one: executors often run with read-only
sources and without a home, and not every new worker is to compile. What is loaded is run: the last
folder must belong to this user and be closed to all others. `NUMBA_CACHE_DIR` wins.
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
    """Return a hash of the sources of all kernels, by their names and contents."""
    found = hashlib.sha256()
    for file in sorted(FOLDER.rglob("*.py")):
        found.update(f"{file.relative_to(FOLDER).as_posix()}\0".encode())
        found.update(file.read_bytes())
    return found.hexdigest()


class _Place:
    """What numba asks for: a folder, a key and a name for the code of one function."""

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
    """numba's cache of one function, in our folder and by our key.

    Raises RuntimeError if no folder can be written.
    """

    _impl_class = _Code


@cache
def cache_folder(chosen: str = "") -> Path | None:
    """Return the first folder that can be written; None if there is none."""
    if chosen:
        return _writable(Path(chosen) / f"intervalsweep-{_here()}")
    return next(filter(None, map(_writable, _folders())), None) or _private_folder()


def _folders() -> Iterator[Path]:
    yield FOLDER / "__pycache__"
    with contextlib.suppress(RuntimeError):  # a user without a home
        home = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
        yield Path(home) / "intervalsweep" / f"kernels-{_here()}"


def _here() -> str:
    """Two installations may have kernels of one name and line, and share a folder."""
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
