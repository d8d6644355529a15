"""The settings a publisher would weigh: which there are, what they are called, and what cannot be kept."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from flow_cases import flows_of
from sfumato.data.flows import MAX_PEOPLE
from sfumato.data.places import KILOMETRES
from sfumato.errors import ParameterError
from sfumato.methods.flows.domain import Domain
from sfumato.methods.flows.prior import DistanceHistogram
from sfumato.trials.flows.sweep import PAPER_KEEP, Sweep, label_of

if TYPE_CHECKING:
    from sfumato.data.flows import Flows

PLAIN = ["every place alike", "within 3 km", "prior by distance", "empty places dropped", "promise for the file alone"]
WITH_REGIONS = [
    *PLAIN,
    "within 3 km, town beyond",
    "tract up to 20 people",
    "tract throughout",
    "tract throughout, prior by distance",
]
NEAR = DistanceHistogram(edges=(2.0, 4.0), shares=(6, 3, 1))


@pytest.mark.parametrize(("regions", "names"), [((), PLAIN), (("tract", "town"), WITH_REGIONS)])
def test_the_options(regions: tuple[str, ...], names: list[str]) -> None:
    sweep = Sweep(radius=3, unit="km", regions=regions, distances=NEAR)
    options = {option.name: option for option in sweep.options()}
    assert list(options) == names
    assert options["within 3 km"].domain == Domain(radius=3)
    assert options["empty places dropped"].prior.keep == PAPER_KEEP
    assert options["empty places dropped"].prior.distances is options["prior by distance"].prior.distances is NEAR
    assert [name for name, option in options.items() if option.rule != "exact"] == ["promise for the file alone"]
    if regions:
        assert options["within 3 km, town beyond"].domain == Domain(radius=3, beyond="town")
        assert options["tract up to 20 people"].domain == Domain(coarse=((20, "tract"),))
        assert options["tract throughout"].domain == Domain(coarse=((MAX_PEOPLE, "tract"),))
        assert options["tract throughout, prior by distance"].prior.by_distance


def test_one_column_of_regions_is_the_finest_and_the_coarsest() -> None:
    names = [option.name for option in Sweep(radius=3, unit="km", regions=("town",)).options()]
    assert "within 3 km, town beyond" in names
    assert "town throughout" in names
    assert len(set(names)) == len(names) == 9


@pytest.mark.parametrize("regions", [(), ("town",), ("tract", "town")])
def test_every_setting_has_its_own_label(regions: tuple[str, ...]) -> None:
    sweep = Sweep(regions=regions)
    settings = sweep.settings()
    labels = [label_of(*setting) for setting in settings]
    assert len(set(labels)) == len(labels) == 3 * 2 + 3 * (len(sweep.options()) - 1)
    assert labels[0] == "every place alike, ε = 2, δ = 1e-05"
    assert labels[5] == "every place alike, ε = 8.6, δ = 1e-09"
    assert sweep.options()[1].name == "within 13.1 mi"
    assert list(sweep.figures()) == ["every place alike, ε = 4.6, δ = 1e-05", "within 13.1 mi, ε = 4.6, δ = 1e-05"]
    assert set(sweep.figures()) < set(labels)


def test_the_usual_radius() -> None:
    assert Sweep().options()[1].domain.radius == pytest.approx(13.1 * 1.609344)
    assert Sweep(radius=5 * KILOMETRES["mi"]).options()[1].name == "within 5 mi"
    assert Sweep(radius=16.0, unit="km").options()[1].name == "within 16 km"


def test_runs_of_every_setting(flows: Flows) -> None:
    """Dropping costs ln 1/0.0378 = 3.3 of ε: nothing is left of 2, and of 4.6 too little to draw an empty place."""
    sweep = Sweep(radius=3, unit="km", regions=("tract", "town"), distances=NEAR, seeds=(1, 2))
    found = list(sweep.runs(flows))
    assert [one.label for one in found] == [label_of(*setting) for setting in sweep.settings()]
    refused = [one for one in found if one.refused is not None]
    assert [one.label for one in refused] == [f"empty places dropped, ε = {epsilon}, δ = 1e-05" for epsilon in (2, 4.6)]
    assert "no prior keeps epsilon 2 for a destination of" in refused[0].refused
    runs = [one for one in found if one.refused is None]
    assert [run.label for run in runs if run.paper] == ["empty places dropped, ε = 8.6, δ = 1e-05"]
    assert all(len(run.evaluations) == 2 for run in runs)
    for run in runs:
        assert math.isfinite(run.summary()[0]["common_part_town"])
        assert {one.counts.synthetic.people for one in run.evaluations} == {flows.total}
    again = [one for one in sweep.runs(flows) if one.refused is None]
    assert [run.summary() for run in again] == [run.summary() for run in runs]


def test_the_paper_is_marked_at_its_own_promise_only(flows: Flows) -> None:
    for sweep in (Sweep(epsilons=(8.6,), deltas=(1e-9,)), Sweep(epsilons=(8.0,), deltas=(1e-5,))):
        assert not any(run.paper for run in sweep.runs(flows) if run.refused is None)


def test_unknown_regions_stop_a_sweep(flows: Flows) -> None:
    with pytest.raises(ParameterError, match="there are no regions 'county'"):
        list(Sweep(epsilons=(4.6,), deltas=(1e-5,), regions=("county",)).runs(flows))


def test_people_from_outside_leave_the_options_that_have_room_for_them(flows: Flows) -> None:
    """What lies beyond the list of places fits into a domain with an outside only; the others are refused."""
    data = flows_of(flows.places, {(5, 64): 2, (5, 5): 9, (5, 6): 9})
    found = list(Sweep(radius=3, unit="km", epsilons=(4.6,), deltas=(1e-5,), regions=("town",)).runs(data))
    assert [one.label for one in found if one.refused is None] == ["within 3 km, ε = 4.6, δ = 1e-05"]
    assert all("from outside" in one.refused for one in found if one.refused is not None)
