"""Puts the jar that sbt built into the wheel, and refuses to build a wheel without it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class JarInWheel(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":  # a checkout finds the jar under target/ by itself
            return
        ours = self.metadata.version
        jars = list((Path(self.root) / "target" / "jars").glob(f"*-{ours}.jar"))
        if len(jars) != 1:
            raise RuntimeError(
                f"There must be one jar of version {ours} in target/jars, there are {len(jars)}: "
                "build the wheel with `make wheel`, which builds the jar first."
            )
        build_data["force_include"][str(jars[0])] = f"intervalsweep/jars/{jars[0].name}"
