# SPDX-License-Identifier: Apache-2.0
"""Random conditions between two sides, in many spellings."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from fuzz.joins.endpoints import INTEGERS, Kind
from support.joins import oracle

OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "<>", "<>": "="}
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
NAMES = list(oracle.RELATIONS)


@dataclass(frozen=True)
class Predicate:
    """A predicate: its text, the text for the oracle, and simpler predicates for shrinking."""

    called: str
    written: str
    simpler: tuple[Predicate, ...] = ()


def plain(text: str, *simpler: Predicate) -> Predicate:
    return Predicate(text, text, simpler)


def column_limit(column: str) -> oracle.Limit:
    """A parameter that is a column: it differs between rows, and may be NULL."""
    wide = "CAST({later} AS DECIMAL(38, 0)) - CAST({earlier} AS DECIMAL(38, 0))"
    return oracle.Limit(column, f"{wide} <= {column}")


@dataclass(frozen=True)
class Scope:
    """The expressions that conditions of a case may use."""

    kinds: dict[str, Kind]  # the endpoint type by alias
    keys: dict[str, str]  # the type of k1 by alias
    arithmetic: bool  # True if offsets are safe, or errors are expected
    calendar: bool  # True if months may be added
    written: bool  # True if a parameter can be written out in this time zone


class Conditions:
    """Conditions between the aliases `a` and `b`."""

    def __init__(self, rng: random.Random, scope: Scope, a: str, b: str):
        self.rng, self.scope, self.a, self.b = rng, scope, a, b
        self.mixed = scope.kinds[a] != scope.kinds[b]

    def all(self) -> tuple[Predicate, ...]:
        """The conjuncts of a join."""
        rng = self.rng
        found = [self.interval()]
        if rng.random() < 0.15:
            found.append(self.interval())
        if rng.random() < 0.5:
            found.append(self.key())
            if rng.random() < 0.3:
                found.append(plain(f"{self.a}.k2 {rng.choice(('=', '<=>'))} {self.b}.k2"))
        if rng.random() < 0.3:
            found.append(self.residual())
        if rng.random() < 0.25:
            found.append(self.one_sided(rng.choice((self.a, self.b))))
        if rng.random() < 0.02:
            found.append(plain(rng.choice(("1 > 2", "true", "CAST(NULL AS BOOLEAN)"))))
        if rng.random() < 0.06:
            found[0] = self.either(found[0], rng.choice((self.residual, self.interval, self.key))())
        rng.shuffle(found)
        return tuple(found)

    def interval(self) -> Predicate:
        return self.relation() if self.rng.random() < 0.55 else self.inequalities()

    def either(self, one: Predicate, other: Predicate) -> Predicate:
        return Predicate(
            f"({one.called} OR {other.called})", f"({one.written} OR {other.written})", (one, other)
        )

    def relation(self) -> Predicate:
        """A call of a random relation; the oracle evaluates its formula."""
        rng, kind = self.rng, self.scope.kinds[self.a]
        name = rng.choice(NAMES)
        a, b = (self.a, self.b) if rng.random() < 0.7 else (self.b, self.a)
        r, s = (self.ends(side) for side in (a, b))
        limits = kind.endpoint.limits + (kind.endpoint.calendar if self.scope.calendar else ())
        chosen = {}
        if limits and not self.mixed:
            for parameter in oracle.RELATIONS[name].parameters:
                if rng.random() < 0.6:
                    chosen[parameter] = rng.choice(limits)
                if kind.arithmetic is INTEGERS and rng.random() < 0.15:
                    chosen[parameter] = column_limit(f"{rng.choice((a, b))}.x")
        style = rng.choice(("named", "positional", "structs"))
        called = oracle.call(name, r, s, **chosen, style=style)
        if chosen and not self.scope.written:
            return plain(called, plain(oracle.call(name, r, s)))
        simpler = Predicate(oracle.call(name, r, s), oracle.formula(name, r, s))
        written = oracle.formula(name, r, s, **chosen)
        return Predicate(called, written, (simpler,) if called != simpler.called else ())

    def ends(self, side: str) -> tuple[str, str]:
        ts, te = f"{side}.ts", f"{side}.te"
        return self.rng.choice(
            (*[(ts, te)] * 9, (ts, ts), (f"least({ts}, {te})", f"greatest({ts}, {te})"))
        )

    def inequalities(self) -> Predicate:
        """One to three comparisons of endpoints of the two sides."""
        rng = self.rng
        if rng.random() < 0.2:
            return self.between()
        found = [self.comparison(rng.choice(("<", "<=", ">", ">=")))]
        if rng.random() < 0.75:
            found.append(self.comparison(rng.choice(("<", "<=", ">", ">=", "<", "<=", ">", "="))))
        if rng.random() < 0.2:
            found.append(self.comparison(rng.choice(("<", "<=", ">", ">="))))
        if len(found) == 1:
            return found[0]
        if rng.random() < 0.15:
            negated = " OR ".join(f"NOT ({p.called})" for p in found)
            return plain(f"NOT ({negated})", *found)
        return plain("(" + " AND ".join(p.called for p in found) + ")", *found)

    def comparison(self, op: str) -> Predicate:
        rng = self.rng
        if self.scope.arithmetic and not self.mixed and rng.random() < 0.15:
            later, earlier = rng.sample((self.end(self.a), self.end(self.b)), 2)
            forms = self.scope.kinds[self.a].arithmetic.differences
            return plain(rng.choice(forms).format(later=later, earlier=earlier))
        x, y = self.point(self.a), self.point(self.b)
        spellings: list[Callable[[], str]] = [
            lambda: f"{x} {op} {y}",
            lambda: f"{x} {op} {y}",
            lambda: f"{y} {FLIPPED[op]} {x}",
            lambda: f"NOT ({x} {OPPOSITE[op]} {y})",
            lambda: f"NOT {y} {FLIPPED[OPPOSITE[op]]} {x}",
            lambda: f"({x} {op} {y}) IS TRUE",
            lambda: f"({x} {op} {y}) = true",
        ]
        simpler = plain(f"{self.a}.ts {op} {self.b}.ts")
        text = rng.choice(spellings)()
        if rng.random() < 0.12:
            text = self.waived(text, rng.choice((x, y)))
        return plain(text, *([simpler] if text != simpler.called else []))

    def waived(self, comparison: str, end: str) -> str:
        """The comparison or an exception, such as an end that is NULL, in some spelling."""
        exception = self.rng.choice((f"{end} IS NULL", f"{end} IS NULL", f"{self.a}.x = 1"))
        return self.rng.choice(
            (
                *(f"({comparison} OR {exception})", f"({exception} OR {comparison})"),
                f"CASE WHEN {exception} THEN true ELSE {comparison} END",
                f"NOT (NOT {comparison} AND NOT coalesce({exception}, false))",
                *(f"coalesce({comparison}, true)", f"({comparison}) IS NOT FALSE"),
            )
        )

    def between(self) -> Predicate:
        rng = self.rng
        a, b = rng.sample((self.a, self.b), 2)
        x = self.end(a)
        if self.scope.arithmetic and rng.random() < 0.5:
            low, high = (self.offset(b, f"{b}.ts") for _ in "12")
        else:
            low, high = f"{b}.ts", f"{b}.te"
        negated = "NOT " if rng.random() < 0.1 else ""
        return plain(f"({x} {negated}BETWEEN {low} AND {high})", plain(f"{x} >= {b}.ts"))

    def end(self, side: str) -> str:
        return f"{side}.{self.rng.choice(('ts', 'te'))}"

    def point(self, side: str) -> str:
        """An expression of one side."""
        rng, end = self.rng, self.end(side)
        if rng.random() < 0.6:
            return end
        if self.scope.arithmetic and rng.random() < 0.6:
            return self.offset(side, end)
        return rng.choice(
            (
                f"greatest({side}.ts, {side}.te)",
                f"coalesce({side}.te, {side}.ts)",
                f"CASE WHEN {side}.x = 1 THEN {side}.ts ELSE {side}.te END",
                f"nullif({end}, {side}.ts)",
            )
        )

    def offset(self, side: str, end: str) -> str:
        return self.rng.choice(self.scope.kinds[side].arithmetic.offsets).format(end)

    def key(self) -> Predicate:
        rng, a, b = self.rng, self.a, self.b
        of = {self.scope.keys[a], self.scope.keys[b]}
        if rng.random() < 0.15:
            return plain(f"{a}.x = {b}.x - 1")
        if len(of) > 1 and not of <= {"INT", "BIGINT", "DOUBLE"}:
            return plain(f"{a}.x = {b}.x")
        return plain(f"{a}.k1 {rng.choice(('=', '=', '<=>'))} {b}.k1", plain(f"{a}.x = {b}.x"))

    def residual(self) -> Predicate:
        a, b = self.a, self.b
        return plain(
            self.rng.choice(
                (
                    *(f"{a}.x <> {b}.x", f"({a}.x < {b}.x OR {b}.k2 = 'a')", f"{a}.id <> {b}.id"),
                    *(f"coalesce({a}.x = {b}.x, true)", f"{a}.x + {b}.x > 2", f"{a}.y < {b}.y"),
                    *(f"concat({a}.k2, {b}.k2) LIKE '%a%'", f"({a}.k1 IS NULL OR {b}.x > 0)"),
                    *(f"{a}.x IN ({b}.x, 2)", f"if({a}.x > {b}.x, {a}.k2 = 'a', {b}.k2 = 'b')"),
                )
            )
        )

    def one_sided(self, side: str) -> Predicate:
        forms = ("{0}.x > 1", "{0}.x IS NOT NULL", "{0}.k2 = 'a'", "{0}.ts < {0}.te", "{0}.x = 1")
        return plain(self.rng.choice((*forms, "({0}.x > 2 OR {0}.k2 IS NULL)")).format(side))
