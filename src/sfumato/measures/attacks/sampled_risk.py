"""The risk that people of a sample are recognized in the population (Benedetti and Franconi, 1998).

A sample shows f people with somebody's published quasi-identifiers; of the F who have them in the population, weights
estimate how many there are, and p = f/F. An adversary who knows that person picks one of the F. Given f, the number F
is taken to follow a negative binomial distribution with success probability p, so the risk is the mean of 1/F:

    r = Σ_{h ≥ f} 1/h · C(h − 1, f − 1) · p^f · (1 − p)^(h − f) = p/f · ₂F₁(1, 1; f + 1; 1 − p)

Franconi and Polettini (2004) give the same in other forms. For f = 1 it is p/(1 − p) · ln(1/p), for f = 2 it is
p/(1 − p)² · (p ln p + 1 − p), and with p towards 1 it becomes 1/f. A usual approximation for f > 2 is p/(f − 1 + p).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import hyp2f1

from sfumato.data import Table
from sfumato.data.survey import NO_HOME, Homes
from sfumato.measures.attacks.lines import keys_of
from sfumato.measures.base import Attack
from sfumato.measures.measurement import Measure
from sfumato.parameters import parameter
from sfumato.release import Release

Floats = NDArray[np.float64]
MANY = 50
"""From so many people on, few terms of the series are exact, and library functions lose their way."""
TERMS = 40
RISKY = 0.1
"""Rows above this risk are counted as risky."""


def individual_risk(people: Floats, population: Floats, *, exact: bool = True) -> Floats:
    """The risk of each of f `people` of a sample, who stand for F of the `population`.

    Weights below 1 would make a sample larger than its population; p is 1 then. If not `exact`, the approximation is
    used where there are more than two people.
    """
    p = np.minimum(people / np.maximum(population, people), 1.0)
    if not exact:
        return np.asarray(
            np.where(people > 2, p / (people - 1 + p), individual_risk(np.minimum(people, 2), people / p))
        )
    few = np.minimum(people, MANY)
    found = hyp2f1(1.0, 1.0, few + 1, 1 - p)
    term, series = np.ones_like(p), np.ones_like(p)
    for number in range(1, TERMS):
        term = term * number * (1 - p) / (people + number)
        series += term
    return np.asarray(p / people * np.where(people > MANY, series, found))


def household_risk(risk_of_cell: Floats, homes: Homes) -> tuple[Floats, NDArray[np.int64]]:
    """The risk that somebody of each household is recognized, 1 − Π (1 − r), and how many people live there.

    People without a household stand for themselves, cell by cell.
    """
    risk, alone = risk_of_cell[homes.cell], homes.household == NO_HOME
    known, home = np.unique(homes.household[~alone], return_inverse=True)
    with np.errstate(divide="ignore"):
        safe = np.bincount(home.reshape(-1), homes.rows[~alone] * np.log1p(-risk[~alone]), len(known))
    together = np.bincount(home.reshape(-1), homes.rows[~alone], len(known)).astype(np.int64)
    return np.append(-np.expm1(safe), risk[alone]), np.append(together, homes.rows[alone])


@dataclass(frozen=True, kw_only=True)
class SampledRisk(Attack):
    """Look people of a survey up in the population, by what the release says of their quasi-identifiers."""

    threshold: float = parameter(default=RISKY, help="the risk above which a row is risky", minimum=0, below=1)
    exact: bool = parameter(default=True, help="whether the risk is exact, or approximate for more than two people")

    measures: ClassVar[tuple[Measure, ...]] = (
        Measure("sample_risk", "Risk in the population", "privacy", "lower", "share of people", optional=True).describe(
            "The share of people who are expected to be recognized when each is looked for among all people of the "
            "population with the same published quasi-identifiers, whose number survey weights estimate."
        ),
        Measure(
            "expected_matches", "People expected to be recognized", "privacy", "lower", "people", optional=True
        ).describe("The same as a number of people: the sum of everybody's risk."),
        Measure("risky_rows", "Rows at risk in the population", "privacy", "lower", "rows", optional=True).describe(
            f"How many people are recognized with a probability above {RISKY:g}."
        ),
        Measure(
            "household_matches",
            "People expected to be recognized by their household",
            "privacy",
            "lower",
            "people",
            optional=True,
        ).describe(
            "How many people are expected to live in a household of which somebody is recognized, where the schema has "
            "households: whoever finds one member knows the others."
        ),
    )

    def run(self, table: Table, release: Release) -> dict[str, float]:
        """Rows of a noisy release stand for nobody, and without weights nothing is known of the population."""
        table = table.people
        survey = table.survey
        if survey is None or survey.people is None or (release.noisy and not release.exact_people):
            return {}
        risk = self.risk_of_points(table, release)
        expected = float(table.weights @ risk)
        found = {
            "sample_risk": expected / table.n,
            "expected_matches": expected,
            "risky_rows": float(table.weights[risk > self.threshold].sum()),
        }
        if survey.homes is None:
            return found
        of_home, living = household_risk(risk[table.cell_point], survey.homes)
        return {**found, "household_matches": float(of_home @ living)}

    def risk_of_points(self, table: Table, release: Release) -> Floats:
        """The risk of the people at each point of a table, 0 for those who are not published.

        Where several boxes hold a person, the one that hides them least counts.
        """
        from sfumato.release.kernels import holding_pairs

        assert table.survey is not None
        assert table.survey.people is not None
        of_point = np.bincount(table.cell_point, table.survey.people, len(table.points))
        _, first = np.unique(keys_of(*release.boxes.arrays), return_index=True)
        point, box = holding_pairs(table.points, release.boxes[first].arrays)
        people = np.bincount(box, table.weights[point], len(first)).astype(np.float64)
        population = np.bincount(box, of_point[point], len(first)).astype(np.float64)
        risk = individual_risk(np.maximum(people, 1), np.maximum(population, 1e-9), exact=self.exact)
        found = np.zeros(len(table.points))
        np.maximum.at(found, point, risk[box])
        return found
