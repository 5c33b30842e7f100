# SPDX-License-Identifier: Apache-2.0
"""Adds the extension to a Spark session: a new one, or one that is already running."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from intervalsweep import _submit
from intervalsweep._errors import ArgumentError, SetupError
from intervalsweep._requirements import check_java, check_spark, listed, series_of
from intervalsweep._version import SPARK_SERIES, __version__

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXTENSION = "org.intervalsweep.IntervalSweepExtensions"

_JAR_FAMILY = "intervalsweep-spark"
_WORKER_PYTHON = "spark.sql.intervalsweep.python"
_ASOF_SYNTAX = "spark.sql.join.asofJoin.enabled"
# The settings that name the workers' Python; the first that is set counts.
_PYTHONS = (_WORKER_PYTHON, "spark.sql.execution.pyspark.python", "spark.pyspark.python")


def jar_path(spark: str | None = None) -> str:
    """Return the path of the jar: from the wheel or, in a source checkout, the one that was built.

    Parameters
    ----------
    spark
        The version of Spark, such as "4.2" or "4.2.1": there is a jar for each minor version. The
        default is the version of the installed PySpark.

    Returns
    -------
    str
        The absolute path, for ``--jars``.

    Raises
    ------
    SetupError
        If the version is not supported or its jar does not exist. The message has the command that
        fixes it.
    """
    if spark is None:
        spark = check_spark()
    series = series_of(str(spark))
    package = Path(__file__).resolve().parent
    places = [package / "jars", package.parents[1] / "target" / "jars"]
    for place in places:
        if (place / jar_name(series)).is_file():
            return str(place / jar_name(series))
    there = [s for s in SPARK_SERIES if any((place / jar_name(s)).is_file() for place in places)]
    raise SetupError(
        f"The jar for Spark {series}, {jar_name(series)}, is neither in {places[0]} nor in "
        f"{places[1]}; {_jars_for(there)}. Install intervalsweep from a wheel that has it "
        f"(`make wheel-all` builds one), or run `make build SPARK={series}` in the source checkout."
    )


def jar_name(series: str) -> str:
    """Return the name of the jar's file. build.sbt builds the same name."""
    return f"{_JAR_FAMILY}{series}_2.13-{__version__}.jar"


def configure(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Add the jar and the extension to the settings of a session that has not started.

    With a remote of ``local[...]`` these are the settings of the Connect server that the session
    starts; Spark then warns that the session itself cannot change them.

    Appends to `spark.jars` and `spark.sql.extensions`, wherever they are set: on the builder, on
    the command line of spark-submit, in PYSPARK_SUBMIT_ARGS or in spark-defaults.conf. Turns on
    the syntax of ASOF JOIN, which Spark has from 4.3 on, unless
    `spark.sql.join.asofJoin.enabled` is set. A second call changes nothing.

    Parameters
    ----------
    builder
        The builder of the session.

    Returns
    -------
    SparkSession.Builder
        The same builder.

    Raises
    ------
    SetupError
        If PySpark, Java or the jar is missing or too old, if a session without the extension is
        already running, or if the builder is for a Spark Connect server that runs elsewhere.

    Examples
    --------
    >>> from pyspark.sql import SparkSession
    >>> builder = SparkSession.builder.config("spark.sql.extensions", "org.example.Mine")
    >>> configure(builder)._options["spark.sql.extensions"]
    'org.example.Mine,org.intervalsweep.IntervalSweepExtensions'
    """
    if not hasattr(builder, "_options"):
        raise ArgumentError(
            f"configure takes SparkSession.builder; got {builder!r}. For a session that is running "
            "call intervalsweep.register(spark)."
        )
    options: dict[str, Any] = builder._options
    remote = options.get("spark.remote", os.environ.get("SPARK_REMOTE"))
    if remote is not None:
        return _configure_local_server(builder, str(remote), options)
    check_spark()
    _refuse_running_session()
    jvm = _running_jvm()
    if jvm is None:
        check_java()
    settings = _submit.settings_of(jvm) if jvm else _submit.settings_to_come()
    settings.update({key: str(value) for key, value in options.items()})

    jar = jar_path()
    jars = _extend(builder, settings, jar)
    if jvm:
        _add_to_class_path(jvm, jar)
    else:
        _submit.extend_jars(jars)
    return builder


def _extend(builder: SparkSession.Builder, settings: dict[str, str], jar: str) -> str:
    """Add the jar and the extension to the builder; return all jars."""
    jars = _appended(settings.get("spark.jars"), jar, _is_our_jar)
    extensions = _appended(settings.get("spark.sql.extensions"), EXTENSION, EXTENSION.__eq__)
    builder.config("spark.jars", jars).config("spark.sql.extensions", extensions)
    if _worker_python_is_left_to_chance(settings):
        builder.config(_WORKER_PYTHON, sys.executable)
    if _ASOF_SYNTAX not in settings:
        builder.config(_ASOF_SYNTAX, "true")
    return jars


def _configure_local_server(
    builder: SparkSession.Builder, remote: str, options: dict[str, Any]
) -> SparkSession.Builder:
    """Configure the Connect server that `getOrCreate` starts for a remote of "local[...]"."""
    if not remote.startswith("local"):
        raise SetupError(_remote_advice())
    check_spark()
    check_java()
    settings = _submit.settings_to_come()
    settings.update({key: str(value) for key, value in options.items()})
    _extend(builder, {**settings, "spark.master": remote}, jar_path())
    return builder


def register(spark: SparkSession) -> SparkSession:
    """Add the functions and the join to a session that is already running.

    Does nothing if the session already has the extension. Sessions that `newSession()` creates from
    this one later have it, too; sessions created earlier do not.

    Parameters
    ----------
    spark
        A classic session.

    Returns
    -------
    SparkSession
        The same session.

    Raises
    ------
    SetupError
        If the jar is missing, if the session's JVM cannot load jars, or on Spark Connect.
    """
    if not hasattr(spark, "sql"):
        raise ArgumentError(f"register takes a SparkSession; got {spark!r}.")
    if not hasattr(spark, "_jsparkSession"):
        raise SetupError(_remote_advice())
    jar = jar_path(spark.version)
    if is_active(spark):
        return spark
    jvm: Any = spark._jvm
    _add_to_class_path(jvm, jar)
    spark.sparkContext._jsc.addJar(jar)  # for the executors
    jvm.org.apache.spark.sql.intervalsweep.RunningSession.register(spark._jsparkSession)
    if _worker_python_is_left_to_chance(_submit.settings_of(jvm)):
        spark.sparkContext._jsc.sc().conf().set(_WORKER_PYTHON, sys.executable)
    return spark


def is_active(spark: SparkSession) -> bool:
    """Return whether a session has IntervalSweep's functions."""
    return spark.catalog.functionExists("interval_intersects")


def check_active(spark: SparkSession) -> None:
    """Raise SetupError if a session does not have IntervalSweep's functions."""
    if not is_active(spark):
        raise SetupError(
            "This session has no IntervalSweep: call intervalsweep.register(spark), or create the "
            f"session with intervalsweep.configure. With Spark Connect: {_remote_advice()}"
        )


def _appended(value: str | None, item: str, is_there: Callable[[str], bool]) -> str:
    items = [part.strip() for part in (value or "").split(",") if part.strip()]
    return ",".join(items if any(map(is_there, items)) else [*items, item])


def _is_our_jar(path: str) -> bool:
    # The organization, which --packages puts before the name, is allowed.
    return _JAR_FAMILY in path.rsplit("/", 1)[-1]


def worker_python(settings: dict[str, str]) -> str:
    """Return the Python that the workers of a local session with these settings will have."""
    if _worker_python_is_left_to_chance({"spark.master": "local", **settings}):
        return sys.executable
    named = next((settings[name] for name in _PYTHONS if name in settings), None)
    return named or os.environ.get("PYSPARK_PYTHON", "python3")


def _worker_python_is_left_to_chance(settings: dict[str, str]) -> bool:
    """Return whether to set the workers' Python: in local mode, if no setting names one.

    In local mode the workers can use this Python. On other machines its path may not exist.
    """
    is_local = settings.get("spark.master", "local").startswith("local")
    return is_local and not {*_PYTHONS} & settings.keys() and "PYSPARK_PYTHON" not in os.environ


def _refuse_running_session() -> None:
    """Raise SetupError if a session without the extension runs: `getOrCreate` would return it."""
    from pyspark.sql import SparkSession

    running = SparkSession._instantiatedSession
    if running is not None and running.sparkContext._jsc is not None and not is_active(running):
        raise SetupError(
            "A session without the extension already runs, and getOrCreate() would return it: "
            "call intervalsweep.register(spark) instead, or stop that session first."
        )


def _running_jvm() -> Any:
    """Return the JVM of this process, or None. Never starts one, as that would fix its memory."""
    from pyspark import SparkContext

    if SparkContext._jvm is None and "PYSPARK_GATEWAY_PORT" in os.environ:
        SparkContext._ensure_initialized()  # spark-submit started the JVM before this Python
    return SparkContext._jvm


def _add_to_class_path(jvm: Any, jar: str) -> None:
    """Add a jar to the class path of the driver's JVM, which reads `spark.jars` only at its start.

    spark-submit gives every driver a class loader that can be extended. `ADD JAR` uses a child
    loader instead, whose classes are invisible to threads that do not inherit it.
    """
    loader, mutable = jvm.Thread.currentThread().getContextClassLoader(), None
    while loader is not None:
        if loader.getClass().getName() == "org.apache.spark.util.MutableURLClassLoader":
            mutable = loader
        loader = loader.getParent()
    if mutable is None:
        raise SetupError(
            f"The JVM of this session cannot load further jars. Restart it with --jars {jar} "
            f"--conf spark.sql.extensions={EXTENSION}"
        )
    mutable.addURL(jvm.java.io.File(jar).toURI().toURL())


def _jars_for(series: list[str]) -> str:
    return f"there are jars for Spark {listed(series)}" if series else "there is no other jar"


def _remote_advice() -> str:
    return (
        "A Spark Connect client cannot add the extension: start the server with --jars "
        f"<{jar_name('4.X')}> --conf spark.sql.extensions={EXTENSION}, where 4.X is the server's "
        "version. SQL queries need nothing else."
    )
