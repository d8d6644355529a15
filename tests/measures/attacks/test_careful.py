"""The careful reader: exact where nothing is noisy, unmoved where everything is."""

from __future__ import annotations

import dataclasses

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.measures.attacks.adversaries import Setting, all_beliefs
from sfumato.measures.attacks.belief import BeliefShift
from sfumato.measures.attacks.careful import Reader, believe, nothing_but_noise, stated_noise
from sfumato.measures.attacks.disclosure import disclosure
from sfumato.measures.attacks.experience import Experience
from sfumato.measures.attacks.naive_bayes import NaiveBayes
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
    """Values that were randomized one by one are noise by themselves, and known to be."""
    release, prior = method.publish(town, SimulatedSource(2)), shares(town.overall)
    setting = setting_of(town, release)
    for beliefs in all_beliefs(setting).values():
        assert jensen_shannon(beliefs, prior).max() < 0.01
    assert setting.noise == (method.name != "local")


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
    assert np.abs(careful - centre).max() < 0.05
    assert np.abs(careless - centre).max() > 0.1


@pytest.mark.parametrize("kind", [sf.PrivBayes, sf.PrivTree, sf.DPCube])
def test_releases_are_noise_until_they_tell_something(town: sf.Table, kind: type[sf.PrivBayes]) -> None:
    """Classes never are."""
    releases = [kind(epsilon=epsilon).publish(town, SimulatedSource(1)) for epsilon in (0.001, 0.01, 30.0)]
    assert [nothing_but_noise(release) for release in releases] == [True, True, False]
    assert not nothing_but_noise(sf.Mondrian(k=5).publish(town))


@pytest.fixture(scope="module")
def told_by_age() -> sf.Table:
    """5,000 people of whom nine in ten have the value, of 20, that goes with their age."""
    draw = np.random.default_rng(11)
    age = draw.integers(0, 100, 5_000)
    value = np.where(draw.random(5_000) < 0.9, age // 5, draw.integers(0, 20, 5_000))
    frame = pl.DataFrame({"age": age, "town": draw.choice(list("abcdef"), 5_000), "ill": value.astype(str)})
    columns = {
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99},
        "town": {"role": "quasi", "kind": "categorical", "values": list("abcdef")},
        "ill": {"role": "sensitive", "kind": "categorical", "values": [str(value) for value in range(20)]},
    }
    return sf.read(frame, {"name": "told by age", "columns": columns})


@pytest.mark.parametrize("kind", [sf.KDTree, sf.HybridTree, sf.RPS, sf.PrivTree])
def test_what_consistent_counts_tell_is_not_taken_for_noise(told_by_age: sf.Table, kind: type[sf.KDTree]) -> None:
    """As it was found: nothing was disclosed by releases of which a naive Bayes model is right about 65 in 100 people.

    Counts without negative ones have less noise than is stated, and were all taken for noise.
    """
    for seed in range(4):
        release = kind(epsilon=1).publish(told_by_age, SimulatedSource(seed))
        assert NaiveBayes().run(told_by_age, release)["breach"] > 8
        assert disclosure(told_by_age, release).value > 0.6
        assert BeliefShift().run(told_by_age, release)["p_loss"] > 0.2


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
