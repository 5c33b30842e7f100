# SPDX-License-Identifier: Apache-2.0
"""The names of the relations, for type checkers. Written by tools/generate.py."""

from __future__ import annotations

from typing import Literal, TypeAlias

RelationName: TypeAlias = Literal[
    "allen_after",
    "allen_before",
    "allen_contains",
    "allen_during",
    "allen_equals",
    "allen_finished_by",
    "allen_finishes",
    "allen_meets",
    "allen_met_by",
    "allen_overlapped_by",
    "allen_overlaps",
    "allen_started_by",
    "allen_starts",
    "interval_intersects",
    "iseql_after",
    "iseql_before",
    "iseql_during",
    "iseql_end_following",
    "iseql_left_overlap",
    "iseql_reverse_during",
    "iseql_reverse_end_following",
    "iseql_reverse_start_preceding",
    "iseql_right_overlap",
    "iseql_start_preceding",
]
