# SPDX-License-Identifier: Apache-2.0
"""The settings that spark-submit has or will get; `configure` must append to some of them."""

from __future__ import annotations

import os
import re
import shlex
from itertools import pairwise
from pathlib import Path
from typing import Any

_ARGS = "PYSPARK_SUBMIT_ARGS"
_SHORT = {"--jars": "spark.jars", "--master": "spark.master"}


def settings_of(jvm: Any) -> dict[str, str]:
    """Return the settings of a running JVM; spark-submit puts them into its system properties."""
    from pyspark import SparkConf, SparkContext

    context = SparkContext._active_spark_context
    return dict((context.getConf() if context else SparkConf(_jvm=jvm)).getAll())


def settings_to_come() -> dict[str, str]:
    """Return the settings with which PySpark will start a JVM."""
    options = _options(shlex.split(os.environ.get(_ARGS, "")))
    file = next((value for name, value in options if name == "--properties-file"), None)
    settings = _properties(Path(file) if file else _conf_folder() / "spark-defaults.conf")
    for name, value in options:
        if name in ("--conf", "-c"):
            key, _, value = value.partition("=")
            settings[key] = value
    settings.update({_SHORT[name]: value for name, value in options if name in _SHORT})
    return settings


def extend_jars(jars: str) -> None:
    """Add jars to PYSPARK_SUBMIT_ARGS if it names any: it takes precedence over the builder."""
    args = shlex.split(os.environ.get(_ARGS, ""))
    if any(name == "--jars" or value.startswith("spark.jars=") for name, value in _options(args)):
        os.environ[_ARGS] = shlex.join([*args[:-1], "--jars", jars, *args[-1:]])


def _options(args: list[str]) -> list[tuple[str, str]]:
    """Return pairs of `--name value` or `--name=value`.

    A flag without a value is paired with the next word, which does no harm.
    """
    joined = [arg.partition("=")[::2] for arg in args if arg.startswith("--") and "=" in arg]
    return [pair for pair in pairwise(args) if pair[0].startswith("-")] + joined


def _conf_folder() -> Path:
    from pyspark.find_spark_home import _find_spark_home

    return Path(os.environ.get("SPARK_CONF_DIR") or Path(_find_spark_home()) / "conf")


def _properties(file: Path) -> dict[str, str]:
    """Read spark-defaults.conf: lines `key value`, `key=value` or `key: value`."""
    if not file.is_file():
        return {}
    lines = (line.strip() for line in file.read_text(encoding="utf-8").splitlines())
    pairs = (re.split(r"\s*[=:\s]\s*", line, maxsplit=1) for line in lines if line[:1] not in "#!")
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}
