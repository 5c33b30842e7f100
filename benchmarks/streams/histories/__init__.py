# SPDX-License-Identifier: Apache-2.0
"""Measures histories of streams, beside Flink SQL with the same guarantees."""
