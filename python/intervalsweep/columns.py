# SPDX-License-Identifier: Apache-2.0
"""Which columns a join reads, and how those of its result are called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from intervalsweep._errors import ArgumentError, ColumnError
from intervalsweep.relations import suggestion

# The names of an interval's start and end, or that of a struct of the two.
Ends: TypeAlias = "tuple[str, str] | str"
# Equality keys: a name that both sides have, or the name on either side.
Keys: TypeAlias = "Sequence[str | tuple[str, str]]"


def key_pairs(by: Keys | str) -> list[tuple[str, str]]:
    """Return the names of each key, on the left and on the right."""
    given = [by] if isinstance(by, str) else by
    return [(key, key) if isinstance(key, str) else (key[0], key[1]) for key in given]


def listed(by: str | Sequence[str]) -> list[str]:
    """Return the names of keys that both sides have, of one or several."""
    return [by] if isinstance(by, str) else list(by)


def names_of(ends: Ends) -> tuple[str, ...]:
    """Return the columns that hold an interval: two, or one struct."""
    return (ends,) if isinstance(ends, str) else tuple(ends)


def check_columns(side: str, known: Sequence[str], *names: str) -> None:
    """Raise ColumnError, with the near names, for one that the side does not have."""
    for name in names:
        if name not in known:
            raise ColumnError(f"The {side} side has no column {name}{suggestion(name, known)}")


def check_choice(what: str, value: str, known: Iterable[str]) -> None:
    """Raise ArgumentError for a word that is none of the known ones."""
    if value not in known:
        raise ArgumentError(f"{what}={value!r} is unknown{suggestion(value, known)}")


def chosen(columns: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """Return the wanted columns of a result, of None all.

    Raises ColumnError for one that there is not, or twice.
    """
    if columns is None:
        return list(known)
    check_columns("joined", known, *columns)
    twice = {name for name in columns if list(columns).count(name) > 1}
    if twice:
        raise ColumnError(f"columns={list(columns)!r} has {min(twice)} twice.")
    return list(columns)


@dataclass(frozen=True)
class Naming:
    """The columns of a join's result: all of the left side, then those of the right side.

    A key with one name on both sides is there once. A column of the right side whose name the left
    side has too gets the suffix. Upper and lower case make no difference between names.
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
        left: Sequence[str], right: Sequence[str], keys: Iterable[tuple[str, str]], suffix: str
    ) -> Naming:
        """Raises ColumnError if two columns of the result would have one name."""
        shared = tuple(one for one, other in keys if one == other)
        taken = {name.lower() for name in left}
        renamed = {
            name: name + suffix if name.lower() in taken else name
            for name in right
            if name not in shared
        }
        seen: set[str] = set()
        for name in (*left, *renamed.values()):
            if name.lower() in seen:
                raise ColumnError(
                    f"Two columns of the result would be called {name}: choose another suffix than "
                    f"{suffix!r}, or rename the column."
                )
            seen.add(name.lower())
        return Naming(tuple(left), shared, renamed)
