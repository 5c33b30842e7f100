# SPDX-License-Identifier: Apache-2.0
"""String keys of Arrow tables become numbers, however the strings are stored."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intervalsweep.arrow import tables
from intervalsweep.kernels.string_keys import first_rows
from support.joins.brute import REPEATABLE

texts = st.one_of(st.sampled_from(("", "a", "b", "ab", "ba", "chr1", "chr10")), st.text(max_size=3))
stretches = st.lists(st.tuples(texts, st.integers(0, 200)), max_size=8)


def in_chunks(values: list[str | None], cuts: list[int], kind: Any) -> Any:
    """A chunked array; its chunks are slices of one array, and some are empty."""
    whole = pa.array(values, kind)
    ends = [0, *sorted(min(cut, len(values)) for cut in cuts), len(values)]
    parts = [whole[a:b] for a, b in itertools.pairwise(ends)]
    return pa.chunked_array(parts, kind)


@given(
    stretches,
    stretches,
    st.lists(st.integers(0, 200), max_size=4),
    st.sampled_from((pa.string(), pa.large_string())),
    st.one_of(st.none(), st.integers(0, 40)),
)
@settings(REPEATABLE, max_examples=200)
def test_texts_that_come_in_stretches_are_numbered_as_if_each_were_looked_up(
    left: list[tuple[str, int]],
    right: list[tuple[str, int]],
    cuts: list[int],
    kind: Any,
    null: int | None,
) -> None:
    sides: list[list[str | None]] = [
        [t for t, n in side for _ in range(n)] for side in (left, right)
    ]
    if null is not None and null < len(sides[0]):
        sides[0][null] = None
    columns = [in_chunks(side, cuts, kind) for side in sides]
    found = tables.groups_of(*(pa.table({"k": column}) for column in columns), [("k", "k")])
    numbered = list(zip([*sides[0], *sides[1]], [*found[0], *found[1]], strict=True))
    assert all((text is None) == (number == -1) for text, number in numbered)
    known = {(text, number) for text, number in numbered if text is not None}
    assert len(known) == len({text for text, _ in known}) == len({number for _, number in known})


def test_texts_are_compared_with_the_one_before_where_few_differ() -> None:
    def firsts(values: list[str]) -> list[int] | None:
        _, offsets, data = pa.array(values, pa.large_string()).buffers()
        found = first_rows(np.frombuffer(offsets, np.int64), np.frombuffer(data, np.uint8))
        return None if found is None else found.tolist()

    assert firsts(["ab"] * 20 + ["ac"] * 10 + ["a"] * 20) == [0, 20, 30]
    assert firsts(["", "a", *[""] * 46]) == [0, 1, 2]
    assert firsts(["", "a", *[""] * 30]) is None, "one of 16 rows at most"
    assert firsts(["a"] * 16) == [0]
    assert firsts(["a"] * 15) is None
    assert firsts([]) is None


@pytest.mark.parametrize("other", ["cab", "acb", "abd", "ab", "abcd"])
def test_one_other_text_is_found_wherever_it_is(other: str) -> None:
    """The kernel compares rows in blocks of 64, so the test tries all positions."""
    for row in range(1, 199):
        texts = pa.array(["abc"] * row + [other] + ["abc"] * (199 - row))
        _, offsets, data = texts.buffers()
        found = first_rows(np.frombuffer(offsets, np.int32), np.frombuffer(data, np.uint8))
        assert found is not None
        assert found.tolist() == [0, row, row + 1]
