# SPDX-License-Identifier: Apache-2.0
"""A load on one application: `make load`."""
