# SPDX-License-Identifier: Apache-2.0
"""Runs a system in a separate process: queries through a pipe, measures memory, kills it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.adapter import Answer, Case, Limits, UnsupportedError
from benchmarks.systems import SYSTEMS

SPAWN = multiprocessing.get_context("spawn")
LOOK = 0.1  # seconds between two measurements of the memory


@dataclass(frozen=True)
class Ran:
    """One run of a query."""

    seconds: float
    answer: Answer


class NoTimeError(Exception):
    """The reason for a missing time: too slow, crashed, not expressible, and so on."""


class Running:
    """A system in its process. The process has ended once `ask` has raised NoTimeError."""

    def __init__(self, name: str, limits: Limits) -> None:
        limits = replace(limits, scratch=Path(tempfile.mkdtemp(prefix=name, dir=limits.scratch)))
        self.peak = 0  # resident bytes of the process and its descendants
        self._pipe, other = SPAWN.Pipe()
        self._process = SPAWN.Process(target=_serve, args=(name, limits, other))
        self._process.start()
        other.close()
        assert self._process.pid is not None
        self.pid = self._process.pid

    def wait_until_started(self, limit: float) -> None:
        """Waits until the system is ready for its first query."""
        self._receive(limit, "not started after")

    def ask(self, case: Case, limit: float) -> Ran:
        """Runs the query once. Kills the system if the run takes longer than `limit` seconds."""
        self._pipe.send(case)
        ran = self._receive(limit, ">")
        assert isinstance(ran, Ran)
        return ran

    def close(self) -> None:
        """Kills the process and its descendants."""
        if self._process.is_alive():
            for pid in [*descendants(self.pid), self.pid]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self._process.join()
        self._pipe.close()

    def _receive(self, limit: float, too_long: str) -> object:
        try:
            reply = self._wait(limit)
        except TimeoutError:
            reply = NoTimeError(f"{too_long} {limit:g} s")
        except (EOFError, ConnectionError):
            self._process.join()
            reply = NoTimeError(f"crashed, exit code {self._process.exitcode}")
        if isinstance(reply, NoTimeError):
            self.close()
            raise reply
        return reply

    def _wait(self, limit: float) -> object:
        end = time.monotonic() + limit
        while not self._pipe.poll(min(LOOK, max(0, end - time.monotonic()))):
            self.peak = max(self.peak, resident(self.pid))
            if time.monotonic() >= end:
                raise TimeoutError
        self.peak = max(self.peak, resident(self.pid))
        return self._pipe.recv()


def resident(pid: int) -> int:
    """Resident bytes of a process and its descendants."""
    return sum(resident_alone(each) for each in [pid, *descendants(pid)])


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, directly or indirectly."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # the process has just ended
            for child in map(int, task.read_text().split()):
                found += [child, *descendants(child)]
    return found


def resident_alone(pid: int) -> int:
    """Resident bytes of one process; 0 if it has ended."""
    with suppress(OSError, IndexError):
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGESIZE")
    return 0


def _serve(name: str, limits: Limits, pipe: Connection) -> None:
    """The main function of the process: starts the system, and runs each query it receives."""
    _go_to(limits.scratch)
    try:
        system = SYSTEMS[name].start(limits)
        pipe.send("started")
        while True:
            run = system.prepare(pipe.recv())
            start = time.perf_counter()
            answer = run()
            pipe.send(Ran(time.perf_counter() - start, answer))
    except ImportError as error:
        pipe.send(NoTimeError(f"{error.name or name} is not installed"))
    except UnsupportedError as error:
        pipe.send(NoTimeError(str(error)))
    except EOFError:
        return  # the suite has ended
    except BaseException as error:  # report every failure, also panics of Rust
        pipe.send(NoTimeError(f"failed: {_first_line(error)}"))


def _go_to(scratch: Path) -> None:
    """Keeps the output and the files of the system in the scratch folder."""
    os.chdir(scratch)
    os.environ["TMPDIR"] = str(scratch)
    log = os.open("log", os.O_WRONLY | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(log, stream)


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200]
