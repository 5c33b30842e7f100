# SPDX-License-Identifier: Apache-2.0
"""Python packages that only one neighbour's test needs, in a folder of their own."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from support.neighbours.maven import FOLDER


def packages(*requirements: str) -> Path:
    """A folder for PYTHONPATH with these packages; it does not have Spark's again."""
    digest = hashlib.sha256(repr((sys.version_info, requirements)).encode()).hexdigest()[:12]
    folder = FOLDER / f"packages-{digest}"
    if not (folder / ".complete").exists():
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder)]
        done = subprocess.run(
            [*install, *requirements], capture_output=True, text=True, check=False
        )
        if done.returncode:
            pytest.skip(f"pip cannot install {', '.join(requirements)}: {done.stderr[-300:]}")
        (folder / ".complete").touch()
    return folder
