"""What is drawn again: γ-Good as the union over neighbours, output by output, and what rejecting does to the law."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.mechanisms.dirichlet.rejection import Thresholds, is_good
from sfumato.mechanisms.dirichlet.urn import People
from sfumato.reproduce.machanavajjhala2008.enumeration import Counts, Mechanism, compositions, growth_of, neighbours


def judged(mechanism: Mechanism, data: Counts, output: Counts, epsilon: float) -> bool:
    """The package's judgement; places are numbered apart, and the draw comes in any order."""
    people = np.array([7 * i for i, count in enumerate(data) for _ in range(count)], dtype=np.int64)
    drawn = np.array([7 * i for i, count in enumerate(output) for _ in range(count)][::-1], dtype=np.int64)
    alphas, keep = (np.array([float(value) for value in values]) for values in (mechanism.alphas, mechanism.keep))
    limits = Thresholds(alphas, keep, math.exp(epsilon), float(mechanism.shrinking()))
    return bool(is_good(People(people, people // 7), People(drawn, drawn // 7), limits))


MECHANISMS = [
    Mechanism(n, m, tuple(Fraction(alpha) for alpha in alphas), tuple(Fraction(keep) for keep in keeps))
    for n, m in ((1, 1), (2, 3), (3, 3), (4, 4))
    for alphas, keeps in (
        (("1/2",) * 3, ("1",) * 3),
        (("1/10", "2", "1/3"), ("1",) * 3),
        (("1/3", "1/5"), ("1/2", "1/4")),
        (("1/4", "1/4", "1"), ("3/4", "1/2", "1")),
    )
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_good_is_the_union_over_neighbours(mechanism: Mechanism) -> None:
    verdicts = set()
    for epsilon, data in product((0.4, 1.0, 1.6, 2.5), compositions(mechanism.n, len(mechanism.alphas))):
        for output in compositions(mechanism.m, len(mechanism.alphas)):
            expected = mechanism.good(data, output, growth_of(epsilon))
            assert judged(mechanism, data, output, epsilon) is expected, (epsilon, data, output)
            verdicts.add(expected)
    assert verdicts == {True, False} or mechanism.n == 1


def test_judging_by_the_data_alone_differs() -> None:
    """The broken twin: some outputs are good because a neighbour could have had them, and for no other reason."""
    mechanism, growth = MECHANISMS[8], growth_of(1.0)
    everything = list(product(compositions(3, 3), repeat=2))
    borrowed = [
        (data, output)
        for data, output in everything
        if mechanism.good(data, output, growth) and not mechanism.represents(data, output, growth)
    ]
    assert borrowed
    assert all(judged(mechanism, data, output, 1.0) for data, output in borrowed)


@given(st.data())
def test_good_is_mutual_between_neighbours(data: st.DataObject) -> None:
    """What represents the data is good for every neighbour: the step on which Lemma 5.2 rests."""
    mechanism = data.draw(st.sampled_from([each for each in MECHANISMS if each.n > 1]))
    epsilon = data.draw(st.floats(0.2, 3.0))
    people = data.draw(st.sampled_from(list(compositions(mechanism.n, len(mechanism.alphas)))))
    output = data.draw(st.sampled_from(list(compositions(mechanism.m, len(mechanism.alphas)))))
    if mechanism.represents(people, output, growth_of(epsilon)):
        assert all(judged(mechanism, near, output, epsilon) for near in neighbours(people))


def test_larger_draws_are_judged_alike() -> None:
    """Forty people in six places, draws that sit at the edge of the thresholds."""
    generator = np.random.default_rng(11)
    alphas = tuple(Fraction(alpha) for alpha in ("1/2", "1/2", "2", "2", "5", "1/9"))
    mechanism = Mechanism(40, 40, alphas, (Fraction(1),) * 6)
    verdicts = []
    for _ in range(400):
        data = tuple(int(x) for x in generator.multinomial(40, [0.35, 0.35, 0.1, 0.1, 0.08, 0.02]))
        likely = np.array(data) + 0.3
        output = tuple(int(x) for x in generator.multinomial(40, likely / likely.sum()))
        expected = mechanism.good(data, output, growth_of(1.0))
        assert judged(mechanism, data, output, 1.0) is expected
        verdicts.append(expected)
    assert 20 < sum(verdicts) < 380
