# SPDX-License-Identifier: Apache-2.0
"""The origin of the workers' code, and the sockets on which processes listen."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import intervalsweep
from support.spark import applications
from support.spark.applications import program
from support.spark.jvm import SHORT_LIVED

QUERY = """
query = "SELECT count(*) AS n FROM range(99) a JOIN range(99) b ON a.id < b.id"
"""


def sources(cache: Path) -> Path:
    (folder,) = (cache / "intervalsweep").iterdir()
    return folder


@pytest.mark.extended
def test_sources_that_someone_changed_are_restored_before_use(tmp_path: Path) -> None:
    """Each file is compared with the jar; only the owner may write to the folder."""
    cache = tmp_path / "cache"
    run = QUERY + "print(swept(start().sql(query)).first().n)"
    assert program(tmp_path, run, XDG_CACHE_HOME=str(cache)) == "4851\n"
    folder = sources(cache)
    for path in (folder.parent, folder, *folder.rglob("*")):
        assert not path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH), path

    worker = folder / "pyspark_intervalsweep" / "worker.py"
    right = worker.read_bytes()
    # An attacker would keep the size and the time of the file.
    wrong = right.replace(b"import contextlib", b"open('x', 'w') #x", 1)
    assert wrong != right
    assert len(wrong) == len(right)
    times = worker.stat()
    worker.write_bytes(wrong)
    os.utime(worker, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert program(tmp_path, run, XDG_CACHE_HOME=str(cache)) == "4851\n"
    assert worker.read_bytes() == right
    assert not list(tmp_path.rglob("x"))


@pytest.mark.extended
def test_a_folder_that_others_may_write_to_is_not_used(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    (cache / "intervalsweep").mkdir(parents=True)
    (cache / "intervalsweep").chmod(0o777)
    (tmp_path / "tmp").mkdir()
    run = (
        QUERY
        + f"""
spark = start(spark__driver__extraJavaOptions="-Djava.io.tmpdir={tmp_path}/tmp")
print(swept(spark.sql(query)).first().n)
"""
    )
    assert program(tmp_path, run, XDG_CACHE_HOME=str(cache)) == "4851\n"
    assert not list((cache / "intervalsweep").iterdir())
    assert list((tmp_path / "tmp").glob("intervalsweep-*/worker-*"))


@pytest.mark.extended
def test_no_socket_listens_that_spark_does_not_open_for_python(tmp_path: Path) -> None:
    """A query with Spark's own Python functions has the same number of listeners."""
    if not Path("/proc/net/tcp").exists():
        pytest.skip("finds sockets through /proc")
    run = """
def listeners():
    jvm = spark._jvm.java.lang.ProcessHandle.current().pid()
    inodes = set()
    for pid in {jvm} | children(jvm):
        for number in os.listdir(f"/proc/{pid}/fd"):
            try:
                inodes.add(os.readlink(f"/proc/{pid}/fd/{number}"))
            except OSError:
                pass
    found = {}
    for table in ("tcp", "tcp6"):
        for line in open(f"/proc/{jvm}/net/{table}").readlines()[1:]:
            _, address, _, state, *_ = fields = line.split()
            if state == "0A" and f"socket:[{fields[9]}]" in inodes:
                found[table + address] = address.split(":")[0]
    return found

spark = start()
before = listeners()
swept(spark.sql("SELECT count(*) AS n FROM range(99) a JOIN range(99) b ON a.id < b.id")).first()
assert workers(spark)
by_sweep = {name: host for name, host in listeners().items() if name not in before}
spark.range(9).rdd.map(lambda row: row.id).collect()
by_spark = {name: host for name, host in listeners().items()
            if name not in before and name not in by_sweep}
print(sorted(by_sweep.values()), sorted(by_spark.values()), sep="|")
"""
    by_sweep, by_spark = program(tmp_path, run).strip().split("|")
    # Spark has one daemon for each kind of worker, at 127.0.0.1.
    assert by_sweep == by_spark == "['0100007F']"


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that any user may enter, unlike the parents of pytest's own folders."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        yield folder


def test_a_user_id_without_a_name_had_no_folder_for_the_worker(open_folder: Path) -> None:
    """As in a container. The test uses only the jar, as Spark's libraries need a user name."""
    setpriv = shutil.which("setpriv")
    if setpriv is None or os.getuid() != 0:
        pytest.skip("takes another user id by setpriv, as root")
    folder = open_folder
    jar = shutil.copy(intervalsweep.jar_path(), folder / "intervalsweep.jar")
    main = folder / "Main.java"
    main.write_text(
        "public class Main { public static void main(String[] a) { System.out.println("
        "org.apache.spark.sql.intervalsweep.execution.worker.WorkerSources.folder()); } }"
    )
    classes = folder / "spark"
    classes.mkdir()
    for file in (applications.SPARK_HOME / "jars").glob("*.jar"):
        if file.name.startswith(
            ("scala-library", "spark-", "slf4j", "log4j", "jackson", "commons")
        ):
            shutil.copy(file, classes)
    (folder / "tmp").mkdir()
    (folder / "tmp").chmod(0o777)
    as_nobody = [
        setpriv,
        "--reuid=12345",
        "--regid=12345",
        "--clear-groups",
        "java",
        *SHORT_LIVED.split(),
    ]
    class_path = f"{jar}:{classes}/*"
    for cache in ({}, {"XDG_CACHE_HOME": str(folder / "tmp" / "cache")}):
        done = subprocess.run(
            [*as_nobody, f"-Djava.io.tmpdir={folder / 'tmp'}", "-cp", class_path, str(main)],
            env={"PATH": os.environ["PATH"], **cache},
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        found = Path(done.stdout.strip().splitlines()[-1])
        where = "cache/intervalsweep" if cache else "intervalsweep-12345"
        assert found.parent == folder / "tmp" / where
        assert found.stat().st_uid == 12345
