# SPDX-License-Identifier: Apache-2.0
"""Compiled loops that find runs. They trust their arguments: see `runs`.

    bounds   what the bounds of a box hold
    lead     boxes and points -> runs on the lead axis
    second   runs -> those of their points that the second axis leaves, as runs
    sums     the same, counted and added up instead of enumerated

numba checks no bounds: a wrong shape or dtype is a crash without a traceback.
"""
