# SPDX-License-Identifier: Apache-2.0
"""Random streams, which are stopped, killed and started again, next to the same rows as tables."""
