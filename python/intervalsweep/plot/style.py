# SPDX-License-Identifier: Apache-2.0
"""What all pictures have in common: their colours, and the Axes they are drawn on."""

from __future__ import annotations

from typing import Any

# Of Okabe and Ito, "Color Universal Design" (2008): distinguishable with any kind of colour vision.
LEFT = "#0072B2"  # r, the left side: blue
RIGHT = "#E69F00"  # s, the right side: orange
MATCH = "#009E73"  # what matches: green
# Beside them, greys: of lines that are read, and of what is beside the matter.
INK = "#333333"
FAINT = "#999999"


def axes_of(ax: Any | None, size: tuple[float, float]) -> Any:
    """Return the given Axes, or those of a new picture of this size in inches."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=size, layout="constrained")[1]
