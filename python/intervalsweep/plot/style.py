# SPDX-License-Identifier: Apache-2.0
"""The common parts of all pictures: colors, Axes and bar charts."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

# Colors by Okabe and Ito, "Color Universal Design" (2008), for any kind of color vision.
LEFT = "#0072B2"  # r, the left side: blue
RIGHT = "#E69F00"  # s, the right side: orange
MATCH = "#009E73"  # matches: green
# Greys: for lines that carry information, and for the background.
INK = "#333333"
FAINT = "#999999"


def axes_of(ax: Any | None, size: tuple[float, float]) -> Any:
    """Return the given Axes, or those of a new picture with this size in inches."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=size, layout="constrained")[1]


def bars(
    ax: Any | None, numbers: Sequence[int], values: Sequence[float], one: str, measured: str
) -> Any:
    """Draw a bar for each value, such as a task or micro-batch, and a line at the median."""
    ax = axes_of(ax, (min(12.0, 3.5 + 0.15 * len(values)), 3.5))
    ax.bar(numbers, values, color=RIGHT, ec=RIGHT)
    median = statistics.median(values)
    ax.axhline(median, color=INK, lw=1, ls="--", label=f"median {median:,.6g}")
    ax.legend(loc="upper right", bbox_to_anchor=(1, 1.12), frameon=False, fontsize="small")
    ax.set(xlabel=one, ylabel=measured, ylim=(0, None))
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.yaxis.set_major_formatter("{x:,g}")
    return ax
