# SPDX-License-Identifier: Apache-2.0
"""The sweeps and encodings of `tests/vectors`, which Scala's `VectorsSuite` reads, too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from intervalsweep import IntervalSweepError
from intervalsweep.arrow.encoding import Encoding
from intervalsweep.arrow.search import plan
from intervalsweep.arrow.search.matches import Matches
from intervalsweep.kernels import Bounds
from intervalsweep.relations import relation_named
from support.joins import brute, oracle

VECTORS = Path(__file__).resolve().parents[1] / "vectors"
SWEEPS = json.loads((VECTORS / "sweeps.json").read_bytes())
ENCODINGS = json.loads((VECTORS / "encodings.json").read_bytes())
ENDS = ("ts", "te")
LEAST, LARGEST = -(2**63), 2**63 - 1
TYPES = {
    "BOOLEAN": pa.bool_(),
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us", "UTC"),
    "TIMESTAMP_NTZ": pa.timestamp("us"),
    "DECIMAL(5,2)": pa.decimal128(5, 2),
    "DECIMAL(18,0)": pa.decimal128(18, 0),
    "DECIMAL(18,2)": pa.decimal128(18, 2),
    "DECIMAL(18,18)": pa.decimal128(18, 18),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
}


def column(kind: str, *texts: str) -> Any:
    """Values of a SQL type, given as text."""
    if kind.startswith("DECIMAL"):
        return pa.array(map(Decimal, texts), TYPES[kind])
    if kind in {"FLOAT", "DOUBLE"}:
        return pa.array(map(float, texts), pa.float64()).cast(TYPES[kind])
    if kind == "DATE" or kind.startswith("TIMESTAMP"):
        values = np.array(texts, "datetime64[D]" if kind == "DATE" else "datetime64[us]")
        stored = values.astype(np.int32 if kind == "DATE" else np.int64)
        return pa.array(stored).cast(TYPES[kind])
    return pa.array(map(int, texts), TYPES[kind])


def distance(text: str) -> Any:
    """A number, or a length of time such as `1.5 SECOND`."""
    number, *unit = text.split(" ")
    if not unit:
        return Decimal(number)
    seconds = {"SECOND": 1, "HOUR": 3600, "DAY": 86400}[unit[0]]
    return timedelta(microseconds=int(Decimal(number) * seconds * 1_000_000))


def limits(case: Any) -> Iterator[dict[str, int]]:
    """The parameters of a case with each of the distances."""
    for values in product(SWEEPS["distances"], repeat=len(case["parameters"])):
        yield dict(zip(case["parameters"], values, strict=True))


def inclusive(bounds: list[str], box: tuple[int, int], given: dict[str, int]) -> tuple[int, int]:
    """The least and the largest value that a box of the file admits on an axis."""
    low, high = LEAST, LARGEST
    for text in bounds:
        operator, end, *moved = text.split(" ")
        value = box[ENDS.index(end[2:])]
        if moved:
            value += given[moved[1]] * (1 if moved[0] == "+" else -1)
        if operator.startswith(">"):
            low = max(low, value + (operator == ">"))
        else:
            high = min(high, value - (operator == "<"))
    return low, high


def of_box(bounds: Bounds, i: int) -> tuple[int, int]:
    """The same for computed bounds."""
    low = LEAST if bounds.lower is None else int(bounds.lower[i]) + bounds.lower_strict
    high = LARGEST if bounds.upper is None else int(bounds.upper[i]) - bounds.upper_strict
    return low, high


def written(sweep: plan.Sweep) -> Any:
    """A sweep as the file has it."""

    def bound(term: plan.Term, operator: str, sign: str) -> str:
        moved = "" if term.parameter is None else f" {sign} {term.parameter}"
        return f"{operator}{'' if term.strict else '='} {term.endpoint}{moved}"

    axes = [sweep.lead, *([sweep.second] if sweep.second else [])]
    return {
        "boxes": sweep.boxes,
        "axes": [
            [
                axis.point,
                *(bound(term, ">", "-") for term in axis.lower),
                *(bound(term, "<", "+") for term in axis.upper),
            ]
            for axis in axes
        ],
    }


def test_sweeps_are_those_of_the_file() -> None:
    cases = {(c["relation"], *c["parameters"]): c["sweeps"] for c in SWEEPS["cases"]}
    variants = oracle.variants()
    assert len(cases) == len(variants) == 42
    for variant in variants:
        found = plan.sweeps(relation_named(variant.relation.name), variant.parameters)
        wanted = cases[(variant.relation.name, *variant.parameters)]
        assert [*map(written, found)] == wanted, str(variant)


def test_boxes_have_the_bounds_of_the_file() -> None:
    boxes = [tuple(box) for box in SWEEPS["boxes"]]
    table = brute.table(boxes)
    compared = 0
    for case in SWEEPS["cases"]:
        for given in limits(case):
            found = Matches.of(table, table, case["relation"], on=ENDS, **given)
            for sweep, wanted in zip(found._sweeps(), case["sweeps"], strict=True):
                lead, second, some = found._bounds(sweep, found.sides[sweep.boxes])
                axes = [lead, *([second] if second else [])]
                kept = np.cumsum(some) - 1  # the places of the boxes that may contain a point
                for i, box in enumerate(boxes):
                    ends = [inclusive(bounds, box, given) for _, *bounds in wanted["axes"]]
                    if not some[i]:
                        assert any(low > high for low, high in ends), (case, given, box)
                        continue
                    for bounds, (low, high) in zip(axes, ends, strict=True):
                        computed = of_box(bounds, kept[i])
                        is_empty = low > high and computed[0] > computed[1]
                        assert is_empty or computed == (low, high), (case, given, box)
                        compared += not is_empty
    assert compared > 900


def test_sweeps_of_the_file_find_each_match_once() -> None:
    """The file itself is right: compared with the formulas, for all small intervals."""
    intervals = [(ts, te) for ts in range(4) for te in range(4)]
    total = 0
    for case in SWEEPS["cases"]:
        for values in product((0, 1, 2), repeat=len(case["parameters"])):
            given = dict(zip(case["parameters"], values, strict=True))
            for r, s in product(intervals, repeat=2):
                matches = sum(is_in(sweep, r, s, given) for sweep in case["sweeps"])
                assert matches == brute.holds(case["relation"], r, s, **given), (case, r, s)
                total += matches
    assert total > 1000


def is_in(sweep: Any, r: tuple[int, int], s: tuple[int, int], given: dict[str, int]) -> bool:
    box, point = (r, s) if sweep["boxes"] == "r" else (s, r)
    for end, *bounds in sweep["axes"]:
        low, high = inclusive(bounds, box, given)
        if not low <= point[ENDS.index(end[2:])] <= high:
            return False
    return True


def test_endpoints_have_the_codes_of_the_file() -> None:
    for vector in ENCODINGS["types"]:
        kind = vector["type"]
        texts, codes = zip(*vector["codes"], strict=True)
        values = column(kind, *texts)
        encoding = Encoding([values.type])
        found, valid = encoding.encode(values)
        assert valid.all()
        assert found.tolist() == [*codes], kind
        assert found.tolist() == sorted(codes), kind
        again, _ = encoding.encode(encoding.decode(found, valid))
        assert again.tolist() == [*codes], kind


def test_other_units_have_the_same_codes_as_microseconds() -> None:
    compared = 0
    for vector in ENCODINGS["types"]:
        if not vector["type"].startswith("TIMESTAMP"):
            continue
        micros, zone = TYPES[vector["type"]], TYPES[vector["type"]].tz
        for text, code in vector["codes"]:
            values = column(vector["type"], text)
            for unit, divisor in (("s", 1_000_000), ("ms", 1_000)):
                if code % divisor == 0:
                    coarse = values.cast(pa.timestamp(unit, zone))
                    (alone,), _ = Encoding([coarse.type]).encode(coarse)
                    (both,), _ = Encoding([coarse.type, micros]).encode(coarse)
                    assert (alone * divisor, both) == (code, code)
                    compared += 1
            if LEAST <= code * 1_000 <= LARGEST:
                fine = pa.timestamp("ns", zone)
                (finer,), _ = Encoding([micros, fine]).encode(values)
                assert finer == code * 1_000
                compared += 1
    assert compared > 10


def test_other_types_have_no_codes() -> None:
    for kind in ENCODINGS["unsupported"]:
        with pytest.raises(IntervalSweepError, match="no common order"):
            Encoding([TYPES[kind]])


def test_distances_are_added_as_in_the_file() -> None:
    for vector in ENCODINGS["parameters"]:
        value = column(vector["type"], vector["value"])
        table = pa.table({"ts": value, "te": value})
        delta = distance(vector["distance"])
        for relation, code in (("ISEQL_BEFORE", "latest"), ("ISEQL_AFTER", "earliest")):
            found = Matches.of(table, table, relation, on=ENDS, delta=delta)
            (sweep,) = found._sweeps()
            lead, _, some = found._bounds(sweep, found.sides["r"])
            bound = lead.upper if code == "latest" else lead.lower
            assert some.all()
            assert bound is not None
            assert bound.tolist() == [vector[code]], vector


def test_negative_distances_are_refused() -> None:
    for vector in ENCODINGS["negative"]:
        encoding = Encoding([TYPES[vector["type"]]])
        with pytest.raises(IntervalSweepError, match="must not be negative"):
            encoding.limit("delta", distance(vector["distance"]))
