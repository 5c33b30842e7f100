# SPDX-License-Identifier: Apache-2.0
"""Converts Python values to SQL text, and calls of Python functions to calls of SQL functions."""
