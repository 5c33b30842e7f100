# SPDX-License-Identifier: Apache-2.0
"""Compiled loops that find runs of points that match boxes.

    bounds       the range of a box on one axis
    lead_axis    boxes and points -> runs on the lead axis
    second_axis  runs -> the runs of their points that also match on the second axis
    sums         runs -> the number of these points, and sums over them

The loops do not check their arguments; `runs` does. numba checks no array bounds, so that a wrong
shape or dtype crashes the process without a traceback.

Arguments that several loops share, with n points, G groups, b boxes, and L large groups
-----------------------------------------------------------------------------------------
boxes : int
    The number of boxes, b.
points : tuple (lead, offsets, rank_of, tables, table)
    The prepared lead axis of the points; see `index_build`.
    ``lead``, int64[n]: the lead coordinates, sorted within each group.
    ``offsets``, int64[G + 1]: the points of group g are rows ``offsets[g] .. offsets[g + 1] - 1``.
    ``rank_of``, int32[G]: the row of a group in ``tables``; -1 for a group without a lookup table.
    ``tables``, int64[L, 3]: the lookup table of each large group: ``TABLE``, ``SHIFT``, ``BASE``.
    ``table``, int32: the entries of all lookup tables. Entry ``(value >> SHIFT) - BASE + TABLE`` is
    the first row with this or a larger entry number; the next entry ends its rows.
box_group : int32[b] or int32[0]
    The group of each box; empty if all boxes are matched with group 0.
lower, lower_kind, upper, upper_kind : int64[b], int, int64[b], int
    The bounds of each box on an axis. The kinds are ``OPEN`` (then the array is empty),
    ``INCLUSIVE`` or ``STRICT``.
clip_low, clip_high : int
    An inclusive range that further restricts the lead coordinates.
axis : tuple (second, blocks, big_blocks)
    The prepared second axis of the points.
    ``second``, int64[n]: the second coordinates.
    ``blocks``, ``big_blocks``, int64[., 2]: the minimum and maximum of each ``FAN_OUT`` and of each
    ``BIG_BLOCK`` consecutive second coordinates.
box, first, stop : int32[m]
    Runs: box ``box[k]`` matches rows ``first[k] .. stop[k] - 1``.
state : int64[2] or int64[3]
    Where the loop stopped; all 0 before the first call. `jit` lists the fields.
filled, wanted : int
    The number of runs that the outputs already contain, and the number at which the loop stops.
out_box, out_first, out_stop : int32[size]
    Outputs: runs, in the form of box, first and stop.
"""
