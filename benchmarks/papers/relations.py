# SPDX-License-Identifier: Apache-2.0
"""Each relation, expressed by the paper's joins (section 6, table 2)."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.papers.loops.assembly import (
    IMPROPER,
    PROPER,
    Join,
    end_following,
    equal_ends,
    equal_starts,
    general_before,
    parameterized_end_following,
    parameterized_start_preceding,
    start_preceding,
    starting_before,
)
from benchmarks.papers.query import FAR

_INVERSES = {
    "ALLEN_AFTER": "ALLEN_BEFORE",
    "ALLEN_MET_BY": "ALLEN_MEETS",
    "ALLEN_STARTED_BY": "ALLEN_STARTS",
    "ALLEN_DURING": "ALLEN_CONTAINS",
    "ALLEN_FINISHED_BY": "ALLEN_FINISHES",
    "ISEQL_REVERSE_START_PRECEDING": "ISEQL_START_PRECEDING",
    "ISEQL_REVERSE_END_FOLLOWING": "ISEQL_END_FOLLOWING",
    "ISEQL_AFTER": "ISEQL_BEFORE",
    "ISEQL_DURING": "ISEQL_REVERSE_DURING",
}


def joins(name: str, delta: int | None = None, epsilon: int | None = None) -> list[Join]:
    """The joins whose disjoint results together are the pairs of a relation.

    Raises KeyError for an unknown relation.
    """
    if name in _INVERSES:
        return [join.swapped() for join in joins(_INVERSES[name], delta, epsilon)]
    if name.startswith("ALLEN_"):
        return _allen(name)
    return _iseql(name, delta, epsilon)


def _allen(name: str) -> list[Join]:
    if name == "ALLEN_CONTAINS":
        return _containing(None, None, is_strict=True)
    return {
        "ALLEN_BEFORE": [general_before(1, None)],
        "ALLEN_MEETS": [general_before(0, 0)],
        "ALLEN_OVERLAPS": [start_preceding(is_strict=True).where("te", "te", low=1)],
        "ALLEN_OVERLAPPED_BY": [end_following(is_strict=True).where("ts", "ts", high=-1)],
        "ALLEN_STARTS": [equal_starts().where("te", "te", low=1)],
        "ALLEN_FINISHES": [equal_ends().where("ts", "ts", high=-1)],
        "ALLEN_EQUALS": [equal_starts().where("te", "te", 0, 0)],
    }[name]


def _iseql(name: str, delta: int | None, epsilon: int | None) -> list[Join]:
    if name == "ISEQL_REVERSE_DURING":
        return _containing(delta, epsilon, is_strict=False)
    if name == "INTERVAL_INTERSECTS":
        return _intersecting()
    precedes = parameterized_start_preceding(delta)
    follows = parameterized_end_following(epsilon)
    return {
        "ISEQL_START_PRECEDING": [precedes],
        "ISEQL_END_FOLLOWING": [follows],
        "ISEQL_BEFORE": [general_before(0, delta)],
        "ISEQL_LEFT_OVERLAP": [precedes.where("te", "te", 0, _far(epsilon))],
        "ISEQL_RIGHT_OVERLAP": [follows.where("ts", "ts", -_far(delta), 0)],
    }[name]


def _containing(delta: int | None, epsilon: int | None, is_strict: bool) -> list[Join]:
    """During joins (algorithms 5 and 11), and one more join for empty and reversed s.

    The paper excludes such tuples. By the formula an empty or reversed s may lie in r although s
    starts outside of r.
    """
    ends = (-_far(epsilon), -1 if is_strict else 0)
    proper = replace(parameterized_start_preceding(delta, is_strict), probing_rows=PROPER)
    improper = starting_before(delta, is_strict)
    return [join.where("te", "te", *ends) for join in (proper, improper)]


def _intersecting() -> list[Join]:
    """s starts in r, or r starts in s; if both start together, only the first join finds the pair.

    The join is not in the paper but in its predecessor, which keeps two active sets. Empty and
    reversed tuples must also pass the other half of the formula.
    """
    one = start_preceding()
    other = start_preceding(is_strict=True).swapped()
    proper = [replace(join, probing_rows=PROPER) for join in (one, other)]
    improper = [replace(join, probing_rows=IMPROPER) for join in (one, other)]
    return proper + [join.where("ts", "te", low=1) for join in improper]


def _far(limit: int | None) -> int:
    return FAR if limit is None else limit
