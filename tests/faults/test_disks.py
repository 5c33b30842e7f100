# SPDX-License-Identifier: Apache-2.0
"""Full and read-only disks: real file systems that are mounted only for the process."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from support.spark.applications import program


def mounted(folder: Path, options: str) -> list[str]:
    """A command prefix that mounts a small in-memory file system and runs the rest."""
    folder.mkdir()
    mount = f'mount -t tmpfs -o {options} tmpfs "{folder}" && exec "$@"'
    command = ["unshare", "-rm", "sh", "-c", mount, "sh"]
    if shutil.which("unshare") is None:
        pytest.skip("needs the command unshare, to mount for a process alone")
    tried = subprocess.run([*command, "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"may not mount here: {tried.stderr.strip()}")
    return command


@pytest.mark.extended
def test_a_full_disk_ends_the_query_and_leaves_no_spill(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    before = mounted(disk, "size=24m")
    printed = program(
        tmp_path,
        f"""
        spark = start(
            "local[1]",
            spark__local__dir={str(disk)!r},
            spark__sql__shuffle__partitions="1",
            spark__sql__autoBroadcastJoinThreshold="-1",
            # One range in chunks of 4096 rows: the rows of the other side, 60 MB, wait in 20 MB of
            # memory.
            spark__sql__intervalsweep__batchRows="64",
            spark__driver__memory="600m",
            spark__memory__fraction="0.07",
            # Shuffled rows are compressed and fit; spilled rows are not compressed.
            spark__shuffle__spill__compress="false",
        )
        table = ("(SELECT id, id AS ts, repeat(CAST(id AS STRING), 200) AS x "
                 "FROM range(0, {{0}}, 1, 1)) {{1}}")
        query = ("SELECT count(*) AS n, max(a.x), max(b.x) FROM " + table.format(40000, "a") +
                 " JOIN " + table.format("{{rows}}", "b") +
                 " ON b.ts <= a.ts AND a.ts < b.ts + 3")
        try:
            swept(spark.sql(query.replace("{{rows}}", "40000"))).collect()
        except Exception as error:
            print(error)
        else:
            raise AssertionError("the disk is not full")
        left = [os.path.join(folder, name) for folder, _, names in os.walk({str(disk)!r})
                for name in names if name.startswith(("temp_local", "spill"))]
        print("left", len(left), "busy", len(workers(spark)))
        print(swept(spark.sql(query.replace("{{rows}}", "9").replace("40000", "9"))).first().n)
        """,
        before=before,
    )
    assert "No space left on device" in printed
    assert "Spill" in printed
    *_, left, rows = printed.splitlines()
    assert left.startswith("left 0 ")
    assert int(rows) == 24


@pytest.mark.extended
def test_a_home_that_cannot_be_written_to_is_said_and_another_folder_serves(
    tmp_path: Path,
) -> None:
    """Both the worker's sources and the compiled kernels are in the temporary folder."""
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    temporary.mkdir()
    before = mounted(home, "ro")
    printed = program(
        tmp_path,
        f"""
        os.dup2(1, 2)
        spark = start(spark__log__level="WARN",
                      spark__driver__extraJavaOptions="-Djava.io.tmpdir={temporary}")
        query = "SELECT count(*) AS n FROM range(99) a JOIN range(99) b ON a.id < b.id"
        print("rows", swept(spark.sql(query)).first().n)
        """,
        before=before,
        HOME=str(home),
        XDG_CACHE_HOME=str(home / ".cache"),
        TMPDIR=str(temporary),
    )
    assert "rows 4851" in printed
    assert f"cannot keep its Python worker in {home}" in printed
    assert list(temporary.glob("intervalsweep-*/worker-*/pyspark_intervalsweep/worker.py"))
    assert list(temporary.rglob("*.nbi")), "compiled kernels are not kept"
    assert not list(home.iterdir())
