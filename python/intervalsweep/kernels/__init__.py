# SPDX-License-Identifier: Apache-2.0
"""Interval joins on NumPy arrays, without Arrow or Spark.

    points = PointIndex(lead, second, group_offsets(groups))        prepared once
    boxes = Boxes(n, lead=Bounds(lower, upper), second=Bounds(...)) any order
    for box, first, count in RunSweep(points, boxes): ...           bounded batches
    for box, first, count, sums in RunSweep(points, boxes).sums(measures): ...

An interval of one side and a relation define a box: the ranges in which start and end of a matching
interval must lie. An interval of the other side is a point: its start and its end. The points that
match a box are returned as runs of consecutive points.
"""

from .arrays import Int32Array, Int64Array
from .boxes import Bounds, Boxes
from .index import PointIndex, group_offsets, group_order, is_sorted
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
    "group_order",
    "is_sorted",
]
