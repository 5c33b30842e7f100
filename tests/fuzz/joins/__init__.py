# SPDX-License-Identifier: Apache-2.0
"""Random queries, run with the extension and by Spark's own plan: the rows must be equal.

cases.py       a seed -> tables, settings and queries
endpoints.py   endpoint types, their arithmetic, and tables of them
conditions.py  conditions between two sides, in many spellings
queries.py     shapes of queries around a condition
above.py       operators above a join: limits, orders, windows, set operations, joins, caches
compare.py     runs a case both ways
smaller.py     smaller versions of a failing case
script.py      writes a failing case as a self-contained program
"""
