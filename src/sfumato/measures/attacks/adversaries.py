"""Everybody who may attack a release, and what each of them believes about people: one table of beliefs for each.

All know everybody's quasi-identifiers and what is true of everybody, take noise for noise, and know how often they are
right. A model expects something of everyone; then people are looked up, and what the release says of their group
corrects that.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sfumato.measures.attacks.careful import Codes, Floats, Reader, nothing_but_noise
from sfumato.measures.attacks.definetti import applies as has_buckets
from sfumato.measures.attacks.definetti import definetti_beliefs
from sfumato.measures.attacks.experience import Experience
from sfumato.measures.attacks.forest import Examples, Forest
from sfumato.measures.attacks.naive_bayes import NaiveBayes
from sfumato.measures.attacks.panel import Panel
from sfumato.measures.workloads.features import points_inside
from sfumato.release import Release

MAX_POINTS = 20_000
"""From more points than this a sample is learned from."""
PLACES, PLACES_OF_ROW = 6_000, 10
"""Of wide boxes, so many places stand for all, or so many for each row where these are fewer."""
SEED = 1


@dataclass(frozen=True, eq=False, kw_only=True)
class Setting:
    """A release, and the people to learn about: where they are, and how many; what is true of everybody.

    `shown` are those by whom everybody knows how right an attack is.
    """

    release: Release
    points: Codes
    people: Floats
    prior: Floats
    shown: Experience

    @classmethod
    def at_points(cls, panel: Panel, release: Release) -> "Setting":
        """Who has nothing but the release believes the same of all people at a point."""
        people = np.zeros((len(panel.points), len(panel.prior)))
        np.add.at(people, panel.point_of, panel.people)
        return cls._among(people, panel.points, panel, release)

    @classmethod
    def at_groups(cls, panel: Panel, release: Release) -> "Setting":
        """Who has a model of other people expects something else of people of the other half."""
        return cls._among(panel.people.astype(np.float64), panel.points[panel.point_of], panel, release)

    @classmethod
    def _among(cls, people: Floats, points: Codes, panel: Panel, release: Release) -> "Setting":
        shown = Experience(people=people)
        number = people.sum(axis=1) * panel.stands_for
        return cls(release=release, points=points, people=number, prior=panel.prior, shown=shown)

    @property
    def everybody(self) -> Floats:
        """What is true of everybody, at each point."""
        return np.tile(self.prior, (len(self.points), 1))

    @cached_property
    def readers(self) -> tuple[Reader, ...]:
        """Who looks people up: one takes the release at its word, one allows for its noise; people show who is right.

        Values that stand beside real people have no noise that anybody would have to allow for.
        """
        careful = Reader.of(self.release, self.points, self.people)
        literal = replace(careful, release=replace(self.release, deviation=None))
        return (literal,) if self.release.deviation is None or self.release.exact_people else (literal, careful)

    @property
    def readings(self) -> list[Release]:
        """The release at its word and, where counts are noisy, with what they leave to believe in their place."""
        if len(self.readers) == 1 or self.release.layout == "rows":
            return [self.release]
        _, believed = self.readers[-1].believed(self.everybody)
        weight = np.maximum(self.release.histograms, 0).sum(axis=1, keepdims=True)
        return [self.release, replace(self.release, histograms=believed * weight, deviation=None)]

    @cached_property
    def noise(self) -> bool:
        """Whether the release says nothing but noise of anyone."""
        return nothing_but_noise(self.release)

    def look_up(self, expected: Floats) -> Floats:
        """What to believe of everybody who is looked up and of whom something was expected."""
        return self.shown.follow(expected, *(reader.read(expected) for reader in self.readers))

    def looked_up(self) -> Floats:
        """The same for somebody who knows what is true of everybody and nothing else."""
        everybody = self.everybody
        return self.look_up_beside(everybody) if self.release.exact_people or not self.noise else everybody

    def look_up_beside(self, model: Floats) -> Floats:
        """The same for somebody who has a model that is as sure as it may be."""
        found = self.look_up(model)
        return model if found is model else self.shown.sure(found)


def all_beliefs(setting: Setting) -> dict[str, Floats]:
    """What each adversary that applies believes at each point: (points, values) by its name."""
    release, everybody, shown = setting.release, setting.everybody, setting.shown
    found = {"lookup": setting.looked_up()}
    if has_buckets(release):
        found["definetti"] = shown.sure(definetti_beliefs(release, setting.points))
    elif not setting.noise:
        readings = [models_of(reading, setting.points) for reading in setting.readings]
        for name in readings[0]:
            model = shown.follow(everybody, *(models[name] for models in readings if name in models))
            found[name] = shown.sure(setting.look_up(model))
    return found


def models_of(release: Release, points: Codes) -> dict[str, Floats]:
    """What models of the release say at each point; where values were randomized there are no rows to fit one to."""
    if not release.counts.any():
        return {}
    found = {"naive_bayes": NaiveBayes().beliefs(release, points)}
    if not release.channel:
        found["fitted"] = Forest(seed=SEED).beliefs(release.schema.quasi, examples_of(release), points)
    return found


def examples_of(release: Release) -> Examples:
    """The points that a release states, and places spread over its wide boxes, each with the histogram of its box.

    With one value each, places would go with values by chance, and a forest would learn that.
    """
    counts, boxes = release.counts, release.boxes
    rows = counts.sum(axis=1)
    points = bool(boxes.are_points.all())
    if points and np.count_nonzero(rows) <= MAX_POINTS:
        codes = np.where(boxes.missing, -1, boxes.lo).astype(np.int32)
        return Examples(codes=codes[rows > 0], counts=counts[rows > 0])
    size = MAX_POINTS if points else math.ceil(min(PLACES, PLACES_OF_ROW * rows.sum()))
    steps = (np.arange(size) + 0.5) * rows.sum() / size
    box = np.minimum(np.searchsorted(np.cumsum(rows), steps), len(rows) - 1)
    codes, owner = points_inside(boxes, np.bincount(box, minlength=len(boxes)), SEED, release.spreads)
    return Examples(codes=codes, counts=release.distributions[release.group_of[owner]] * rows.sum() / size)
