# SPDX-License-Identifier: Apache-2.0
"""Python interpreters with something wrong, for the workers; and the processes of workers."""

from __future__ import annotations

import shlex
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

# Stands before the worker's own package, and has a task that does something before each STREAM.
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
    """The path of a script that starts this Python; `modules` are found before all others."""
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


def workers(jvm: int) -> set[int]:
    """The workers, busy or idle, that live under a JVM; not the daemons that forked them."""
    parents = {pid: parent for pid, parent, _ in _processes()}
    sweeping = {pid for pid in parents if _is_under(pid, jvm, parents) and _is_ours(pid)}
    return {pid for pid in sweeping if parents[pid] in sweeping}


def busy(jvm: int) -> set[int]:
    """The workers that used the processor just now."""
    ours = workers(jvm)
    before = {pid: used for pid, _, used in _processes() if pid in ours}
    time.sleep(0.5)
    now = {pid: used for pid, _, used in _processes() if pid in ours}
    return {pid for pid, used in now.items() if used > before.get(pid, used)}


def eventually(condition: Callable[[], object], seconds: float = 10) -> bool:
    """Whether a condition comes true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def _processes() -> Iterator[tuple[int, int, int]]:
    """Process, parent and the clock ticks it used, of all that are no zombies."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            text = (folder / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue  # has just ended
        # The fields after the command, which may hold anything: state, parent, ...
        fields = text.rpartition(")")[2].split()
        if fields[0] != "Z":
            yield int(folder.name), int(fields[1]), int(fields[11]) + int(fields[12])


def _is_under(pid: int, ancestor: int, parents: dict[int, int]) -> bool:
    while pid in parents:
        pid = parents[pid]
        if pid == ancestor:
            return True
    return False


def _is_ours(pid: int) -> bool:
    try:
        return b"pyspark_intervalsweep.worker" in Path("/proc", str(pid), "cmdline").read_bytes()
    except OSError:
        return False


def of_folder(folder: Path) -> set[str]:
    """Processes that were started with a faulty interpreter of this folder."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(folder / "modules").encode() in (process / "environ").read_bytes():
                found.add(process.name)
        except OSError:
            continue
    return found
