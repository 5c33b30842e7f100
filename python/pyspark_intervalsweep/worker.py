# SPDX-License-Identifier: Apache-2.0
"""The worker's entry: ``main(infile, outfile)``, called by ``pyspark.daemon`` once a task.

The daemon forks a process per concurrent task, which imports this module at its first task and may
serve many one after the other. Without the daemon Spark starts ``python -m
pyspark_intervalsweep.worker``, for one task.

This module can always be imported: an exception at import would reach a person as no more than
'connection reset'. What is wrong with the installation is the reply to OPEN instead.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import traceback
from typing import BinaryIO

from . import environment, packages, protocol

# Imported here, once per process, so that tasks find everything loaded.
try:
    environment.prepare_imports()
    _problem = packages.problems()
    if _problem is None:
        from .task import Task
except Exception:
    _problem = f"{traceback.format_exc()}in {packages.interpreter()}"

_MORE_MEMORY = (
    "Give the worker more memory (spark.executor.pyspark.memory), or have it take less at a time "
    "(spark.sql.intervalsweep.batchRows)."
)

# The daemon collects garbage after every task; the modules' objects need not be gone through.
gc.freeze()


def main(infile: BinaryIO, outfile: BinaryIO) -> None:
    """Serve one task; see :mod:`.protocol`.

    Returns if the JVM closed the task; then the process can serve another. Otherwise (an error, or
    the connection ended) it raises SystemExit, which tells the daemon not to use it again.
    """
    environment.send_at_once(outfile)
    environment.limit_memory()
    try:
        if _problem is not None:
            raise RuntimeError(_problem)
        Task(infile, outfile).run()
    except (EOFError, ConnectionError):
        # The JVM has gone: a finished or cancelled query, nothing to report.
        environment.discard(outfile)
        sys.exit(1)
    except Exception as error:
        with contextlib.suppress(OSError):
            protocol.write_int(outfile, protocol.ERROR)
            protocol.write_string(outfile, _report(error))
            outfile.flush()
        sys.exit(1)


def _report(error: Exception) -> str:
    if _problem is not None:
        return _problem
    trace = "".join(traceback.format_exception(error))
    advice = f"\n{_MORE_MEMORY}" if isinstance(error, MemoryError) else ""
    return f"{trace}in {packages.interpreter()}{advice}"


def _connect_and_serve() -> None:
    """Serve one task of the JVM that started this process and waits for it to connect."""
    from pyspark.util import local_connect_and_auth

    address = os.environ.get("PYTHON_WORKER_FACTORY_SOCK_PATH") or int(
        os.environ["PYTHON_WORKER_FACTORY_PORT"]
    )
    _, connection = local_connect_and_auth(address, os.environ.get("PYTHON_WORKER_FACTORY_SECRET"))
    connection.settimeout(None)
    with connection.makefile("rb") as infile, connection.makefile("wb") as outfile:
        protocol.write_int(outfile, os.getpid())
        outfile.flush()
        try:
            main(infile, outfile)
        finally:
            # Read what the JVM still sends: a connection that is closed before is reset, and the
            # reset may overtake the error.
            with contextlib.suppress(OSError):
                while connection.recv(1 << 16):
                    pass


if __name__ == "__main__":
    _connect_and_serve()
