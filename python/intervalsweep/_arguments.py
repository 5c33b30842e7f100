# SPDX-License-Identifier: Apache-2.0
"""Gives a function a signature that is declared elsewhere, so that it is written only once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

_Declared = ParamSpec("_Declared")
_Result = TypeVar("_Result")


def has_signature_of(
    declared: Callable[_Declared, _Result],
) -> Callable[[Callable[..., Any]], Callable[_Declared, _Result]]:
    """Give a function the arguments and the defaults of another function.

    The function receives all arguments by name. It names those that it uses itself, without
    defaults, and receives the others as `**others`.
    """
    return lambda function: with_signature(function, signature_of(function, declared))


def with_signature(function: Callable[..., Any], signature: inspect.Signature) -> Any:
    """Return a function with this signature that passes all arguments to `function` by name."""

    @wraps(function)
    def implementation(*given: Any, **named: Any) -> Any:
        return function(**arguments(function.__name__, signature, given, named))

    shown: Any = implementation
    shown.__signature__ = signature
    types = {name: one.annotation for name, one in signature.parameters.items()}
    shown.__annotations__ = {**types, "return": signature.return_annotation}
    return implementation


def signature_of(
    function: Callable[..., Any], declared: Callable[..., Any], *, is_method: bool = False
) -> inspect.Signature:
    """Return the declared signature, with the types that the function itself states.

    With `is_method`, the first declared argument is `self`, which the function does not have.
    Raises TypeError if the function has an argument that is not declared, or lacks one.
    """
    parameters = [*inspect.signature(declared).parameters.values()][int(is_method) :]
    own = inspect.signature(function)
    own.bind(**{parameter.name: None for parameter in parameters})
    types = {
        one.name: one.annotation
        for one in own.parameters.values()
        if one.kind is not inspect.Parameter.VAR_KEYWORD
        and one.annotation is not inspect.Parameter.empty
    }
    return inspect.Signature(
        [one.replace(annotation=types.get(one.name, one.annotation)) for one in parameters],
        return_annotation=own.return_annotation,
    )


def arguments(
    name: str, signature: inspect.Signature, given: Sequence[Any], named: Mapping[str, Any]
) -> dict[str, Any]:
    """Return all arguments of a call by name, with defaults for those that are not given.

    Raises TypeError, as Python does, if the arguments do not fit the signature.
    """
    try:
        bound = signature.bind(*given, **named)
    except TypeError as error:
        text = f"{name}() {error}"
        raise TypeError(text) from None
    bound.apply_defaults()
    return bound.arguments
