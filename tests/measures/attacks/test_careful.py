"""The careful reader: exact where nothing is noisy, unmoved where everything is."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import sfumato as sf
from sfumato.measures.attacks.adversaries import Setting, all_beliefs
from sfumato.measures.attacks.careful import Reader, believe, nothing_but_noise, stated_noise
from sfumato.measures.attacks.experience import Experience
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


def setting_of(town: sf.Table, release: sf.Release) -> Setting:
    return Setting(
        release=release,
        points=town.points,
        people=town.weights.astype(np.float64),
        prior=shares(town.overall),
        shown=Experience(people=town.histograms.astype(np.float64)),
    )


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
    """Neither what anybody believes nor, but for generated rows, what is read before people show how far it is true."""
    release, prior = method.publish(town, SimulatedSource(2)), shares(town.overall)
    setting = setting_of(town, release)
    for beliefs in all_beliefs(setting).values():
        assert jensen_shannon(beliefs, prior).max() < 0.01
    assert setting.noise == (method.name == "privbayes")
    if not setting.noise:
        assert jensen_shannon(setting.reader.read(setting.everybody), prior).max() < 0.01


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
        believed = believe(noisy, centre, exact.histograms.sum(axis=1))
        moved = np.abs(believed - centre).sum() / np.abs(exact.distributions - centre).sum()
        assert least <= moved <= most + 1e-9


def test_rows_that_nobody_is_behind_make_noise_no_smaller(town: sf.Table) -> None:
    """Ten rows are published for every person; whoever takes them all for people believes what is noise."""
    exact = sf.Mondrian(k=50).publish(town)
    people = exact.histograms.sum(axis=1)
    centre = np.tile(shares(town.overall), (len(people), 1))
    deviation = np.full(len(people), 15.0)
    many = dataclasses.replace(exact, histograms=10 * exact.histograms, layout="counts", deviation=deviation)
    careful, careless = (believe(many, centre, number) for number in (people, 10 * people))
    assert careful == pytest.approx(centre)
    assert np.abs(careless - centre).max() > 0.1


def test_generated_rows_are_noise_until_they_tell_something(town: sf.Table) -> None:
    """And only these: classes are not noisy, and noisy counts say themselves how far they are to be believed."""
    releases = [sf.PrivBayes(epsilon=epsilon).publish(town, SimulatedSource(1)) for epsilon in (0.001, 0.01, 30.0)]
    assert [nothing_but_noise(release) for release in releases] == [True, True, False]
    loud = sf.PrivTree(epsilon=0.001).publish(town, SimulatedSource(1))
    assert not any(nothing_but_noise(release) for release in (loud, sf.Mondrian(k=5).publish(town)))


def test_rows_whose_values_went_to_other_people_are_noise(town: sf.Table) -> None:
    """The test for noise must not call everything a signal: it is one by chance on an axis in a few hundred."""
    rows = sf.PrivBayes(epsilon=30.0).publish(town, SimulatedSource(1))
    order = np.random.default_rng(1).permutation(len(rows.group_of))
    assert nothing_but_noise(dataclasses.replace(rows, group_of=rows.group_of[order]))
    assert not nothing_but_noise(rows)


def test_the_noise_that_a_release_states(town: sf.Table) -> None:
    release = sf.PrivBayes(epsilon=2.0).publish(town, SimulatedSource(1))
    assert stated_noise(release) == pytest.approx(np.sqrt(2) * len(town.schema.axes) / 2)
    assert stated_noise(sf.Original().publish(town)) is None
