# SPDX-License-Identifier: Apache-2.0
"""Keys of Arrow tables become numbers, however the keys are stored."""

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
K = [("k", "k")]
LARGEST = 2**63 - 1
whole_numbers = st.one_of(
    st.none(), st.integers(-3, 3), st.sampled_from((-129, -128, 127, 255, -LARGEST - 1, LARGEST))
)
WHOLE = [
    (pa.int8(), pa.int8()),
    (pa.int8(), pa.int64()),
    (pa.uint8(), pa.int32()),
    (pa.int64(), pa.int64()),
    (pa.uint64(), pa.uint64()),
]
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
    found = tables.groups_of(*(pa.table({"k": in_chunks(side, cuts, kind)}) for side in sides), K)
    check_numbers([*sides[0], *sides[1]], [*found[0], *found[1]])


def check_numbers(keys: list[Any], numbers: list[int]) -> None:
    """Equal keys have equal numbers, and NULL has -1."""
    numbered = list(zip(keys, numbers, strict=True))
    assert all((key is None) == (number == -1) for key, number in numbered)
    known = {(key, number) for key, number in numbered if key is not None}
    assert len(known) == len({key for key, _ in known}) == len({number for _, number in known})


@given(
    st.sampled_from(WHOLE),
    st.lists(whole_numbers, max_size=20),
    st.lists(whole_numbers, max_size=20),
    st.lists(st.integers(0, 20), max_size=4),
)
@settings(REPEATABLE, max_examples=300)
def test_whole_numbers(
    kinds: tuple[Any, Any], left: list[int | None], right: list[int | None], cuts: list[int]
) -> None:
    """Numbers that are close together need no dictionary."""
    sides = [
        [n if n is None or fits(n, kind) else None for n in side]
        for side, kind in zip((left, right), kinds, strict=True)
    ]
    columns = [in_chunks(side, cuts, kind) for side, kind in zip(sides, kinds, strict=True)]
    found = tables.groups_of(*(pa.table({"k": column}) for column in columns), K)
    check_numbers([*sides[0], *sides[1]], [*found[0], *found[1]])


def fits(number: int, kind: Any) -> bool:
    """Whether a type of whole numbers has this number."""
    try:
        pa.scalar(number, kind)
    except (OverflowError, pa.ArrowInvalid):
        return False
    return True


@given(st.lists(st.tuples(*[whole_numbers] * 3), max_size=20))
@settings(REPEATABLE, max_examples=200)
def test_several_keys(rows: list[tuple[int | None, ...]]) -> None:
    names = ["a", "b", "c"]
    columns = zip(*rows, strict=True) if rows else [[]] * 3
    table = pa.table([pa.array(column, pa.int64()) for column in columns], names)
    found, _ = tables.groups_of(table, table.slice(0, 0), [(name, name) for name in names])
    check_numbers([None if None in row else row for row in rows], found.tolist())


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
