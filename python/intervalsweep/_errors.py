# SPDX-License-Identifier: Apache-2.0
"""The errors that IntervalSweep raises: what is wrong is in the class, the cure in the message.

IntervalSweepError
  SetupError            a package, Java, the jar or the session's extension is missing
  ArgumentError         a relation, a word or a number that means nothing; what is no table
  ColumnError           a column that is not there, or two of one name
  EndpointTypeError     types without a common order, or without a distance
  EndpointValueError    a value that the type of the endpoints does not hold
"""

from __future__ import annotations


class IntervalSweepError(Exception):
    """What IntervalSweep cannot do; the message says why and what to do."""


class SetupError(IntervalSweepError, RuntimeError):
    """Something has to be installed, built or registered first."""


class ArgumentError(IntervalSweepError, ValueError):
    """An argument means nothing: a relation, a word, a distance, or what is no table."""


class ColumnError(IntervalSweepError, LookupError):
    """A column is not there, or two columns would have one name."""


class EndpointTypeError(IntervalSweepError, TypeError):
    """The types of some endpoints or keys do not go together, or not with a parameter."""


class EndpointValueError(IntervalSweepError, ArithmeticError):
    """An endpoint, or a distance of two, is beyond the values of its type."""
