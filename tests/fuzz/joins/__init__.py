# SPDX-License-Identifier: Apache-2.0
"""Random queries, by a sweep and by Spark's own plan: the rows have to be the same.

cases.py       a seed -> tables, settings and queries
endpoints.py   types of endpoints, their arithmetic, and tables of them
conditions.py  conditions between two sides, in many spellings
queries.py     shapes of queries around a condition
above.py       what stands above a join: limits, orders, windows, set operations, joins, caches
compare.py     runs a case both ways
smaller.py     smaller cases, of one that fails
script.py      writes it down as a program that stands alone
"""
