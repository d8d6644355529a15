"""Full-domain recoding: the published vector is the cheapest of all, by brute force over all of them."""

import itertools
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from sfumato.data import Table, read
from sfumato.errors import ParameterError, UnsatisfiableError
from sfumato.measures.workloads.information_loss import InformationLoss
from sfumato.methods.partition.full_domain import FullDomain
from sfumato.methods.partition.lattice import Lattice
from sfumato.methods.partition.levels import levels_of, nodes_above
from sfumato.privacy.requirements import KMap, Population, Requirement
from sfumato.schema import Axis, Schema
from sfumato.schema.taxonomy import Node, cut_below, leaf_above
from strategies import TableCase, tables

ILL = {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]}
ASKED: tuple[dict[str, Any], ...] = (
    {"k": 2},
    {"k": 3, "suppress": 0.3},
    {"k": 1, "l": 1.5},
    {"l": 2, "suppress": 0.5},
    {"t": 0.3},
    {"k": 2, "t": 0.2, "distance": "jensen-shannon", "suppress": 0.4},
    {"delta": 1.0, "suppress": 0.4},
)


def spans_at(axis: Axis, level: int) -> dict[int, tuple[int, int, bool]]:
    """What every code becomes at a level, by cutting the tree; a missing value joins the others above the root."""
    root = axis.taxonomy
    if level > root.height:
        return dict.fromkeys([*range(axis.size), -1], (0, axis.size - 1, True))
    leaf = leaf_above(root, cut_below(root, level))
    together = {node: [code for code in range(axis.size) if leaf[code] == node] for node in set(leaf)}
    found = {code: (together[leaf[code]][0], together[leaf[code]][-1], False) for code in range(axis.size)}
    return found | {-1: (0, -1, True)}


def share_of(axis: Axis, span: tuple[int, int, bool]) -> float:
    return (span[1] - span[0] + span[2]) / max(axis.positions - 1, 1)


def stays(groups: list[list[reference.Person]], asked: list[Requirement], axis: Axis) -> list[list[reference.Person]]:
    """The classes that are left when all that fail are left out, until none does; too small ones, which fail whatever
    they are compared with, go first."""
    least = max(requirement.smallest_class for requirement in asked)
    groups = [group for group in groups if len(group) >= least]
    while True:
        counts = np.array([reference.histogram([value for _, value in group], axis.positions) for group in groups])
        if not len(groups):
            return []
        population = Population(counts.sum(axis=0), axis)
        holds = np.all([requirement.holds(counts, population) for requirement in asked], axis=0)
        if holds.all():
            return groups
        groups = [group for group, good in zip(groups, holds, strict=True) if good]


def every_cost(case: TableCase, method: FullDomain) -> list[float]:
    """The cost of each vector that can be published."""
    axes, most, found = case.table.schema.quasi, int(method.suppress * len(case.people)), []
    for levels in itertools.product(*(range(axis.taxonomy.height + 1 + axis.nullable) for axis in axes)):
        spans = [spans_at(axis, level) for axis, level in zip(axes, levels, strict=True)]
        classes: dict[Any, list[reference.Person]] = {}
        for person in case.people:
            key = tuple(known[code] for known, code in zip(spans, person[0], strict=True))
            classes.setdefault(key, []).append(person)
        asked = list(method.all_requirements)
        left = stays(list(classes.values()), asked, case.table.schema.sensitive)
        out = len(case.people) - sum(map(len, left))
        if not left or out > most:
            continue
        if method.measure == "discernibility":
            found.append(float(sum(len(group) ** 2 for group in left) + out * len(case.people)))
            continue
        cost = float(out)
        for key, group in classes.items():
            if any(group is other for other in left):
                heights = [axis.taxonomy.height + axis.nullable for axis in axes]
                shares = (
                    [level / max(height, 1) for level, height in zip(levels, heights, strict=True)]
                    if method.measure == "precision"
                    else [share_of(axis, span) for axis, span in zip(axes, key, strict=True)]
                )
                cost += len(group) * sum(shares) / len(axes)
        found.append(cost / len(case.people))
    return found


def is_full_domain(table: Table, release: Any) -> bool:
    """Whether all values of each column are at one level."""
    boxes = [
        [release.boxes.span(box, axis) for box in range(len(release.boxes))] for axis in range(len(table.points.T))
    ]
    return all(
        any(
            set(map(tuple, column)) <= set(spans_at(axis, level).values())
            for level in range(axis.taxonomy.height + 1 + axis.nullable)
        )
        for axis, column in zip(table.schema.quasi, boxes, strict=True)
    )


@pytest.mark.parametrize("measure", ["ncp", "discernibility", "precision"])
@settings(max_examples=25)
@given(case=tables(most_rows=16, most_quasi=3, most=5), asked=st.sampled_from(ASKED))
def test_nothing_is_cheaper(measure: Any, case: TableCase, asked: dict[str, Any]) -> None:
    method = FullDomain(**asked, measure=measure)
    costs = every_cost(case, method)
    if not costs:
        with pytest.raises(UnsatisfiableError):
            method.publish(case.table)
        return
    release = method.publish(case.table)
    assert is_full_domain(case.table, release)
    assert release.provenance.made == {}
    assert release.rows >= (1 - method.suppress) * case.table.n
    if measure == "precision":
        lattice = Lattice(case.table, method.all_requirements, measure, int(method.suppress * case.table.n), 10**6)
        lattice.search()
        assert lattice._best is not None
        assert lattice._best[0] / case.table.n == pytest.approx(min(costs), abs=1e-9)
        return
    measured = InformationLoss().run(case.table, release)[measure]
    assert measured == pytest.approx(min(costs), abs=1e-9)


def people(rows: list[tuple[int, int]], size: int = 4, **more: Any) -> Table:
    columns = {"age": {"role": "quasi", "kind": "numeric", "min": 0, "max": size - 1, **more}, "ill": ILL}
    frame = pl.DataFrame({"age": [age for age, _ in rows], "ill": [["no", "yes"][value] for _, value in rows]})
    return read(frame, Schema.parse({"columns": columns}))


def test_the_search_must_not_prune_as_if_leaving_out_were_monotone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Coarser classes can fail where finer ones do not, once some may be left out: whoever forgets it pays."""
    worse = 0
    for seed in range(30):
        table = wide(2, 60, seed=seed, size=8)
        method = FullDomain(l=2, suppress=0.5)
        right, wrong = penalty(method, table), 0.0
        with monkeypatch.context() as patch:
            patch.setattr(Lattice, "monotone", property(lambda self: True))
            wrong = penalty(method, table)
        assert wrong >= right - 1e-12
        worse += wrong > right + 1e-9
    assert worse


def penalty(method: FullDomain, table: Table) -> float:
    """The penalty of what is published, 1 if nothing can be."""
    try:
        return InformationLoss().run(table, method.publish(table))["ncp"]
    except UnsatisfiableError:
        return 1.0


def test_levels_of_an_uneven_tree() -> None:
    """A single value high up stays itself until its parent is reached, and a missing value is last to be joined."""
    column = {"kind": "categorical", "nullable": True, "taxonomy": {"a": [], "b": {"c": ["d", "e"], "f": ["g"]}}}
    schema = Schema.parse({"columns": {"x": {"role": "quasi", **column}, "ill": ILL}})
    lo, hi = nodes_above(schema.quasi[0], np.arange(5))
    assert lo.tolist() == [[0, 1, 2, 3, 4], [0, 1, 1, 3, 4], [0, 1, 1, 1, 4], [0, 0, 0, 0, 4], [0, 0, 0, 0, 0]]
    assert hi.tolist() == [[0, 1, 2, 3, 4], [0, 2, 2, 3, 4], [0, 3, 3, 3, 4], [3, 3, 3, 3, 4], [4, 4, 4, 4, 4]]


def test_levels_of_numbers_are_halves_however_many_there_are() -> None:
    table = people([(0, 0), (3, 1), (999_999_999, 0)], 1_000_000_000)
    (levels,) = levels_of(table)
    assert levels.height == 30
    assert levels.lo[-1].tolist() == [0, 0, 0]
    assert levels.hi[-1].tolist() == [999_999_999] * 3
    assert ((levels.lo <= [0, 3, 999_999_999]) & (levels.hi >= [0, 3, 999_999_999])).all()


def test_halves_are_as_high_as_their_leaves_are_deep() -> None:
    def height(node: Node) -> int:
        return 1 + max(map(height, node.children)) if node.children else 0

    for size in range(1, 40):
        root = people([(0, 0)] * 2, size).schema.quasi[0].taxonomy
        assert root.height == height(root)


def test_a_search_that_stops_says_so(tmp_path: Any) -> None:
    from sfumato.release import Release

    table = people([(age, age % 2) for age in range(16)] * 2, 16)
    release = FullDomain(k=4, limit=1).publish(table)
    assert release.provenance.made == {"level vectors": 1}
    assert FullDomain(k=4).publish(table).provenance.made == {}
    again = Release.load(release.save(tmp_path / "release"))
    assert again.provenance == release.provenance
    assert again.violations() == []
    with pytest.raises(UnsatisfiableError, match="none of the first 1 levels of this table's columns satisfy l-div"):
        FullDomain(l=2, suppress=0.2, limit=1).publish(people([(0, 0)] * 8 + [(3, 0), (3, 1)]))


@pytest.mark.parametrize("rows", [[(0, 0)], [(2, 1)] * 5, [(0, 0), (3, 1)]])
def test_tables_of_hardly_anything(rows: list[tuple[int, int]]) -> None:
    release = FullDomain(k=1).publish(people(rows))
    assert release.boxes.are_points.all()
    with pytest.raises(UnsatisfiableError, match="no release of this table can satisfy k-anonymity"):
        FullDomain(k=6).publish(people(rows))
    with pytest.raises(UnsatisfiableError, match="no levels of this table's columns satisfy k-anonymity"):
        FullDomain(k=6, suppress=0.9).publish(people(rows))


def test_nobody_has_a_value() -> None:
    columns = {"x": {"role": "quasi", "kind": "numeric", "min": 0, "max": 9, "nullable": True}, "ill": ILL}
    table = read(pl.DataFrame({"x": [None] * 4, "ill": ["no", "yes"] * 2}), Schema.parse({"columns": columns}))
    release = FullDomain(k=4).publish(table)
    assert release.boxes.span(0, 0) == (0, -1, True)


def wide(columns: int, rows: int, seed: int = 1, size: int = 16) -> Table:
    generator = np.random.default_rng(seed)
    names = [f"q{number}" for number in range(columns)]
    spec = {name: {"role": "quasi", "kind": "numeric", "min": 0, "max": size - 1} for name in names}
    codes = {name: generator.integers(0, size, rows) for name in names}
    ill = np.array(["no", "yes"])[(generator.random(rows) < 0.35).astype(int)]
    return read(pl.DataFrame(codes | {"ill": ill}), Schema.parse({"columns": {**spec, "ill": ILL}}))


def test_many_columns_end_at_the_limit() -> None:
    """5²⁰ vectors: the best of some is published, which is better than suppressing everything."""
    table = wide(20, 200)
    release = FullDomain(k=5, limit=500).publish(table)
    assert release.provenance.made == {"level vectors": 500}
    assert release.histograms.sum(axis=1).min() >= 5
    assert InformationLoss().run(table, release)["ncp"] < 0.95


def grouped(table: Table, spans: list[Any], minimum: int, most: int) -> float:
    """The penalty of one vector on a table, rows grouped anew."""
    key = np.zeros(len(table.points), dtype=np.int64)
    for low, _, place in spans:
        key = key * 100 + low[place]
    _, class_of = np.unique(key, return_inverse=True)
    out = (np.bincount(class_of, table.weights) < minimum)[class_of]
    if table.weights[out].sum() > most or out.all():
        return np.inf
    scale = [max(axis.positions - 1, 1) for axis in table.schema.quasi]
    shares = np.column_stack([(known[1] - known[0])[known[2]] for known in spans]) / scale
    cost = np.where(out, 1.0, shares.mean(axis=1))
    return float((cost * table.weights).sum() / table.n)


@pytest.mark.parametrize("suppress", [0.0, 0.02])
def test_adult_has_nothing_cheaper(adult_training: Table, suppress: float) -> None:
    """All 720 vectors of six columns of Adult at k = 10, each grouped from the points."""
    table = adult_training
    codes = [np.unique(column, return_inverse=True) for column in table.points.T]
    spans = [
        [(low, high, place.reshape(-1)) for low, high in zip(*nodes_above(axis, values.astype(np.int64)), strict=True)]
        for axis, (values, place) in zip(table.schema.quasi, codes, strict=True)
    ]
    assert np.prod([len(levels) for levels in spans]) == 720
    cost = partial(grouped, table, minimum=10, most=int(suppress * table.n))
    least = min(cost(list(vector)) for vector in itertools.product(*spans))
    release = FullDomain(k=10, suppress=suppress).publish(table)
    assert InformationLoss().run(table, release)["ncp"] == pytest.approx(least, abs=1e-12)
    assert least == pytest.approx(0.2354 if suppress else 0.5722, abs=1e-4)


def test_another_program_loses_more_on_adult(adult_training: Table) -> None:
    """anjana 1.2.3 goes up one column at a time, that with most values first, and ends at this vector at k = 10."""
    table = adult_training
    lattice = Lattice(table, FullDomain(k=10).all_requirements, "ncp", 0, 10**6)
    theirs = lattice.look_at((4, 2, 2, 1, 1, 0))
    assert theirs.holds
    assert theirs.cost / table.n == pytest.approx(0.6333, abs=1e-4)
    release = FullDomain(k=10).publish(table)
    assert InformationLoss().run(table, release)["ncp"] < theirs.cost / table.n - 0.06


def test_what_it_does_not_count_is_refused() -> None:
    with pytest.raises(
        ParameterError, match=r"k-map \(k_map=5\) counts weights, and full-domain counts rows; use mondrian"
    ):
        FullDomain(k=5, requirements=(KMap(k_map=5),))
