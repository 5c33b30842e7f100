# SPDX-License-Identifier: Apache-2.0
"""Steps of a release, for `.github/workflows/release.yml`. Needs only the standard library.

python3 tools/release.py check v0.2.0       the tag, the changelog and the citation agree
python3 tools/release.py notes              prints the section of the changelog
python3 tools/release.py collect FOLDER     copies wheel, jars, POMs and a Maven repository
"""

from __future__ import annotations

import re
import shutil
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def of_version_file(name: str) -> str:
    """A value of `_version.py`, which is not imported: other packages may be missing."""
    text = (ROOT / "python" / "intervalsweep" / "_version.py").read_text(encoding="utf-8")
    (line,) = re.findall(rf"^{name} = (.*)$", text, re.MULTILINE)
    return line


def version() -> str:
    return of_version_file("__version__").strip('"')


def sparks() -> list[str]:
    return re.findall(r"\d+\.\d+", of_version_file("SPARK_SERIES"))


def notes(wanted: str) -> str:
    """The changelog's section on a version; fails without one, or without a change in it."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for section in text.split("\n## ")[1:]:
        title, _, changes = section.partition("\n")
        if re.fullmatch(rf"\[{re.escape(wanted)}\] - \d{{4}}-\d\d-\d\d", title):
            if "\n- " not in changes:
                sys.exit(f"The changelog has no change for {wanted}.")
            return changes.strip()
    sys.exit(f"CHANGELOG.md has no section '## [{wanted}] - YYYY-MM-DD'.")


def check(tag: str) -> None:
    if tag != f"v{version()}":
        sys.exit(f"The tag is {tag}, and _version.py says {version()}: they must agree.")
    notes(version())
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    if f"\nversion: {version()}\n" not in citation:
        sys.exit(f"CITATION.cff is not about {version()}.")


def collect(folder: Path) -> None:
    """Copy the files of a release; fails if one is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"intervalsweep-spark{spark}_2.13-{version()}" for spark in sparks()]
    (wheel,) = (ROOT / "dist").glob(f"intervalsweep-{version()}-*.whl")
    inside = zipfile.ZipFile(wheel).namelist()
    repository = ROOT / "target" / "repository"
    for name in names:
        if f"intervalsweep/jars/{name}.jar" not in inside:
            sys.exit(f"{wheel.name} lacks {name}.jar: build it with `make wheel-all`.")
        for kind in ("jar", "pom"):
            (file,) = repository.rglob(f"{name}.{kind}")
            shutil.copy(file, folder)
    shutil.copy(wheel, folder)
    shutil.make_archive(str(folder / f"maven-repository-{version()}"), "zip", repository)


def main(command: str, *arguments: str) -> None:
    if command == "check":
        check(*arguments)
    elif command == "notes":
        print(notes(version()))
    elif command == "collect":
        collect(Path(*arguments))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*(sys.argv[1:] or ["help"]))
