"""MST (McKenna, Miklau and Sheldon, 2021): a spanning tree of joint tables under Gaussian noise, fitted by `mbi`.

The tree joins the pairs of attributes that depend most on each other. The library makes the noisy tables agree
(graphical-model estimation); rows are sampled by our own ancestral sampler, which checks itself.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.budget import Budget, ticks
from sfumato.methods.models.ancestral import BARELY, Link, sample
from sfumato.methods.models.binning import count_attributes, rows_to_sample
from sfumato.methods.models.network import BinnedCells
from sfumato.methods.models.rows import Columns, Sampled, SampledRows
from sfumato.parameters import parameter

CHOOSING = Fraction(1, 4)
"""Share of the budget for choosing the pairs; the attributes by themselves have a tenth, the pairs the rest."""
STEPS = 1_000
Edge = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class MST(SampledRows):
    """Synthetic rows from a tree of pairwise tables, fitted by the library `mbi`.

    Claim: differential privacy for adding or removing one row, under (ε, δ) or ρ.
    Assumes: the schema is public; nothing else is read off the data unpaid.
    Cost: O(cells × pairs + fitting).
    Reference: McKenna, Miklau and Sheldon, Winning the NIST contest, 2021; proof in mst.proof.md.

    >>> release = sf.MST(epsilon=1).publish(table)
    """

    name: ClassVar[str] = "mst"
    title: ClassVar[str] = "MST"
    by_default: ClassVar[bool] = False
    delta: float = parameter(
        default=1e-9, help="how likely the promise may fail", above=0, below=1, label=" δ={:g}", always=True
    )

    def _sample(self, columns: Columns, budget: Budget) -> Sampled:
        library = _library()
        attributes = count_attributes(columns, budget)
        cells = BinnedCells(attributes, columns)
        links = _links(library, cells, _spanning_tree(cells, budget), budget)

        def draw(rows: int) -> NDArray[np.int64]:
            return sample(attributes, links, rows, budget.uniforms)

        return Sampled(draw(rows_to_sample(attributes)), draw)


def _spanning_tree(cells: BinnedCells, budget: Budget) -> list[Edge]:
    """Parent and child of each edge, parents first: a private pick among the edges that leave the tree so far."""
    attributes = range(len(cells.attributes))
    known, edges = [len(attributes) - 1], list[Edge]()
    one_run = np.zeros(1, dtype=np.int64)
    while len(known) < len(attributes):
        offered = [(parent, child) for parent in known for child in attributes if child not in known]
        scores = np.array([cells.score(child, ((parent, 0),)) for parent, child in offered], dtype=np.int64)
        price = ticks(CHOOSING / (len(attributes) - 1))
        chosen = budget.choose(scores, one_run, price, monotone=False)  # proof: edges
        edges.append(offered[int(chosen[0])])
        known.append(edges[-1][1])
    return edges


def _links(library: Any, cells: BinnedCells, edges: Sequence[Edge], budget: Budget) -> list[Link]:
    """The fitted distribution of the first attribute and of each child given its parent."""
    attributes = cells.attributes
    root = len(attributes) - 1
    names = [str(number) for number in range(len(attributes))]
    domain = library.Domain(names, [attribute.bins for attribute in attributes])
    measured = [
        library.LinearMeasurement(attribute.bin_counts, (name,), stddev=attribute.deviation)
        for name, attribute in zip(names, attributes, strict=True)
    ]
    price = int(budget.left[0]) // max(len(edges), 1)
    for parent, child in edges:
        counts = budget.counts(cells.counts(child, ((parent, 0),))[None, ...], price)[0]  # proof: pairs
        flat, pair = counts.reshape(-1).astype(np.float64), (names[parent], names[child])
        measured.append(library.LinearMeasurement(flat, pair, stddev=float(budget.variance(price)) ** 0.5))
    rows = float(attributes[0].counts.sum())
    model = library.estimation.MirrorDescent().estimate(domain, measured, known_total=rows, iters=STEPS)

    def fitted(*numbers: int) -> NDArray[np.float64]:
        wanted = model.project(tuple(names[number] for number in numbers)).datavector(flatten=False)
        return np.maximum(np.asarray(wanted, dtype=np.float64), 0) + BARELY

    return [Link(root, (), fitted(root)[None, :]), *(Link(c, ((p, 0),), fitted(p, c)) for p, c in edges)]


def _library() -> Any:
    """`mbi`, in double precision and without the advice it prints when imported."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            jax = import_module("jax")
            jax.config.update("jax_enable_x64", True)
            import_module("mbi.estimation")
            return import_module("mbi")
    except ImportError as error:
        raise ParameterError('mst needs the library mbi: pip install "sfumato[marginals]"') from error
