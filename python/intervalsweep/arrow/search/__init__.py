# SPDX-License-Identifier: Apache-2.0
"""Finds the rows that match, follow or precede the rows of another table, or touch each other."""
