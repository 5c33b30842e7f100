# SPDX-License-Identifier: Apache-2.0
"""The columns that a join reads, and the names of the columns of its result."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from intervalsweep._errors import ArgumentError, ColumnError
from intervalsweep.relations import suggestion

# The names of an interval's start and end, or the name of a struct with both.
Ends: TypeAlias = "tuple[str, str] | str"
# Equality keys: a name that both sides have, or a pair of the left and the right name.
Keys: TypeAlias = "Sequence[str | tuple[str, str]]"


class SparkColumns(tuple[str, ...]):
    """The columns of a DataFrame, found as Spark does: without case, and fields of structs."""

    frame: Any

    @staticmethod
    def of(frame: Any, names: Sequence[str] | None = None) -> SparkColumns:
        """Return the columns of a DataFrame; `names` replace them for a query over it."""
        found = SparkColumns(frame.columns if names is None else names)
        found.frame = frame
        return found

    def spelled(self, name: str, *, is_nested: bool) -> str | None:
        """Return a name as the DataFrame spells it; None if it has no such column.

        With `is_nested`, the name may also be the path to a field of a struct.
        """
        if name in self:
            return name
        is_exact = self.frame.sparkSession.conf.get("spark.sql.caseSensitive") == "true"
        found = [one for one in self if not is_exact and one.lower() == name.lower()]
        if len(found) == 1:
            return found[0]
        if not is_nested:
            return None
        kind, path = self.frame.schema, []
        for step in name.split("."):
            fields = getattr(kind, "fields", ())
            among = [f for f in fields if f.name == step] or [
                f for f in fields if not is_exact and f.name.lower() == step.lower()
            ]
            if len(among) != 1:
                return None
            path.append(among[0].name)
            kind = among[0].dataType
        return ".".join(path)


def spelled(side: str, known: Sequence[str], name: object, *, is_nested: bool = False) -> str:
    """Return the name of a column as its table spells it. A column of Spark gives its name.

    Raises ColumnError, with similar names, if the table has no such column.
    """
    wanted = name_of("A column", name)
    found: str | None = wanted
    if isinstance(known, SparkColumns):
        found = known.spelled(wanted, is_nested=is_nested)
        if found is None and isinstance(wanted, _OfColumn):  # the table's alias may come first
            found = known.spelled(wanted.rpartition(".")[2], is_nested=False)
    if found is None or not (isinstance(known, SparkColumns) or wanted in known):
        raise ColumnError(f"The {side} side has no column {wanted}. {suggestion(wanted, known)}")
    return found


class _OfColumn(str):
    """The name of a Column of Spark."""

    __slots__ = ()


def name_of(what: str, given: object) -> str:
    """Return the name that an argument gives: a text, or a column of Spark without a computation.

    Raises ArgumentError for anything else.
    """
    if isinstance(given, str):
        return given
    if _is_column(given):
        name = str(given)[len("Column<'") : -len("'>")]
        if re.fullmatch(r"[\w.` ]+", name):
            return _OfColumn(name.replace("`", ""))
    raise ArgumentError(
        f"{what} must be given by its name; got {given!r}. Add a computed column to the table "
        "first."
    )


def _is_column(given: object) -> bool:
    return type(given).__name__ == "Column" and str(given).startswith("Column<'")


def known_keys(
    left: Sequence[str],
    right: Sequence[str],
    by: Keys | str,
    sides: tuple[str, str] = ("left", "right"),
) -> list[tuple[str, str]]:
    """Return each key as a pair: its name on the left and its name on the right.

    Raises ColumnError if one of the sides does not have a key.
    """
    keys = []
    for key in _several(by):
        one, other = key if isinstance(key, tuple | list) and len(key) == 2 else (key, key)
        keys.append(
            (
                spelled(sides[0], left, name_of("A key in `by`", one)),
                spelled(sides[1], right, name_of("A key in `by`", other)),
            )
        )
    return keys


def _several(given: Any) -> list[Any]:
    """Return one or several names as a list."""
    if isinstance(given, str) or _is_column(given) or not isinstance(given, Iterable):
        return [given]
    return list(given)


def listed(by: str | Sequence[str]) -> list[str]:
    """Return one or several names as a list."""
    return [name_of("A key in `by`", one) for one in _several(by)]


def names_of(ends: Ends) -> tuple[str, ...]:
    """Return the names of an interval's columns: two columns, or one struct."""
    names = _several(ends)
    if len(names) > 2:
        raise ArgumentError(
            f"`on` must be a pair of columns, such as ('ts', 'te'), or one struct; got {ends!r}."
        )
    return tuple(name_of("An end in `on`", name) for name in names)


def not_a_struct(name: str, kind: object) -> str:
    """Return the message for a single name of an interval that is not a struct."""
    return (
        f"{name} is {kind}, not a struct of two fields. `on` names the columns of the interval, "
        "such as ('ts', 'te'); equality keys go into `by`."
    )


def check_columns(side: str, known: Sequence[str], *names: str) -> None:
    """Raise ColumnError, with similar names, if the side does not have one of the columns."""
    for name in names:
        spelled(side, known, name)


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
        found: list[Ends] = []
        for side, known in zip(sides, (left, right), strict=True):
            given = _or(on_side.get(f"{side}_on"), on)
            if are_instants:
                _check_instant(given, sides)
            names = [spelled(side, known, name, is_nested=True) for name in names_of(given)]
            found.append((names[0], names[1]) if len(names) == 2 else names[0])
        return SideNames(found[0], found[1], keys)


def _or(given: Any, default: Any) -> Any:
    return default if given is None else given


def _check_instant(given: object, sides: tuple[str, str]) -> None:
    if not isinstance(given, str) and not _is_column(given):
        left, right = sides
        raise ArgumentError(
            f"`on` must be one column of instants; got {given!r}. For a name on each side give "
            f"{left}_on and {right}_on."
        )


def join_type(how: object, known: Sequence[str]) -> Any:
    """Return a join type of `known`, given by any of PySpark's words for it.

    Raises ArgumentError for another word.

    >>> join_type("left_outer", ["inner", "left"])
    'left'
    """
    word = how.lower().replace("_", "") if isinstance(how, str) else ""
    word = {"outer": "full", "fullouter": "full"}.get(word, word)
    for suffix in ("outer", "semi", "anti"):
        if word in (f"left{suffix}", f"right{suffix}") and (suffix == "outer" or word[0] == "l"):
            word = word.removesuffix(suffix) if suffix == "outer" else suffix
    if word not in known:
        raise ArgumentError(f"`how` must be one of {', '.join(known)}; got {how!r}.")
    return word


def check_count(name: str, given: object) -> int:
    """Return an argument that counts rows.

    Raises ArgumentError if it is not a whole number of at least 1.
    """
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise ArgumentError(f"{name} must be a whole number of at least 1; got {given!r}.")
    return given


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
    names = [spelled("joined", known, name) for name in _several(columns)]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ColumnError(f"columns={names!r} has {min(twice)} twice: name each column once.")
    return names


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
