# SPDX-License-Identifier: Apache-2.0
"""`make fuzz`: runs random queries; exits with 1 if rows differ from those of Spark's own plan."""

from __future__ import annotations

import sys

from fuzz.command import main, say
from fuzz.joins.queries import SHAPES
from fuzz.joins.run import Totals, run


def swept_too_little(totals: Totals) -> bool:
    """True unless every shape is swept, and a third of the queries is swept and has rows."""
    kept = [shape for shape in SHAPES if not totals.swept[shape]]
    if kept:
        say(f"never swept: {', '.join(kept)}")
    if few := totals.swept_with_rows * 3 < totals.queries:
        say("fewer than a third of the queries are swept and have rows")
    return bool(kept) or few


if __name__ == "__main__":
    sys.exit(main(run, swept_too_little, command="make fuzz", says=__doc__, cases=50_000))
