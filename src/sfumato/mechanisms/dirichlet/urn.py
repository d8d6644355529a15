"""Drawing from a Dirichlet-multinomial by Pólya's urn on integers: exact, and in time that does not know the domain.

The urn holds every person with mass UNIT and every place with its prior mass. Each draw picks in proportion to mass,
and puts back what it picked together with one more person there. After m draws the people added have the
Dirichlet-multinomial law of the data plus the prior (Blackwell and MacQueen, 1973). A pick among people is one
division, a pick among places one search over segments of equal mass; a vector over places is never made.

An empty place that may be dropped is kept or dropped when it is first picked, by its own coin, and that is
remembered for this destination; a pick that falls on a dropped place is made again. This is the law of deciding all
places beforehand and drawing from those that were kept.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled
from sfumato.errors import ParameterError
from sfumato.mechanisms.dirichlet.prior import MAX_MASS, UNIT
from sfumato.mechanisms.noise import Source

WORDS = 2**14
EMPTY = -1


class Segments(NamedTuple):
    """The places of one destination as runs of numbers: `base[s]` up to `base[s] + size[s]`, all of level[s]."""

    base: NDArray[np.int64]
    size: NDArray[np.int64]
    level: NDArray[np.int64]


class People(NamedTuple):
    """The place of every person, and its level."""

    places: NDArray[np.int64]
    levels: NDArray[np.int64]


class Content(NamedTuple):
    """What the urn holds at first: the mass of a person, the mass of a place of each segment, that of all places up to
    the segment's end, and for each level 2^64 times the probability of keeping an empty place, 0 for always."""

    unit: int
    segments: Segments
    each: NDArray[np.int64]
    upto: NDArray[np.int64]
    coins: NDArray[np.uint64]


class Fates(NamedTuple):
    """Which of the `seen` empty places picked so far are kept: a table by their hash, EMPTY where there is none."""

    places: NDArray[np.int64]
    kept: NDArray[np.bool_]
    seen: int


@compiled
def pick(number: int, people: int, content: Content) -> tuple[int, int]:
    """What a number below the urn's mass falls on: (person, −1) or (place, segment)."""
    unit, upto = content.unit, content.upto
    if number < people * unit:
        return number // unit, -1
    rest = number - people * unit
    segment = int(np.searchsorted(upto, rest, side="right"))
    before = upto[segment - 1] if segment else 0
    return content.segments.base[segment] + (rest - before) // content.each[segment], segment


@compiled
def _slot(keys: np.ndarray, place: int) -> int:
    mask = len(keys) - 1
    slot = (place * 0x9E3779B1) & mask
    while keys[slot] != EMPTY and keys[slot] != place:
        slot = (slot + 1) & mask
    return slot


@compiled
def count_at(places: np.ndarray, place: int) -> int:
    """How often a place occurs in a rising array."""
    return int(np.searchsorted(places, place, side="right") - np.searchsorted(places, place))


@compiled
def _draw(
    people: People, drawn: People, done: int, content: Content, words: np.ndarray, fates: Fates
) -> tuple[int, int, Fates]:
    """Go on drawing until all is drawn or the words run out; the state to go on from.

    The real people come in rising order of their places.
    """
    places, levels = people
    drawn_places, drawn_levels = drawn
    tried, kept, seen = fates
    real, prior, at = len(places), content.upto[-1] if len(content.upto) else 0, 0
    while done < len(drawn_places) and at + 2 <= len(words):
        total = np.uint64((real + done) * content.unit + prior)
        word = words[at]
        at += 1
        if word < (np.uint64(0) - total) % total:
            continue
        # Signed, since compiled code turns mixed signs into floating point.
        number: int = np.int64(word % total)  # type: ignore[assignment]
        chosen, segment = pick(number, real + done, content)  # proof: urn
        if segment < 0:
            if chosen < real:
                drawn_places[done], drawn_levels[done] = places[chosen], levels[chosen]
            else:
                drawn_places[done], drawn_levels[done] = drawn_places[chosen - real], drawn_levels[chosen - real]
            done += 1
            continue
        level = content.segments.level[segment]
        if content.coins[level] and not count_at(places, chosen):
            slot = _slot(tried, chosen)
            if tried[slot] == EMPTY:
                tried[slot], kept[slot] = chosen, words[at] < content.coins[level]  # proof: coin
                at += 1
                seen += 1
            stays = kept[slot]
            if 2 * seen > len(tried):
                tried, kept = _enlarge(tried, kept)
            if not stays:
                continue
        drawn_places[done], drawn_levels[done] = chosen, level
        done += 1
    return done, at, Fates(tried, kept, seen)


@compiled
def _enlarge(tried: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    wider, wider_kept = np.full(4 * len(tried), EMPTY, dtype=np.int64), np.zeros(4 * len(tried), dtype=np.bool_)
    for i in range(len(tried)):
        if tried[i] != EMPTY:
            slot = _slot(wider, tried[i])
            wider[slot], wider_kept[slot] = tried[i], kept[i]
    return wider, wider_kept


@dataclass(eq=False)
class Urn:
    """Draws one destination after another from one source of random words."""

    source: Source
    keep: NDArray[np.float64]
    unit: int = UNIT
    _words: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, dtype=np.uint64), init=False)

    def __post_init__(self) -> None:
        coins = np.where(self.keep < 1, self.keep, 0.0)
        self._coins = np.array([int(coin * 2.0**64) for coin in coins], dtype=np.uint64)

    def draw(
        self,
        places: NDArray[np.int64],
        levels: NDArray[np.int64],
        m: int,
        segments: Segments,
        masses: NDArray[np.int64],
    ) -> People:
        """The places and levels of m drawn people; `places`, rising, are those of the real ones."""
        mass = masses[segments.level]
        total = float(mass.astype(np.float64) @ segments.size) + float(self.unit) * (len(places) + m)
        if total >= MAX_MASS:
            raise ParameterError("the prior is too large to draw from; ask for a larger epsilon or a smaller domain")
        people, drawn = People(places, levels), People(np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64))
        content = Content(self.unit, segments, mass, np.cumsum(mass * segments.size), self._coins)
        fates, done = Fates(np.full(64, EMPTY, dtype=np.int64), np.zeros(64, dtype=np.bool_), 0), 0
        while done < m:
            if len(self._words) < 2:
                self._words = np.concatenate((self._words, self.source.words(WORDS)))
            done, used, fates = _draw(people, drawn, done, content, self._words, fates)
            self._words = self._words[used:]
        return drawn
