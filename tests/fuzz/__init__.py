# SPDX-License-Identifier: Apache-2.0
"""Random queries, each next to an oracle: joins, histories, and streams of both.

command.py   the command line of each: seed, how many queries, where failures are written
loop.py      runs cases until enough queries have run, and counts them
shrink.py    makes a case that fails small
settings.py  settings that queries run with
"""
