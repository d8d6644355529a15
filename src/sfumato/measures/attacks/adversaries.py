"""Everybody who may attack a release, and what each of them believes about people: one table of beliefs for each.

All know everybody's quasi-identifiers and what is true of everybody, and all take noise for noise. A model expects
something of everyone; then people are looked up, and what the release says of their group corrects that.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.measures.attacks.careful import Codes, Floats, Reader, believe, trust
from sfumato.measures.attacks.definetti import applies as has_buckets
from sfumato.measures.attacks.definetti import definetti_beliefs
from sfumato.measures.attacks.forest import Forest, WeightedRows
from sfumato.measures.attacks.naive_bayes import NaiveBayes
from sfumato.measures.attacks.panel import Panel
from sfumato.measures.attacks.tempering import Known
from sfumato.measures.workloads.features import points_inside
from sfumato.release import Release
from sfumato.streams import stream

MAX_ROWS_LEARNED = 45_000
"""From more rows than this a sample is learned from."""
ROWS_TRIED = 4_000
SEED = 1
FEW, MANY = 5.0, 20.0
"""In a group of so few people a model that has seen half of them is not followed, in one of so many all the way."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Setting:
    """A release, and the people to learn about: where they are, how many, and what is true of everybody."""

    release: Release
    points: Codes
    people: Floats
    prior: Floats

    @property
    def everybody(self) -> Floats:
        """What is true of everybody, at each point."""
        return np.tile(self.prior, (len(self.points), 1))


def all_beliefs(setting: Setting) -> dict[str, Floats]:
    """What each adversary that applies believes at each point: (points, values) by its name."""
    release, points = setting.release, setting.points
    reader = Reader.of(release, points, setting.people)
    taken = careful(release, setting.prior)
    signal = trust(taken, setting.prior)
    looked_up = release.posteriors(points, setting.prior) if release.channel else reader.read(setting.everybody)
    found = {"lookup": _partly(looked_up, signal, setting)}
    if has_buckets(release):
        return found | {"definetti": definetti_beliefs(release, points)}
    rows, group = rows_of(taken)
    if not signal or not len(rows):
        return found
    setting = replace(setting, release=taken)
    models = {"naive_bayes": naive_bayes} if release.channel else {"naive_bayes": naive_bayes, "fitted": fitted}
    for name, model in models.items():
        found[name] = reader.read(_partly(model(setting, reader, rows, group), signal, setting))
    return found


def _partly(beliefs: Floats, share: float, setting: Setting) -> Floats:
    """Beliefs followed for some share of the way from what is true of everybody."""
    return setting.prior + share * (beliefs - setting.prior)


def careful(release: Release, prior: Floats) -> Release:
    """The release with noisy counts replaced by what they leave to believe."""
    if release.deviation is None or release.layout == "rows":
        return release
    believed = believe(release, np.tile(prior, (len(release.histograms), 1)))
    weight = np.maximum(release.histograms, 0).sum(axis=1, keepdims=True)
    return replace(release, histograms=believed * weight, deviation=None)


def informed_beliefs(release: Release, panel: Panel) -> Floats:
    """What somebody believes about each group of a panel who has a model of other people's rows and looks people up.

    The model has seen about half of the people of each group already; in a small group whose exact values are
    published that would count them twice, so there the model is followed less.
    """
    people = panel.people.sum(axis=1).astype(np.float64)
    reader = Reader.of(release, panel.points[panel.point_of], people)
    exact = release.layout == "rows" and not release.noisy
    followed = np.clip((reader.crowd - FEW) / (MANY - FEW), 0, 1) if exact else np.ones(len(people))
    expected = panel.prior + followed[:, None] * (panel.control - panel.prior)
    signal = trust(release, panel.prior) if release.layout == "rows" else 1.0
    return expected + signal * (reader.read(expected) - expected)


def rows_of(release: Release) -> tuple[WeightedRows, NDArray[np.int64]]:
    """The rows that a release states, those of a wide box at places spread over it, and the group of each.

    Where there are very many, a sample.
    """
    counts, boxes = release.counts, release.boxes
    cells = np.argwhere(counts > 0)
    weights = counts[tuple(cells.T)]
    if boxes.are_points.all() and len(cells) <= MAX_ROWS_LEARNED:
        codes = np.where(boxes.missing, -1, boxes.lo).astype(np.int32)
        rows = WeightedRows(codes=codes[cells[:, 0]], values=cells[:, 1], weights=weights)
        return rows, release.group_of[cells[:, 0]]
    total = float(weights.sum())
    size = int(min(MAX_ROWS_LEARNED, max(round(total), 1)))
    places = (np.arange(size) + 0.5) * total / size
    box, value = cells[np.minimum(np.searchsorted(np.cumsum(weights), places), len(cells) - 1)].T
    points, owner = points_inside(boxes, np.bincount(box, minlength=len(boxes)), SEED, release.spreads)
    rows = WeightedRows(codes=points, values=value, weights=np.full(size, total / size))
    return rows, release.group_of[owner]


def fitted(setting: Setting, reader: Reader, rows: WeightedRows, group: NDArray[np.int64]) -> Floats:
    """What a forest expects at each point that learned from the rows of a release, without the person's own group.

    Groups are dealt into two halves; who is in one is judged by what was learned from the other, and how far to
    follow that is told by the rows of the half itself.
    """
    release, points = setting.release, setting.points
    half = stream("halves of groups", SEED).integers(0, 2, len(release.histograms))
    own = np.zeros(len(points), dtype=np.int64)
    own[reader.point] = half[reader.group]
    found = setting.everybody
    for side in (0, 1):
        learned, tried = rows[half[group] != side], _some(rows[half[group] == side])
        asked = np.flatnonzero(own == side)
        if not len(learned) or not len(tried) or not len(asked):
            continue
        at = np.concatenate([points[asked], tried.codes])
        beliefs = Forest(seed=SEED).beliefs(release.schema.quasi, learned, at, len(setting.prior))
        found[asked] = tempered(beliefs, len(asked), tried, setting)
    return found


def naive_bayes(setting: Setting, reader: Reader, rows: WeightedRows, group: NDArray[np.int64]) -> Floats:
    """What naive Bayes expects at each point; how far to follow it, the rows of the release tell."""
    tried = _some(rows)
    beliefs = NaiveBayes().beliefs(setting.release, np.concatenate([setting.points, tried.codes]))
    return tempered(beliefs, len(setting.points), tried, setting)


def _some(rows: WeightedRows) -> WeightedRows:
    return rows[np.linspace(0, len(rows) - 1, min(len(rows), ROWS_TRIED)).astype(np.int64)]


def tempered(beliefs: Floats, first: int, tried: WeightedRows, setting: Setting) -> Floats:
    """The first beliefs, followed as far as makes the rows that the others are about likeliest.

    Where values were randomized, the rows have those that came out.
    """
    counts = np.zeros((len(tried), len(setting.prior)))
    counts[np.arange(len(tried)), tried.values] = tried.weights
    channel = setting.release.channel
    known = Known(beliefs=beliefs[first:], counts=counts, seen=channel.spread if channel else None)
    return known.calibrate(beliefs[:first], setting.prior)
