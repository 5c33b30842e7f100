# SPDX-License-Identifier: Apache-2.0
"""Compiled loops of the papers' algorithms, and of the algorithms they are compared with."""
