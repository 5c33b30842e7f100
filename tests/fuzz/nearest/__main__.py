# SPDX-License-Identifier: Apache-2.0
"""`make fuzz-nearest`: random joins with the nearest rows; exits with 1 if one is wrong."""

from __future__ import annotations

import sys

from fuzz.command import main, say
from fuzz.nearest.run import Totals, run


def too_few(totals: Totals) -> bool:
    """True if few of the queries have rows or are swept: the run proves too little."""
    if few := totals.with_rows * 2 < totals.queries or totals.swept * 2 < totals.queries:
        say("fewer than half of the queries have rows, or are swept with a limit")
    return few


if __name__ == "__main__":
    sys.exit(main(run, too_few, command="make fuzz-nearest", says=__doc__, cases=5000))
