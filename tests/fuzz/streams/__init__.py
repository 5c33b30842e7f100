# SPDX-License-Identifier: Apache-2.0
"""Random streams that are stopped, killed and restarted, compared with the same rows as tables."""
