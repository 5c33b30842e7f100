# SPDX-License-Identifier: Apache-2.0
"""The benchmarks: `python -m benchmarks` runs the suite, `README.md` says what it measures."""
