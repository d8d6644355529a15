"""Dirichlet: everybody's quasi-identifiers as they are, their sensitive values drawn anew.

As Machanavajjhala, Kifer, Abowd, Gehrke and Vilhuber (2008) synthesize where people live given where they work: the
people with the same quasi-identifiers are a destination, and the sensitive values are the places they come from.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.mechanisms.dirichlet import Calibration, PriorShape, Promise, Segments, Urn
from sfumato.mechanisms.dirichlet.calibration import MAX_EPSILON
from sfumato.mechanisms.noise import Source
from sfumato.methods.base import PrivateMethod
from sfumato.parameters import parameter
from sfumato.privacy.claims import ProbabilisticDP
from sfumato.release.boxes import Boxes
from sfumato.release.content import sampling_deviation
from sfumato.release.release import Release

LEAST_EPSILON = 1e-6
"""Below this a prior for a single person is larger than an urn can hold."""


@dataclass(frozen=True, kw_only=True)
class Dirichlet(PrivateMethod):
    """Exact quasi-identifiers, which are taken for public, with sensitive values drawn from data and prior.

    Claim: (ε, δ)-probabilistic differential privacy for replacing one person's sensitive value.
    Assumes: quasi-identifiers are public; so is the list of sensitive values.
    Cost: O(rows + distinct points × values).
    Reference: paper Machanavajjhala et al. 2008; proof in mechanisms/dirichlet/dirichlet.proof.md.

    >>> release = sf.Dirichlet(epsilon=2).publish(table)
    """

    name: ClassVar[str] = "dirichlet"
    title: ClassVar[str] = "Dirichlet"
    takes_several: ClassVar[bool] = False
    epsilon: float = parameter(
        help="what the release may cost", minimum=LEAST_EPSILON, maximum=MAX_EPSILON, example=1, label=" ε={:g}"
    )
    delta: float = parameter(
        default=1e-6, help="how likely the promise may fail", above=0, below=1, label=" δ={:g}", always=True
    )

    def refuse(self, table: Table) -> None:
        """How many people share their quasi-identifiers is taken for public, and decides whether a prior keeps ε."""
        super().refuse(table)
        self._scales(table.weights, table.schema.sensitive.positions)

    def _publish(self, table: Table, source: Source) -> Release:
        counts = self._drawn(table.histograms, source).astype(np.float64)
        boxes, deviation = Boxes.of_points(table.points), sampling_deviation(counts)
        return self.make_release(table, boxes, counts, deviation=deviation, exact_people=True)

    def _drawn(self, histograms: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        """A histogram for every point, drawn from its own and the prior, with as many people."""
        people, values = histograms.sum(axis=1), histograms.shape[1]
        shape = PriorShape()
        urn = Urn(source, shape.keep)
        every = Segments(*(np.array([number], dtype=np.int64) for number in (0, values, 0)))
        drawn = np.empty_like(histograms)
        scales = self._scales(people, values)
        for point, (histogram, n, scale) in enumerate(zip(histograms, people.tolist(), scales.tolist(), strict=True)):
            real = np.repeat(np.arange(values, dtype=np.int64), histogram)
            found, _ = urn.draw(real, np.zeros(n, dtype=np.int64), n, every, shape.masses(scale))
            drawn[point] = np.bincount(found, minlength=values)
        return drawn

    def _scales(self, people: NDArray[np.int64], values: int) -> NDArray[np.float64]:
        """The mass of the prior at each point."""
        calibration = Calibration(Promise(epsilon=self.epsilon, delta=self.delta), PriorShape())
        return calibration.scales(people, np.full((len(people), 1), values, dtype=np.int64))

    @property
    def claim(self) -> ProbabilisticDP:
        return ProbabilisticDP(epsilon=self.epsilon, failing=self.delta)
