"""The printed rule of cormode2013: what is too far from the table is published, but not cut any more."""

import numpy as np
import polars as pl
import pytest

from sfumato.data import Table, read
from sfumato.methods import Mondrian
from sfumato.privacy.claims import NoGuarantee
from sfumato.privacy.distances import shares, total_variation
from sfumato.privacy.requirements import Population, TCloseness
from sfumato.reproduce.cormode2013.stopping import StoppedMondrian

COLUMNS = {
    "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 7},
    "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
}


def people() -> Table:
    """The older four ages, all of them ill, are 0.5 from the table; the younger four are cut on as far as k allows."""
    ill = ["no"] * 8 + ["yes"] * 8
    return read(pl.DataFrame({"age": [age for age in range(8) for _ in range(2)], "ill": ill}), {"columns": COLUMNS})


@pytest.mark.parametrize(("t", "ages"), [(0.4, [[0, 3], [4, 7]]), (0.5, [[0, 1], [2, 3], [4, 5], [6, 7]])])
def test_nodes_beyond_t_are_published_but_not_cut(t: float, ages: list[list[int]]) -> None:
    release = StoppedMondrian(k=4, t=t).publish(people())
    assert np.hstack([release.boxes.lo, release.boxes.hi]).tolist() == ages
    assert isinstance(release.claim, NoGuarantee)


def test_held_to_t_the_table_stays_whole() -> None:
    """The leaves above are further than t, which the method with a claim does not publish."""
    table = people()
    release = StoppedMondrian(k=4, t=0.4).publish(table)
    apart = total_variation(shares(release.histograms), shares(table.overall))
    assert (apart > 0.4).all()
    assert not TCloseness(t=0.4).holds(release.histograms, Population(table.overall, table.schema.sensitive)).any()
    assert len(Mondrian(k=4, t=0.4, cut="median").publish(table).boxes) == 1
