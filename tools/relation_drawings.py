# SPDX-License-Identifier: Apache-2.0
"""The page docs/relations.md and its drawings; tools/generate.py writes them.

A drawing has the thirteen ways in which two intervals can lie (Allen 1983), r fixed above, and
in colour those that a relation admits. Which they are is found by evaluating its formula.
"""

from __future__ import annotations

import operator
import textwrap
from typing import Any

Relation = dict[str, Any]
Interval = tuple[float, float]

R: Interval = (8, 16)
# A start and an end before, at, within, at and after those of r: thirteen pairs are intervals.
STARTS, ENDS = (2, 8, 11, 16, 19), (5, 8, 13, 16, 22)
POSITIONS: list[Interval] = [(a, b) for a in reversed(STARTS) for b in reversed(ENDS) if a < b]
COMPARE = {"<": operator.lt, "<=": operator.le, "=": operator.eq}

UNIT, LEFT, ROW, WIDTH = 12, 12, 16, 400
COLOR, PALE, INK, FAINT = "#3949ab", "#d6d9e0", "#222222", "#8a8f98"

HEAD = """\
# What each relation means

<!-- Written by tools/generate.py from python/intervalsweep/relations.json: change those. -->

`r` is the left operand and `s` the right one. Two intervals that are not empty can lie in thirteen
ways. Each drawing has `r` on top and below it a row for each way in which `s` may lie, beside which
stands what Allen calls it: "during" is `r` during `s`. The relation admits those in colour.

- An interval is half-open, `[ts, te)`: it holds its start and not its end. Two that touch meet, and
  share nothing. For closed ends, open ends (NULL) and instants see
  [conventions](python-api.md#conventions).
- A relation is its formula and nothing more. A NULL endpoint makes it NULL, which matches nothing.
  Empty (`ts = te`) and reversed intervals are in none of the thirteen positions; for them, too, the
  formula is what counts.
- `delta` and `epsilon` are drawn below a line where a relation takes them. Without them there is no
  bound. Types and examples: [SQL functions](sql-functions.md).

"Overlap" has two meanings. Who asks which rows have anything in common wants
[INTERVAL_INTERSECTS](#interval_intersects), of whose nine cases [ALLEN_OVERLAPS](#allen_overlaps)
is one.
"""


def page(relations: list[Relation], families: dict[str, str]) -> str:
    """Return the text of relations.md."""
    sections = [HEAD]
    for family, title in families.items():
        sections.append(f"## {title}\n")
        members = (relation for relation in relations if relation["family"] == family)
        sections += [_entry(relation, relations) for relation in members]
    return "\n".join(sections)


def _entry(relation: Relation, relations: list[Relation]) -> str:
    name, anchor = relation["name"], relation["name"].lower()
    lines = [f"### {name}", "", relation["summary"], ""]
    lines += [f"![Where s lies if {name}(r, s)](images/relations/{anchor}.svg)", ""]
    lines.append(f"- `{' AND '.join(relation['formula'])}`")
    for parameter in ("delta", "epsilon"):
        if relation[parameter]:
            lines.append(f"- With `{parameter}`, moreover: `{relation[parameter]} <= {parameter}`")
    inverse = relation["inverse"]
    if inverse == name:
        lines.append("- With its operands swapped it is itself.")
    else:
        lines.append(f"- With its operands swapped: [{inverse}](#{inverse.lower()})")
    if relation["family"] != "allen":
        cases = [n for s in POSITIONS if admits(relation, s) and (n := position(relations, s))]
        lines += textwrap.wrap(f"- Any of {', '.join(cases)}", 100, subsequent_indent="  ")
    lines.append(f"- [Reference and examples](sql-functions.md#{anchor})")
    return "\n".join(lines) + "\n"


def admits(relation: Relation, s: Interval) -> bool:
    """Whether r and s fulfil the formula."""
    ends = {"r.ts": R[0], "r.te": R[1], "s.ts": s[0], "s.te": s[1]}
    terms = (term.split() for term in relation["formula"])
    return all(COMPARE[compare](ends[a], ends[b]) for a, compare, b in terms)


def position(relations: list[Relation], s: Interval) -> str:
    """Return the one of Allen's relations that r and s are in."""
    (name,) = (r["name"] for r in relations if r["family"] == "allen" and admits(r, s))
    return str(name)


def svg(relation: Relation, relations: list[Relation]) -> str:
    """Return the drawing of a relation."""
    body: list[str] = []
    bottom = 24 + ROW * len(POSITIONS)
    for x in R:
        body.append(_line(_x(x), 16, _x(x), bottom + 4, FAINT, "3 3"))
    body += [_bar(R, 14, INK), _text(LEFT - 8, 18, "r", INK)]
    for row, s in enumerate(POSITIONS):
        y = 30 + ROW * row
        ours = admits(relation, s)
        body.append(_bar(s, y, COLOR if ours else PALE))
        label = position(relations, s).removeprefix("ALLEN_").lower().replace("_", " ")
        body.append(_text(_x(24), y + 4, label, INK if ours else FAINT))
    height = bottom + 8
    parameters = [(p, relation[p].split(" - ")) for p in ("delta", "epsilon") if relation[p]]
    if parameters:
        body += _distances(relation["example"], parameters, height + 6)
        height += 60
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" font-family="sans-serif" font-size="11">\n'
        f'<rect width="{WIDTH}" height="{height}" rx="6" fill="#ffffff"/>\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )


def _distances(
    example: dict[str, list[int]], parameters: list[tuple[str, list[str]]], top: int
) -> list[str]:
    """Two intervals of the relation, and between which of their ends the parameters lie."""
    scale = 4  # the numbers of the examples are at most 6
    body = [_line(LEFT, top - 4, WIDTH - LEFT, top - 4, PALE)]
    rows = {"r": top + 22, "s": top + 38}
    for name, y in rows.items():
        start, end = (value * scale for value in example[name])
        body += [_text(LEFT - 8, y + 4, name, INK), _bar((start, end), y, INK)]
    for parameter, (later, earlier) in parameters:
        a, b = (_x(scale * example[e[0]][("ts", "te").index(e[2:])]) for e in (earlier, later))
        y = top + 10
        body += [_line(x, y - 4, x, rows["s"], COLOR, "2 2") for x in (a, b)]
        body += [_line(a, y, b, y, COLOR), _text((a + b) / 2, y - 3, parameter, COLOR, "middle")]
    return body


def _x(value: float) -> float:
    return LEFT + UNIT * value


def _bar(interval: Interval, y: float, color: str) -> str:
    start, end = interval
    return (
        f'<rect x="{_x(start):g}" y="{y - 4:g}" width="{UNIT * (end - start):g}" height="8" '
        f'rx="2" fill="{color}"/>'
    )


def _line(x: float, y: float, to_x: float, to_y: float, color: str, dashes: str = "") -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<path d="M{x:g} {y:g}L{to_x:g} {to_y:g}" stroke="{color}"{dashed}/>'


def _text(x: float, y: float, text: str, color: str, anchor: str = "start") -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="{color}" text-anchor="{anchor}">{text}</text>'
