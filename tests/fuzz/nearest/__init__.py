# SPDX-License-Identifier: Apache-2.0
"""Random as-of joins, nearest joins and lateral subqueries with ORDER BY and LIMIT."""
