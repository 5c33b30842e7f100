# SPDX-License-Identifier: Apache-2.0
"""`intervalsweep doctor`: what is installed, what is missing, and how to fix it."""

from __future__ import annotations

import getpass
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from intervalsweep._errors import SetupError
from intervalsweep._requirements import check_java, check_spark, series_of
from intervalsweep._version import __version__
from intervalsweep.cli.local import local_session
from intervalsweep.session import jar_path

# Runs in the workers' Python, which may be another interpreter.
_PACKAGES = """
import platform, sys
from pyspark_intervalsweep import packages
problem = packages.problems()
if problem: sys.exit(problem)
found = [f"{name} {packages.version(name)}" for name in packages.MINIMUM_VERSIONS]
print(f"{sys.executable} {platform.python_version()}, {', '.join(found)}")
"""
_TWO_ROWS = """
SELECT r.id, s.id FROM VALUES (1, 0, 4) r(id, ts, te) JOIN VALUES (2, 2, 6) s(id, ts, te)
  ON ALLEN_OVERLAPS(r.ts, r.te, s.ts, s.te)
"""
_FOLDING = "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation"


def doctor() -> int:
    """Print a line for each requirement; return 0 if all of them are met."""
    print(f"IntervalSweep {__version__}")
    checks: dict[str, Callable[[], str]] = {
        "Java": check_java,
        "Spark": _spark,
        "jar": jar_path,
        "Scala": _scala,
        "workers": _workers,
        "cache": _cache,
    }
    well = True
    for name, check in checks.items():
        well = _line(name, check) and well
    if not well:
        print("--   sweep: not tried, because of the above")
        return 1
    return 0 if _line("sweep", _sweep) else 1


def _line(name: str, check: Callable[[], str]) -> bool:
    try:
        print(f"ok   {name}: {check()}", flush=True)
    except Exception as error:  # report it, and go on with the other checks
        print(f"FAIL {name}: {error}", flush=True)
        return False
    return True


def _spark() -> str:
    """Check that the jars of SPARK_HOME, which PySpark uses if it is set, fit PySpark."""
    installed, folder = check_spark(), _spark_home() / "jars"
    found = _versions(folder, "spark-core_2.13")
    series = series_of(installed)
    if not any(version.startswith(series + ".") for version in found):
        raise SetupError(
            f"PySpark is {installed}, and the Spark in {folder} is {' '.join(found) or 'none'}: "
            f"unset SPARK_HOME, or set it to a Spark {series}."
        )
    return installed


def _versions(folder: Path, name: str) -> list[str]:
    """Return the versions of a jar in a folder."""
    matches = [
        re.fullmatch(rf"{re.escape(name)}-(\d[\d.]*)\.jar", f.name) for f in folder.glob("*")
    ]
    return [match[1] for match in matches if match]


def _scala() -> str:
    with zipfile.ZipFile(jar_path()) as jar:
        text = jar.read("intervalsweep/version.properties").decode()
    made_for = dict(line.split("=") for line in text.splitlines())["scala"]
    folder = _spark_home() / "jars"
    found = _versions(folder, "scala-library")
    if not any(version.startswith(made_for + ".") for version in found):
        raise SetupError(
            f"The jar is for Scala {made_for}, and {folder} has {' '.join(found) or 'none'}: use a "
            f"Spark built with Scala {made_for}, such as that of pip install pyspark."
        )
    return f"{found[0]}, the jar is for {made_for}"


def _spark_home() -> Path:
    from pyspark.find_spark_home import _find_spark_home

    return Path(_find_spark_home())


def _workers() -> str:
    """Run the workers' Python with our sources, as Spark would, and check its packages."""
    python = os.environ.get("PYSPARK_PYTHON", sys.executable)
    sources = str(Path(__file__).resolve().parents[2])
    paths = os.pathsep.join(filter(None, [sources, os.environ.get("PYTHONPATH")]))
    try:
        done = subprocess.run(
            [python, "-c", _PACKAGES],
            env={**os.environ, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        raise SetupError(
            f"The workers' Python, {python}, cannot be started: {error.strerror}. Set another:  "
            "export PYSPARK_PYTHON=/path/to/python3"
        ) from error
    if done.returncode != 0:
        raise SetupError(done.stderr.strip())
    return done.stdout.strip()


def _cache() -> str:
    """Return the folder for the workers' unpacked sources and compiled kernels."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    temporary = Path(tempfile.gettempdir())
    for folder in (home / "intervalsweep", temporary / f"intervalsweep-{getpass.getuser()}"):
        there = next(path for path in (folder, *folder.parents) if path.exists())
        if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
            return str(folder)
    raise SetupError(
        f"Neither {home} nor {temporary} can be written, and the workers' sources must be "
        "unpacked into one of them. Set another:  export XDG_CACHE_HOME=/path/to/a/folder"
    )


def _sweep() -> str:
    settings = {
        "spark.master": "local[1]",
        "spark.sql.intervalsweep.smallGroupPairs": "0",  # else no worker would join two rows
        "spark.sql.optimizer.excludedRules": _FOLDING,
    }
    with local_session(settings) as spark:
        (plan,) = spark.sql("EXPLAIN " + _TWO_ROWS).collect()
        rows = [tuple(row) for row in spark.sql(_TWO_ROWS).collect()]
    if "IntervalSweepJoin" not in plan[0]:
        raise SetupError(f"The join does not use IntervalSweepJoin; please report it:\n{plan[0]}")
    if rows != [(1, 2)]:
        raise SetupError(f"The answer is {rows} instead of [(1, 2)]; please report it.")
    return "two rows went to a worker and came back joined"
