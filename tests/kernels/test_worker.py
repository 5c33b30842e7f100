"""The worker over real sockets and in real processes, spoken to as the JVM does."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import struct
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import tomllib
from client import (
    PYTHON,
    STREAM,
    Client,
    Daemon,
    WorkerError,
    arrow,
    arrow_table,
    daemon,
    single_worker,
)

from pyspark_intervalsweep import environment, packages, protocol, task, worker
from pyspark_intervalsweep.sides import SideCache, SideRows


def axis(point: int, lower: str | None = None, upper: str | None = None) -> dict[str, Any]:
    """One axis: `axis(0, "<= 0", "< 1")` is: endpoint 0 <= point's endpoint 0 < endpoint 1."""

    def bound(text: str) -> dict[str, Any]:
        comparison, slot = text.split()
        return {"slot": int(slot), "strict": comparison == "<"}

    return {"point": point, "lower": lower and bound(lower), "upper": upper and bound(upper)}


# r.ts <= s.ts < r.te, boxes on the left, points on the right.
STARTS_WITHIN = {"boxes": "left", "lead": axis(0, "<= 0", "< 1"), "second": None}
# s.ts < r.ts < s.te, boxes on the right.
STARTED_WITHIN = {"boxes": "right", "lead": axis(0, "< 0", "< 1"), "second": None}
# r.ts < s.ts < r.te < s.te
OVERLAPS = {"boxes": "left", "lead": axis(0, "< 0", "< 1"), "second": axis(1, "< 1")}


def plan(*sweeps: dict[str, Any], **options: Any) -> dict[str, Any]:
    defaults = {"protocol": 1, "resident": "right", "left": 2, "right": 2, "range": None}
    return {**defaults, "maxRuns": 65_536, "sweeps": sweeps, **options}


@contextlib.contextmanager
def in_thread(tasks: int = 1) -> Iterator[tuple[Client, list[Any]]]:
    """`main` in a thread, over a TCP connection; the list gets how each task ended."""
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
    """ISEQL_BEFORE: r.te <= s.ts, by boxes that are open to the right."""
    before = {"boxes": "left", "lead": axis(0, "<= 1")}
    with in_thread() as (client, ends):
        versions = client.open(**plan(before))
        assert versions["numba"] == packages.version("numba")
        client.resident(arrow([1, 3], [3, 4]))
        runs, (candidates, count, nanoseconds) = client.stream(arrow([0, 1, 2], [1, 3, 5]))
        client.close()
    assert runs == [(0, 0, 0, 2), (0, 1, 1, 1)]
    assert (candidates, count) == (3, 2)
    assert nanoseconds > 0
    assert ends == [None]


def test_sweeps_in_order_with_either_side_as_boxes() -> None:
    with in_thread() as (client, _):
        client.open(**plan(STARTS_WITHIN, STARTED_WITHIN, OVERLAPS))
        client.resident(arrow([1, 4], [6, 9]))
        runs, (candidates, count, _) = client.stream(arrow([1, 3], [2, 5]))
        client.close()
    assert runs == [(0, 0, 0, 1), (0, 1, 1, 1), (1, 0, 1, 1), (2, 1, 1, 1)]
    assert (candidates, count) == (4, 4)


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
            runs, (candidates, count, _) = client.stream(arrow(starts, ends, rows=77))
            assert count == len(runs) == size
            assert candidates == sum(run[3] for run in runs) == 3 * size - 3
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
    """An Arrow array may begin inside of its buffer."""
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
        client.outfile.write(struct.pack(">i", STREAM) + arrow([0], [9]))
        client.outfile.flush()
        with pytest.raises(WorkerError, match="STREAM before RESIDENT"):
            client.runs()


def test_cache_is_bounded_by_count_and_bytes() -> None:
    def side(rows: int) -> SideRows:
        return SideRows([np.zeros(rows, np.int64)], None, rows)

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


# A message of eight bytes, as far as its prefix goes.
NOT_ARROW = b"\xff\xff\xff\xff\x08\x00\x00\x00nonsense"

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
        ({"protocol": 9}, "the jar speaks protocol 9, this worker 1"),
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


def use(client: Client, token: str = "", known: bool = False) -> None:
    client.open(**plan(STARTS_WITHIN, OVERLAPS))
    assert client.resident(arrow([1, 2], [5, 6]), token) is known
    assert client.stream(arrow([0], [2]))[0] == [(0, 0, 0, 1), (1, 0, 0, 1)]
    client.close()


@pytest.fixture(scope="module")
def running() -> Iterator[Daemon]:
    with daemon() as running:
        yield running


class TestProcesses:
    """As Spark starts workers."""

    def test_a_worker_is_reused(self, running: Daemon) -> None:
        with running.connect() as (client, _):
            use(client, "t", known=False)
            use(client, "t", known=True)
            use(client)

    def test_an_error_arrives_while_the_jvm_is_still_writing(self, running: Daemon) -> None:
        """The worker reads on after an error, so that neither side waits for the other forever."""
        many = list(range(1_000_000))
        with running.connect() as (client, _):
            client.open(**plan(STARTS_WITHIN))
            client.resident(NOT_ARROW + arrow(many, many))
            with pytest.raises(WorkerError, match=r"ArrowInvalid|OSError"):
                client.stream(arrow(many, many))

    def test_a_worker_that_was_left_ends(self, running: Daemon) -> None:
        with running.connect() as (client, pid):
            client.open(**plan(STARTS_WITHIN))
        for _ in range(300):
            if not Path(f"/proc/{pid}").exists():
                return
            threading.Event().wait(0.1)
        pytest.fail("the worker still runs after its connection was closed")

    def test_unix_socket(self, tmp_path: Path) -> None:
        names = {"PYTHON_UNIX_DOMAIN_ENABLED": "true", "SPARK_REUSE_WORKER": ""}
        names["PYTHON_WORKER_FACTORY_SOCK_DIR"] = str(tmp_path)
        with daemon(names) as running, running.connect() as (client, _):
            use(client)

    def test_without_daemon(self) -> None:
        with single_worker() as (client, _):
            use(client)

    def test_error_without_daemon(self) -> None:
        many = list(range(500_000))
        with single_worker() as (client, _):
            client.open(**plan(STARTS_WITHIN))
            client.resident(arrow(many))
            with pytest.raises(WorkerError, match="expected the columns"):
                client.stream(arrow(many, many))

    def test_memory_limit(self) -> None:
        with single_worker({environment.MEMORY_VARIABLE: "8000"}) as (client, process):
            client.open(**plan(STARTS_WITHIN))
            limits = Path(f"/proc/{process.pid}/limits").read_text()
            client.close()
        assert f"Max address space         {8000 << 20}" in limits


def hide(folder: Path, name: str, text: str) -> dict[str, str]:
    """An environment in which a package is replaced by ``text``."""
    (folder / f"{name}.py").write_text(text)
    return {"PYTHONPATH": os.pathsep.join([str(folder), PYTHON])}


class TestMissingPackages:
    """What a person sees whose executors lack something."""

    def refusal(self, extra: dict[str, str]) -> str:
        with single_worker(extra) as (client, _), pytest.raises(WorkerError) as raised:
            client.open(**plan(STARTS_WITHIN))
        return str(raised.value)

    @pytest.mark.parametrize("name", ["numba", "pyarrow", "numpy"])
    def test_missing(self, tmp_path: Path, name: str) -> None:
        text = f"raise ModuleNotFoundError('No module named {name}', name='{name}')"
        message = self.refusal(hide(tmp_path, name, text))
        minimum = packages.MINIMUM_VERSIONS[name]
        assert sys.executable in message
        assert f"{name} >= {minimum} is needed, but it is not installed" in message
        assert f"{sys.executable} -m pip install '{name}>={minimum}'\n" in message, "and no more"
        assert "Traceback" not in message

    def test_too_old(self, tmp_path: Path) -> None:
        message = self.refusal(hide(tmp_path, "numba", "__version__ = '0.58.1'"))
        assert f"numba >= {packages.MINIMUM_VERSIONS['numba']} is needed, found 0.58.1" in message

    def test_broken(self, tmp_path: Path) -> None:
        message = self.refusal(hide(tmp_path, "numba", "raise SystemError('bad wheel')"))
        assert "numba >= " in message
        assert "its import fails: bad wheel" in message

    def test_daemon_reports_it_too(self, tmp_path: Path) -> None:
        extra = hide(tmp_path, "pyarrow", "raise ImportError('libarrow.so not found')")
        with (
            daemon(extra) as running,
            running.connect() as (client, _),
            pytest.raises(WorkerError, match=r"libarrow\.so not found"),
        ):
            client.open(**plan(STARTS_WITHIN))

    def test_minimum_versions_are_those_of_the_project(self) -> None:
        project = tomllib.loads((Path(PYTHON).parent / "pyproject.toml").read_text())
        wanted = project["project"]["dependencies"]
        for name, minimum in packages.MINIMUM_VERSIONS.items():
            (entry,) = [text for text in wanted if text.startswith(name)]
            assert entry.split(",")[0] == f"{name}>={minimum}"


class TestNumbaCache:
    def folder(self, monkeypatch: pytest.MonkeyPatch, writable: bool) -> str | None:
        monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
        monkeypatch.setattr(environment, "_can_create", lambda folder: writable)
        environment.prepare_imports()
        return os.environ.pop("NUMBA_CACHE_DIR", None)

    @pytest.fixture(autouse=True)
    def _temporary(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(environment.tempfile, "gettempdir", lambda: str(tmp_path))

    def test_numba_decides_where_it_can_write(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.folder(monkeypatch, writable=True) is None

    def test_else_a_folder_of_this_user(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for _ in range(2):
            folder = self.folder(monkeypatch, writable=False)
            assert folder is not None
            assert stat.S_IMODE(Path(folder).stat().st_mode) == 0o700

    def test_a_folder_open_to_others_is_not_used(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / f"intervalsweep-{os.getuid()}").mkdir(mode=0o777)
        (tmp_path / f"intervalsweep-{os.getuid()}").chmod(0o777)
        assert self.folder(monkeypatch, writable=False) is None

    def test_a_link_is_not_followed(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        (tmp_path / f"intervalsweep-{os.getuid()}").symlink_to(tmp_path / "elsewhere")
        assert self.folder(monkeypatch, writable=False) is None

    def test_a_choice_of_the_user_stays(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("NUMBA_CACHE_DIR", "/chosen")
        environment.prepare_imports()
        assert os.environ["NUMBA_CACHE_DIR"] == "/chosen"
