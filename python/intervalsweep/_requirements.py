# SPDX-License-Identifier: Apache-2.0
"""Checks of the installation. An error names what was found, what is needed, and the fix."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from intervalsweep._errors import SetupError
from intervalsweep._version import SPARK_SERIES, __version__

LEAST_JAVA = 17

# The extra that installs a package in a version that works, if the name alone is not enough.
_EXTRAS = {"pyspark": "intervalsweep[spark]", "matplotlib": "intervalsweep[plot]"}


def check_packages(what: str, *names: str) -> None:
    """Raise SetupError, with the command that installs it, if a package is missing."""
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        raise SetupError(
            f"{what} needs {' and '.join(missing)}, which {sys.executable} does not have. Install "
            f"with:  {pip_install(*(_EXTRAS.get(name, name) for name in missing))}"
        )


def check_spark() -> str:
    """Return the version of PySpark. Raises SetupError if it is missing or unsupported."""
    check_packages("IntervalSweep on Spark", "pyspark")
    from pyspark import __version__

    series_of(__version__)
    return str(__version__)


def series_of(version: str) -> str:
    """Return the minor version of Spark, which selects the jar.

    Raises SetupError if IntervalSweep does not support this version.

    >>> series_of("4.2.1")
    '4.2'
    """
    series = ".".join(version.split(".")[:2])
    if series not in SPARK_SERIES:
        raise SetupError(
            f"IntervalSweep {__version__} is for Spark {listed(SPARK_SERIES)}, and this is Spark "
            f"{version}. Install a supported one:  pip install 'pyspark=={SPARK_SERIES[-1]}.*'"
        )
    return series


def check_java() -> str:
    """Return the version and the path of Java. Raises SetupError if it is missing or too old."""
    home = os.environ.get("JAVA_HOME")
    path = str(Path(home) / "bin" / "java") if home else "java"
    found = _java_version(path)
    major = re.match(r"(?:1\.)?(\d+)", found or "")
    if major is None or int(major[1]) < LEAST_JAVA:
        where = f"JAVA_HOME, {home}," if home else "the PATH"
        raise SetupError(
            f"Spark 4 needs Java {LEAST_JAVA} or newer, and {where} has "
            f"{f'Java {found}' if found else 'none'}. Install one (Debian, Ubuntu:  apt install "
            f"openjdk-{LEAST_JAVA}-jre-headless  ), and if there are several:  "
            "export JAVA_HOME=/path/to/it"
        )
    return f"{found} ({path})"


def pip_install(*packages: str) -> str:
    """Return the command that installs packages for this Python."""
    return shlex.join([sys.executable, "-m", "pip", "install", *packages])


def listed(names: Sequence[str]) -> str:
    """Return names as an enumeration: `a, b and c`."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


@cache
def _java_version(path: str) -> str | None:
    try:
        done = subprocess.run([path, "-version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    version = re.search(r'version "([^"]+)"', done.stderr)
    return version[1] if version else None
