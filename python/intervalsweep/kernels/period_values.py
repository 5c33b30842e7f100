# SPDX-License-Identifier: Apache-2.0
"""A compiled loop that computes values of each group by time; see `period_events`."""

from __future__ import annotations

from typing import NamedTuple

from numba import from_dtype, types

from .arrays import Int32Array, Int64Array
from .jit import F64_TABLE_OUT, I32_OUT, I64_OUT, I64_TABLE_OUT, INT, helper, kernel
from .period_events import (
    DONE,
    FULL,
    LOAD,
    MAX,
    NO_EVENT,
    NO_ROOM,
    ROW_ENDS,
    ROW_STARTS,
    ROWS,
    Rows,
    State,
    has_room,
    is_complete,
    move_on,
    next_event,
    pop_row,
    push_row,
    state_layout,
    store_period,
)
from .period_measures import (
    MEASURES,
    NOW,
    SINCE,
    FloatTable,
    IntTable,
    Measures,
    forget_rows,
    free_place,
    gather_row,
    have_changed,
    keep_values,
    put_row,
)

# The end of a period of values: when a value changes, when any row starts or ends, or when no row
# is valid any more. In the last case the values include all rows of the period.
CHANGES, CUTS, ISLANDS = 0, 1, 2


class ValueBatch(NamedTuple):
    """Periods as in `CountBatch`, with their values: one row of `values` per measure."""

    row: Int32Array
    start: Int64Array
    end: Int64Array
    values: IntTable
    floats: FloatTable


class ValueState(State):
    """The fields of the state of `sweep_values`.

    Attributes
    ----------
    pending
        1 while a result period is open.
    since
        The start of that period.
    """

    pending: int
    since: int


STATE = state_layout(ValueState)
_BATCH = types.NamedTuple((I32_OUT, I64_OUT, I64_OUT, I64_TABLE_OUT, F64_TABLE_OUT), ValueBatch)


@helper
def _ends_now(ends: int, has_values: bool, measures: Measures) -> bool:
    """Return whether the open period ends now; ``has_values`` says whether another may follow."""
    if not has_values or ends == CUTS:
        return True
    return ends == CHANGES and have_changed(measures)


@helper
def _end_period(column: int, measures: Measures, state: ValueState, out: ValueBatch) -> None:
    """Store the open period, which ends now, with the values of a column of the trees."""
    period = store_period(state.since, state, out)
    for k in range(out.values.shape[0]):
        out.values[k, period] = measures.tree[k, column]
    for k in range(out.floats.shape[0]):
        out.floats[k, period] = measures.float_tree[k, column]
    state.pending = 0


@kernel(ROWS, MEASURES, INT, INT, from_dtype(STATE), I64_TABLE_OUT, _BATCH)
def sweep_values(
    rows: Rows, measures: Measures, empty: int, ends: int,
    state: ValueState, heap: Int64Array, out: ValueBatch,
) -> int:  # fmt: skip
    """Store the periods of a group with their values; return why the loop stopped (6, 7).

    The load of the heap is the place of a row in the measures. O(n k log v) for n rows, k measures
    and at most v valid rows.

    For the other parameters see `period_events`.

    Parameters
    ----------
    measures : Measures
        The measures, with the values of these rows.
    empty : int
        Not 0: also store the periods in which no row is valid.
    ends : int
        The end of a period: ``CHANGES``, ``CUTS`` or ``ISLANDS``.
    """
    state.stored = 0
    while True:
        event, at = next_event(rows, state, heap)
        if event == NO_EVENT:
            return DONE
        if is_complete(event, at, state):
            has_values = state.now != MAX and (state.valid > 0 or empty != 0)
            if state.pending != 0 and _ends_now(ends, has_values, measures):
                if state.stored == out.row.size:
                    return FULL
                _end_period(NOW if ends == ISLANDS else SINCE, measures, state, out)
                if ends == ISLANDS:
                    forget_rows(measures)
            if has_values and state.pending == 0:
                state.pending = 1
                state.since = state.now
                keep_values(measures)
            move_on(event, at, state)
        if event == ROW_ENDS:
            place = pop_row(state, heap)
            if ends != ISLANDS:
                free_place(place, measures)
        elif event == ROW_STARTS:
            if not has_room(state, heap):
                return NO_ROOM
            row = state.row
            place = heap[state.valid, LOAD]
            push_row(rows, place, state, heap)
            if ends == ISLANDS:
                gather_row(row, measures)
            else:
                put_row(row, place, measures)
