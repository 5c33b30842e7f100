# SPDX-License-Identifier: Apache-2.0
"""Adds the jars that sbt built to the wheel. The build fails if a jar is missing.

INTERVALSWEEP_SPARKS lists the Spark versions whose jars the wheel contains, such as "4.2 4.3". If
it is not set, the wheel contains all jars in target/jars/. At least one must exist.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class JarsInWheel(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":  # an editable install finds the jars in target/
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
