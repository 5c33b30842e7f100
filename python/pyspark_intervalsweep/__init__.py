# SPDX-License-Identifier: Apache-2.0
"""IntervalSweep's Python worker, which Spark executors start: see :mod:`.worker`.

The name starts with ``pyspark`` because ``pyspark.daemon`` runs only modules with that prefix.
"""
