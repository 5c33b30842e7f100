# SPDX-License-Identifier: Apache-2.0
"""A typed function for each column function of SQL: relations, and event times of streams.

    from intervalsweep import functions as isf

    r.join(s, isf.allen_overlaps(r.ts, r.te, s.ts, s.te))
    r.join(s, isf.iseql_before(r.period, s.period, delta=timedelta(hours=1)))

Intervals are half-open: ``[ts, te)`` includes its start and excludes its end. ``r`` is the left
operand and ``s`` the right operand. A function is equivalent to its formula in SQL's three-valued
logic, also for empty and reversed intervals. If a NULL endpoint leaves the formula undecided, the
function returns NULL, and the rows do not match. Each drawing shows the intervals of the example.

The operands are four endpoints or two structs with two fields: columns or column names. Their types
must have a common type, as for ``greatest``. ``delta`` and ``epsilon`` are upper limits on a
distance. A limit is a number between numbers, a whole number of days or a ``timedelta`` of days
between dates, and a ``timedelta`` between timestamps. A column or a column name is also allowed.
None means no limit, and a negative constant is an error.

The session needs the extension: call ``intervalsweep.configure`` or ``intervalsweep.register``. For
Spark Connect, the server needs the extension.
"""

from intervalsweep._sql.relation_functions import relation_functions
from intervalsweep._sql.stream_functions import STREAM_FUNCTIONS

__all__: list[str] = []

# Type checkers and editors read functions.pyi instead, which tools/generate.py writes.
for _function in (*relation_functions(), *STREAM_FUNCTIONS):
    _function.__module__ = __name__
    globals()[_function.__name__] = _function
    __all__ += [_function.__name__]
__all__.sort()
