# SPDX-License-Identifier: Apache-2.0
"""Algorithm 6, the before join with a distance, as a hand-written loop (section 7.5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.papers.loops.active import MAP, SIZE, erase, gapless_map, insert
from benchmarks.papers.loops.iterators import END, START, Intervals
from benchmarks.papers.query import COUNTERS, PAIRS, SUM
from intervalsweep.kernels import Int64Array
from intervalsweep.kernels.jit import I32_IN, I64_IN, I64_OUT, INT, kernel

_PAST = np.iinfo(np.int64).max


@kernel(I64_IN, I32_IN, I64_IN, I64_IN, I32_IN, I64_IN, INT, MAP, I64_OUT, I64_OUT)
def _before(
    r_keys: Any, r_ids: Any, r_ts: Any, s_keys: Any, s_ids: Any, s_te: Any, delta: int,
    active_set: Any, buffer: Any, counters: Any,
) -> None:  # fmt: skip
    table, key, next_, previous, starts, fields, state = active_set
    opening = closing = at = 0
    while at < s_keys.size:
        while opening < r_keys.size and (r_keys[opening] & 1) != END:
            opening += 1
        while closing < r_keys.size and (r_keys[closing] & 1) != END:
            closing += 1
        while at < s_keys.size and (s_keys[at] & 1) != START:
            at += 1
        if at == s_keys.size:
            return
        opens = _PAST if opening == r_keys.size else r_keys[opening] + START - END
        closes = _PAST if closing == r_keys.size else r_keys[closing] + 2 * (delta + 1)
        if min(opens, closes) <= s_keys[at]:
            if opens < closes:
                row = r_ids[opening]
                insert(row, r_ts[row], 0, table, key, next_, previous, starts, fields, state)
                opening += 1
            else:
                erase(r_ids[closing], table, key, next_, previous, starts, fields, state)
                closing += 1
        else:
            size = state[SIZE]
            many = 0
            while at < s_keys.size and many < buffer.size and s_keys[at] < min(opens, closes):
                if s_keys[at] & 1 == START:
                    buffer[many] = s_te[s_ids[at]]
                    many += 1
                at += 1
            total = 0
            for k in range(many):
                end = buffer[k]
                for i in range(size):
                    total += starts[i] + end
            counters[PAIRS] += size * many
            counters[SUM] += total


def before(r: Intervals, s: Intervals, delta: int, room: int) -> Int64Array:
    """The join `0 <= s.ts - r.te <= delta`, as one function without an iterator."""
    counters = np.zeros(COUNTERS, np.int64)
    _before(
        *r.index, r.ts, *s.index, s.te, delta, gapless_map(r.size), np.empty(room, np.int64),
        counters,
    )  # fmt: skip
    return counters
