# SPDX-License-Identifier: Apache-2.0
"""The version and the supported versions of Spark. The builds read both from this file."""

__version__ = "0.1.0"
SPARK_SERIES = ("4.0", "4.1", "4.2", "4.3")
