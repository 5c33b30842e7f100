# SPDX-License-Identifier: Apache-2.0
"""The worker over real sockets, with the protocol of the JVM."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from intervalsweep.kernels import Measures
from pyspark_intervalsweep import environment, packages, protocol, task, worker
from pyspark_intervalsweep.sides import SideCache, SideRows
from support.kernels.client import (
    NOT_ARROW,
    OVERLAPS,
    STARTED_WITHIN,
    STARTS_WITHIN,
    STREAM,
    Client,
    WorkerError,
    arrow,
    arrow_table,
    axis,
    plan,
)


@contextlib.contextmanager
def in_thread(tasks: int = 1) -> Iterator[tuple[Client, list[Any]]]:
    """Runs `main` in a thread, over TCP; yields a client and the list of the tasks' outcomes."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = socket.create_connection(server.getsockname())
        theirs, _ = server.accept()
    ends: list[Any] = []

    def serve() -> None:
        with theirs, theirs.makefile("rb") as infile, theirs.makefile("wb") as outfile:
            for _ in range(tasks):
                try:
                    ends.append(worker.main(infile, outfile))
                except SystemExit as end:
                    ends.append(end.code)

    thread = threading.Thread(target=serve)
    thread.start()
    ours.settimeout(30)
    with ours, ours.makefile("rb") as infile, ours.makefile("wb") as outfile:
        yield Client(infile, outfile), ends
    thread.join(30)
    assert not thread.is_alive()


@pytest.fixture(autouse=True)
def _new_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task.Task, "_cache", SideCache(2, 1 << 20))


def test_example_of_the_papers() -> None:
    """ISEQL_BEFORE: r.te <= s.ts, with boxes that are unbounded to the right."""
    before = {"boxes": "left", "lead": axis(0, "<= 1")}
    with in_thread() as (client, ends):
        versions = client.open(**plan(before))
        assert versions["numba"] == packages.version("numba")
        client.resident(arrow([1, 3], [3, 4]))
        runs, (candidates, skipped, nanoseconds) = client.stream(arrow([0, 1, 2], [1, 3, 5]))
        client.close()
    assert runs == [(0, 0, 0, 2), (0, 1, 1, 1)]
    assert (candidates, skipped) == (3, 0)
    assert nanoseconds > 0
    assert ends == [None]


def test_sweeps_in_order_with_either_side_as_boxes() -> None:
    with in_thread() as (client, _):
        client.open(**plan(STARTS_WITHIN, STARTED_WITHIN, OVERLAPS))
        client.resident(arrow([1, 4], [6, 9]))
        runs, (candidates, _, _) = client.stream(arrow([1, 3], [2, 5]))
        client.close()
    assert runs == [(0, 0, 0, 1), (0, 1, 1, 1), (1, 0, 1, 1), (2, 1, 1, 1)]
    assert candidates == 4


def test_resident_left_range_and_groups() -> None:
    with in_thread() as (client, _):
        client.open(**plan(STARTS_WITHIN, resident="left", range=[2, 3]))
        client.resident(arrow([0, 0, 0], [9, 9, 9], g=[0, 1, 7]))
        points = arrow([1, 2, 3, 4, 3], [0] * 5, g=[1, 1, 1, 1, 4])
        runs, (candidates, _, _) = client.stream(points)
        client.close()
    assert runs == [(0, 1, 1, 2)]
    assert candidates == 2


def test_bounded_batches_both_ways() -> None:
    size = 10_000
    starts = list(range(size))
    ends = [start + 3 for start in starts]
    points = sorted(starts)
    with in_thread() as (client, _):
        client.open(**plan(STARTS_WITHIN, maxRuns=64))
        client.resident(arrow(points, ends, rows=100))
        for _ in range(2):
            runs, (candidates, _, _) = client.stream(arrow(starts, ends, rows=77))
            assert len(runs) == size
            assert candidates == sum(run[3] for run in runs) == 3 * size - 3
        client.close()


def test_sums_where_they_are_asked_for() -> None:
    points = arrow([1, 2, 3, 4], [9, 3, 9, 9], measures=([1, 10, 100, 1000], [5, 5, 5, 5]), rows=3)
    boxes = arrow([0, 2, 4, 0], [4, 5, 9, 9], rows=3)
    with in_thread() as (client, _):
        client.open(**plan({**OVERLAPS, "sums": True}, STARTS_WITHIN))
        client.resident(points)
        starts_within = [(1, 0, 0, 3), (1, 1, 1, 3), (1, 2, 3, 1), (1, 3, 0, 4)]
        summed = [(0, 0, 0, 2, 101, 10), (0, 1, 2, 2, 1100, 10)]
        assert client.sums(boxes) == summed + starts_within
        runs = [(0, 0, 0, 1), (0, 0, 2, 1), (0, 1, 2, 2)]
        assert client.stream(boxes)[0] == runs + starts_within
        client.close()


def test_empty_sides() -> None:
    with in_thread() as (client, _):
        client.open(**plan(STARTS_WITHIN, STARTED_WITHIN))
        client.resident(arrow([], []))
        assert client.stream(arrow([1], [2]))[0] == []
        client.resident(arrow([1], [2]))
        assert client.stream(arrow([], []))[0] == []
        assert client.stream(arrow([1], [2]))[0] == [(0, 0, 0, 1)]
        client.close()


def test_slices_are_read_from_their_offset() -> None:
    """An Arrow array may begin within its buffer."""
    table = pa.table({"e0": [9, 9, 5, 6], "e1": [9, 9, 9, 9]}).slice(2)
    with in_thread() as (client, _):
        client.open(**plan(STARTS_WITHIN))
        client.resident(arrow_table(table))
        assert client.stream(arrow([5], [6]))[0] == [(0, 0, 0, 1)]
        client.close()


def test_cached_resident_serves_later_tasks() -> None:
    with in_thread(tasks=3) as (client, ends):
        for data, known in ((arrow([1], [2]), False), (b"", True), (b"", True)):
            client.open(**plan(STARTS_WITHIN))
            assert client.resident(data, token="broadcast 1") is known
            assert client.stream(arrow([0], [9]))[0] == [(0, 0, 0, 1)]
            client.close()
    assert ends == [None] * 3


def test_resident_without_token_is_not_cached() -> None:
    with in_thread(tasks=2) as (client, _):
        client.open(**plan(STARTS_WITHIN))
        client.resident(arrow([1], [2]))
        client.close()
        client.open(**plan(STARTS_WITHIN))
        client.send_stream(arrow([0], [9]))
        with pytest.raises(WorkerError, match="STREAM before RESIDENT"):
            client.reply()


def test_cache_is_bounded_by_count_and_bytes() -> None:
    def side(rows: int) -> SideRows:
        return SideRows(
            [np.zeros(rows, np.int64)], None, rows, Measures(np.empty((0, rows), np.int64))
        )

    cache = SideCache(2, 1000)
    cache.put("a", side(10))
    cache.put("b", side(10))
    assert cache.get("a") is not None
    cache.put("c", side(10))
    assert cache.get("b") is None, "the one used longest ago goes"
    assert cache.get("a") is not None
    cache.put("d", side(100))
    assert cache.get("c") is None
    cache.put("huge", side(1000))
    assert list(cache) == []
    growing = side(10)
    cache.put("e", growing)
    growing.points(0, None)
    growing.points(0, 0)
    for _ in range(2):
        cache.put("e", growing)
    assert sum(kept.nbytes for kept in cache) <= 1000


BROKEN = {
    "unsorted points": (arrow([2, 1], [3, 3]), "points must be sorted"),
    "unsorted groups": (arrow([1, 2], [3, 3], g=[1, 0]), "row 1 holds group 0"),
    "column missing": (arrow([1]), "expected the columns"),
    "column too many": (arrow([1], [1], [1]), "expected the columns"),
    "other type": (
        arrow_table(pa.table({"e0": pa.array([1], pa.int32()), "e1": [2]})),
        "expected the columns",
    ),
    "other name": (arrow_table(pa.table({"e0": [1], "x": [2]})), "expected the columns"),
    "nulls": (arrow_table(pa.table({"e0": [1, None], "e1": [2, 3]})), "expected no NULLs, got 1"),
    "no Arrow": (NOT_ARROW, "ArrowInvalid|OSError"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_resident_is_reported_at_stream(name: str) -> None:
    data, message = BROKEN[name]
    groups = [0] if "groups" in name else None
    with in_thread() as (client, ends):
        client.open(**plan(STARTS_WITHIN))
        client.resident(data)
        with pytest.raises(WorkerError, match=message) as raised:
            client.stream(arrow([0], [9], g=groups))
    assert "Traceback" in str(raised.value)
    assert sys.executable in str(raised.value)
    assert ends == [1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"protocol": 9}, "the jar speaks protocol 9, this worker 6"),
        ({"resident": "middle"}, "expected 'left' or 'right', got 'middle'"),
        ({"right": 0}, "endpoint 0 of a row that has 0"),
        ({"left": 1}, "endpoint 1 of a row that has 1"),
        ({"left": None}, "TypeError"),
    ],
)
def test_plans_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with in_thread() as (client, ends), pytest.raises(WorkerError, match=message):
        client.open(**plan(STARTS_WITHIN, **options))
    assert ends == [1]


def test_commands_that_make_no_sense() -> None:
    for code, message in ((17, "unknown command 17"), (STREAM, "the first command must be OPEN")):
        with in_thread() as (client, ends):
            client.command(code)
            with pytest.raises(WorkerError, match=message):
                client.status()
        assert ends == [1]
    with in_thread() as (client, ends):
        client.open(**plan(STARTS_WITHIN))
        client.resident(arrow([1], [2]))
        with pytest.raises(WorkerError, match="only one of the sides has a column g"):
            client.stream(arrow([1], [2], g=[0]))


def test_periods_of_rows_on_two_sides() -> None:
    """EXCEPT ALL; the second group goes on in the next batch, with the same number."""
    plan = {"protocol": 6, "maxRuns": 2, "periods": {"rule": "except_all"}}
    with in_thread(tasks=2) as (client, ends):
        client.open(**plan)
        rows = arrow([1, 3, 4, 0], [5, 7, 6, 9], measures=([1, 1, -1, 1],), g=[0, 0, 0, 1])
        assert client.periods(rows, goes_on=True) == [(0, 1, 4, 1), (0, 3, 5, 1), (0, 6, 7, 1)]
        more = arrow([2], [4], measures=([-1],), g=[1])
        assert [row[1:] for row in client.periods(more)] == [(0, 2, 1), (4, 9, 1)]
        client.close()
        client.open(**{**plan, "maxRuns": 9})
        assert client.periods(arrow([1], [2], measures=([1],), g=[0])) == [(0, 1, 2, 1)]
        client.close()
    assert ends == [None, None]


def test_values_of_periods() -> None:
    values = {"values": ["sum", "greatest"], "floats": 1}
    halves = np.array([0.5, 0.25]).view(np.int64).tolist()
    with in_thread() as (client, _):
        client.open(protocol=6, maxRuns=9, periods=values)
        found = client.periods(arrow([1, 3], [5, 7], measures=([2, 3], [7, 4], halves), g=[0, 0]))
        client.close()
    floats = np.array([row[-1] for row in found]).view(np.float64).tolist()
    assert [row[1:-1] for row in found] == [(1, 3, 2, 7), (3, 5, 5, 7), (5, 7, 3, 4)]
    assert floats == [0.5, 0.75, 0.25]


def test_a_rule_that_there_is_not() -> None:
    with (
        in_thread() as (client, ends),
        pytest.raises(WorkerError, match=r"rule: expected one of .*, got 'minus'"),
    ):
        client.open(protocol=6, maxRuns=9, periods={"rule": "minus"})
    assert ends == [1]


def test_end_of_the_connection_is_quiet() -> None:
    for send in (b"", b"\x00\x00", struct.pack(">ii", protocol.OPEN, 100) + b"half"):
        with in_thread() as (client, ends):
            client.outfile.write(send)
        assert ends == [1]
    with in_thread() as (client, ends):
        client.open(**plan(STARTS_WITHIN))
        client.command(protocol.RESIDENT, "")
        client.outfile.write(arrow([1] * 1000, [2] * 1000)[:2000])
    assert ends == [1]


def test_small_batches_are_sent_at_once() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as ours,
        server.accept()[0] as theirs,
        theirs.makefile("wb") as outfile,
    ):
        environment.send_at_once(outfile)
        assert theirs.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert not ours.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    readable, writable = os.pipe()
    with os.fdopen(readable, "rb"), os.fdopen(writable, "wb") as pipe:
        environment.send_at_once(pipe)
