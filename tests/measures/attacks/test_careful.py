"""The careful reader: exact where nothing is noisy, unmoved where everything is."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import sfumato as sf
from sfumato.measures.attacks.adversaries import Setting, all_beliefs
from sfumato.measures.attacks.careful import Reader, believe, stated_noise, trust
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.privacy.distances import jensen_shannon, shares
from sfumato.samples.town import SCHEMA_PATH

LOUD = (
    sf.QuadTree(epsilon=0.001),
    sf.PrivTree(epsilon=0.001),
    sf.DPCube(epsilon=0.001),
    sf.PrivBayes(epsilon=0.001),
    sf.LocalNoise(epsilon=0.001),
)


@pytest.fixture(scope="module")
def town() -> sf.Table:
    return sf.read(sf.residents(3_000), schema=SCHEMA_PATH)


def reader_of(town: sf.Table, release: sf.Release) -> Reader:
    return Reader.of(release, town.points, town.weights.astype(np.float64))


def test_who_expects_the_same_of_everybody_believes_the_class(town: sf.Table) -> None:
    release = sf.Mondrian(k=5).publish(town)
    prior = shares(town.overall)
    found = reader_of(town, release).read(np.tile(prior, (len(town.points), 1)))
    assert found == pytest.approx(release.posteriors(town.points))


def test_what_is_believed_of_a_class_adds_up_to_what_it_publishes(town: sf.Table) -> None:
    """Whatever is expected of its people: at first nobody in particular, then each something else."""
    release = sf.Mondrian(k=50).publish(town)
    expected = np.random.default_rng(1).dirichlet(np.ones(town.values), len(town.points))
    reader = reader_of(town, release)
    found = reader.read(expected)
    believed = np.zeros_like(release.histograms)
    np.add.at(believed, reader.group, town.weights[reader.point][:, None] * found[reader.point])
    assert np.abs(believed.sum(axis=1) - release.histograms.sum(axis=1)).max() < 1e-6
    off = np.abs(believed - release.histograms).sum() / release.histograms.sum()
    before = np.zeros_like(release.histograms)
    np.add.at(before, reader.group, town.weights[reader.point][:, None] * expected[reader.point])
    assert off < np.abs(before - release.histograms).sum() / release.histograms.sum() / 2


@pytest.mark.parametrize("method", LOUD, ids=lambda method: method.name)
def test_noise_alone_moves_nobodys_beliefs(town: sf.Table, method: sf.PrivTree) -> None:
    release, prior = method.publish(town, SimulatedSource(2)), shares(town.overall)
    people = town.weights.astype(np.float64)
    found = all_beliefs(Setting(release=release, points=town.points, people=people, prior=prior))
    for beliefs in found.values():
        assert jensen_shannon(beliefs, prior).max() < 0.01


def test_taking_noise_for_counts_is_noticed(town: sf.Table) -> None:
    """The broken twin: the same release that keeps its noise to itself."""
    noisy, prior = sf.PrivTree(epsilon=0.001).publish(town, SimulatedSource(2)), shares(town.overall)
    silent = dataclasses.replace(noisy, deviation=None)
    found = reader_of(town, silent).read(np.tile(prior, (len(town.points), 1)))
    assert jensen_shannon(found, prior).max() > 0.01


def test_little_noise_is_hardly_drawn_to_the_middle(town: sf.Table) -> None:
    exact = sf.Mondrian(k=50).publish(town)
    centre = np.tile(shares(town.overall), (len(exact.histograms), 1))
    for deviation, least, most in ((0.01, 0.999, 1.0), (1e4, 0.0, 0.0)):
        noisy = dataclasses.replace(exact, deviation=np.full(len(exact.histograms), deviation), layout="counts")
        moved = np.abs(believe(noisy, centre) - centre).sum() / np.abs(exact.distributions - centre).sum()
        assert least <= moved <= most + 1e-9


def test_trust_falls_with_epsilon(town: sf.Table) -> None:
    prior = shares(town.overall)
    found = [trust(sf.PrivBayes(epsilon=e).publish(town, SimulatedSource(1)), prior) for e in (0.001, 1.0, 30.0)]
    assert found[0] == 0
    assert found[0] <= found[1] < found[2] <= 1
    release = sf.PrivBayes(epsilon=2.0).publish(town, SimulatedSource(1))
    assert stated_noise(release) == pytest.approx(np.sqrt(2) * len(town.schema.axes) / 2)
    assert stated_noise(sf.Original().publish(town)) is None
