# SPDX-License-Identifier: Apache-2.0
"""Compares `sequenced` with hand-written SQL for DuckDB and Spark."""
