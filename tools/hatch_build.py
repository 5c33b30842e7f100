# SPDX-License-Identifier: Apache-2.0
"""Puts the jars that sbt built into the wheel, and refuses to build a wheel without one.

INTERVALSWEEP_SPARKS names the Sparks that it is for, such as "4.2 4.3"; without it, all jars that
are there go in.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class JarsInWheel(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":  # a checkout finds the jars under target/ by itself
            return
        folder = Path(self.root) / "target" / "jars"
        wanted = os.environ.get("INTERVALSWEEP_SPARKS", "*").split()
        for spark in wanted:
            name = f"intervalsweep-spark{spark}_2.13-{self.metadata.version}.jar"
            jars = list(folder.glob(name))
            if not jars:
                raise RuntimeError(
                    f"There is no {name} in {folder}: build the wheel with `make wheel` or "
                    "`make wheel-all`, which build the jars first."
                )
            for jar in jars:
                build_data["force_include"][str(jar)] = f"intervalsweep/jars/{jar.name}"
