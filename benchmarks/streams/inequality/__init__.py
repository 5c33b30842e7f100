# SPDX-License-Identifier: Apache-2.0
"""Joins by two inequalities in a window of rows, as the SPO-Join paper measures them."""
