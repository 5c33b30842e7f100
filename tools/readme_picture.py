# SPDX-License-Identifier: Apache-2.0
"""Draws the picture in the README, docs/images/interval_join.svg.

Run it with `python tools/readme_picture.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pyarrow as pa
from matplotlib import pyplot

from intervalsweep import arrow as isa
from intervalsweep import plot
from intervalsweep.plot.style import INK, LEFT, MATCH, RIGHT

FILE = Path(__file__).resolve().parents[1] / "docs" / "images" / "interval_join.svg"
RELATION = "iseql_start_preceding"


def intervals(name: str, *rows: tuple[float, float]) -> Any:
    ids = [f"{name}{number}" for number in range(1, len(rows) + 1)]
    return pa.table({"id": ids, "ts": [ts for ts, _ in rows], "te": [te for _, te in rows]})


R = intervals("r", (1.5, 5), (4.2, 9.5), (11.2, 12.4))
S = intervals("s", (0.5, 3), (2, 3.4), (3.2, 7), (4.6, 6), (6, 11), (7.4, 8.4), (9, 10), (12, 13.5))


def main(file: Path = FILE) -> None:
    with mpl.rc_context({"svg.hashsalt": "intervalsweep", "font.size": 9}):
        figure, (join, sweep) = pyplot.subplots(1, 2, figsize=(9.4, 3.6), layout="constrained")
        plot.matches(R, S, RELATION, label="id", ax=join)
        join.get_legend().remove()
        join.set_title("An interval join: which s start while r lasts?", fontsize="medium")
        draw_sweep(sweep)
        for ax in (join, sweep):
            ax.set(xlabel="time", xticks=[])
            ax.tick_params(length=0)
            ax.spines[["left", "right", "top"]].set_visible(False)
        file.parent.mkdir(exist_ok=True)
        figure.savefig(file, metadata={"Date": None})
        pyplot.close(figure)


def draw_sweep(ax: Any) -> None:
    """Draw the rows of `s` by start, each `r` as a vertical band, and the run of each `r`."""
    ids, starts, ends = (S.column(name).to_pylist() for name in S.column_names)
    for row, (ts, te) in enumerate(zip(starts, ends, strict=True)):
        ax.barh(row, te - ts, 0.5, ts, color=RIGHT, alpha=0.45)
        ax.plot(ts, row, "o", color=INK, ms=4)
    for number, r in enumerate(R.to_pylist()):
        found = isa.join(R.slice(number, 1), S, RELATION).column("id_right").to_pylist()
        run = sorted(map(ids.index, found))
        top, at = number - 3.2, 14.4 + 0.9 * number
        ax.barh(top, r["te"] - r["ts"], 0.6, r["ts"], color=LEFT)
        ax.text(r["ts"] - 0.15, top, r["id"], ha="right", va="center", fontsize="small")
        ax.fill_betweenx([top, len(ids) - 0.5], r["ts"], r["te"], color=LEFT, alpha=0.1, lw=0)
        ax.plot([starts[row] for row in run], run, "o", color=MATCH, ms=6)
        ax.plot([at, at], [run[0] - 0.35, run[-1] + 0.35], color=MATCH, lw=4)
        ax.text(at, run[0] - 0.5, r["id"], ha="center", va="bottom", fontsize="small")
    ax.set_yticks(range(len(ids)), ids, fontsize="small")
    ax.set(xlim=(0, 16.8), ylim=(len(ids), -4))
    ax.set_title("Sort s by start: the matches of each r are one run", fontsize="medium")


if __name__ == "__main__":
    sys.exit(main())
