# SPDX-License-Identifier: Apache-2.0
"""Faulty Python interpreters for the workers."""

from __future__ import annotations

import shlex
import sys
import textwrap
from pathlib import Path

# A package that shadows the worker's own one; its task runs a fault before each STREAM message.
PACKAGE = "from pkgutil import extend_path\n__path__ = extend_path(__path__, __name__)\n"
TASK = """
import os, sys, time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pyspark_intervalsweep

spec = spec_from_file_location(
    "pyspark_intervalsweep.real_task", Path(pyspark_intervalsweep.__path__[1]) / "task.py"
)
real = module_from_spec(spec)
spec.loader.exec_module(real)

class Task(real.Task):
    def _stream(self):
        fault(self)
        super()._stream()

def fault(self):
"""


def interpreter(folder: Path, options: str = "", modules: dict[str, str] | None = None) -> str:
    """The path of a script that starts this Python; `modules` precede all others on the path."""
    for name, text in (modules or {}).items():
        file = folder / "modules" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    script = folder / "python"
    path = shlex.quote(str(folder / "modules"))
    python = shlex.quote(sys.executable)
    script.write_text(
        f'#!/bin/sh\nPYTHONPATH={path}:$PYTHONPATH exec {python} {options} "$@"\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    return str(script)


def faulty(folder: Path, fault: str) -> str:
    """An interpreter whose workers run `fault` whenever rows have been sent to them."""
    task = TASK + textwrap.indent(textwrap.dedent(fault), "    ")
    package = "pyspark_intervalsweep"
    return interpreter(
        folder, modules={f"{package}/__init__.py": PACKAGE, f"{package}/task.py": task}
    )
