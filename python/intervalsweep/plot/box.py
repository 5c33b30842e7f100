# SPDX-License-Identifier: Apache-2.0
"""Draws the meaning of a relation: the box of the intervals that match a given interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from intervalsweep._errors import ArgumentError
from intervalsweep.arrow.encoding import Encoding
from intervalsweep.arrow.search.plan import Axis, Term, form
from intervalsweep.plot.style import FAINT, LEFT, MATCH, RIGHT, axes_of
from intervalsweep.relations import Relation, check_parameters, relation_named

Interval = tuple[float, float]


@dataclass(frozen=True)
class _Bound:
    """A bound of the box and its label; a strict bound does not belong to the box."""

    value: float
    strict: bool = True
    label: str = ""


@dataclass(frozen=True)
class _Side:
    """The range of an endpoint of `s` in which it matches."""

    least: _Bound = _Bound(-math.inf)
    most: _Bound = _Bound(math.inf)

    def holds(self, value: float) -> bool:
        above = self.least.value < value or (not self.least.strict and value == self.least.value)
        below = value < self.most.value or (not self.most.strict and value == self.most.value)
        return above and below


def relation(
    name: str,
    r: Interval | None = None,
    s: Interval | None = None,
    *,
    delta: float | None = None,
    epsilon: float | None = None,
    ax: Any | None = None,
) -> Any:
    """Draw the box of a relation: which intervals `s` match a given interval `r`.

    Each interval `s` is a point: its start on the x axis, its end on the y axis. Intervals that
    match fill the green area. A solid edge belongs to the area, a dashed edge does not. An area
    that reaches the edge of the picture is unbounded there. The grey triangle contains the
    intervals that end before they start. Above, `r` and `s` are bars on the same axis of time.

    Parameters
    ----------
    name
        A relation, such as ``"allen_overlaps"``; see :mod:`intervalsweep.functions`.
    r, s
        Pairs of start and end, as numbers. Without `r`, both are those of the relation's example.
        With `r` alone no `s` is drawn.
    delta, epsilon
        The parameters of the relation, in the unit of `r`.
    ax
        The matplotlib Axes to draw on; None for a new picture.

    Returns
    -------
    matplotlib.axes.Axes
        The bars are on its child `ax.child_axes[0]`.

    Raises
    ------
    ArgumentError
        If the relation or a parameter is unknown, if a parameter is negative, or if `s` is given
        without `r`.

    Examples
    --------
    >>> ax = relation("allen_overlaps")
    >>> ax.get_title()
    'ALLEN_OVERLAPS\\nr.ts < s.ts AND s.ts < r.te AND r.te < s.te'
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('s.ts', 's.te')
    """
    meant = relation_named(name)
    check_parameters(meant, delta=delta, epsilon=epsilon)
    if r is None:
        if s is not None:
            raise ArgumentError("relation() needs r if s is given.")
        r, s = meant.example["r"], meant.example["s"]
    numbers = Encoding([pa.float64()])
    given = {"delta": delta, "epsilon": epsilon}
    limits = {p: numbers.limit(p, value) for p, value in given.items() if value is not None}
    x, y = _box(meant, r, limits)
    ax = axes_of(ax, (5.0, 5.5))
    low, high = _frame(r, s, x, y)
    ax.set(xlim=(low, high), ylim=(low, high), xlabel="s.ts", ylabel="s.te")
    _draw_reversed(ax, low, high)
    _draw_box(ax, x, y, low, high)
    _name_bounds(ax, r, x, y)
    if s is not None:
        _draw_point(ax, s, is_match=x.holds(s[0]) and y.holds(s[1]))
    _draw_bars(ax, {"r": r, "s": s})
    ax.set_title(_title(meant, limits), fontsize="medium", y=1.15)  # above the bars
    return ax


def _box(meant: Relation, r: Interval, limits: dict[str, float]) -> tuple[_Side, _Side]:
    sweep = form(meant, list(limits), "r")
    axes = {axis.point: axis for axis in (sweep.lead, sweep.second) if axis is not None}
    x, y = (
        _side(axes[point], r, limits) if point in axes else _Side() for point in ("s.ts", "s.te")
    )
    return x, y


def _side(axis: Axis, r: Interval, limits: dict[str, float]) -> _Side:
    lower = [_bound(term, r, limits, -1) for term in axis.lower]
    upper = [_bound(term, r, limits, 1) for term in axis.upper]
    return _Side(
        max(lower, key=lambda one: (one.value, one.strict), default=_Side.least),
        min(upper, key=lambda one: (one.value, not one.strict), default=_Side.most),
    )


def _bound(term: Term, r: Interval, limits: dict[str, float], sign: int) -> _Bound:
    value = r[("r.ts", "r.te").index(term.endpoint)]
    if term.parameter is None:
        return _Bound(value, term.strict, term.endpoint)
    label = f"{term.endpoint} {'+' if sign > 0 else '-'} {term.parameter}"
    return _Bound(value + sign * limits[term.parameter], term.strict, label)


def _frame(r: Interval, s: Interval | None, *sides: _Side) -> tuple[float, float]:
    """Return the least and the greatest value on both axes of the picture."""
    bounds = [bound.value for side in sides for bound in (side.least, side.most)]
    values = [*r, *(s or ()), *filter(math.isfinite, bounds)]
    margin = 0.4 * ((max(values) - min(values)) or 1)
    return min(values) - margin, max(values) + margin


def _draw_reversed(ax: Any, low: float, high: float) -> None:
    ax.fill([low, high, high], [low, low, high], color=FAINT, alpha=0.25, lw=0, zorder=3)
    ax.text(0.97, 0.03, "ends before it starts", transform=ax.transAxes, ha="right", zorder=4)


def _draw_box(ax: Any, x: _Side, y: _Side, low: float, high: float) -> None:
    left, right = max(x.least.value, low), min(x.most.value, high)
    bottom, top = max(y.least.value, low), min(y.most.value, high)
    if left > right or bottom > top:
        return
    ax.fill([left, right, right, left], [bottom, bottom, top, top], color=MATCH, alpha=0.35, lw=0)
    for bound in {x.least, x.most}:
        _draw_edge(ax, bound, [bound.value] * 2, [bottom, top])
    for bound in {y.least, y.most}:
        _draw_edge(ax, bound, [left, right], [bound.value] * 2)


def _draw_edge(ax: Any, bound: _Bound, x: list[float], y: list[float]) -> None:
    if math.isfinite(bound.value):
        if (x[0], y[0]) != (x[1], y[1]):
            ax.plot(x, y, "--" if bound.strict else "-", color=MATCH, lw=2, zorder=4)
            return
        fill = "white" if bound.strict else MATCH
        ax.plot(x[:1], y[:1], "o", color=MATCH, markerfacecolor=fill, ms=13, zorder=4)


def _draw_point(ax: Any, s: Interval, *, is_match: bool) -> None:
    fill = RIGHT if is_match else "white"
    ax.plot([s[0]], [s[1]], "o", color=RIGHT, markerfacecolor=fill, ms=9, zorder=5)
    ax.annotate("s", s, (7, 5), textcoords="offset points")


def _name_bounds(ax: Any, r: Interval, *sides: _Side) -> None:
    """Label ticks with the names of r's endpoints and of the bounds from parameters."""
    names = dict(zip(r, ("r.ts", "r.te"), strict=True))
    if r[0] == r[1]:
        names = {r[0]: "r.ts = r.te"}
    for axis, side in zip((ax.xaxis, ax.yaxis), sides, strict=True):
        own = {b.value: b.label for b in (side.least, side.most) if math.isfinite(b.value)}
        ticks = sorted((own | names).items())
        axis.set_ticks([value for value, _ in ticks], [label for _, label in ticks])
    if any(" " in label.get_text() for label in ax.get_xticklabels()):
        for label in ax.get_xticklabels():
            label.set(rotation=30, ha="right", rotation_mode="anchor")
    ax.grid(color=FAINT, alpha=0.4, lw=0.8)


def _draw_bars(ax: Any, intervals: dict[str, Interval | None]) -> None:
    bars = ax.inset_axes([0, 1.02, 1, 0.12], sharex=ax)
    for place, (name, interval) in enumerate(intervals.items()):
        if interval is not None:
            start, end = interval
            color = LEFT if name == "r" else RIGHT
            bars.barh(-place, end - start, 0.6, start, color=color, label=name)
            bars.text(start, -place, f"{name} ", ha="right", va="center")
    bars.set_ylim(-1.5, 0.5)
    bars.axis("off")


def _title(meant: Relation, limits: dict[str, float]) -> str:
    lines = [" AND ".join(f"{one.left} {one.operator} {one.right}" for one in meant.formula)]
    bounded = [(meant.parameters[name], value) for name, value in limits.items()]
    if bounded:
        lines.append(" AND ".join(f"{d.later} - {d.earlier} <= {value:g}" for d, value in bounded))
    return "\n".join([meant.name, *lines])
