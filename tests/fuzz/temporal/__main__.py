# SPDX-License-Identifier: Apache-2.0
"""`make fuzz-temporal`: random histories; exits with 1 if one differs from its snapshots."""

from __future__ import annotations

import sys

from fuzz.command import main, say
from fuzz.temporal.run import Totals, run


def too_few(totals: Totals) -> bool:
    """True if fewer than half of the queries have rows: the run proves too little."""
    if few := totals.with_rows * 2 < totals.queries:
        say("fewer than half of the queries have rows")
    return few


if __name__ == "__main__":
    sys.exit(main(run, too_few, command="make fuzz-temporal", says=__doc__, cases=20_000))
