# SPDX-License-Identifier: Apache-2.0
"""Python values and calls as SQL text and SQL function calls."""
