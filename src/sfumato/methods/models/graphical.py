"""Graphical models over a junction tree: exact marginals, and a fit to noisy tables by multiplicative steps.

The model is P(x) ∝ exp Σ θ_S(x_S) over sets S of attributes that were measured. Marginals of all cliques come from one
pass up and one down the tree (belief propagation), in compiled loops over packed cells. Cells that no table tells apart
stay as even as they can be: of all distributions with such marginals the model has the greatest entropy.

A step adds −α·r / (μ + v) to θ for every measured cell, where μ is its expected count, r how far that is above what
was measured, and v the variance of its noise. Where noise is small that is iterative proportional fitting, where it is
large mirror descent; α grows while the weighted squared error Σ r²/2v falls and is halved otherwise. Where measured
tables disagree the last bit of the error takes plain mirror descent, −α·r / v. The fit looks at noisy counts alone and
costs no privacy.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled
from sfumato.methods.models.ancestral import BARELY, Link
from sfumato.methods.models.fitting import GROW, MIN_SHARE, SHRINK, TINY
from sfumato.methods.models.junction import Attributes, JunctionTree

Number = TypeVar("Number", np.float64, np.int64)

NO_ZEROS: Mapping[Attributes, NDArray[np.bool_]] = MappingProxyType({})
FIRST_STEP = 0.5
SETTLED = 1e-6
"""A step that lowers the error by less than this share of it was the last."""


class Maps(NamedTuple):
    """Where the cells of cliques lie in other tables: the map of pair i is entries[starts[i]:starts[i + 1]]."""

    entries: NDArray[np.int32]
    starts: NDArray[np.int64]


class Cliques(NamedTuple):
    """The cliques of a tree, their cells one after the other, and each one's separator from its parent."""

    starts: NDArray[np.int64]
    parents: NDArray[np.int64]
    to_separator: Maps
    from_parent: Maps
    separator_starts: NDArray[np.int64]


class Tables(NamedTuple):
    """Tables over attributes of one clique each, their cells one after the other."""

    homes: NDArray[np.int64]
    maps: Maps
    starts: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Measurement:
    """Noisy counts of a table of groups of bins."""

    attributes: Attributes
    views: tuple[NDArray[np.int64], ...]  # the group of each bin, rising
    counts: NDArray[np.float64]
    variance: float

    def coarsen(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """A table of bins as a table of the groups that were measured."""
        return coarsen(table, self.views)

    def refine(self, coarse: NDArray[np.float64]) -> NDArray[np.float64]:
        """A table of groups as a table of bins, each with the number of its group."""
        return coarse[np.ix_(*self.views)]


def coarsen(table: NDArray[Number], views: Sequence[NDArray[np.int64]]) -> NDArray[Number]:
    """Neighbouring bins added up by the groups of each axis."""
    for axis, view in enumerate(views):
        if view[-1] + 1 < table.shape[axis]:
            starts = np.searchsorted(view, np.arange(view[-1] + 1))
            table = np.add.reduceat(table, starts, axis=axis)
    return table


class GraphicalModel:
    """Expected counts of any rows, as tables over single attributes and sets of them tell.

    `common` attributes are part of every clique. Cells of tables that `zeros` marks have no rows.
    """

    def __init__(
        self,
        shares: Sequence[NDArray[np.float64]],
        total: float,
        common: Attributes = (),
        zeros: Mapping[Attributes, NDArray[np.bool_]] = NO_ZEROS,
    ) -> None:
        self.sizes = tuple(len(share) for share in shares)
        self.total = total
        self.common = common
        self.measurements: list[Measurement] = []
        self._potentials: dict[Attributes, NDArray[np.float64]] = {
            (attribute,): np.log(np.maximum(share, MIN_SHARE)) for attribute, share in enumerate(shares)
        }
        for table, impossible in zeros.items():
            before = self._potentials.get(table, np.zeros(impossible.shape))
            self._potentials[table] = np.where(impossible, -np.inf, before)
        self._rebuild()

    @property
    def joined(self) -> list[Attributes]:
        """Which sets of attributes have to be part of one clique."""
        with_common = {tuple(sorted({attribute, *self.common})) for attribute in range(len(self.sizes))}
        return [*self._potentials, *with_common]

    def add(self, *measurements: Measurement) -> None:
        """Listen to further measurements from now on."""
        self.measurements += measurements
        known = len(self._potentials)
        for measured in measurements:
            shape = [self.sizes[attribute] for attribute in measured.attributes]
            self._potentials.setdefault(measured.attributes, np.zeros(shape))
        if len(self._potentials) > known:
            self._rebuild()

    def fit(self, steps: int) -> None:
        """Move towards what was measured by at most so many quick steps, or until one lowers the error no more."""
        self._descend(steps, FIRST_STEP, True, SETTLED)

    def polish(self, steps: int, settled: float = SETTLED) -> None:
        """Go on by slow steps, to the least error there is: quick ones stop a little above it where tables disagree."""
        least = min(measured.variance for measured in self.measurements)
        self._descend(steps, least / self.total, False, settled)

    def _descend(self, steps: int, step: float, quick: bool, settled: float) -> None:
        """Steps that lower the error."""
        error, slopes = self._error(self._expect(self._potentials), quick)
        for _ in range(steps):
            moved = {table: theta - step * slopes[table] for table, theta in self._potentials.items()}
            new_error, new_slopes = self._error(self._expect(moved), quick)
            if not new_error <= error:
                step *= SHRINK
                continue
            gained, self._potentials = error - new_error, moved
            error, slopes = new_error, new_slopes
            step *= GROW
            if gained <= settled * error:
                break
        self._expect(self._potentials)

    def pairs(self) -> dict[Attributes, NDArray[np.float64]]:
        """The expected counts of every pair of attributes that are not common: (one, other, common combinations)."""
        found: dict[Attributes, NDArray[np.float64]] = {}
        others = [attribute for attribute in range(len(self.sizes)) if attribute not in self.common]
        for one in others:
            for other, table in self._with(one):
                if other > one:
                    cells = table.reshape(self.sizes[other], -1, self.sizes[one])
                    found[one, other] = np.moveaxis(cells, 2, 0) * self.total
        return found

    def table(self, attributes: Attributes) -> NDArray[np.float64]:
        """The expected counts of attributes of one clique, each an axis."""
        home = self.tree.home_of(attributes)
        cells = np.bincount(self._map(home, attributes), self._clique(home), self.tree.table_size(attributes))
        return np.asarray(cells.reshape([self.sizes[attribute] for attribute in attributes]) * self.total)

    def links(self) -> list[Link]:
        """The model as conditional distributions of one attribute after the other, for ancestral sampling."""
        known: list[int] = []
        found = []
        for clique, belief in zip(self.tree.cliques, self._beliefs(), strict=True):
            for child in [attribute for attribute in clique if attribute not in known]:
                parents = [attribute for attribute in clique if attribute in known]
                others = tuple(
                    axis for axis, attribute in enumerate(clique) if attribute != child and attribute not in parents
                )
                table = belief.sum(axis=others)
                kept = [attribute for attribute in clique if attribute == child or attribute in parents]
                shares = np.moveaxis(table, kept.index(child), -1).reshape(-1, self.sizes[child]) + BARELY / self.total
                found.append(Link(child, tuple((parent, 0) for parent in parents), shares))
                known.append(child)
        return found

    def _rebuild(self) -> None:
        """The tree, and the maps of its cliques, for the tables that there are now."""
        self.tree = JunctionTree.over(self.sizes, self.joined)
        sizes = [self.tree.table_size(clique) for clique in self.tree.cliques]
        separators = [self.tree.table_size(separator) for separator in self.tree.separators]
        links = list(zip(range(len(sizes)), self.tree.parents, self.tree.separators, strict=True))
        self._cliques = Cliques(
            _starts(sizes),
            np.array(self.tree.parents),
            _pack([self.tree.cell_map(clique, separator) for clique, _, separator in links]),
            _pack([self.tree.cell_map(max(parent, 0), separator) for _, parent, separator in links]),
            _starts(separators),
        )
        homes = [self.tree.home_of(table) for table in self._potentials]
        maps = [self.tree.cell_map(home, table) for home, table in zip(homes, self._potentials, strict=True)]
        sizes = [self.tree.table_size(table) for table in self._potentials]
        self._tables = Tables(np.array(homes), _pack(maps), _starts(sizes))
        self._belief = np.zeros(self._cliques.starts[-1])
        self._maps: dict[tuple[int, Attributes], NDArray[np.int32]] = {}
        self._neighbours: list[list[tuple[int, Attributes]]] = [[] for _ in self.tree.cliques]
        for child, parent, separator in links[1:]:
            self._neighbours[child].append((parent, separator))
            self._neighbours[parent].append((child, separator))
        self._expect(self._potentials)

    def _expect(self, potentials: dict[Attributes, NDArray[np.float64]]) -> dict[Attributes, NDArray[np.float64]]:
        """The expected counts of every table under some potentials."""
        theta = np.concatenate([table.reshape(-1) for table in potentials.values()])
        found = _infer(self._cliques, self._tables, theta, self._belief) * self.total
        parts = np.split(found, self._tables.starts[1:-1])
        return {table: part.reshape(old.shape) for (table, old), part in zip(potentials.items(), parts, strict=True)}

    def _error(
        self, expected: dict[Attributes, NDArray[np.float64]], quick: bool
    ) -> tuple[float, dict[Attributes, NDArray[np.float64]]]:
        """The weighted squared error, and its slope for every potential: by r / v, or r / (μ + v) if `quick`."""
        error, slopes = 0.0, {table: np.zeros(counts.shape) for table, counts in expected.items()}
        for measured in self.measurements:
            coarse = measured.coarsen(expected[measured.attributes])
            excess = coarse - measured.counts
            error += float((excess**2).sum()) / (2 * measured.variance)
            slopes[measured.attributes] += measured.refine(excess / (quick * coarse + measured.variance))
        return error, slopes

    def _beliefs(self) -> list[NDArray[np.float64]]:
        """The probability of every cell of every clique."""
        parts = np.split(self._belief, self._cliques.starts[1:-1])
        return [
            part.reshape([self.sizes[attribute] for attribute in clique])
            for part, clique in zip(parts, self.tree.cliques, strict=True)
        ]

    def _with(self, one: int) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Its joint distribution with each other attribute and the common ones, clique by clique along the tree.

        The tables are (values of the other × common combinations, values of the attribute).
        """
        home = self.tree.home_of(tuple(sorted((one, *self.common))))
        combinations = self.tree.table_size(self.common)
        seen = {one, *self.common}
        itself = np.repeat(np.eye(self.sizes[one]), combinations, axis=0)
        waiting = [(home, -1, self._map(home, (one, *self.common)), itself, self._clique(home))]
        while waiting:
            clique, before, lies, shared, given = waiting.pop()
            for other in self.tree.cliques[clique]:
                if other not in seen:
                    seen.add(other)
                    into = self._map(clique, (other, *self.common))
                    yield other, _joint(into, lies, given, shared, self.sizes[other] * combinations)
            for near, separator in self._neighbours[clique]:
                if near != before:
                    cells = self.tree.table_size(separator)
                    carried = _joint(self._map(clique, separator), lies, given, shared, cells)
                    there = self._map(near, separator)
                    waiting.append((near, clique, there, carried, _conditional(there, self._clique(near), cells)))

    def _map(self, clique: int, attributes: Attributes) -> NDArray[np.int32]:
        if (clique, attributes) not in self._maps:
            self._maps[clique, attributes] = self.tree.cell_map(clique, attributes)
        return self._maps[clique, attributes]

    def _clique(self, clique: int) -> NDArray[np.float64]:
        return self._belief[self._cliques.starts[clique] : self._cliques.starts[clique + 1]]


@compiled
def _joint(
    into: NDArray[np.int32],
    lies: NDArray[np.int32],
    given: NDArray[np.float64],
    shared: NDArray[np.float64],
    cells: int,
) -> NDArray[np.float64]:
    """Σ over cells of a clique of shared[where it lies] · P(cell | where it lies), by table cell: (cells, values)."""
    found = np.zeros((cells, shared.shape[1]))
    for cell in range(len(given)):
        for value in range(shared.shape[1]):
            found[into[cell], value] += shared[lies[cell], value] * given[cell]
    return found


@compiled
def _conditional(lies: NDArray[np.int32], belief: NDArray[np.float64], cells: int) -> NDArray[np.float64]:
    """The probability of each cell given where it lies."""
    margin = np.zeros(cells)
    for cell in range(len(belief)):
        margin[lies[cell]] += belief[cell]
    found = np.zeros(len(belief))
    for cell in range(len(belief)):
        if margin[lies[cell]] > 0:
            found[cell] = belief[cell] / margin[lies[cell]]
    return found


def _starts(sizes: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _pack(maps: Sequence[NDArray[np.int32]]) -> Maps:
    return Maps(np.concatenate(maps), _starts([len(entries) for entries in maps]))


@compiled
def _infer(
    cliques: Cliques, tables: Tables, theta: NDArray[np.float64], belief: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The marginals of all tables; `belief` becomes the probability of every cell of every clique."""
    _raise_potentials(cliques, tables, theta, belief)
    _propagate(cliques, belief)
    found = np.zeros(tables.starts[-1])
    for table in range(len(tables.homes)):
        entry, start, home = tables.maps.starts[table], tables.starts[table], tables.homes[table]
        for cell in range(cliques.starts[home], cliques.starts[home + 1]):
            found[start + tables.maps.entries[entry]] += belief[cell]
            entry += 1
    return found


@compiled
def _raise_potentials(
    cliques: Cliques, tables: Tables, theta: NDArray[np.float64], belief: NDArray[np.float64]
) -> None:
    """exp of the sum of potentials in every cell of every clique, the largest of a clique being one."""
    belief[:] = 0
    for table in range(len(tables.homes)):
        entry, start, home = tables.maps.starts[table], tables.starts[table], tables.homes[table]
        for cell in range(cliques.starts[home], cliques.starts[home + 1]):
            belief[cell] += theta[start + tables.maps.entries[entry]]
            entry += 1
    for clique in range(len(cliques.parents)):
        cells = belief[cliques.starts[clique] : cliques.starts[clique + 1]]
        cells[:] = np.exp(cells - cells.max())


@compiled
def _propagate(cliques: Cliques, belief: NDArray[np.float64]) -> None:
    """Messages from the leaves to the root and back; afterwards every clique holds its marginal distribution."""
    sent = np.zeros(cliques.separator_starts[-1])
    for clique in range(len(cliques.parents) - 1, 0, -1):
        message = sent[cliques.separator_starts[clique] : cliques.separator_starts[clique + 1]]
        _gather(cliques.to_separator, clique, _cells(cliques, belief, clique), message)
        message /= max(message.max(), TINY)
        above = _cells(cliques, belief, cliques.parents[clique])
        _scale(cliques.from_parent, clique, above, message)
        above /= max(above.max(), TINY)
    root = _cells(cliques, belief, 0)
    root /= root.sum()
    for clique in range(1, len(cliques.parents)):
        message = sent[cliques.separator_starts[clique] : cliques.separator_starts[clique + 1]]
        back = np.zeros(len(message))
        _gather(cliques.from_parent, clique, _cells(cliques, belief, cliques.parents[clique]), back)
        own = np.zeros(len(message))
        cells = _cells(cliques, belief, clique)
        _gather(cliques.to_separator, clique, cells, own)
        for place in range(len(back)):
            back[place] = back[place] / own[place] if own[place] > 0 else 0.0
        _scale(cliques.to_separator, clique, cells, back)


@compiled
def _cells(cliques: Cliques, belief: NDArray[np.float64], clique: int) -> NDArray[np.float64]:
    return belief[cliques.starts[clique] : cliques.starts[clique + 1]]


@compiled
def _gather(maps: Maps, number: int, cells: NDArray[np.float64], into: NDArray[np.float64]) -> None:
    """Add cells up by where they lie in another table."""
    entry = maps.starts[number]
    for cell in range(len(cells)):
        into[maps.entries[entry + cell]] += cells[cell]


@compiled
def _scale(maps: Maps, number: int, cells: NDArray[np.float64], by: NDArray[np.float64]) -> None:
    """Multiply cells by what another table holds where they lie."""
    entry = maps.starts[number]
    for cell in range(len(cells)):
        cells[cell] *= by[maps.entries[entry + cell]]
