"""What every method must keep, for every setting of its grid: run on whatever is registered."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from engines import EVERY_ENGINE, same_tables, table_on
from reference import holds
from sfumato.data import Table, read
from sfumato.errors import ParameterError, ReleaseError, SfumatoError, UnsatisfiableError
from sfumato.measures.measure import assess
from sfumato.mechanisms.budget import WHOLE, Budget
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import METHODS, PERTURBATIONS, Anatomy, DPMethod, Method, Mondrian, Original, Sampling, make_method
from sfumato.methods.base import PrivateMethod, qualify
from sfumato.methods.partition.requiring import RequiringMethod
from sfumato.parameters import parameter
from sfumato.privacy.claims import Claim, LocalDP, NoGuarantee
from sfumato.privacy.requirements import REQUIREMENTS, Population
from sfumato.release import Boxes, Provenance, Release
from sfumato.release.kernels import holding_pairs
from sfumato.samples.town import SCHEMA_PATH, residents
from sfumato.schema import Schema
from sfumato.trials.trial import trial_id
from strategies import TableCase, tables

REQUIREMENT_PARAMETERS: dict[str, dict[str, Any]] = {
    "k-anonymity": {"k": 2},
    "l-diversity": {"l": 1.1},
    "distinct l-diversity": {"l": 2},
    "entropy l-diversity": {"l": 1.05},
    "recursive (c,l)-diversity": {"l": 1, "c": 2.5},
    "t-closeness": {"t": 0.3, "distance": "hierarchical"},
    "delta-disclosure": {"delta": 1.5},
    "(alpha,k)-anonymity": {"alpha": 0.95, "k": 2},
    "beta-likeness": {"beta": 2.0, "enhanced": True},
    "of column": {"column": None, "others_known": True, "of": {"requirement": "l-diversity", "l": 1.1}},
}


def private_methods() -> list[str]:
    """The registered methods that add noise."""
    return sorted(name for name, kind in METHODS.items() if issubclass(kind, PrivateMethod))


PRIVATE = private_methods()
MOVING = sorted(name for name, kind in METHODS.items() if kind.randomized and kind in PERTURBATIONS)
"""Those that change or leave out rows at random, under no claim."""
EXACT = sorted(set(METHODS) - set(PRIVATE) - set(MOVING))
IN_SECONDS = [name for name in sorted(METHODS) if name != "mst"]
"""Methods that need no library which is slow to start."""


def settings_of(name: str, table: Table) -> list[Method]:
    """The grid of a method and, where it takes any requirement, one setting with each."""
    found: list[Method] = list(METHODS[name].grid(table))
    if METHODS[name].takes_requirements:
        found += [
            make_method(name, {"requirements": [{"requirement": requirement, **parameters}], **more})
            for requirement, parameters in REQUIREMENT_PARAMETERS.items()
            for more in ({}, *({"cut": "median"} for _ in range(name == "mondrian")))
        ]
    return found


def check_release(method: Method, table: Table, release: Release) -> None:
    """Everything that holds for a release of a method that adds no noise."""
    assert release.verified() is release
    assert release.rows == table.n
    assert (release.weights > 0).all()
    in_boxes = np.bincount(release.group_of, release.weights, len(release.histograms))
    assert np.array_equal(in_boxes, release.histograms.sum(axis=1))
    assert (release.histograms >= 0).all()
    assert np.array_equal(release.overall, table.overall)
    assert isinstance(release.claim, Claim)
    assert release.claim == qualify(method.claim, table.schema)
    assert release.claim.sentence()
    assert release.provenance == Provenance(method=method.name, parameters=method.parameters())
    assert json.loads(json.dumps(release.provenance.parameters)) == release.provenance.parameters
    assert release.schema.spec() == table.schema.public().spec()


def check_noisy_release(method: Method, table: Table, release: Release) -> None:
    """Everything that holds for a release under differential privacy."""
    assert release.histograms.min() >= 0
    assert np.allclose(release.weights, release.histograms[release.group_of].sum(axis=1))
    assert len(np.unique(release.group_of)) == len(release.group_of)
    assert np.isfinite(release.weights).all()
    assert release.rows > 0
    assert release.kept is None
    # How ε is spread over an axis is known once there is an axis.
    claim = replace(release.claim, per_step=None) if isinstance(release.claim, LocalDP) else release.claim
    assert claim == qualify(method.claim, table.schema)
    made = release.provenance.made
    assert release.provenance == Provenance(method=method.name, parameters=method.parameters(), made=made)
    assert all(0 <= number <= getattr(method, "h", 0) for number in made.values())
    assert release.schema.spec() == table.schema.public().spec()
    assert release.deviation is None or release.deviation.shape == (len(release.histograms),)
    for position, axis in enumerate(table.schema.quasi):
        lo, hi, missing = (side[:, position] for side in release.boxes.arrays)
        assert ((lo >= 0) & (hi < axis.size) & (axis.nullable | ~missing) & ((lo <= hi) | missing)).all()
    if release.layout == "counts":
        domain = release.boxes.widths.astype(float).prod(axis=1).sum()
        assert domain == np.prod([float(axis.positions) for axis in table.schema.quasi]), "boxes do not tile the domain"
        assert (np.bincount(holding_pairs(table.points, release.boxes.arrays)[0]) == 1).all()
    else:
        assert release.boxes.are_points.all()
        assert np.array_equal(release.histograms, np.round(release.histograms))


def check_everyone_is_covered(case: TableCase, release: Release) -> None:
    """A person stands in a box that holds their point, in a group with their value."""
    spans = [[release.boxes.span(box, i) for i in range(len(case.case.quasi))] for box in range(len(release.boxes))]
    for point, value in set(case.people):
        assert any(
            holds(box, point) and release.histograms[group, value] > 0
            for box, group in zip(spans, release.group_of, strict=True)
        )


def can_be_met(method: Method, table: Table) -> bool:
    """Whether the whole table as one class, or in buckets, satisfies what the method requires."""
    if isinstance(method, Anatomy):
        return bool(method.l * table.overall.max() <= table.n)
    if isinstance(method, RequiringMethod):
        population = Population(table.overall, table.schema.sensitive)
        return all(bool(item.holds(table.overall[None, :], population)[0]) for item in method.all_requirements)
    return True


@pytest.mark.parametrize("name", [name for name in PRIVATE if name in IN_SECONDS])
@settings(max_examples=12)
@given(case=tables(most_rows=40, most_quasi=3, most=6))
def test_every_private_setting_keeps_the_contract(name: str, case: TableCase) -> None:
    table, fingerprint = case.table, case.table.fingerprint
    for method in settings_of(name, table):
        check_noisy_release(method, table, method.publish(table))
    assert Table.fingerprint.func(table) == fingerprint, "publishing changed the table"


@pytest.mark.parametrize("name", EXACT)
@settings(max_examples=12)
@given(case=tables(most_rows=40, most_quasi=3, most=6))
def test_every_setting_keeps_the_contract(name: str, case: TableCase) -> None:
    table, fingerprint = case.table, case.table.fingerprint
    for method in settings_of(name, table):
        try:
            release = method.publish(table)
        except UnsatisfiableError:
            assert not can_be_met(method, table)
            continue
        check_release(method, table, release)
        check_everyone_is_covered(case, release)
    assert Table.fingerprint.func(table) == fingerprint, "publishing changed the table"


@pytest.mark.parametrize("name", MOVING)
@settings(max_examples=12)
@given(case=tables(most_rows=40, most_quasi=3, most=6))
def test_every_moving_setting_keeps_the_contract(name: str, case: TableCase) -> None:
    """Rows of people with values of the schema, as many of each sensitive value as there are but for those left out."""
    table, fingerprint = case.table, case.table.fingerprint
    for method in settings_of(name, table):
        release = method.publish(table)
        assert release.verified() is release
        assert isinstance(release.claim, NoGuarantee)
        assert release.claim == method.claim
        assert release.boxes.are_points.all()
        assert len(release.look_alikes) == len(release.boxes)
        assert (release.overall <= table.overall).all()
        assert release.rows == (max(int(method.share * table.n + 0.5), 1) if isinstance(method, Sampling) else table.n)
        for position, axis in enumerate(table.schema.quasi):
            lo, _, missing = (side[:, position] for side in release.boxes.arrays)
            assert ((lo >= 0) & (lo < axis.size) & (axis.nullable | ~missing)).all()
    assert Table.fingerprint.func(table) == fingerprint, "publishing changed the table"


@pytest.mark.parametrize("name", IN_SECONDS)
@settings(max_examples=8)
@given(case=tables(most_rows=30, most_quasi=3, most=6), shuffler=st.randoms(use_true_random=False))
def test_a_release_does_not_depend_on_the_order_of_rows(name: str, case: TableCase, shuffler: random.Random) -> None:
    order = list(range(len(case.rows)))
    shuffler.shuffle(order)
    other = read(case.frame[order], case.case.schema)
    for method in settings_of(name, case.table)[::5]:
        try:
            ours, theirs = (method.publish(table, SimulatedSource(3)) for table in (case.table, other))
        except (UnsatisfiableError, ReleaseError):
            continue
        for field in ("weights", "group_of", "histograms"):
            assert np.array_equal(getattr(ours, field), getattr(theirs, field))
        for field in ("lo", "hi", "missing"):
            assert np.array_equal(getattr(ours.boxes, field), getattr(theirs.boxes, field))
        kept = qualify(method.claim, case.table.schema)
        seeded = NoGuarantee(reason="seeded") if method.randomized and kept.promises else kept
        assert ours.claim == seeded


@pytest.mark.parametrize("name", IN_SECONDS)
def test_a_reloaded_release_says_how_it_was_made(name: str, tmp_path: Path) -> None:
    table = with_keep(keep=False)[0]
    for number, method in enumerate(METHODS[name].grid(table)):
        release = method.publish(table)
        again = Release.load(release.save(tmp_path / str(number)))
        assert again.provenance == release.provenance
        assert ("specializations" in again.provenance.made) == hasattr(method, "h")
        if again.provenance.made:
            assert str(again.provenance.made["specializations"]) in again._repr_html_()


@pytest.mark.parametrize("name", sorted(METHODS))
@settings(max_examples=5)
@given(case=tables(most_rows=40))
def test_parameters_survive_json_and_name_the_setting(name: str, case: TableCase) -> None:
    found = settings_of(name, case.table)
    for method in found:
        again = make_method(name, json.loads(json.dumps(method.parameters())))
        assert again == method
        assert (again.label, again.series, again.claim) == (method.label, method.series, method.claim)
        assert method.name == name
        assert method.label
    assert len({trial_id(method) for method in found}) == len(found)
    assert len({method.label for method in found}) == len(found)


def test_every_requirement_is_tried() -> None:
    """Those that count people by weights, or households, are tried on tables that have such: test_units.py."""
    by_rows = {name for name, kind in REQUIREMENTS.items() if kind.unit == "rows"}
    assert set(REQUIREMENT_PARAMETERS) == by_rows == set(REQUIREMENTS) - {"k-map", "k-households"}


def with_keep(rows: int = 60, *, keep: bool = True) -> tuple[Table, pl.DataFrame]:
    columns = {
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 9},
        "sex": {"role": "quasi", "kind": "categorical", "values": ["f", "m"], "nullable": True},
        "illness": {"role": "sensitive", "kind": "categorical", "values": ["a", "b", "c", "d"]},
        "note": {"role": "keep" if keep else "ignore"},
    }
    generator = random.Random(5)
    frame = pl.DataFrame(
        {
            "age": [generator.randrange(10) for _ in range(rows)],
            "sex": [generator.choice(["f", "m", None]) for _ in range(rows)],
            "illness": [generator.choice("abcd") for _ in range(rows)],
            "note": [f"note {i}" for i in range(rows)],
        }
    )
    return read(frame, Schema.parse({"columns": columns})), frame


@pytest.mark.parametrize("name", sorted(METHODS))
def test_kept_columns_stay_with_their_rows(name: str) -> None:
    """The settings that a method's grid offers for such a table keep the column beside the right person."""
    table, frame = with_keep()
    for method in METHODS[name].grid(table):
        release = method.publish(table)
        assert release.kept is not None
        assert sorted(release.kept.whole["note"]) == sorted(frame["note"])
        by_note = {row["note"]: row for row in release.kept.whole.iter_rows(named=True)}
        for person in frame.iter_rows(named=True):
            row = by_note[person["note"]]
            assert "abcd"[row["value"]] == person["illness"]
            age, sex = (release.boxes.span(row["box"], axis) for axis in (0, 1))
            assert age.lo <= person["age"] <= age.hi
            assert sex.missing if person["sex"] is None else sex.lo <= "fm".index(person["sex"]) <= sex.hi


@pytest.mark.parametrize("name", PRIVATE)
def test_what_was_read_off_the_data_voids_a_private_claim(name: str) -> None:
    frame = pl.DataFrame({"age": [1, 2, 3, 4] * 5, "ill": ["a", "b"] * 10})
    columns = {
        "age": {"role": "quasi", "kind": "numeric", "min": 1, "max": 4},
        "ill": {"role": "sensitive", "kind": "categorical", "values": ["a", "b"]},
    }
    method = next(iter(METHODS[name].grid(read(frame, Schema.parse({"columns": columns})))))
    if name in IN_SECONDS:
        table = read(frame, Schema.parse({"columns": columns}))
        assert method.publish(table).claim == qualify(method.claim, table.schema)
        columns["age"]["from_data"] = ["max"]
        claim = method.publish(read(frame, Schema.parse({"columns": columns}))).claim
        assert isinstance(claim, NoGuarantee)
        assert "age were read off the rows" in claim.reason
    for epsilon in (0, -1, float("nan"), float("inf"), True, "much"):
        with pytest.raises(ParameterError, match="epsilon is"):
            make_method(name, {**method.parameters(), "epsilon": epsilon})


@pytest.mark.parametrize("method", [Anatomy(l=2), Mondrian(k=2, recoding="bucketize"), METHODS["kd-tree"](epsilon=1.0)])
def test_methods_that_take_rows_apart_refuse_kept_columns(method: Method) -> None:
    with pytest.raises(ParameterError, match=r"the column 'note' has role keep, but .+"):
        method.publish(with_keep()[0])


def test_a_method_that_takes_rows_apart_offers_nothing_for_kept_columns() -> None:
    table = with_keep()[0]
    offered = [method for kind in METHODS.values() for method in kind.grid(table)]
    assert Counter(method.parameters().get("recoding", "generalize") for method in offered)["bucketize"] == 0
    assert not any(isinstance(method, Anatomy | DPMethod) for method in offered)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("datafly", {}, "'datafly' is not a known method; expected one of original"),
        ("mondrian", {"kk": 3}, "mondrian does not take the parameters kk"),
        ("mondrian", {}, "at least one requirement"),
        ("anatomy", {}, "anatomy does not take the parameters none"),
        ("original", {"k": 2}, "original does not take the parameters k"),
        ("mondrian", {"requirements": [{"requirement": "z-anonymity"}]}, "not a known requirement"),
    ],
)
def test_unknown_names_and_parameters_are_refused(name: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(SfumatoError, match=message):
        make_method(name, parameters)


@dataclass(frozen=True, kw_only=True)
class Overall(DPMethod):
    """The overall histogram with noise, the whole domain in one box."""

    name: ClassVar[str] = "overall"
    floor: int = parameter(help="no count is below this", minimum=0, example=1)

    def _release(self, table: Table, budget: Budget) -> Release:
        counts = np.maximum(budget.counts(table.overall[None, :], WHOLE), self.floor).astype(np.float64)
        return self.make_release(table, Boxes.whole(table.schema.quasi), counts, layout="counts")


def test_a_method_added_at_run_time_is_held_to_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    """One class and one entry: its grid and its label follow from its fields."""
    monkeypatch.setitem(METHODS, "overall", Overall)
    assert "overall" in private_methods()
    frame = pl.DataFrame({"age": [1, 2, 3, 4] * 5, "ill": ["a", "b"] * 10})
    columns = {
        "age": {"role": "quasi", "kind": "numeric", "min": 1, "max": 4},
        "ill": {"role": "sensitive", "kind": "categorical", "values": ["a", "b"]},
    }
    table = read(frame, Schema.parse({"columns": columns}))
    found = settings_of("overall", table)
    assert [method.label for method in found] == [f"overall ε={epsilon} floor=1" for epsilon in (0.1, 0.3, 1, 3)]
    for method in found:
        check_noisy_release(method, table, method.publish(table))
        assert make_method("overall", json.loads(json.dumps(method.parameters()))) == method
    with pytest.raises(ParameterError, match="floor is -1; expected a whole number of at least 0"):
        make_method("overall", {"epsilon": 1, "floor": -1})
    with pytest.raises(AssertionError):
        check_noisy_release(found[0], table, Original().publish(table))


def test_a_release_that_breaks_its_claim_is_noticed() -> None:
    """The contract's own check: a release under somebody else's claim fails it."""
    table = with_keep()[0]
    release = Original().publish(table)
    check_release(Original(), table, release)
    broken = Release(
        schema=release.schema,
        boxes=release.boxes,
        weights=release.weights,
        group_of=release.group_of,
        histograms=release.histograms,
        claim=Mondrian(k=50).claim,
        provenance=release.provenance,
    )
    with pytest.raises(SfumatoError, match="does not keep its claim"):
        check_release(Mondrian(k=50), table, broken)
    lighter = Release(
        schema=release.schema,
        boxes=release.boxes,
        weights=release.weights + 1,
        group_of=release.group_of,
        histograms=release.histograms,
        claim=release.claim,
        provenance=release.provenance,
    )
    with pytest.raises(AssertionError):
        check_release(Original(), table, lighter)


@cache
def cases_on(engine: str, folder: Path) -> list[tuple[Table, Table]]:
    """A few random tables, and one of people with several rows, in memory and as another engine reads them."""
    drawn: list[TableCase] = []

    @settings(max_examples=2, phases=[Phase.generate])
    @given(case=tables(most_rows=40, most_quasi=3, most=6))
    def draw(case: TableCase) -> None:
        drawn.append(case)

    draw()
    found = [(case.frame, case.case.schema) for case in drawn]
    town = Schema.load(SCHEMA_PATH).spec() | {"rows_per_person": 2}
    town["columns"] |= {name: {"role": "ignore"} for name in ("income", "occupation", "marital_status", "district")}
    people = residents(300).cast({pl.Enum: pl.String}).with_columns(person_id=pl.int_range(300) // 3 * 2)
    kept = {**town, "columns": town["columns"] | {"income": {"role": "keep"}}}
    found += [(people, Schema.parse(town)), (people, Schema.parse(kept))]
    return [(read(frame, schema), table_on(engine, frame, schema, folder)) for frame, schema in found]


@pytest.fixture(scope="module", params=[name for name in EVERY_ENGINE if name != "memory"])
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Table, Table]]:
    return cases_on(request.param, tmp_path_factory.mktemp(request.param))


def check_same_releases(method: Method, ours: Table, theirs: Table) -> bool:
    """The same release from both, of the same draw if there is one; or a refusal in the same words."""
    releases, refusals = [], []
    for table in (ours, theirs):
        try:
            releases.append(method.publish(table, SimulatedSource(3)))
        except SfumatoError as error:
            refusals.append(str(error))
    if refusals:
        assert len(set(refusals)) == 1
        assert not releases
        return False
    one, other = releases
    for name in ("weights", "group_of", "histograms"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    for mine, other_side in zip(one.boxes.arrays, other.boxes.arrays, strict=True):
        assert np.array_equal(mine, other_side)
    assert (one.claim, one.provenance) == (other.claim, other.provenance)
    assert (one.kept is None) == (other.kept is None)
    if one.kept is not None and other.kept is not None:
        assert one.kept.whole.equals(other.kept.whole)
    return True


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_engine_gives_the_same_release(name: str, both: list[tuple[Table, Table]]) -> None:
    """All arrays of the tables are the same, so a few settings of each method show that it uses nothing else."""
    published = 0
    for ours, theirs in both:
        same_tables(ours, theirs)
        same_tables(ours.people, theirs.people)
        found = settings_of(name, ours)
        for method in found[:2] if ours.schema.keep else found[:: 3 if name == "mondrian" else 6]:
            published += check_same_releases(method, ours, theirs)
    assert published


def test_every_attack_and_workload_says_the_same_on_every_engine(both: list[tuple[Table, Table]]) -> None:
    for ours, theirs in (both[0], both[-2]):
        release = Mondrian(k=2).publish(theirs)
        assert assess(ours, release).spec() == assess(theirs, release).spec()


def test_a_twin_that_miscounts_would_be_found(both: list[tuple[Table, Table]]) -> None:
    ours, theirs = both[0]
    wrong = replace(theirs, cell_weight=theirs.cell_weight + 1)
    with pytest.raises(AssertionError):
        same_tables(ours, wrong)
    with pytest.raises(AssertionError):
        check_same_releases(Original(), ours, wrong)
