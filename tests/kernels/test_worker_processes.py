# SPDX-License-Identifier: Apache-2.0
"""Workers in real processes, started as Spark does, with and without their packages."""

from __future__ import annotations

import json
import os
import platform
import shutil
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import tomllib

from intervalsweep.kernels import cache
from pyspark_intervalsweep import environment, packages, worker
from support.kernels.client import (
    NOT_ARROW,
    OVERLAPS,
    PYTHON,
    STARTS_WITHIN,
    Client,
    Daemon,
    WorkerError,
    arrow,
    daemon,
    plan,
    single_worker,
)


def use(client: Client, token: str = "", known: bool = False) -> None:
    client.open(**plan(STARTS_WITHIN, OVERLAPS))
    assert client.resident(arrow([1, 2], [5, 6]), token) is known
    assert client.stream(arrow([0], [2]))[0] == [(0, 0, 0, 1), (1, 0, 0, 1)]
    client.close()


@pytest.fixture(scope="module")
def running() -> Iterator[Daemon]:
    with daemon() as running:
        yield running


def test_a_reply_that_nobody_reads_is_no_broken_pipe_for_the_daemon() -> None:
    """The JVM closes the connection, as at a LIMIT; then the daemon flushes the worker's output."""
    ours, theirs = socket.socketpair()
    # Streams as the daemon creates them.
    descriptors = os.dup(theirs.fileno()), os.dup(theirs.fileno())
    with (
        theirs,
        os.fdopen(descriptors[0], "rb") as infile,
        os.fdopen(descriptors[1], "wb") as outfile,
    ):
        with ours, ours.makefile("wb") as requests, ours.makefile("rb") as replies:
            client = Client(replies, requests)
            client.command(1, json.dumps(plan(STARTS_WITHIN)))
            client.resident(arrow([1, 2], [5, 6]))
            client.command(4)
        with pytest.raises(SystemExit):
            worker.main(infile, outfile)
        outfile.flush()


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has the setting")
def test_the_memory_of_a_batch_is_used_for_the_next_one() -> None:
    """Else the system clears all pages of each batch: a fifth of a worker's time in a sweep."""
    code = """if True:
        import resource, sys
        from pyspark_intervalsweep import environment
        def new_pages():
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            columns = [bytearray(b"x") * (2 << 20) for _ in range(20)]
            return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
        if sys.argv[1] == "kept":
            environment.keep_freed_memory()
        print([new_pages() for _ in range(4)][-1])"""
    freed, kept = (
        int(
            subprocess.run(
                [sys.executable, "-c", code, mode], cwd=PYTHON, capture_output=True, check=True
            ).stdout
        )
        for mode in ("freed", "kept")
    )
    assert kept < 100 < 5000 < freed


class TestProcesses:
    """Workers that are started as Spark does."""

    def test_a_worker_is_reused(self, running: Daemon) -> None:
        with running.connect() as (client, _):
            use(client, "t", known=False)
            use(client, "t", known=True)
            use(client)

    def test_an_error_arrives_while_the_jvm_is_still_writing(self, running: Daemon) -> None:
        """The worker goes on reading after an error, so neither side waits forever."""
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

    def test_without_daemon_over_a_unix_socket(self, tmp_path: Path) -> None:
        with single_worker(unix=tmp_path / "socket") as (client, _):
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
    path = [str(folder), PYTHON, os.environ.get("PYTHONPATH", "")]
    return {"PYTHONPATH": os.pathsep.join(path)}


class TestMissingPackages:
    """The errors for users whose executors lack a package."""

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


class TestKernelCache:
    @pytest.fixture(autouse=True)
    def _anew(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.setattr(cache.tempfile, "gettempdir", lambda: str(tmp_path))
        cache.cache_folder.cache_clear()
        yield
        cache.cache_folder.cache_clear()

    @pytest.fixture
    def _read_only(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Neither the sources nor the home can be written: a file is in the way of the folder."""
        (tmp_path / "file").touch()
        monkeypatch.setattr(cache, "_folders", lambda: iter([tmp_path / "file" / "x"]))

    def test_beside_the_sources(self) -> None:
        assert cache.cache_folder() == cache.FOLDER / "__pycache__"

    @pytest.mark.usefixtures("_read_only")
    def test_else_a_folder_of_this_user(self, tmp_path: Path) -> None:
        folder = cache.cache_folder()
        assert folder is not None
        assert folder.parent == tmp_path / f"intervalsweep-{os.getuid()}"
        assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700

    @pytest.mark.usefixtures("_read_only")
    def test_a_folder_open_to_others_is_not_used(self, tmp_path: Path) -> None:
        (tmp_path / f"intervalsweep-{os.getuid()}").mkdir(mode=0o777)
        (tmp_path / f"intervalsweep-{os.getuid()}").chmod(0o777)
        assert cache.cache_folder() is None

    @pytest.mark.usefixtures("_read_only")
    def test_a_link_is_not_followed(self, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        (tmp_path / f"intervalsweep-{os.getuid()}").symlink_to(tmp_path / "elsewhere")
        assert cache.cache_folder() is None

    def test_a_choice_of_the_user_wins(self, tmp_path: Path) -> None:
        folder = cache.cache_folder(str(tmp_path / "chosen"))
        assert folder is not None
        assert folder.parent == tmp_path / "chosen"

    def test_a_changed_helper_of_another_file_is_compiled_again(self, tmp_path: Path) -> None:
        """numba checks only the file of the kernel; `extent` is not in the file of `lead_runs`."""
        copied = tmp_path / "intervalsweep"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(PYTHON) / "intervalsweep", copied, ignore=ignored)
        program = (
            "import numpy as np\n"
            "from intervalsweep.kernels import Bounds, Boxes, PointIndex, RunSweep\n"
            "boxes = Boxes(1, Bounds(np.array([1]), np.array([2])))\n"
            "(runs,) = RunSweep(PointIndex(np.array([1, 2, 3])), boxes)\n"
            "print(runs.count.tolist())"
        )
        helpers = copied / "kernels" / "join" / "bounds.py"
        printed = []
        for _ in range(2):
            ran = subprocess.run(
                [sys.executable, "-c", program],
                env={**os.environ, "PYTHONPATH": str(tmp_path)},
                capture_output=True,
                text=True,
                check=True,
            )
            printed.append(ran.stdout)
            text = helpers.read_text(encoding="utf-8")
            assert text.count("return least, most") == 1
            helpers.write_text(text.replace("return least, most", "return least, most + 1"))
        assert printed == ["[2]\n", "[3]\n"]

    def test_a_full_disk_costs_the_cache_and_not_the_query(self, tmp_path: Path) -> None:
        """No file may grow, as on a full disk. Python ignores SIGXFSZ."""
        program = (
            "import numpy as np, resource\n"
            "from intervalsweep.kernels import Bounds, Boxes, PointIndex, RunSweep\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
            "boxes = Boxes(1, Bounds(np.array([1]), np.array([2])))\n"
            "(runs,) = RunSweep(PointIndex(np.array([1, 2, 3])), boxes)\n"
            "print(runs.count.tolist())"
        )
        variables = {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": PYTHON}
        command = [sys.executable, "-c", program]
        ran = subprocess.run(
            command, env=os.environ | variables, capture_output=True, text=True, check=False
        )
        assert ran.stdout == "[2]\n", ran.stderr
        assert not any(file.stat().st_size for file in tmp_path.rglob("*.nb?"))
