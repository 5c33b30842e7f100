# SPDX-License-Identifier: Apache-2.0
"""Measures joins by two inequalities in a window of rows, as in the SPO-Join paper."""
