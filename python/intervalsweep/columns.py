# SPDX-License-Identifier: Apache-2.0
"""The columns that a join reads, and the names of the columns of its result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from intervalsweep._errors import ArgumentError, ColumnError
from intervalsweep.relations import suggestion

# The names of an interval's start and end, or the name of a struct with both.
Ends: TypeAlias = "tuple[str, str] | str"
# Equality keys: a name that both sides have, or a pair of the left and the right name.
Keys: TypeAlias = "Sequence[str | tuple[str, str]]"


def known_keys(
    left: Sequence[str],
    right: Sequence[str],
    by: Keys | str,
    sides: tuple[str, str] = ("left", "right"),
) -> list[tuple[str, str]]:
    """Return each key as a pair: its name on the left and its name on the right.

    Raises ColumnError if one of the sides does not have a key.
    """
    given = [by] if isinstance(by, str) else by
    keys = [(key, key) if isinstance(key, str) else (key[0], key[1]) for key in given]
    check_columns(sides[0], left, *(one for one, _ in keys))
    check_columns(sides[1], right, *(other for _, other in keys))
    return keys


def listed(by: str | Sequence[str]) -> list[str]:
    """Return one or several names as a list."""
    return [by] if isinstance(by, str) else list(by)


def names_of(ends: Ends) -> tuple[str, ...]:
    """Return the names of an interval's columns: two columns, or one struct."""
    return (ends,) if isinstance(ends, str) else tuple(ends)


def check_columns(side: str, known: Sequence[str], *names: str) -> None:
    """Raise ColumnError, with similar names, if the side does not have one of the columns."""
    for name in names:
        if name not in known:
            raise ColumnError(f"The {side} side has no column {name}. {suggestion(name, known)}")


def check_unique(names: Sequence[str]) -> None:
    """Raise ColumnError if two columns of a result have the same name, ignoring case."""
    Naming.of(names, [], [], "")


@dataclass(frozen=True)
class SideNames:
    """The names of the endpoints of both sides, or of their instants, and the equality keys."""

    left_on: Ends
    right_on: Ends
    keys: list[tuple[str, str]]

    @property
    def instants(self) -> tuple[str, str]:
        """The name of the column of instants of either side."""
        return str(self.left_on), str(self.right_on)

    @staticmethod
    def of(
        left: Sequence[str],
        right: Sequence[str],
        sides: tuple[str, str] = ("left", "right"),
        *,
        on: Ends,
        by: Keys | str = (),
        are_instants: bool = False,
        **on_side: Ends | None,
    ) -> SideNames:
        """Read the arguments that all functions of two tables have.

        `left` and `right` are the columns of the sides, and `on_side` has the arguments that
        replace `on` for one side, such as `left_on`. With `are_instants`, each of them is the name
        of one column. Raises ColumnError for an unknown column.
        """
        keys = known_keys(left, right, by, sides)
        left_on, right_on = (on_side.get(f"{side}_on") or on for side in sides)
        if are_instants:
            left_on, right_on = str(left_on), str(right_on)
        check_columns(sides[0], left, *names_of(left_on))
        check_columns(sides[1], right, *names_of(right_on))
        return SideNames(left_on, right_on, keys)


def check_choice(what: str, value: str, known: Iterable[str]) -> None:
    """Raise ArgumentError if the value of an argument is not one of the known words."""
    if value not in known:
        raise ArgumentError(f"`{what}` must be one of {', '.join(known)}; got {value!r}.")


def chosen(columns: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """Return the wanted columns of a result; None means all known columns.

    Raises ColumnError if a column is unknown or is named twice.
    """
    if columns is None:
        return list(known)
    check_columns("joined", known, *columns)
    twice = {name for name in columns if list(columns).count(name) > 1}
    if twice:
        raise ColumnError(
            f"columns={list(columns)!r} has {min(twice)} twice: name each column once."
        )
    return list(columns)


@dataclass(frozen=True)
class Naming:
    """The columns of a join's result: all of the left side, then those of the right side.

    A key with the same name on both sides appears once. A right column gets the suffix if the left
    side has a column with that name, or a column with that name is added. Names are compared
    without case.

    `right` maps the right columns to their names in the result, without the shared keys.
    """

    left: tuple[str, ...]
    shared_keys: tuple[str, ...]
    right: dict[str, str]

    @property
    def names(self) -> list[str]:
        """All columns of the result, in order."""
        return [*self.left, *self.right.values()]

    @staticmethod
    def of(
        left: Sequence[str],
        right: Sequence[str],
        keys: Iterable[tuple[str, str]],
        suffix: str,
        added: Sequence[str] = (),
    ) -> Naming:
        """Name the columns of a result that also gets the columns `added`.

        Raises ColumnError if two columns of the result would have the same name.
        """
        shared = tuple(one for one, other in keys if one == other)
        taken = {name.lower() for name in (*left, *added)}
        renamed = {
            name: name + suffix if name.lower() in taken else name
            for name in right
            if name not in shared
        }
        seen: set[str] = set()
        for name in (*left, *added, *renamed.values()):
            if name.lower() in seen:
                raise ColumnError(
                    f"Two columns of the result would be called {name}: choose another suffix than "
                    f"{suffix!r}, or rename the column."
                )
            seen.add(name.lower())
        return Naming(tuple(left), shared, renamed)
