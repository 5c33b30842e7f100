# SPDX-License-Identifier: Apache-2.0
"""The worker's entry point: :mod:`.daemon` calls ``main(infile, outfile)`` for each task.

The daemon imports this module and forks a process for each concurrent task, which may serve many
tasks one after the other. Without the daemon Spark starts
``python -m pyspark_intervalsweep.worker`` for a single task.

Importing this module never fails, because users would only see 'connection reset'. A problem of the
installation becomes the reply to OPEN instead.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import traceback
from typing import BinaryIO

from . import environment, packages, protocol

# Imported once per process, so that tasks do not wait for imports.
try:
    environment.prepare_imports()
    environment.keep_freed_memory()
    _problem = packages.problems()
    if _problem is None:
        from .task import Task
except Exception:
    _problem = f"{traceback.format_exc()}in {packages.interpreter()}"

_MORE_MEMORY = (
    "Give the worker more memory (spark.executor.pyspark.memory), or smaller batches "
    "(spark.sql.intervalsweep.batchRows)."
)

# The daemon collects garbage after every task; it need not scan the objects of modules.
gc.freeze()


def main(infile: BinaryIO, outfile: BinaryIO) -> None:
    """Serve one task; see :mod:`.protocol`.

    Returns if the JVM closed the task; the process can then serve another task. After an error or
    the end of the connection it raises SystemExit, so that the daemon does not reuse the process.
    """
    environment.send_at_once(outfile)
    environment.limit_memory()
    try:
        if _problem is not None:
            raise RuntimeError(_problem)
        Task(infile, outfile).run()
    except (EOFError, ConnectionError):
        # The JVM closed the connection: the query has finished or was cancelled.
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
    """Serve one task of the JVM that started this process and waits for its connection."""
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
            # Read everything that the JVM still sends. Closing the connection earlier would reset
            # it, and the reset may overtake the error message.
            with contextlib.suppress(OSError):
                while connection.recv(1 << 16):
                    pass


if __name__ == "__main__":
    _connect_and_serve()
