# SPDX-License-Identifier: Apache-2.0
"""Interval joins over NumPy arrays: no Arrow, no Spark.

    points = PointIndex(lead, second, group_offsets(groups))        prepared once
    boxes = Boxes(n, lead=Bounds(lower, upper), second=Bounds(...)) any order
    for box, first, count in RunSweep(points, boxes): ...           bounded batches
    for box, first, count, sums in RunSweep(points, boxes).sums(measures): ...

A relation of two intervals fixes, for one interval, a box: bounds on the start and on the end of
the other, which is a point. The points that a box matches are found as runs of consecutive points.
"""

from .arrays import Int32Array, Int64Array
from .boxes import Bounds, Boxes
from .index import PointIndex, group_offsets, is_sorted
from .runs import Measures, RunBatch, RunSweep, SumBatch

__all__ = [
    "Bounds",
    "Boxes",
    "Int32Array",
    "Int64Array",
    "Measures",
    "PointIndex",
    "RunBatch",
    "RunSweep",
    "SumBatch",
    "group_offsets",
    "is_sorted",
]
