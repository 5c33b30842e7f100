# SPDX-License-Identifier: Apache-2.0
"""The compiled loops of the papers, and of the algorithms that they are compared with."""
