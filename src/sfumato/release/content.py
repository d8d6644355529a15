"""What a release of a table says: boxes, histograms of the sensitive attribute, and the claim they are published under.

A group holds a histogram and owns one or more boxes; a box carries the number of rows it stands for. Every
kind of publication is this one shape, so attacks and workloads are written once.
"""

import math
import unicodedata
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.data.kept import KeptRows
from sfumato.errors import ReleaseError
from sfumato.estimation.channel_estimator import ChannelEstimator
from sfumato.estimation.consistency import before_clipping
from sfumato.estimation.shape import Shape, Side, Spread, even_spread, fit_shape, told_shape
from sfumato.mechanisms.channels import Channel
from sfumato.privacy.claims import Check, Claim, NoGuarantee, Units
from sfumato.privacy.distances import shares
from sfumato.privacy.requirements import Population
from sfumato.release.boxes import Boxes
from sfumato.release.envelope import MEAN, MOVING, Provenance
from sfumato.release.histograms import cells_of, histograms_of
from sfumato.release.inside import counts_inside, sides_of
from sfumato.release.measured import Measured
from sfumato.schema import Axis, Schema

Layout = Literal["rows", "buckets", "counts"]
DIGITS = 4
"""In so many digits mean weights are published."""
ROUNDED_BY = 0.5 * 10.0 ** (1 - DIGITS)
"""What that takes from a sum of weights at most, as a share of it."""
INVISIBLE = ("Cc", "Cf", "Zs", "Zl", "Zp")
"""Kinds of characters that a reader does not see."""
TIGHT = ("mondrian", "mdav")
"""Methods that publish the tightest ranges around the rows of a class."""
EVEN_INSIDE = ("dpcube",)
"""Methods that cut boxes until people are spread evenly inside them."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Content:
    """Boxes with weights, the group of each box, the histogram of each group, and a claim.

    `layout` says what a recipient gets: `rows` of generalized values, `buckets` (one table of quasi-identifiers with
    bucket numbers, one of sensitive values per bucket), or `counts` of each sensitive value in each box, which need
    not be whole. `kept` are rows of box, sensitive code and columns published as they are; `suppressed` counts, by
    sensitive value, rows of another tool's release whose quasi-identifiers were all suppressed. `deviation` is, for
    each group, the standard deviation of the noise in a count of its histogram, where there is noise. Noisy values
    may stand beside the quasi-identifiers of real people: `exact_people`. Where the sensitive values themselves were
    randomized, histograms count them as published, and estimates undo the `channel`. `spreads` says, for each axis, how
    rows lie along it, and so how those of a box are spread inside it; where it is not given, they are spread evenly.
    Beside rows that were drawn from a model stand the noisy tables it was fitted to, and beside the counts of the whole
    domain those that were published in place of rows: `measured`. `units` has the size of each group in other units
    than rows, of which weights alone may be published: as the mean of each box, where the schema tells it.
    """

    schema: Schema
    boxes: Boxes
    weights: NDArray[np.float64]
    group_of: NDArray[np.int64]
    histograms: NDArray[np.float64]
    claim: Claim
    provenance: Provenance
    layout: Layout = "rows"
    kept: KeptRows | None = None
    suppressed: NDArray[np.float64] | None = None
    deviation: NDArray[np.float64] | None = None
    exact_people: bool = False
    channel: Channel | None = None
    spreads: tuple[Spread, ...] | None = None
    measured: Measured | None = None
    units: Units = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not len(self.boxes) == len(self.weights) == len(self.group_of):
            raise ReleaseError("every box needs a weight and a group")
        if self.histograms.shape[1] != self.schema.sensitive.positions:
            raise ReleaseError("every group needs a count for each sensitive value")
        if not self.claim.fits(self.layout):
            raise ReleaseError("the claim and the layout disagree on whether these are buckets")
        if self.channel and (not self.channel.invertible or self.channel.size != self.schema.sensitive.positions):
            raise ReleaseError("the channel does not fit the sensitive column")
        if self.channel and self.spreads:
            raise ReleaseError("where sensitive values were randomized, rows are spread evenly")
        if self.spreads and [spread.cuts[-1] - 1 for spread in self.spreads] != [
            axis.size for axis in self.schema.quasi
        ]:
            raise ReleaseError("the spreads do not fit the quasi-identifiers")

    @property
    def rows(self) -> float:
        """How many rows the release stands for."""
        return float(self.weights.sum())

    @property
    def noisy(self) -> bool:
        """Whether the counts are noisy or the rows sampled, so that none of them stands for a person."""
        return self.deviation is not None or self.channel is not None

    @property
    def moved(self) -> bool:
        """Whether quasi-identifiers were changed: a person is then looked up where they would be, or nearest to it."""
        made = self.provenance
        return made.method in MOVING or made.parameters.get("recoding") == MEAN

    def look_up(self, points: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The boxes in which people at some points are looked for: pairs of a point and a box."""
        from sfumato.release.kernels import holding_pairs
        from sfumato.release.nearest import nearest_pairs

        if self.moved:
            return nearest_pairs(points, self.boxes, self.schema.quasi)
        return holding_pairs(points, self.boxes.arrays)

    @cached_property
    def overall(self) -> NDArray[np.float64]:
        """The counts by sensitive value, as published or, where there is a channel, as estimated."""
        published = np.asarray(self.histograms.sum(axis=0))
        return published if self._estimator is None else self._estimator.overall * published.sum()

    @cached_property
    def _estimator(self) -> ChannelEstimator | None:
        return None if self.channel is None else ChannelEstimator(self.channel, self.histograms.sum(axis=0))

    def estimated(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Counts of the true values from counts of the published ones, which are the same without a channel."""
        return counts if self._estimator is None else self._estimator.counts(counts)

    @cached_property
    def distributions(self) -> NDArray[np.float64]:
        """The published values in each group: (groups, values). Counts below zero say nothing and become zero."""
        return shares(np.maximum(self.histograms, 0))

    @cached_property
    def counts(self) -> NDArray[np.float64]:
        """The rows of each box by sensitive value, counts below zero taken as none: (boxes, values)."""
        return np.asarray(np.maximum(self.weights, 0)[:, None] * self.distributions[self.group_of])

    @cached_property
    def unclipped(self) -> NDArray[np.float64]:
        """The noisy rows of each box by sensitive value as they may have been before none was below zero.

        Where counts were moved to the nearest ones of zero or more with the same total, each that stayed above zero
        lost the same d, and the others were no more than d. See `before_clipping`.
        """
        noise = np.zeros(len(self.boxes)) if self.deviation is None else self.deviation[self.group_of]
        return before_clipping(self.counts, noise[:, None])

    @cached_property
    def sides(self) -> list[Side]:
        """The boxes along each axis."""
        return sides_of(self.boxes, [axis.size for axis in self.schema.quasi])

    @cached_property
    def shape(self) -> Shape:
        """How values spread inside the boxes, as the release says or as far as the boxes tell."""
        if self.spreads is not None:
            return told_shape(self.spreads, self.counts)
        if self.provenance.method in EVEN_INSIDE:
            return told_shape(tuple(even_spread(side.size) for side in self.sides), self.counts)
        return fit_shape(self.sides, self.counts)

    def masses(self, axis: int) -> NDArray[np.float64]:
        """How much of the rows lies at each position of an axis, up to a factor, the missing value last."""
        size = self.schema.quasi[axis].size
        return np.ones(size + 1) if self.spreads is None else np.diff(self.spreads[axis].up_to(np.arange(size + 2)))[0]

    def add_up(self, axis: int, amounts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum over the positions of each box, for amounts at the positions of an axis, the missing value last."""
        side, before = self.sides[axis], np.append(0.0, np.cumsum(amounts[:-1]))
        return np.asarray(before[side.hi + 1] - before[side.lo] + amounts[-1] * side.missing)

    @cached_property
    def at_ends(self) -> NDArray[np.float64]:
        """The share of each box's rows that surely stands at each end of its range on an axis: one row, or none.

        Where a range is the tightest around its rows, some row has its lowest value, some row its highest, and some
        row none if a missing value is in it.
        """
        tight = self.provenance.method in TIGHT and self.deviation is None
        return np.where(tight, 1 / np.maximum(self.weights, 2 + self.boxes.missing.any(axis=1)), 0.0)

    @cached_property
    def beliefs(self) -> NDArray[np.float64]:
        """What someone who has nothing but the release believes about each group: (groups, values)."""
        return self.beliefs_of(None)

    def beliefs_of(self, known: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """What someone who knows how noisy the counts are believes about each group: (groups, values).

        `known` is the distribution of everybody's true values, for those who know it; it helps to undo a channel.

        The distance of a group's distribution x from the overall one q is partly noise: of the squared distance D,
        values · deviation² / weight² is what noise alone would make. The rest is believed (the positive-part
        James–Stein estimate): q + max(0, 1 − noise/D) · (x − q). Without noise this is x, with nothing but noise q.
        """
        if self.deviation is None:
            if self.channel is None:
                return self.distributions
            return ChannelEstimator(self.channel, self.histograms.sum(axis=0), known).beliefs(self.histograms)
        overall = shares(np.maximum(self.overall, 0))
        away = self.distributions - overall
        weight = np.maximum(self.histograms, 0).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            noise = self.histograms.shape[1] * (self.deviation / weight) ** 2
            believed = 1 - noise / (away**2).sum(axis=1)
        believed = np.where(np.isfinite(believed), np.maximum(believed, 0), 0)
        return np.asarray(overall + believed[:, None] * away)

    @cached_property
    def look_alikes(self) -> NDArray[np.float64]:
        """How many rows are published under each distinct box; a point may stand in several buckets."""
        boxes = self.boxes
        _, box_of = np.unique(np.hstack([boxes.lo, boxes.hi, boxes.missing]), axis=0, return_inverse=True)
        return np.bincount(box_of.reshape(-1), self.weights).astype(np.float64)

    @property
    def population(self) -> Population:
        """What requirements compare the classes with."""
        return Population(self.overall, self.schema.sensitive)

    def focused(self, column: str) -> Self:
        """What is said about one of the sensitive columns alone, to be measured; tables beside the rows are left out.

        Of m counts added up to one the noise has √m times the deviation of each.
        """
        if len(self.schema.secrets) == 1:
            return self
        schema, place = self.schema.focused(column), self.schema.secret_names.index(column)
        value = schema.sensitive.together([self.schema.sensitive.apart(np.arange(self.histograms.shape[1]))[place]])
        group, old, rows = cells_of(self.histograms)
        merged = math.sqrt(self.schema.sensitive.positions / schema.sensitive.positions)
        suppressed = self.suppressed
        return replace(
            self,
            schema=schema,
            histograms=histograms_of(group, value[old], rows, len(self.histograms), schema.sensitive.positions),
            deviation=None if self.deviation is None else self.deviation * merged,
            suppressed=None if suppressed is None else np.bincount(value, suppressed).astype(np.float64),
            claim=self.claim.focused(column),
            kept=None,
            measured=None,
        )

    def violations(self) -> list[str]:
        """Why the published data does not keep the claim; empty if it does."""
        if self.claim.cost and self.channel:
            return self.channel.violations(self.claim)
        if self.claim.noise == "values" and not self.channel:
            return ["noise on every value is claimed, but no channel is named"]
        return [sentence for check in self.checks() for sentence in check.violations]

    def checks(self) -> list[Check]:
        """Every requirement of the claim, recomputed from what is published; none where nothing can be verified.

        Sensitive values that look the same count as one: `flu` and `Flu` make no class diverse.
        """
        same, units = same_looks(self.schema.sensitive), dict(self.units)
        if "weights" in units and self.schema.weight:
            units["weights"] = units["weights"] * (1 + ROUNDED_BY)
        if not same:
            return self.claim.checks(self.histograms, self.population, units)
        histograms, overall = self.histograms.copy(), self.overall.copy()
        for other, first in same.items():
            histograms[:, first] += histograms[:, other]
            overall[first] += overall[other]
        histograms[:, list(same)], overall[list(same)] = 0, 0
        return self.claim.checks(histograms, Population(overall, self.schema.sensitive), units)

    def verified(self) -> Self:
        """The release itself, after recomputing its claim from what is published."""
        if broken := self.violations():
            raise ReleaseError("the release does not keep its claim: " + "; ".join(broken))
        return self

    def without_guarantee(self, reason: str) -> Self:
        """The same data under no claim."""
        return replace(self, claim=NoGuarantee(reason=reason))

    def posteriors(self, points: NDArray[np.int32], known: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """What the release says about the sensitive value at each point: (points, values).

        `known` is the distribution of everybody's true values, for those who know it.

        One box gives its group's distribution, several their weighted mean, none that of the suppressed rows, or the
        overall distribution where no rows were suppressed. Where people were moved, the nearest box is theirs.
        """
        point, box = self.look_up(points)
        group = self.group_of[box]
        counted = self.distributions.sum(axis=1) > 0
        weight = np.where(counted[group], np.maximum(self.weights[box], 0), 0)
        total = np.bincount(point, weight, len(points))
        elsewhere = self.overall if self.suppressed is None else self.suppressed
        beliefs = np.tile(shares(np.maximum(elsewhere, 0)), (len(points), 1))
        told = total > 0
        beliefs[told] = 0
        share = np.divide(weight, total[point], out=np.zeros_like(weight), where=weight > 0)
        believed = self.beliefs if self.channel is None or known is None else self.beliefs_of(known)
        if len(np.unique(point)) == len(point):
            beliefs[point] += believed[group] * share[:, None]
        else:
            np.add.at(beliefs, point, believed[group] * share[:, None])
        return beliefs

    def histograms_in(self, regions: Boxes) -> NDArray[np.float64]:
        """The estimated histogram of the sensitive attribute in each region: (regions, values)."""
        from sfumato.release.kernels import Contents, covered_histograms

        if self.spreads is not None:
            values = self.histograms.shape[1]
            each, value = regions[np.repeat(np.arange(len(regions)), values)], np.tile(np.arange(values), len(regions))
            return self.counts_in(each, value, value).reshape(-1, values)
        contents = Contents(self.weights, self.group_of, self.distributions)
        return self.estimated(covered_histograms(self.boxes.arrays, contents, regions.arrays))

    def counts_in(self, regions: Boxes, first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.float64]:
        """The estimated rows in each region whose sensitive code lies in `first..last`."""
        from sfumato.release.kernels import Contents, covered_counts

        if self.spreads is not None:
            return self.careful_counts_in(regions, first, last)
        if self.channel is not None:
            upto = accumulate(self.histograms_in(regions))
            region = np.arange(len(upto))
            return np.asarray(upto[region, last + 1] - upto[region, first])
        contents = Contents(self.weights, self.group_of, accumulate(self.distributions))
        return covered_counts(self.boxes.arrays, contents, regions.arrays, first, last)

    def careful_counts_in(
        self, regions: Boxes, first: NDArray[np.int64], last: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """The same as a careful recipient estimates them, by the shape that the release tells."""
        if self.channel is not None or (self.spreads is None and self.boxes.are_points.all()):
            return self.counts_in(regions, first, last)
        return counts_inside(self.boxes, self.counts, self.at_ends, self.shape, regions, first, last)


def same_looks(axis: Axis) -> dict[int, int]:
    """The positions of a sensitive axis that look like an earlier one, whose columns all do."""
    alike = [look_alikes(part.labels) for part in axis.parts]
    if not any(alike):
        return {}
    first = np.zeros(1, dtype=np.int64)
    for part, same in zip(axis.parts, alike, strict=True):
        first = np.add.outer(first * part.positions, [same.get(own, own) for own in range(part.positions)]).reshape(-1)
    return {own: int(other) for own, other in enumerate(first) if own != other}


def look_alikes(labels: list[str]) -> dict[int, int]:
    """The positions of labels that differ from an earlier one in nothing but case and what cannot be seen."""
    first: dict[str, int] = {}
    seen = [first.setdefault(_appearance(label), position) for position, label in enumerate(labels)]
    return {position: earlier for position, earlier in enumerate(seen) if earlier < position}


def _appearance(label: str) -> str:
    plain = unicodedata.normalize("NFKC", label).casefold()
    return "".join(letter for letter in plain if unicodedata.category(letter) not in INVISIBLE)


def accumulate(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Running totals along each row, with a zero before them."""
    return np.pad(np.cumsum(counts, axis=1), ((0, 0), (1, 0)))


def sampling_deviation(counts: NDArray[np.integer] | NDArray[np.float64]) -> NDArray[np.float64]:
    """How much a count of generated rows varies by chance, per group: √(rows / values)."""
    return np.asarray(np.sqrt(counts.sum(axis=1) / counts.shape[1]))


def spelled_weights(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean weights of classes as they are published."""
    return np.array([float(f"{mean:.{DIGITS}g}") for mean in means.tolist()])
