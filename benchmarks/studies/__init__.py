# SPDX-License-Identifier: Apache-2.0
"""Studies of one question each: growth, scaling, costs, overheads. Each is a program."""
