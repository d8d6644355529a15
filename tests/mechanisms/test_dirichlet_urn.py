"""The urn draws by exactly the law it stands for.

Small urns are followed through every number they can be handed, and every fall of their coins, with fractions. Larger
ones are compared with the exact law by Pearson's statistic; each such test would fail for one seed in a million, up to
the χ² approximation, and a twin with the wrong law is rejected.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from sfumato.errors import ParameterError
from sfumato.mechanisms.dirichlet import UNIT, Segments, Urn
from sfumato.mechanisms.dirichlet import urn as urn_module
from sfumato.mechanisms.dirichlet.urn import Content, pick
from sfumato.mechanisms.noise import SimulatedSource, Source
from sfumato.reproduce.machanavajjhala2008.enumeration import Counts, Mechanism

FALSE_FAILURE = 1e-6
NO_COINS = np.zeros(1, dtype=np.uint64)


class Scripted(Source):
    """Hands out given words, and zeros after them."""

    protects = False

    def __init__(self, script: list[int]) -> None:
        self.left = [*script]

    def words(self, count: int) -> np.ndarray:
        now, self.left = self.left[:count], self.left[count:]
        return np.array(now + [0] * (count - len(now)), dtype=np.uint64)


@dataclass(frozen=True)
class Small:
    """A destination: people by place, places in segments (first, how many, level), masses and keeps by level."""

    people: Counts
    segments: tuple[tuple[int, int, int], ...]
    masses: tuple[int, ...]
    keep: tuple[float, ...]
    unit: int

    @property
    def places(self) -> list[int]:
        return [place for place, people in enumerate(self.people) for _ in range(people)]

    def level(self, place: int) -> int:
        return next(level for first, count, level in self.segments if first <= place < first + count)

    def runs(self) -> Segments:
        first, count, level = np.array(self.segments, dtype=np.int64).T
        return Segments(first, count, level)

    def draw(self, urn: Urn, m: int, more: list[int] | None = None) -> list[int]:
        """What the urn draws for this destination, with more people in it."""
        places = sorted(self.places + (more or []))
        levels = [self.level(place) for place in places]
        drawn, drawn_levels = urn.draw(
            np.array(places, dtype=np.int64), np.array(levels, dtype=np.int64), m, self.runs(), np.array(self.masses)
        )
        assert drawn_levels.tolist() == [self.level(place) for place in drawn]
        return [int(place) for place in drawn]

    def mechanism(self, m: int) -> Mechanism:
        levels = [self.level(place) for place in range(len(self.people))]
        return Mechanism(
            sum(self.people),
            m,
            tuple(Fraction(self.masses[level], self.unit) for level in levels),
            tuple(Fraction(self.keep[level]) for level in levels),
        )

    def law(self, m: int) -> dict[Counts, Fraction]:
        laws = self.mechanism(m).laws
        return dict(zip(laws.outputs, laws.of[self.people], strict=True))

    def counts(self, drawn: list[int]) -> Counts:
        return tuple(drawn.count(place) for place in range(len(self.people)))


Path = tuple[Fraction, list[int], list[int]]
"""A probability, the words that lead there, and what is drawn."""


def paths(small: Small, m: int, drawn: list[int], fates: dict[int, bool], repeats: bool) -> Iterator[Path]:
    """Every way in which the urn may go on, each number below its mass taken in turn.

    A number of a place that was dropped changes nothing: its share goes to the others. With `repeats` such a number and
    a word from the incomplete last block are put into the script before what follows.
    """
    if len(drawn) == m:
        yield Fraction(1), [], drawn
        return
    people = small.places
    runs, mass = small.runs(), np.array([small.masses[level] for _, _, level in small.segments])
    content = Content(small.unit, runs, mass, np.cumsum(mass * runs.size), NO_COINS)
    total = (len(people) + len(drawn)) * small.unit + int(content.upto[-1])
    found: dict[tuple[int, int], list[int]] = {}
    for number in range(total):
        chosen, segment = pick(number, len(people) + len(drawn), content)
        found.setdefault((int(chosen), int(segment)), []).append(number)
    lost = [numbers for (place, segment), numbers in found.items() if segment >= 0 and fates.get(place) is False]
    idle = [number for numbers in lost for number in numbers]
    before = ([0] if 2**64 % total else []) + [total + number for number in idle[:1]] if repeats else []
    for (chosen, segment), numbers in found.items():
        place = chosen if segment >= 0 else (people + drawn)[chosen]
        keep = Fraction(small.keep[small.level(place)])
        if segment >= 0 and keep < 1 and place not in people and fates.get(place) is not True:
            if fates.get(place) is False:
                continue
            coin = int(keep * 2**64)  # the last word that keeps is one less
            turns = [
                (keep, [coin - 1], [*drawn, place], {**fates, place: True}),
                (1 - keep, [coin], drawn, {**fates, place: False}),
            ]
        else:
            turns = [(Fraction(1), [], [*drawn, place], fates)]
        for chance, thrown, now, known in turns:
            for probability, script, end in paths(small, m, now, known, repeats):
                for number in numbers:
                    share = chance * probability / (total - len(idle))
                    yield share, [*before, total + number, *thrown, *script], end


SMALL = {
    "everything kept": Small((1, 0, 2), ((0, 2, 0), (2, 1, 1)), (1, 3), (1.0, 1.0), 2),
    "nobody there": Small((0, 0, 0), ((0, 3, 0),), (2,), (1.0,), 3),
    "an empty run between": Small((0, 1), ((0, 1, 1), (1, 0, 0), (1, 1, 0)), (2, 1), (1.0, 1.0), 2),
    "some dropped": Small((1, 0, 0), ((0, 1, 1), (1, 2, 0)), (2, 1), (0.25, 0.5), 2),
    "one level never dropped": Small((0, 2, 0), ((0, 1, 0), (1, 1, 0), (2, 1, 1)), (1, 2), (0.5, 1.0), 1),
    "two keeps": Small((1, 0, 0), ((0, 2, 0), (2, 1, 1)), (2, 1), (0.75, 0.125), 1),
}


@pytest.mark.parametrize("name", SMALL)
def test_the_urn_has_exactly_the_law(name: str) -> None:
    small = SMALL[name]
    for m in (1, 2, 3):
        found: Counter[Counts] = Counter()
        for probability, _, drawn in paths(small, m, [], {}, repeats=False):
            found[small.counts(drawn)] += probability  # type: ignore[assignment]
        assert {output: p for output, p in small.law(m).items() if p} == found


@pytest.mark.parametrize("repeats", [False, True], ids=["plain", "with words to skip"])
@pytest.mark.parametrize("name", SMALL)
def test_the_compiled_loop_goes_every_way(name: str, repeats: bool) -> None:
    """Each script of words leads the urn where it should, and none is left over or missing."""
    small = SMALL[name]
    ways = list(paths(small, 2, [], {}, repeats))
    for _, script, drawn in ways:
        urn = Urn(Scripted([*script, 7, 7, 7]), np.array(small.keep), small.unit)
        assert small.draw(urn, 2) == drawn
        assert urn._words[:3].tolist() == [7, 7, 7]
    assert len(ways) > 20
    reachable = {output for output, p in small.law(2).items() if p}
    assert {small.counts(drawn) for _, _, drawn in ways} == reachable


def test_a_pick_is_where_its_number_falls() -> None:
    segments = Segments(np.array([10, 50, 20]), np.array([3, 0, 1]), np.zeros(3, dtype=np.int64))
    content = Content(5, segments, np.array([2, 9, 4]), np.array([6, 6, 10]), NO_COINS)
    found = [pick(number, 2, content) for number in range(20)]
    assert found[:10] == [(0, -1)] * 5 + [(1, -1)] * 5
    assert found[10:] == [(10, 0)] * 2 + [(11, 0)] * 2 + [(12, 0)] * 2 + [(20, 2)] * 4


def test_words_of_the_incomplete_last_block_are_drawn_again() -> None:
    """An urn of 3·2⁵⁹: words below 2⁶⁴ mod 3·2⁵⁹ = 2⁶⁰ fall nowhere, the next one does."""
    small, mass = Small((1, 1), ((0, 2, 0),), (2**58,), (1.0,), 2**59), 3 * 2**59
    ways = [
        ([0, 2**60 - 1, 2**60], 0),
        ([2**60 - 1, 2**60 - 1, mass + 2**59], 1),
        ([mass], 0),
        ([mass + 2**60 + 2**58], 1),
        ([2**60 + 2**58 - 1], 0),
        ([2**60 + 2**58], 1),
        ([2**64 - 1], 1),
    ]
    for script, place in ways:
        urn = Urn(Scripted([*script, 9, 9]), np.ones(1), small.unit)
        assert small.draw(urn, 1) == [place]
        assert urn._words[:2].tolist() == [9, 9]


LARGER = {
    "uniform": Small((2, 0, 1, 0), ((0, 4, 0),), (UNIT // 3,), (1.0,), UNIT),
    "levels": Small(
        (0, 3, 0, 0, 1), ((0, 2, 0), (2, 1, 1), (3, 2, 2)), (UNIT // 2, 2 * UNIT, UNIT // 9), (1.0, 1.0, 1.0), UNIT
    ),
    "kept a third": Small((1, 0, 0, 0), ((0, 1, 0), (1, 3, 0)), (4 * UNIT,), (1 / 3,), UNIT),
    "kept by level": Small(
        (1, 0, 0, 1, 0), ((0, 2, 0), (2, 2, 1), (4, 1, 2)), (4 * UNIT, 3 * UNIT, UNIT), (0.5, 0.1, 1.0), UNIT
    ),
}


def statistic(small: Small, draw: Callable[[], list[int]], draws: int) -> tuple[float, float]:
    """Pearson's statistic of three draws, outputs expected fewer than ten times taken together, and its limit."""
    found: Counter[Counts] = Counter()
    for drawn, times in Counter(tuple(draw()) for _ in range(draws)).items():
        found[small.counts([*drawn])] += times
    law = small.law(3)
    assert set(found) <= {output for output, p in law.items() if p}
    expected, seen = [0.0], [0.0]
    for output, probability in sorted(law.items(), key=lambda item: item[1]):
        if expected[-1] >= 10:
            expected.append(0.0)
            seen.append(0.0)
        expected[-1] += float(probability) * draws
        seen[-1] += found[output]
    value = sum((a - b) ** 2 / b for a, b in zip(seen, expected, strict=True))
    return value, float(chi2.isf(FALSE_FAILURE, df=len(expected) - 1))


def urn_of(small: Small) -> Urn:
    return Urn(SimulatedSource(17), np.array(small.keep), small.unit)


def drawing(small: Small, urn: Urn, m: int) -> Callable[[], list[int]]:
    """Draws of m for the same destination, again and again."""
    places, runs, masses = np.array(small.places), small.runs(), np.array(small.masses)
    levels = np.array([small.level(place) for place in small.places])
    return lambda: urn.draw(places, levels, m, runs, masses)[0].tolist()


def one_at_a_time(small: Small, urn: Urn) -> list[int]:
    """Three draws, each from an urn of its own that knows the earlier ones as people, but no coin that was thrown."""
    drawn: list[int] = []
    while len(drawn) < 3:
        drawn += small.draw(urn, 1, drawn)
    return drawn


@pytest.mark.parametrize("name", LARGER)
def test_draws_have_the_law(name: str) -> None:
    small = LARGER[name]
    value, limit = statistic(small, drawing(small, urn_of(small), 3), 30_000)
    assert value < limit


@pytest.mark.parametrize("name", LARGER)
def test_an_urn_that_does_not_put_back_is_rejected(name: str) -> None:
    small = LARGER[name]
    draw = drawing(small, urn_of(small), 1)
    value, limit = statistic(small, lambda: draw() + draw() + draw(), 6_000)
    assert value > 2 * limit


@pytest.mark.parametrize("name", ["kept a third", "kept by level"])
def test_an_urn_that_forgets_what_was_dropped_is_rejected(name: str) -> None:
    """It puts back, but throws the coins of empty places anew for every draw."""
    small = LARGER[name]
    urn = urn_of(small)
    value, limit = statistic(small, lambda: one_at_a_time(small, urn), 9_000)
    assert value > 2 * limit


def test_one_at_a_time_is_the_same_where_nothing_is_dropped() -> None:
    """The twin above is wrong because of its coins alone: without them it passes."""
    small = LARGER["levels"]
    urn = urn_of(small)
    value, limit = statistic(small, lambda: one_at_a_time(small, urn), 6_000)
    assert value < limit


@pytest.mark.parametrize("words", [1, 2, 3, 5, 64])
def test_running_out_of_words_changes_nothing(words: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same words in smaller portions: the same people, destination after destination."""
    wide = Small((2, *[0] * 300, 1), ((0, 101, 0), (101, 201, 1)), (UNIT // 4, UNIT // 40), (0.3, 0.8), UNIT)

    def drawn() -> list[list[int]]:
        urn = Urn(SimulatedSource(5), np.array(wide.keep))
        return [wide.draw(urn, m) for m in (1, 40, 3, 200, 7)]

    whole = drawn()
    monkeypatch.setattr(urn_module, "WORDS", words)
    assert drawn() == whole


def test_the_memory_of_dropped_places_grows() -> None:
    """More places are met than the first table holds; none is both drawn and dropped."""
    places = 5_000
    wide = Small((1, *[0] * (places - 1)), ((0, places, 0),), (UNIT,), (0.5,), UNIT)
    urn = Urn(SimulatedSource(3), np.array(wide.keep))
    drawn = wide.draw(urn, 2_000)
    met = len(set(drawn))
    assert met > 500
    share = len({*drawn, *wide.draw(urn, 2_000)}) / places
    assert 0.2 < share < 0.75


def test_keeping_hardly_anything_keeps_the_share() -> None:
    """Of 4,000 empty places about a quarter is ever drawn however long one draws: six standard deviations."""
    places, keep = 4_000, 0.25
    wide = Small((1, *[0] * (places - 1)), ((0, places, 0),), (UNIT * 1_000,), (keep,), UNIT)
    drawn = set(wide.draw(Urn(SimulatedSource(8), np.array(wide.keep)), 30_000)) - {0}
    spread = (places * keep * (1 - keep)) ** 0.5
    assert abs(len(drawn) - places * keep) < 6 * spread


def test_coins_are_exact() -> None:
    keeps = (1.0, 0.5, 0.1, 2.0**-11, 1 - 2.0**-53)
    coins = Urn(SimulatedSource(1), np.array(keeps))._coins
    assert [int(coin) for coin in coins] == [0] + [int(Fraction(keep) * 2**64) for keep in keeps[1:]]
    assert all(Fraction(int(coin), 2**64) == Fraction(keep) for coin, keep in zip(coins[1:], keeps[1:], strict=True))


def test_what_an_urn_cannot_hold_is_refused() -> None:
    small = Small((1, 0), ((0, 2, 0),), (2**61,), (1.0,), UNIT)
    with pytest.raises(ParameterError, match="the prior is too large to draw from"):
        small.draw(Urn(SimulatedSource(1), np.ones(1)), 1)
