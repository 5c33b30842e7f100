# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server of its own folder, which ends with the block."""

from __future__ import annotations

import getpass
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.neighbours.kafka import free_port
from support.spark.processes import eventually

USER = "intervalsweep"


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """Starts a server; yields the JDBC address of its database."""
    data, port = folder / "postgres", free_port()
    data.mkdir()
    # PostgreSQL refuses to run as root.
    account: dict[str, Any] = {}
    if os.geteuid() == 0:
        account = {"user": "nobody", "group": "nogroup"}
        shutil.chown(data, "nobody", "nogroup")
        for parent in data.parents:
            if parent.stat().st_uid == os.geteuid() and parent != Path("/"):
                parent.chmod(parent.stat().st_mode | 0o011)
    initialize = [_program("initdb"), "-D", str(data), "-U", USER, "--auth=trust", "-E", "UTF8"]
    _run([*initialize, "--locale=C"], account)
    options = ["-p", str(port), "-h", "127.0.0.1", "-k", str(data), "-c", "timezone=UTC"]
    log = (folder / "postgres.log").open("wb")
    with (
        log,
        subprocess.Popen(
            [_program("postgres"), "-D", str(data), *options],
            stdout=log,
            stderr=log,
            cwd="/",
            **account,
        ) as server,
    ):
        try:
            ready = [_program("pg_isready"), "-h", "127.0.0.1", "-p", str(port)]
            assert eventually(lambda: subprocess.run(ready, check=False).returncode == 0, 60)
            yield f"jdbc:postgresql://127.0.0.1:{port}/postgres?user={USER}"
        finally:
            server.terminate()
            server.wait(60)


def _run(command: Sequence[str], account: dict[str, Any]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", check=False, **account)
    assert done.returncode == 0, f"{getpass.getuser()}: {done.stderr}"


def _program(name: str) -> str:
    """The path of one of PostgreSQL's programs; Debian keeps them out of PATH."""
    found = shutil.which(name) or next(
        iter(sorted(map(str, Path("/usr/lib/postgresql").glob(f"*/bin/{name}")), reverse=True)),
        None,
    )
    if found is None:
        pytest.skip(f"needs {name} of PostgreSQL (the Debian package postgresql)")
    return found
