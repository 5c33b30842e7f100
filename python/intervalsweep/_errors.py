# SPDX-License-Identifier: Apache-2.0
"""The errors that IntervalSweep raises. The message says what is wrong and how to fix it.

IntervalSweepError
  SetupError            a package, Java, the jar or the session's extension is missing
  ArgumentError         an unknown relation or word, an invalid number, or an input that is no table
  ColumnError           a column does not exist, or two columns have the same name
  EndpointTypeError     types have no common order, or a distance does not fit the type
  EndpointValueError    a value is outside the range of the endpoints' type
"""

from __future__ import annotations


class IntervalSweepError(Exception):
    """The base class of all errors; the message says what is wrong and how to fix it."""


class SetupError(IntervalSweepError, RuntimeError):
    """Something must be installed, built or registered first."""


class ArgumentError(IntervalSweepError, ValueError):
    """An argument is invalid: an unknown relation or word, a bad distance, or not a table."""


class ColumnError(IntervalSweepError, LookupError):
    """A column does not exist, or two columns would have the same name."""


class EndpointTypeError(IntervalSweepError, TypeError):
    """Endpoints or keys have no common type, or a distance does not fit their type."""


class EndpointValueError(IntervalSweepError, ArithmeticError):
    """An endpoint, or the distance between two, is outside the range of its type."""
