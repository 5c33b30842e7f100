# SPDX-License-Identifier: Apache-2.0
"""IntervalSweep's Python worker, started by Spark executors: see :mod:`.worker`.

The package's name starts with ``pyspark`` because ``pyspark.daemon`` runs no other worker modules.
"""
