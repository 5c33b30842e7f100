# SPDX-License-Identifier: Apache-2.0
"""The page that says when rows of a join of streams can leave, relation by relation."""

from __future__ import annotations

from typing import Any

Relation = dict[str, Any]

INTRODUCTION = """\
# When rows can leave

<!-- Written by tools/generate.py from python/intervalsweep/relations.json: change those. -->

A join of streams keeps a row as long as a row that is still to come may match it. What is still to
come is known of the column with the watermark: all rows up to it have come. So a row can leave when
the watermark reaches the largest value that this column of a partner may have; the tables have it
for each relation. `r` is the left operand, `s` the right one.

- `+ delta`: the relation needs its parameter. Without it the join fails with `UNBOUNDED_STATE`.
- `+ max_length`: it has to be known how long intervals are at most, by `max_length` of
  `stream_join` or by a filter `te <= ts + ...` on the other side.
- *ordered*: the bound holds for intervals that end no earlier than they start. Rows of the other
  side that do not are dropped and counted.
- **never**: the condition needs a comparison more that bounds the column from above.

Where a bound excludes the value itself, as in `s.ts < r.te`, the row leaves a microsecond earlier.
"""


def page(relations: list[Relation]) -> str:
    parts = [INTRODUCTION]
    for clock, title in (("ts", "starts"), ("te", "ends")):
        parts += [
            f"## Watermarks on the {title} of intervals, `{clock}`",
            "",
            "| relation | rows of `r` leave at | rows of `s` leave at |",
            "|---|---|---|",
        ]
        for relation in relations:
            cells = [_leaves(relation, side, clock) for side in "rs"]
            parts.append(f"| `{relation['name']}` | {cells[0]} | {cells[1]} |")
        parts.append("")
    return "\n".join(parts)


def _leaves(relation: Relation, side: str, clock: str) -> str:
    """When a row of a side leaves, in the words of the table."""
    partner = "s" if side == "r" else "r"
    start, end = f"{partner}.ts", f"{partner}.te"
    column = f"{partner}.{clock}"
    if direct := _latest(relation, column):
        return f"`{direct}`"
    if clock == "ts" and (by_end := _latest(relation, end)):
        return f"`{by_end}`, *ordered*"
    if by_delta := _by_delta(relation, column):
        return f"`{by_delta}`"
    if clock == "te" and (by_start := _latest(relation, start)):
        return f"`{by_start} + max_length`"
    if clock == "te" and (by_both := _by_delta(relation, start)):
        return f"`{by_both} + max_length`"
    return "**never**"


def _latest(relation: Relation, column: str) -> str | None:
    """What the formula says the column is at most, without a parameter."""
    for term in relation["formula"]:
        left, operator, right = term.split(" ")
        if left == column and right[0] != column[0]:
            return str(right)
        if operator == "=" and right == column:
            return str(left)
    return None


def _by_delta(relation: Relation, column: str) -> str | None:
    for parameter in ("delta", "epsilon"):
        if relation[parameter]:
            later, earlier = relation[parameter].split(" - ")
            if later == column:
                return f"{earlier} + {parameter}"
    return None
