"""What has to be installed, and what to say if it is not."""

from __future__ import annotations

import shlex
import sys
from importlib.util import find_spec

from intervalsweep.session import IntervalSweepError


def check_packages(what: str, *names: str) -> None:
    """Raise IntervalSweepError, with the command that mends it, if a package is missing."""
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        command = shlex.join([sys.executable, "-m", "pip", "install", *missing])
        raise IntervalSweepError(
            f"{what} needs {' and '.join(missing)}, which {sys.executable} does not have. Install "
            f"with:  {command}"
        )
