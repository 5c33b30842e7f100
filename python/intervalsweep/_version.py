# SPDX-License-Identifier: Apache-2.0
"""The one place that holds the version and the Sparks it is for; the builds read it from here."""

__version__ = "0.1.0"
SPARK_SERIES = ("4.0", "4.1", "4.2", "4.3")
