# SPDX-License-Identifier: Apache-2.0
"""The gapless hash map (section 7.4), in arrays.

    table   key & mask -> node          0: no node, n + 1: node n
    nodes   key, next, previous         previous: node + 1, or -(slot + 1) for a slot of the table
    values  start, field                in arrays of their own, so that a scan reads nothing else

Nodes lie without gaps: an insertion appends, a removal moves the last node into the gap. Arrays are
allocated at their largest size, as untouched memory costs nothing. Only the table grows, by a
factor of four as in the paper's program: it takes more of its own array and links all nodes again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from intervalsweep.kernels.jit import I32_OUT, I64_OUT, helper

SIZE, MASK = 0, 1
_FIRST_SLOTS = 32
MAP = types.Tuple((I32_OUT, I32_OUT, I32_OUT, I32_OUT, I64_OUT, I64_OUT, I64_OUT))


def gapless_map(most: int) -> tuple[Any, ...]:
    """A map for at most `most` keys: (table, key, next, previous, start, field, state)."""
    slots = _FIRST_SLOTS
    while slots < most:
        slots *= 4
    nodes = [np.empty(most, np.int32) for _ in range(3)]
    values = [np.empty(most, np.int64) for _ in range(2)]
    state = np.array([0, _FIRST_SLOTS - 1], np.int64)
    return np.zeros(slots, np.int32), *nodes, *values, state


@helper
def _link(node: int, mask: int, table: Any, key: Any, next_: Any, previous: Any) -> None:
    """Put a node at the head of its slot's list."""
    slot = key[node] & mask
    old = table[slot]
    next_[node] = old
    previous[node] = -(slot + 1)
    if old != 0:
        previous[old - 1] = node + 1
    table[slot] = node + 1


@helper
def insert(
    new_key: int, start: int, field: int, table: Any, key: Any, next_: Any, previous: Any,
    starts: Any, fields: Any, state: Any,
) -> None:  # fmt: skip
    """Append a key, which must not be in the map."""
    size = state[SIZE]
    if size > state[MASK]:
        mask = 4 * (state[MASK] + 1) - 1
        state[MASK] = mask
        table[: mask + 1] = 0
        for node in range(size):
            _link(node, mask, table, key, next_, previous)
    key[size] = new_key
    starts[size] = start
    fields[size] = field
    _link(size, state[MASK], table, key, next_, previous)
    state[SIZE] = size + 1


@helper
def _point_to(
    target: int, from_previous: int, from_next: int, table: Any, next_: Any, previous: Any
) -> None:
    """Let the previous node or slot point to `target`, or to the next node if `target` is 0."""
    to = target if target != 0 else from_next
    if from_previous < 0:
        table[-from_previous - 1] = to
    else:
        next_[from_previous - 1] = to
    if from_next != 0:
        previous[from_next - 1] = target if target != 0 else from_previous


@helper
def erase(
    old_key: int, table: Any, key: Any, next_: Any, previous: Any, starts: Any, fields: Any,
    state: Any,
) -> None:  # fmt: skip
    """Remove a key; does nothing if the key is absent (a second end, appendix B.5)."""
    node = table[old_key & state[MASK]] - 1
    while node >= 0 and key[node] != old_key:
        node = next_[node] - 1
    if node < 0:
        return
    _point_to(0, previous[node], next_[node], table, next_, previous)
    last = state[SIZE] - 1
    state[SIZE] = last
    if node != last:
        key[node] = key[last]
        starts[node] = starts[last]
        fields[node] = fields[last]
        next_[node] = next_[last]
        previous[node] = previous[last]
        _point_to(node + 1, previous[node], next_[node], table, next_, previous)
