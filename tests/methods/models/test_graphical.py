"""Graphical models: marginals against brute force and `mbi`, the fit against proportional fitting, sampling links."""

from __future__ import annotations

import math
import warnings
from importlib import import_module
from importlib.util import find_spec
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.methods.models.graphical import GraphicalModel, Measurement, coarsen
from sfumato.methods.models.junction import JunctionTree, edges_of, edges_within

Floats = np.ndarray[Any, np.dtype[np.float64]]


def margin(cells: Floats, axes: tuple[int, ...]) -> Floats:
    return np.asarray(cells.sum(axis=tuple(axis for axis in range(cells.ndim) if axis not in axes)))


def measured(cells: Floats, axes: tuple[int, ...], variance: float = 1e-6) -> Measurement:
    counts = margin(cells, axes)
    return Measurement(axes, tuple(np.arange(size) for size in counts.shape), counts, variance)


def model_of(cells: Floats) -> GraphicalModel:
    total = float(cells.sum())
    return GraphicalModel([margin(cells, (axis,)) / total for axis in range(cells.ndim)], total)


def fitted_proportionally(cells: Floats, tables: list[tuple[int, ...]], rounds: int = 600) -> Floats:
    found = np.full(cells.shape, cells.sum() / cells.size)
    for _ in range(rounds):
        for axes in tables:
            shape = [size if axis in axes else 1 for axis, size in enumerate(cells.shape)]
            found = found * (margin(cells, axes) / margin(found, axes)).reshape(shape)
    return found


@st.composite
def joints(draw: st.DrawFn) -> tuple[Floats, list[tuple[int, ...]]]:
    """Positive counts over three to five axes, and some pairs of them."""
    shape = draw(st.lists(st.integers(2, 4), min_size=3, max_size=5))
    generator = np.random.default_rng(draw(st.integers(0, 10_000)))
    pairs = list(combinations(range(len(shape)), 2))
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=len(pairs), unique=True))
    return np.asarray(generator.gamma(1.0, size=shape) + 0.2) * 100, chosen


@given(joints())
@settings(max_examples=25, deadline=None)
def test_all_pairs_are_those_of_the_distribution_of_greatest_entropy(
    case: tuple[Floats, list[tuple[int, ...]]],
) -> None:
    cells, tables = case
    model = model_of(cells)
    model.add(*(measured(cells, table) for table in tables))
    model.fit(3_000)
    wanted = fitted_proportionally(cells, [*((axis,) for axis in range(cells.ndim)), *tables])
    for pair, found in model.pairs().items():
        assert np.allclose(found[..., 0], margin(wanted, pair), atol=0.02 * cells.sum() / 100)


def test_tables_with_common_attributes_are_those_of_all_cells() -> None:
    cells = np.random.default_rng(3).gamma(1.0, size=(3, 4, 2, 3, 2)) * 50 + 10
    total = float(cells.sum())
    shares = [margin(cells, (axis,)) / total for axis in range(cells.ndim)]
    model = GraphicalModel(shares, total, common=(2, 4))
    tables = [(0, 1, 2), (1, 3, 4), (0, 2, 4)]
    model.add(*(measured(cells, table) for table in tables))
    model.fit(3_000)
    wanted = fitted_proportionally(cells, [*((axis,) for axis in range(cells.ndim)), *tables])
    assert sorted(model.pairs()) == [(0, 1), (0, 3), (1, 3)]
    for (one, other), found in model.pairs().items():
        whole = margin(wanted, tuple(sorted((one, other, 2, 4))))
        moved = np.moveaxis(whole, [sorted((one, other, 2, 4)).index(axis) for axis in (one, other, 2, 4)], range(4))
        assert np.allclose(found, moved.reshape(found.shape), rtol=5e-3)
    assert np.allclose(model.table((3, 2, 4)), margin(wanted, (2, 3, 4)).transpose(1, 0, 2), rtol=5e-3)


def test_a_fit_is_not_slowed_down_by_the_one_before() -> None:
    """Steps that became tiny where nothing was left to gain once stayed so, and later tables were not heard."""
    cells = np.random.default_rng(4).gamma(1.0, size=(6, 5, 4)) * 500 + 10
    model = model_of(cells)
    model.add(measured(cells, (0, 1), 4.0))
    model.fit(500)
    model.add(measured(cells, (1, 2), 4.0))
    model.fit(30)
    assert np.allclose(model.pairs()[1, 2][..., 0], margin(cells, (1, 2)), rtol=0.02)


def test_coarse_measurements_move_groups_alone() -> None:
    cells = np.random.default_rng(5).gamma(1.0, size=(6, 4)) * 50 + 10
    views = (np.array([0, 0, 1, 1, 1, 2]), np.array([0, 0, 1, 1]))
    model = model_of(cells)
    singles = model.pairs()[0, 1][..., 0]
    model.add(*(measured(cells, (axis,)) for axis in range(2)))
    model.add(Measurement((0, 1), views, coarsen(cells, views), 1e-6))
    model.fit(3_000)
    assert np.allclose(coarsen(model.pairs()[0, 1][..., 0], views), coarsen(cells, views), rtol=1e-3)
    assert not np.allclose(coarsen(singles, views), coarsen(cells, views), rtol=1e-2)
    assert not np.allclose(model.pairs()[0, 1][..., 0], cells, rtol=1e-2)


def test_links_multiply_to_the_model() -> None:
    cells = np.random.default_rng(7).gamma(1.0, size=(3, 2, 4, 2)) * 50 + 10
    model = model_of(cells)
    model.add(*(measured(cells, pair) for pair in ((0, 1), (1, 2), (0, 2), (2, 3))))
    model.fit(500)
    joint = np.ones(cells.shape)
    for link in model.links():
        parents = [parent for parent, _ in link.parents]
        shares = link.shares / link.shares.sum(axis=1, keepdims=True)
        table = shares.reshape([*(cells.shape[parent] for parent in parents), cells.shape[link.child]])
        order = np.argsort([*parents, link.child])
        axes = sorted([*parents, link.child])
        joint = joint * table.transpose(order).reshape([size if a in axes else 1 for a, size in enumerate(cells.shape)])
    for pair, found in model.pairs().items():
        assert np.allclose(margin(joint * cells.sum(), pair), found[..., 0], rtol=1e-6)


@pytest.mark.skipif(find_spec("mbi") is None, reason="the library mbi is not installed")
def test_noisy_tables_are_fitted_as_mbi_fits_them() -> None:
    """The same weighted squared error, within a thousandth, after as many steps as either needs."""
    generator = np.random.default_rng(11)
    cells = generator.gamma(0.5, size=(5, 4, 3, 6)) * 60
    tables = [(0, 1), (1, 2), (2, 3), (0, 3)]
    noisy = {axes: margin(cells, axes) + generator.normal(0, 10, margin(cells, axes).shape) for axes in tables}
    model = model_of(cells)
    for axes, counts in noisy.items():
        model.add(Measurement(axes, tuple(np.arange(size) for size in counts.shape), counts, 100.0))
    model.fit(300)
    model.polish(20_000, settled=0)
    ours = model.pairs()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import_module("jax").config.update("jax_enable_x64", True)
        import_module("mbi.estimation")
        mbi = import_module("mbi")
        names = [str(axis) for axis in range(4)]
        domain = mbi.Domain(names, cells.shape)
        told = [
            mbi.LinearMeasurement(c.reshape(-1), tuple(names[a] for a in axes), stddev=10.0)
            for axes, c in noisy.items()
        ]
        theirs = mbi.estimation.MirrorDescent().estimate(domain, told, known_total=float(cells.sum()), iters=3_000)

    def error(table: Any) -> float:
        return sum(float(((table(axes) - counts) ** 2).sum()) / 200 for axes, counts in noisy.items())

    def their_table(axes: tuple[int, ...]) -> Floats:
        return np.asarray(theirs.project(tuple(names[a] for a in axes)).datavector(flatten=False))

    assert error(lambda axes: ours[axes][..., 0]) <= error(their_table) * 1.001
    assert error(lambda axes: margin(cells, axes)) > error(their_table)


@given(st.lists(st.integers(2, 5), min_size=2, max_size=7), st.integers(0, 1_000))
def test_cliques_hold_every_table_and_separators_run_together(sizes: list[int], seed: int) -> None:
    generator = np.random.default_rng(seed)
    pairs = list(combinations(range(len(sizes)), 2))
    tables = [
        pairs[number] for number in generator.choice(len(pairs), generator.integers(1, len(pairs) + 1), replace=False)
    ]
    tree = JunctionTree.over(sizes, [*((axis,) for axis in range(len(sizes))), *tables])
    assert all(any(set(table) <= set(clique) for clique in tree.cliques) for table in tables)
    for number, (parent, separator) in enumerate(zip(tree.parents, tree.separators, strict=True)):
        before = {attribute for clique in tree.cliques[:number] for attribute in clique}
        assert parent < number
        assert set(tree.cliques[number]) & before == set(separator)
    joined, new = edges_of(len(sizes), tables), [pair for pair in pairs if pair not in tables]
    for limit in (tree.cells, 2 * tree.cells, math.inf):
        within = edges_within(joined, np.log(sizes), float(limit))
        assert all(within[table] for table in tables)
        for pair in new[:3]:
            least = JunctionTree.over(sizes, [*tables, pair]).cells
            assert least <= limit * (1 + 1e-9) if within[pair] else limit < math.inf
