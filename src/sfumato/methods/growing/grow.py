"""Growing: the parts that regions are cut into, and their points sorted into them."""

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled
from sfumato.methods.growing.points import FREE, Ranges, Runs, Taxonomies


@compiled
def sort_into_parts(
    positions: NDArray[np.int32], members: NDArray[np.int64], axis: int, part_lo: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Reorder points, in place, by the part of an axis in which they lie; where the points of each part end.

    Part i begins at the position `part_lo[i]`.
    """
    unsorted = members.copy()
    ends = np.zeros(len(part_lo) + 1, dtype=np.int64)
    part_of = np.empty(len(members), dtype=np.int64)
    for number, point in enumerate(unsorted):
        part_of[number] = np.searchsorted(part_lo, positions[point, axis], side="right") - 1
        ends[part_of[number] + 1] += 1
    for part in range(len(part_lo)):
        ends[part + 1] += ends[part]
    for number, point in enumerate(unsorted):
        members[ends[part_of[number]]] = point
        ends[part_of[number]] += 1
    return ends[:-1]


@compiled
def split_regions(
    positions: NDArray[np.int32],
    runs: Runs,
    ranges: Ranges,
    taxonomies: Taxonomies,
    axis: NDArray[np.integer],
    position: NDArray[np.integer],
) -> tuple[Runs, Ranges, NDArray[np.int64]]:
    """Every region cut on its axis at a position (−1: into its taxonomy's children), and each part's parent."""
    child_start, child_lo, child_node = taxonomies
    children = np.full(len(axis), 2)
    for region in range(len(axis)):
        if position[region] < 0:
            node = ranges.node[region, axis[region]]
            children[region] = child_start[node + 1] - child_start[node]
    parent = np.repeat(np.arange(len(axis)), children)
    lo, hi, nodes = ranges.lo[parent], ranges.hi[parent], ranges.node[parent]
    starts, ends = np.empty(len(parent), dtype=np.int64), np.empty(len(parent), dtype=np.int64)
    first = 0
    for region in range(len(axis)):
        along, last = axis[region], first + children[region]
        child = child_start[nodes[first, along]] if position[region] < 0 else 0
        for part in range(first, last):
            if position[region] < 0:
                lo[part, along], nodes[part, along] = child_lo[child], child_node[child]
                child += 1
            else:
                nodes[part, along] = FREE
                lo[part, along] = lo[part, along] if part == first else position[region]
            if part > first:
                hi[part - 1, along] = lo[part, along] - 1
        begin = runs.starts[region]
        members = runs.order[begin : runs.ends[region]]
        starts[first] = begin
        ends[first:last] = begin + sort_into_parts(positions, members, along, lo[first:last, along].copy())
        starts[first + 1 : last] = ends[first : last - 1]
        first = last
    return Runs(runs.order, starts, ends), Ranges(lo, hi, nodes), parent
