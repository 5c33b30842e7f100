# SPDX-License-Identifier: Apache-2.0
"""The packages that the worker needs, and the error if one is missing or too old."""

from __future__ import annotations

import importlib
import platform
import re
import shlex
import sys

# The oldest Python for which the packages exist.
MINIMUM_PYTHON = (3, 10)
# The same as in pyproject.toml, which executors do not have. A test compares both.
# numpy comes first, because the others fail in confusing ways if numpy is broken.
MINIMUM_VERSIONS = {"numpy": "1.26", "pyarrow": "18", "numba": "0.61"}


def interpreter() -> str:
    """Return the path and version of this Python."""
    return f"{sys.executable} (Python {platform.python_version()})"


def problems() -> str | None:
    """Return None if Python and all packages are new enough, else an error message."""
    if sys.version_info[:2] < MINIMUM_PYTHON:
        oldest = ".".join(map(str, MINIMUM_PYTHON))
        return (
            f"IntervalSweep's worker cannot run in {interpreter()}: this Python is too old, as "
            f"the packages of the worker need {oldest} or newer.\n"
            f"Name a Python of at least {oldest} in spark.pyspark.python or PYSPARK_PYTHON."
        )
    found = {name: _problem(name, minimum) for name, minimum in MINIMUM_VERSIONS.items()}
    wrong = {name: text for name, text in found.items() if text is not None}
    if not wrong:
        return None
    wanted = [f"{name}>={MINIMUM_VERSIONS[name]}" for name in wrong]
    command = shlex.join([sys.executable, "-m", "pip", "install", *wanted])
    return (
        f"IntervalSweep's worker cannot run in {interpreter()}: {'; '.join(wrong.values())}.\n"
        f"Install with:  {command}\n"
        "or name a Python that has them, in spark.pyspark.python or PYSPARK_PYTHON."
    )


def version(name: str) -> str:
    """Return the version of an imported package."""
    return str(sys.modules[name].__version__)


def _problem(name: str, minimum: str) -> str | None:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name == name:
            return f"{name} >= {minimum} is needed, but it is not installed"
        if error.name in MINIMUM_VERSIONS:
            return None  # reported on its own
        return f"{name} >= {minimum} is needed, but its import fails: {error}"
    except Exception as error:  # a broken package may raise anything
        return f"{name} >= {minimum} is needed, but its import fails: {error}"
    if _numbers(version(name)) < _numbers(minimum):
        return f"{name} >= {minimum} is needed, found {version(name)}"
    return None


def _numbers(text: str) -> tuple[int, ...]:
    """Return the leading numbers of a version: '0.59.1rc2' is (0, 59, 1)."""
    release = re.match(r"\d+(\.\d+)*", text)
    return tuple(int(part) for part in release.group().split(".")) if release else ()
