# SPDX-License-Identifier: Apache-2.0
"""Measures histories of streams, and Flink SQL with the same guarantees."""
