# SPDX-License-Identifier: Apache-2.0
"""Says whether this Python can run the worker: ``python -m pyspark_intervalsweep.check``.

`intervalsweep doctor` starts it as Spark would start a worker. It prints the interpreter and the
packages, or fails with what is missing.
"""

from __future__ import annotations

import platform
import sys

from . import packages

if __name__ == "__main__":
    problem = packages.problems()
    if problem is not None:
        sys.exit(problem)
    found = [f"{name} {packages.version(name)}" for name in packages.MINIMUM_VERSIONS]
    print(f"{sys.executable} {platform.python_version()}, {', '.join(found)}")
