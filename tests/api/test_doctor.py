# SPDX-License-Identifier: Apache-2.0
"""`intervalsweep doctor` in each broken state: it says what is wrong, and what mends it."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from intervalsweep import SetupError
from intervalsweep.cli import doctor
from pyspark_intervalsweep import packages
from support.spark.interpreters import interpreter


@pytest.fixture(autouse=True)
def _nothing_is_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting names the Python of the workers."""
    for name in ("PYSPARK_PYTHON", "PYSPARK_SUBMIT_ARGS", "PYTHONPATH", "SPARK_REMOTE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "conf").mkdir()
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path / "conf"))


def test_a_python_without_packages_was_found_to_be_well(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The doctor's own packages were on the path of the workers' Python, but not on Spark's."""
    venv.create(tmp_path / "bare", with_pip=False)
    bare = str(tmp_path / "bare" / "bin" / "python")
    monkeypatch.setenv("PYSPARK_PYTHON", bare)
    with pytest.raises(SetupError) as raised:
        doctor._workers()
    message = str(raised.value)
    assert f"cannot run in {bare}" in message
    assert "numba >= 0.61 is needed, but it is not installed" in message
    assert f"{bare} -m pip install" in message


def test_a_python_with_its_own_packages_is_well(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert doctor._workers().startswith(f"{sys.executable} 3.")
    own = interpreter(tmp_path, modules={"numba.py": "__version__ = '0.99'"})
    monkeypatch.setenv("PYSPARK_PYTHON", own)
    assert "numba 0.99" in doctor._workers()


def test_the_python_is_that_of_the_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = interpreter(tmp_path, modules={"numba.py": "__version__ = '0.99'"})
    defaults = tmp_path / "conf" / "spark-defaults.conf"
    defaults.write_text(f"spark.pyspark.python {own}\n", encoding="utf-8")
    monkeypatch.setenv("PYSPARK_PYTHON", "/no/such/python")
    assert "numba 0.99" in doctor._workers()
    defaults.write_text("", encoding="utf-8")
    with pytest.raises(SetupError, match=r"/no/such/python, cannot be started: No such file"):
        doctor._workers()


def test_a_python_that_never_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    silent = tmp_path / "python"
    silent.write_text("#!/bin/sh\nexec sleep 100\n", encoding="utf-8")
    silent.chmod(0o755)
    monkeypatch.setenv("PYSPARK_PYTHON", str(silent))
    monkeypatch.setattr(doctor, "_SECONDS", 1)
    with pytest.raises(SetupError, match=r"does not answer within 1 s\. Set another:  export"):
        doctor._workers()


def test_a_python_that_dies_without_a_word(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    dying = tmp_path / "python"
    dying.write_text("#!/bin/sh\nexit 7\n", encoding="utf-8")
    dying.chmod(0o755)
    monkeypatch.setenv("PYSPARK_PYTHON", str(dying))
    with pytest.raises(SetupError, match=r"ended with exit code 7 Set another"):
        doctor._workers()


def test_a_python_that_is_too_old_is_not_told_to_install_packages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The worker gives the same answer, so the error of a query says it, too."""
    assert packages.problems() is None
    monkeypatch.setattr(sys, "version_info", (3, 9, 18, "final", 0))
    problem = packages.problems()
    assert problem is not None
    assert "this Python is too old" in problem
    assert "3.10 or newer" in problem
    assert "pip install" not in problem


def test_a_user_id_without_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor._user()
    monkeypatch.setattr(os, "getuid", lambda: 987_654)
    with pytest.raises(SetupError, match=r"user id 987654 has no name, .* >> /etc/passwd"):
        doctor._user()
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert [str(folder) for folder in doctor._cache_folders()] == ["/tmp/intervalsweep-987654"]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="this system has no /proc")
def test_a_folder_that_may_be_written_and_cannot(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setattr(
        doctor, "_cache_folders", lambda: [Path("/proc/intervalsweep"), blocked / "x"]
    )
    with pytest.raises(SetupError) as raised:
        doctor._cache()
    assert "/proc/intervalsweep: /proc cannot be written (" in str(raised.value)
    assert f"{blocked / 'x'}: {blocked} cannot be written (Not a directory)" in str(raised.value)
    assert "export XDG_CACHE_HOME=" in str(raised.value)


def test_a_folder_of_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The workers do not trust sources that another user could have written."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setattr(doctor, "_cache_folders", lambda: [shared, tmp_path / "new" / "one"])
    assert doctor._cache() == str(tmp_path / "new" / "one")
    assert doctor._obstacle(shared) == "others may write to it"
    shared.chmod(0o700)
    assert doctor._obstacle(shared) is None
    monkeypatch.setattr(os, "getuid", lambda: 987_654)
    assert doctor._obstacle(shared) == "it belongs to another user"


def test_a_session_on_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_REMOTE", "sc://host")
    with pytest.raises(SetupError, match=r"SPARK_REMOTE is sc://host, .* unset SPARK_REMOTE"):
        doctor._spark()


def test_the_check_leaves_nothing_behind(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from intervalsweep.cli import doctor; doctor._workers()"],
        env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(doctor._sources())},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert [*tmp_path.glob("intervalsweep-doctor-*")] == []
