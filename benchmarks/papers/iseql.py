# SPDX-License-Identifier: Apache-2.0
"""Runs iseql-cpp, the program of the paper's authors, on the same tuples.

    git clone https://github.com/danilcha/iseql-cpp
    g++ -O3 -DNDEBUG -march=native -std=c++14 -I src src/Main.cpp -o iseql

iseql-cpp reads closed intervals with 32-bit ends from text files. It prints the seconds of each
algorithm and the 32-bit sum of r.start + s.end over all pairs.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.papers.loops.iterators import Intervals

# The commands of iseql-cpp. Its start-preceding is strict (`r.ts < s.ts`), unlike our relation.
COMMANDS = {
    "ALLEN_CONTAINS": "reverse-during",
    "ALLEN_OVERLAPS": "left-overlap",
    "ISEQL_START_PRECEDING": "start-preceding",
}
# The names in iseql-cpp for LazyJoinByS, for the join of Leung and Muntz, and for IEJoin.
LAZY, LEUNG_MUNTZ, IE_JOIN = "danila", "lm", "ie"
_MOST = (1 << 30) - 1  # iseql-cpp doubles endpoints, as `iterators` does


@dataclass(frozen=True)
class Timed:
    """The seconds and the sum of one algorithm."""

    seconds: float
    total: int


def joined(
    program: Path, name: str, r: Intervals, s: Intervals, without: tuple[str, ...] = ()
) -> dict[str, Timed]:
    """The times of each algorithm for a relation of COMMANDS, except those in `without`.

    Raises ValueError for tuples that iseql-cpp cannot represent, and CalledProcessError if the
    program fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for side, rows in (("r", r), ("s", s)):
            if not rows.is_proper.all() or rows.ts.min() < 0 or rows.te.max() > _MOST:
                raise ValueError("iseql-cpp: expected proper intervals of 30-bit endpoints")
            files.append(Path(folder, side))
            np.savetxt(files[-1], np.column_stack((rows.ts, rows.te - 1)), fmt="%d")
        arguments = [word for file in files for word in ("--file", str(file))]
        command = [str(program), COMMANDS[name], *arguments, ",".join(without) or "none"]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    sums = dict(re.findall(r"^(\w+) +[\d.]+ (-?\d+)$", text, re.MULTILINE))
    names, seconds = text.partition("-----BEGIN RESULTS-----\n")[2].splitlines()[:2]
    timed = zip(names.split(), seconds.split(), strict=True)
    return {key: Timed(float(value), int(sums[key])) for key, value in timed if key in sums}


def before(program: Path, is_inlined: bool) -> float:
    """The shortest time of the program's own before join of 10^6 tuples (figure 8)."""
    command = [str(program), "before", "inlined" if is_inlined else "normal"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return min(float(line.split()[2]) for line in text.splitlines() if line.count("\t") == 2)
