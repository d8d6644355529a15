"""The made-up region: the same from the same seed, and of the shape that real commuting has."""

from __future__ import annotations

import numpy as np

from sfumato.data.flows import Flows
from sfumato.data.places import Places
from sfumato.samples.commuters import commuters


def test_the_region_is_what_it_says() -> None:
    places, flows = commuters()
    known = Places.read(places)
    read = Flows.read(flows, known)
    assert (len(known), len(read), read.total) == (600, 150, 12_000)
    assert len(known.partition("town").labels) == 6
    assert len(known.partition("district").labels) == 24
    assert all(again.equals(first) for again, first in zip(commuters(), (places, flows), strict=True))
    assert not commuters(seed=2)[1].equals(flows)


def test_most_people_live_near_their_work() -> None:
    places, flows = commuters()
    read = Flows.read(flows, Places.read(places))
    anyone = np.random.default_rng(1)
    pairs = anyone.integers(0, len(read.places), (2, 2_000))
    typical = read.places.distances(*pairs).mean()
    assert np.average(read.kilometres, weights=read.counts) < typical / 2
