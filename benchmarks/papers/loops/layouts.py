# SPDX-License-Identifier: Apache-2.0
"""Memory layouts of active sets, and scans over them: the cost of `getnext` (section 9.2.1).

Only the scan is timed, so only the memory that a scan reads is built, with 32 bytes a tuple as in
the paper. Random insertions and removals leave nodes at random places. In the gapless hash map
alone they lie one after the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intervalsweep.kernels import Int64Array
from intervalsweep.kernels.jit import I64_TABLE_IN, INT, kernel

# Columns of a 64-byte node: links, and the tuple.
NEXT = LEFT = 0
RIGHT, PARENT, VALUE = 1, 2, 4
_FIELDS, _TUPLE = 8, 4


@kernel(I64_TABLE_IN, INT, INT)
def scan_gapless(tuples: Any, first: int, rounds: int) -> int:
    """Add up a field of all tuples in memory order."""
    total = 0
    for n in range(rounds):
        for at in range(first, tuples.shape[0]):
            total += tuples[at, 0] ^ n
    return total


@kernel(I64_TABLE_IN, INT, INT)
def scan_linked(nodes: Any, first: int, rounds: int) -> int:
    """Add up a field of all tuples along a list."""
    total = 0
    for n in range(rounds):
        at = first
        while at >= 0:
            total += nodes[at, VALUE] ^ n
            at = nodes[at, NEXT]
    return total


@kernel(I64_TABLE_IN, INT, INT)
def scan_tree(nodes: Any, first: int, rounds: int) -> int:
    """Add up a field of all tuples in tree order: to the leftmost of the right child, or up."""
    total = 0
    for n in range(rounds):
        at = first
        while at >= 0:
            total += nodes[at, VALUE] ^ n
            if nodes[at, RIGHT] >= 0:
                at = nodes[at, RIGHT]
                while nodes[at, LEFT] >= 0:
                    at = nodes[at, LEFT]
            else:
                below = at
                at = nodes[at, PARENT]
                while at >= 0 and nodes[at, RIGHT] == below:
                    below = at
                    at = nodes[at, PARENT]
    return total


def gapless(size: int, random: np.random.Generator) -> tuple[Int64Array, int]:
    """An array of tuples, and the index of the first."""
    tuples = np.zeros((size, _TUPLE), np.int64)
    tuples[:, 0] = random.permutation(size)
    return tuples, 0


def linked(size: int, random: np.random.Generator) -> tuple[Int64Array, int]:
    """A list of nodes, and its first node."""
    nodes = np.zeros((size, _FIELDS), np.int64)
    places = random.permutation(size)
    nodes[places[:-1], NEXT] = places[1:]
    nodes[places[-1], NEXT] = -1
    nodes[places, VALUE] = np.arange(size)
    return nodes, int(places[0])


def tree(size: int, random: np.random.Generator) -> tuple[Int64Array, int]:
    """A balanced tree, and its leftmost node. Key k lies at `places[k]`."""
    nodes = np.zeros((size, _FIELDS), np.int64)
    nodes[:, [LEFT, RIGHT, PARENT]] = -1
    places = random.permutation(size)
    nodes[places, VALUE] = np.arange(size)
    ranges = [(0, size, -1, 0)]
    while ranges:
        low, high, parent, link = ranges.pop()
        middle = (low + high) // 2
        node = places[middle]
        nodes[node, PARENT] = parent
        if parent >= 0:
            nodes[parent, link] = node
        ranges += [(low, middle, node, LEFT)] if low < middle else []
        ranges += [(middle + 1, high, node, RIGHT)] if middle + 1 < high else []
    return nodes, int(places[0])


LAYOUTS = {
    "gapless hash map": (gapless, scan_gapless),
    "linked hash map": (linked, scan_linked),
    "tree": (tree, scan_tree),
}
