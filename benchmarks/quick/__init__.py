# SPDX-License-Identifier: Apache-2.0
"""A guard for speed: seven cases, each compared with a rival and with a committed ratio."""
