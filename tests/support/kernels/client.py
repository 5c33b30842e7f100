# SPDX-License-Identifier: Apache-2.0
"""A small client of the worker, in place of the JVM, and Spark's ways to start workers."""

from __future__ import annotations

import io
import json
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

PYTHON = str(Path(__file__).parents[3] / "python")
OPEN, RESIDENT, STREAM, CLOSE = 1, 2, 3, 4
SECRET = "a secret"


def axis(point: int, lower: str | None = None, upper: str | None = None) -> dict[str, Any]:
    """One axis: `axis(0, "<= 0", "< 1")` means: endpoint 0 <= point's endpoint 0 < endpoint 1."""

    def bound(text: str) -> dict[str, Any]:
        comparison, endpoint = text.split()
        return {"endpoint": int(endpoint), "strict": comparison == "<"}

    return {"point": point, "lower": lower and bound(lower), "upper": upper and bound(upper)}


# r.ts <= s.ts < r.te, boxes on the left, points on the right.
STARTS_WITHIN = {"boxes": "left", "lead": axis(0, "<= 0", "< 1"), "second": None}
# s.ts < r.ts < s.te, boxes on the right.
STARTED_WITHIN = {"boxes": "right", "lead": axis(0, "< 0", "< 1"), "second": None}
# r.ts < s.ts < r.te < s.te
OVERLAPS = {"boxes": "left", "lead": axis(0, "< 0", "< 1"), "second": axis(1, "< 1")}


def plan(*sweeps: dict[str, Any], **options: Any) -> dict[str, Any]:
    defaults = {"protocol": 6, "resident": "right", "left": 2, "right": 2, "range": None}
    defaults |= {"maxRuns": 65_536, "cacheBytes": 1 << 20}
    return {**defaults, "sweeps": sweeps, **options}


# A valid prefix that announces eight bytes, and bytes that are not Arrow.
NOT_ARROW = b"\xff\xff\xff\xff\x08\x00\x00\x00nonsense"


class WorkerError(Exception):
    """An error that the worker reported."""


class Client:
    """A connection to a worker. Each command has a method, which returns the reply."""

    def __init__(self, infile: BinaryIO, outfile: BinaryIO) -> None:
        self.infile = infile
        self.outfile = outfile

    def open(self, **plan: Any) -> dict[str, Any]:
        """Return the versions in the worker, and its process id as ``pid``."""
        self.command(OPEN, json.dumps(plan))
        self.status()
        return {**json.loads(self.string()), "pid": struct.unpack(">q", self.infile.read(8))[0]}

    def resident(self, data: bytes, token: str = "") -> bool:
        """Send the build side; return True if the worker has it already."""
        self.command(RESIDENT, token)
        if token and self.status() == 1:
            return True
        self.outfile.write(data)
        self.outfile.flush()
        return False

    def stream(self, data: bytes) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
        """Return the runs (sweep, box, first, count) and (candidates, blocks, nanoseconds)."""
        self.send_stream(data)
        runs, (rows, count, *figures) = self.reply()
        assert rows == sum(batch.num_rows for batch in pa.ipc.open_stream(data))
        assert count == len(runs)
        return runs, tuple(figures)

    def sums(self, data: bytes) -> list[tuple[int, ...]]:
        """Return the sums (sweep, box, first, count, *sums)."""
        self.send_stream(data, 1)
        sums, (_, count, *_) = self.reply()
        assert count == len(sums)
        return sums

    def send_stream(self, data: bytes, sums: int = 0) -> None:
        self.outfile.write(struct.pack(">ii", STREAM, sums) + data)
        self.outfile.flush()

    def reply(self) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
        runs: list[tuple[int, ...]] = []
        while self.status() == 1:
            sweep = self.integer()
            batches = list(pa.ipc.open_stream(self.infile))
            assert len(batches) == 1
            assert batches[0].schema.names[:3] == ["box", "first", "count"]
            columns = (column.to_pylist() for column in batches[0].columns)
            runs += [(sweep, *run) for run in zip(*columns, strict=True)]
        return runs, struct.unpack(">5q", self.infile.read(40))

    def periods(self, data: bytes, *, goes_on: bool = False) -> list[tuple[int, ...]]:
        """Return the periods (row, start, end, *numbers) of a sweep over periods."""
        self.send_stream(data, int(goes_on))
        found: list[tuple[int, ...]] = []
        while self.status() == 1:
            for batch in pa.ipc.open_stream(self.infile):
                columns = (column.to_pylist() for column in batch.columns)
                found += zip(*columns, strict=True)
        rows, count, _ = struct.unpack(">3q", self.infile.read(24))
        assert rows == sum(batch.num_rows for batch in pa.ipc.open_stream(data))
        assert count == len(found)
        return found

    def close(self) -> None:
        self.command(CLOSE)
        assert self.status() == 0

    def command(self, code: int, text: str | None = None) -> None:
        self.outfile.write(struct.pack(">i", code))
        if text is not None:
            self.send_string(text)
        self.outfile.flush()

    def send_string(self, text: str) -> None:
        encoded = text.encode()
        self.outfile.write(struct.pack(">i", len(encoded)) + encoded)
        self.outfile.flush()

    def status(self) -> int:
        status = self.integer()
        if status == -1:
            raise WorkerError(self.string())
        return status

    def integer(self) -> int:
        data = self.infile.read(4)
        if len(data) < 4:
            raise EOFError
        return int(struct.unpack(">i", data)[0])

    def string(self) -> str:
        return self.infile.read(self.integer()).decode()


def arrow(
    *columns: list[int],
    g: list[int] | None = None,
    measures: tuple[list[int], ...] = (),
    rows: int = 65_536,
) -> bytes:
    """A side's rows as an Arrow stream, in batches of ``rows``."""
    names = [f"e{k}" for k in range(len(columns))] + [f"m{k}" for k in range(len(measures))]
    arrays = [pa.array(np.array(column, np.int64)) for column in (*columns, *measures)]
    if g is not None:
        names.insert(0, "g")
        arrays.insert(0, pa.array(np.array(g, np.int32)))
    return arrow_table(pa.Table.from_arrays(arrays, names), rows)


def arrow_table(table: pa.Table, rows: int = 65_536) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)
    return sink.getvalue()


def _environment(extra: dict[str, str] | None) -> dict[str, str]:
    path = os.pathsep.join([PYTHON, os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHON_WORKER_FACTORY_SECRET": SECRET}
    return {**environment, "SPARK_REUSE_WORKER": "1", **(extra or {})}


class Daemon:
    """A running daemon; each connection is a worker process that it forks."""

    def __init__(self, process: subprocess.Popen[bytes], address: int | str) -> None:
        self.process = process
        self.address = address

    @contextmanager
    def connect(self) -> Iterator[tuple[Client, int]]:
        """Yields a client and the process id of its worker."""
        if isinstance(self.address, str):
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(self.address)
        else:
            connection = socket.create_connection(("127.0.0.1", self.address))
        connection.settimeout(60)
        with connection, connection.makefile("rb") as infile, connection.makefile("wb") as outfile:
            client = Client(infile, outfile)
            pid = client.integer()
            if not isinstance(self.address, str):
                client.send_string(SECRET)
                assert client.string() == "ok"
            yield client, pid


@contextmanager
def daemon(
    extra: dict[str, str] | None = None, module: str = "pyspark_intervalsweep.daemon"
) -> Iterator[Daemon]:
    """Start a daemon as Spark does."""
    environment = _environment(extra)
    process = subprocess.Popen(
        [sys.executable, "-m", module, "pyspark_intervalsweep.worker"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        first = struct.unpack(">i", process.stdout.read(4))[0]
        unix = environment.get("PYTHON_UNIX_DOMAIN_ENABLED") == "true"
        yield Daemon(process, process.stdout.read(first).decode() if unix else first)
        process.stdin.close()
        process.wait(30)


@contextmanager
def single_worker(
    extra: dict[str, str] | None = None, unix: Path | None = None
) -> Iterator[tuple[Client, Any]]:
    """Start a worker without a daemon; it connects to this process by TCP or a Unix socket."""
    environment = _environment(extra)
    if unix is not None:
        server = socket.socket(socket.AF_UNIX)
        server.bind(str(unix))
        server.listen()
        environment["PYTHON_WORKER_FACTORY_SOCK_PATH"] = str(unix)
        del environment["PYTHON_WORKER_FACTORY_SECRET"]
    else:
        server = socket.create_server(("127.0.0.1", 0))
        environment["PYTHON_WORKER_FACTORY_PORT"] = str(server.getsockname()[1])
    server.settimeout(60)
    command = [sys.executable, "-m", "pyspark_intervalsweep.worker"]
    with server, subprocess.Popen(command, env=environment) as process:
        connection, _ = server.accept()
        connection.settimeout(60)
        with connection, connection.makefile("rb") as infile, connection.makefile("wb") as outfile:
            client = Client(infile, outfile)
            if unix is None:
                assert client.string() == SECRET
                client.send_string("ok")
            assert client.integer() == process.pid
            yield client, process
        connection.close()
        process.wait(30)
