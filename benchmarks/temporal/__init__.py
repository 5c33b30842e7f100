# SPDX-License-Identifier: Apache-2.0
"""The history of queries, `sequenced`, beside the same written by hand for DuckDB and for Spark."""
