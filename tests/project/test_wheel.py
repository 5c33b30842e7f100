# SPDX-License-Identifier: Apache-2.0
"""The wheel contains jars, and each jar contains the sources of the worker."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

import pyspark
import pytest

import intervalsweep
from intervalsweep import session
from intervalsweep._version import SPARK_SERIES

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / "python"


def sources() -> set[str]:
    files = [*PYTHON.rglob("*.py"), *PYTHON.rglob("relations.json")]
    return {str(file.relative_to(PYTHON)) for file in files}


@pytest.fixture(scope="module")
def wheel() -> zipfile.ZipFile:
    built = ROOT / "dist" / f"intervalsweep-{intervalsweep.__version__}-py3-none-any.whl"
    assert built.is_file(), "run `make wheel`"
    return zipfile.ZipFile(built)


@pytest.fixture(scope="module")
def jars(wheel: zipfile.ZipFile) -> dict[str, zipfile.ZipFile]:
    """The jars by Spark version: that of the tests, and with `make wheel-all` all others."""
    inside = {name for name in wheel.namelist() if name.endswith(".jar")}
    known = {f"intervalsweep/jars/{session.jar_name(series)}": series for series in SPARK_SERIES}
    assert inside <= known.keys()
    found = {known[name]: zipfile.ZipFile(io.BytesIO(wheel.read(name))) for name in inside}
    assert session.series_of(pyspark.__version__) in found
    return found


def test_wheel_holds_the_packages_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    names = {n for n in wheel.namelist() if ".dist-info/" not in n and not n.endswith(".jar")}
    assert names == sources() | {"intervalsweep/py.typed", "intervalsweep/functions.pyi"}
    notices = [n.rsplit("/", 1)[-1] for n in wheel.namelist() if "/licenses/" in n]
    assert sorted(notices) == ["LICENSE", "NOTICE"]


def test_wheel_holds_the_built_jar(
    wheel: zipfile.ZipFile, jars: dict[str, zipfile.ZipFile]
) -> None:
    name = f"intervalsweep/jars/{Path(intervalsweep.jar_path()).name}"
    assert wheel.read(name) == Path(intervalsweep.jar_path()).read_bytes()
    for jar in jars.values():
        assert "org/intervalsweep/IntervalSweepExtensions.class" in jar.namelist()


def test_jar_holds_what_is_ours_and_nothing_else(jars: dict[str, zipfile.ZipFile]) -> None:
    """The jar has no tests, no caches, and no classes of Spark, Scala or libraries."""
    files = [n for jar in jars.values() for n in jar.namelist() if not n.endswith("/")]
    places = {name.split("/")[0] for name in files}
    assert places == {"META-INF", "intervalsweep", "org", "python"}
    ours = ("org/intervalsweep/", "org/apache/spark/sql/intervalsweep/")
    classes = [name for name in files if name.startswith("org/")]
    assert [name for name in classes if not name.startswith(ours)] == []
    assert [name for name in classes if not name.endswith(".class")] == []
    assert [name for name in classes if re.search(r"(Suite|Test|Fixture)s?\W", name)] == []


def test_wheel_is_small(wheel: zipfile.ZipFile) -> None:
    """The limit suffices for classes and sources, but not for a bundled library or data set."""
    jars = sum(entry.filename.endswith(".jar") for entry in wheel.infolist())
    assert 500_000 < sum(entry.compress_size for entry in wheel.infolist()) / jars < 5_000_000


def test_jar_holds_the_python_of_this_checkout(jars: dict[str, zipfile.ZipFile]) -> None:
    for jar in jars.values():
        packed = {n.removeprefix("python/") for n in jar.namelist() if n.startswith("python/")}
        assert {n for n in packed if n and not n.endswith("/")} == sources()
        for name in sources():
            assert jar.read("python/" + name) == (PYTHON / name).read_bytes()


def test_jar_describes_itself(jars: dict[str, zipfile.ZipFile]) -> None:
    for series, jar in jars.items():
        text = jar.read("intervalsweep/version.properties").decode()
        assert dict(line.split("=") for line in text.splitlines()) == {
            "version": intervalsweep.__version__,
            "spark": series,
            "sparks": " ".join(SPARK_SERIES),
            "scala": "2.13",
        }
        relations = jar.read("intervalsweep/relations.json")
        assert relations == (PYTHON / "intervalsweep" / "relations.json").read_bytes()
        assert {"META-INF/LICENSE", "META-INF/NOTICE"} <= set(jar.namelist())
