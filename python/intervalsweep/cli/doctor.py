# SPDX-License-Identifier: Apache-2.0
"""`intervalsweep doctor`: what is installed, what is missing, and how to fix it."""

from __future__ import annotations

import getpass
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from intervalsweep import _submit
from intervalsweep._errors import SetupError
from intervalsweep._requirements import check_java, check_spark, series_of
from intervalsweep._version import __version__
from intervalsweep.cli.local import local_session
from intervalsweep.session import jar_path, worker_python

# The longest time that a Python may take to start and to import numba.
_SECONDS = 120
_TWO_ROWS = """
SELECT r.id, s.id FROM VALUES (1, 0, 4) r(id, ts, te) JOIN VALUES (2, 2, 6) s(id, ts, te)
  ON ALLEN_OVERLAPS(r.ts, r.te, s.ts, s.te)
"""
_FOLDING = "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation"


def doctor() -> int:
    """Print a line for each requirement; return 0 if all of them are met."""
    print(f"IntervalSweep {__version__}")
    checks: dict[str, Callable[[], str]] = {
        "user": _user,
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
    if "SPARK_REMOTE" in os.environ:
        raise SetupError(
            f"SPARK_REMOTE is {os.environ['SPARK_REMOTE']}, so sessions are on that server, and "
            "its own installation counts: run the doctor there. To check this machine:  unset "
            "SPARK_REMOTE"
        )
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


def _user() -> str:
    """Check that the user id has a name: Spark's Hadoop cannot start without one."""
    name = _user_name()
    if name is None:
        number = os.getuid()
        raise SetupError(
            f"The user id {number} has no name, and Spark cannot start without one. Add it where "
            f"/etc/passwd can be written:  echo 'spark:x:{number}:0::/tmp:/bin/sh' >> /etc/passwd"
        )
    return name


def _user_name() -> str | None:
    """Return the name of the user id, as Java finds it; None if it has none."""
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return None
    except ImportError:  # not on Windows
        return getpass.getuser()


def _workers() -> str:
    """Ask the workers' Python, started as Spark starts it: with our sources and no package more."""
    python = worker_python(_submit.settings_to_come())
    with tempfile.TemporaryDirectory(prefix="intervalsweep-doctor-") as folder:
        for package in ("intervalsweep", "pyspark_intervalsweep"):
            shutil.copytree(
                _sources() / package,
                Path(folder) / package,
                ignore=shutil.ignore_patterns("jars", "__pycache__"),
            )
        paths = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
        return _answer(python, {**os.environ, "PYTHONPATH": paths})


def _sources() -> Path:
    """Return the folder with our packages: site-packages, or that of a checkout."""
    return Path(__file__).resolve().parents[2]


def _answer(python: str, environment: dict[str, str]) -> str:
    """Return what the check prints in this Python. Raises SetupError with its complaint."""
    another = "Set another:  export PYSPARK_PYTHON=/path/to/python3"
    try:
        done = subprocess.run(
            [python, "-m", "pyspark_intervalsweep.check"],
            env=environment,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            text=True,
            check=False,
            timeout=_SECONDS,
        )
    except OSError as error:
        raise SetupError(
            f"The workers' Python, {python}, cannot be started: {error.strerror}. {another}"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise SetupError(
            f"The workers' Python, {python}, does not answer within {_SECONDS} s. {another}"
        ) from error
    if done.returncode != 0:
        said = done.stderr.strip() or f"it ended with exit code {done.returncode}"
        complaint = (
            said if "IntervalSweep's worker" in said else f"{python} fails: {said} {another}"
        )
        raise SetupError(complaint)
    return done.stdout.strip()


def _cache() -> str:
    """Return the folder for the workers' unpacked sources and compiled kernels."""
    found = {folder: _obstacle(folder) for folder in _cache_folders()}
    for folder, obstacle in found.items():
        if obstacle is None:
            return str(folder)
    listed = "; ".join(f"{folder}: {obstacle}" for folder, obstacle in found.items())
    raise SetupError(
        f"The workers' sources cannot be unpacked. {listed}. Set another:  export "
        "XDG_CACHE_HOME=/path/to/a/folder"
    )


def _cache_folders() -> list[Path]:
    """Return the folders that the workers try, in the order of `WorkerSources`."""
    owner = _user_name()
    cache = os.environ.get("XDG_CACHE_HOME")
    homes = [Path(cache)] if cache else [] if owner is None else [Path.home() / ".cache"]
    # Java does not read TMPDIR on Linux.
    temporary = Path("/tmp" if sys.platform == "linux" else tempfile.gettempdir())
    name = owner if owner is not None else str(os.getuid())
    return [*(home / "intervalsweep" for home in homes), temporary / f"intervalsweep-{name}"]


def _obstacle(folder: Path) -> str | None:
    """Return why the workers cannot use a folder; None if they can.

    Permissions alone do not tell: in /proc, root may write and yet cannot create a file.
    """
    there = next(path for path in (folder, *folder.parents) if path.exists())
    try:
        with tempfile.TemporaryDirectory(dir=there):
            pass
    except OSError as error:
        return f"{there} cannot be written ({error.strerror})"
    if there != folder or not hasattr(os, "getuid"):
        return None
    status = folder.lstat()
    if status.st_uid != os.getuid():
        return "it belongs to another user"
    return "others may write to it" if status.st_mode & 0o022 else None


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
