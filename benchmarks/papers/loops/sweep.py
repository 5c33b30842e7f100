# SPDX-License-Identifier: Apache-2.0
"""JoinByS (algorithm 1, section 5.3) and LazyJoinByS (algorithm 12, section 7.2)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from benchmarks.papers.loops.active import MAP, SIZE, erase, insert
from benchmarks.papers.loops.iterators import ANY, START
from benchmarks.papers.query import (
    CANDIDATES,
    CHANGES,
    GETNEXT,
    LARGEST,
    OUT,
    PAIRS,
    SIZES,
    SUM,
)
from intervalsweep.kernels.jit import I32_IN, I32_OUT, I64_IN, I64_OUT, INT, helper, kernel

_PAST = np.iinfo(np.int64).max
_INDEX = types.Tuple((I64_IN, I32_IN))
_COLUMNS = types.Tuple((I64_IN, I64_IN))
_BUFFER = types.Tuple((I32_OUT, I64_OUT, I64_OUT))
_FLAGS = types.Array(types.uint8, 1, "C")


@helper
def _seek(keys: Any, at: int, kind: int, shift: int) -> tuple[int, int]:
    """The first endpoint of a kind from `at` on, and its shifted key; _PAST if there is none."""
    while at < keys.size and kind != ANY and (keys[at] & 1) != kind:
        at += 1
    return at, keys[at] + shift if at < keys.size else _PAST


@helper
def _consume(
    size: int, starts: Any, fields: Any, first: int, many: int, ends: Any, others: Any,
    selects: int, low: int, high: int,
) -> tuple[int, int]:  # fmt: skip
    """Add up the pairs of `size` active and `many` buffered tuples; pairs are not stored.

    Two loops without a branch. Callers pass a constant for `many`, so the compiler vectorizes the
    loops along the active tuples.
    """
    total = 0
    if selects == 0:
        for i in range(size):
            for k in range(first, first + many):
                total += starts[i] + ends[k]
        return size * many, total
    pairs = 0
    for i in range(size):
        for k in range(first, first + many):
            apart = others[k] - fields[i]
            passes = int(apart >= low) & int(apart <= high)
            pairs += passes
            total += (starts[i] + ends[k]) * passes
    return pairs, total


@helper
def _scan(
    size: int, key: Any, starts: Any, fields: Any, many: int, ids: Any, ends: Any, others: Any,
    selects: int, low: int, high: int, out_active: Any, out_probe: Any, counters: Any,
) -> None:  # fmt: skip
    """Hand each pair of an active and a buffered tuple to the consumer.

    The consumer adds up a start and an end, like the paper's program, and stores the pair if there
    is room. With a selection (a filteringConsumer, 5.3) it takes only pairs whose fields differ by
    `low` to `high`.

    Buffered tuples are taken four at a time, then two, then one. With a number that is unknown to
    the compiler the loops are several times slower. The paper's program also has special cases for
    up to four.
    """
    counters[GETNEXT] += size
    counters[CANDIDATES] += size * many
    if out_active.size > 0:
        pairs = counters[PAIRS]
        for i in range(size):
            for k in range(many):
                apart = others[k] - fields[i]
                if selects == 0 or (apart >= low and apart <= high):
                    out_active[pairs] = key[i]
                    out_probe[pairs] = ids[k]
                    counters[SUM] += starts[i] + ends[k]
                    pairs += 1
        counters[PAIRS] = pairs
        return
    pairs = total = 0
    first = 0
    while first + 4 <= many:
        some, of_some = _consume(size, starts, fields, first, 4, ends, others, selects, low, high)
        pairs += some
        total += of_some
        first += 4
    if first + 2 <= many:
        some, of_some = _consume(size, starts, fields, first, 2, ends, others, selects, low, high)
        pairs += some
        total += of_some
        first += 2
    if first < many:
        some, of_some = _consume(size, starts, fields, first, 1, ends, others, selects, low, high)
        pairs += some
        total += of_some
    counters[PAIRS] += pairs
    counters[SUM] += total


@kernel(
    _INDEX, I64_IN, I64_IN, INT, _FLAGS, _COLUMNS, _INDEX, INT, INT, _COLUMNS, INT, INT, INT,
    MAP, _BUFFER, OUT, I64_OUT,
)  # fmt: skip
def join_by_s(
    active_index: Any, kinds: Any, shifts: Any, needed: int, seen: Any, active_columns: Any,
    probe_index: Any, probe_kind: int, ahead: int, probe_columns: Any, selects: int, low: int,
    high: int, active_set: Any, buffer: Any, out: Any, counters: Any,
) -> None:  # fmt: skip
    """Sweep along both indexes; each endpoint of the probing side meets all active tuples.

    kinds, shifts
        The three cursors along the active side's index; an unused cursor has the kind -1.
    needed
        The number of starts that make a tuple active. 2 is the Second Start Iterator (appendix
        B.6), which keeps the tuples seen once: here as flags (`seen`), in the paper in a hash set.
    ahead
        1 if the active side's endpoint comes first among equal ones ("<="), 0 if not ("<").
    buffer
        Probing tuples that meet the active ones in one scan. With room for one tuple this is
        JoinByS, with more LazyJoinByS.
    """
    keys, ids = active_index
    columns, fields_in = active_columns
    probe_keys, probe_ids = probe_index
    ends_in, others_in = probe_columns
    table, key, next_, previous, starts, fields, state = active_set
    buffer_ids, ends, others = buffer
    out_active, out_probe = out
    at0, head0 = _seek(keys, 0, kinds[0], shifts[0])
    at1, head1 = _seek(keys, 0 if kinds[1] >= 0 else keys.size, kinds[1], shifts[1])
    at2, head2 = _seek(keys, 0 if kinds[2] >= 0 else keys.size, kinds[2], shifts[2])
    at, head = _seek(probe_keys, 0, probe_kind, 0)
    while at < probe_keys.size:
        first = min(head0, head1, head2)
        if first < head + ahead:
            if first == head0:
                row = ids[at0]
                at0, head0 = _seek(keys, at0 + 1, kinds[0], shifts[0])
            elif first == head1:
                row = ids[at1]
                at1, head1 = _seek(keys, at1 + 1, kinds[1], shifts[1])
            else:
                row = ids[at2]
                at2, head2 = _seek(keys, at2 + 1, kinds[2], shifts[2])
            if first & 1 == START:
                if needed == 2:
                    seen[row] += 1
                if needed == 1 or seen[row] == 2:
                    insert(
                        row, columns[row], fields_in[row],
                        table, key, next_, previous, starts, fields, state,
                    )  # fmt: skip
            else:
                erase(row, table, key, next_, previous, starts, fields, state)
            counters[LARGEST] = max(counters[LARGEST], state[SIZE])
            counters[SIZES] += state[SIZE]
            counters[CHANGES] += 1
        elif state[SIZE] == 0 and first == _PAST:
            break
        else:
            many = 0
            while many < ends.size and at < probe_keys.size and first >= head + ahead:
                row = probe_ids[at]
                buffer_ids[many] = row
                ends[many] = ends_in[row]
                others[many] = others_in[row]
                many += 1
                at, head = _seek(probe_keys, at + 1, probe_kind, 0)
            _scan(
                state[SIZE], key, starts, fields, many, buffer_ids, ends, others,
                selects, low, high, out_active, out_probe, counters,
            )  # fmt: skip
