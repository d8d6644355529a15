"""What a release says about its noise, against what its method at its parameters can have drawn."""

import math

import numpy as np

from sfumato.mechanisms.budget import WHOLE, Budget
from sfumato.mechanisms.noise import SystemSource
from sfumato.methods.base import DPMethod, Method
from sfumato.methods.models.tables import Tables
from sfumato.methods.partition.mondrian import Mondrian
from sfumato.methods.randomize.local_noise import LocalNoise
from sfumato.methods.trees.margins import steps_of_margin
from sfumato.methods.trees.spatial_tree import SpatialTree
from sfumato.release import Release
from sfumato.release.assembled import Assembled

WRITTEN = 1e-5
"""The noise beside a count is written with six digits."""


def too_little_noise(release: Release, method: Method) -> list[str]:
    """Counts that are said to be more exact than the whole ε could make them.

    A count is bought with a part of ε, so its noise has at least the deviation that all of ε buys. Which part it was
    depends on where the method stopped, which was drawn; so a recipient cannot know more.
    """
    if release.layout != "counts" or not isinstance(method, DPMethod) or not len(release.histograms):
        return []
    budget = Budget(method.total.per_row(release.schema.rows_per_person), SystemSource())
    least = math.sqrt(float(budget.variance(WHOLE)))
    said = 0.0 if release.deviation is None else float(release.deviation.min())
    if said >= least * (1 - WRITTEN):
        return []
    return [f"a count is said to have noise of {said:.6g}, and {method.label} adds at least {least:.6g} to each"]


def other_tables(release: Release, method: Method) -> list[str]:
    """Tables that Tables does not publish at its parameters, or that are said to have other noise than it draws.

    All but the counts follows from the schema and the parameters.
    """
    told = release.measured
    if release.layout != "counts" or (told is None and not isinstance(method, Tables)):
        return []
    if not isinstance(method, Tables):
        return [f"it tells tables, and {method.label} publishes none"]
    if not isinstance(told, Assembled):
        return [f"it tells no tables, and {method.label} publishes them"]
    plan = method.plan(release.schema)
    place = [release.schema.modelled.index(axis) for axis in plan.axes]
    drawn = {tuple(place[axis] for axis in axes): math.sqrt(plan.cell_variance(axes)) for axes in plan.tables}
    if drawn.keys() != told.columns.keys() or any(
        not np.array_equal(told.starts(place[number]), starts) for number, starts in enumerate(plan.starts)
    ):
        return [f"it tells other tables than {method.label} publishes, or in other steps"]
    return [
        f"a table of {len(axes)} columns is said to have noise of {said:.6g}, and {method.label} draws {noise:.6g}"
        for axes, noise in drawn.items()
        if abs((said := float(told.noise[told.columns[axes][0]])) / noise - 1) > WRITTEN
    ]


def other_noise(release: Release, method: Method) -> list[str]:
    """Values that are said to have got other noise than the method draws for their column."""
    if release.channel is None or not isinstance(method, LocalNoise):
        return []
    drawn, said = method.channel(release.schema.sensitive).spec(), release.channel.spec()
    return [] if drawn == said else [f"{method.label} draws by {drawn}, the release says by {said}"]


def other_margins(release: Release, method: Method) -> list[str]:
    """Margins of columns that the method does not count, or not in the steps that follow from the schema."""
    if release.spreads is None:
        return []
    if not isinstance(method, SpatialTree) or method.spread != "margins":
        return [f"it tells how rows lie along columns, and {method.label} counts no columns by themselves"]
    told = zip(release.schema.quasi, release.spreads, strict=True)
    starts = {axis: spread.cuts[spread.cuts < axis.positions] for axis, spread in told}
    return [
        f"the margin of {axis.name!r} is told in other steps than {method.label} counts"
        for axis, own in starts.items()
        if len(own) > 1 and not np.array_equal(own, steps_of_margin(axis))
    ]


def too_many_boxes(release: Release, method: Method) -> list[str]:
    """More boxes than so many levels of cuts make."""
    height = method.height if isinstance(method, SpatialTree | Mondrian) and release.layout != "buckets" else None
    of_rows = release.layout == "rows" and release.claim.noise
    if height is None or of_rows or len(release.boxes) <= 2**height:
        return []
    return [f"it has {len(release.boxes):,} boxes, and {method.label} makes at most {2**height:,}"]
