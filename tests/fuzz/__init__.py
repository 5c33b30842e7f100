# SPDX-License-Identifier: Apache-2.0
"""Random queries, each compared with an oracle: joins, histories, and streams.

command.py   the command line: seed, number of queries, folder for failures
loop.py      runs cases until enough queries have run, and counts them
shrink.py    shrinks a failing case
settings.py  settings that queries run with
"""
