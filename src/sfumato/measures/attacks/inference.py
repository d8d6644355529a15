"""Inference: the published rows nearest to a person's quasi-identifiers give the sensitive value.

The guess is the commonest value in all rows that are equally near. What it gets right about people of the control group
is what the release tells about everybody, and no leak.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sfumato.data import Table
from sfumato.measures.attacks.control import Codes, ControlledAttack, Risk, compare
from sfumato.measures.attacks.lines import Lines
from sfumato.measures.measurement import Measure
from sfumato.release import Release
from sfumato.streams import stream


@dataclass(frozen=True, kw_only=True)
class Inference(ControlledAttack):
    """Guess sensitive values from the nearest published rows."""

    name: ClassVar[str] = "inference"
    measure: ClassVar[Measure] = Measure(
        "inference_risk", "Sensitive values inferred", "privacy", "lower", "share of guesses", lowest=-1.0
    ).describe(
        "How much more often the published rows nearest to a person give that person's sensitive value than for "
        "people who were never in the table."
    )

    def run(self, training: Table, release: Release, control: Table) -> Risk | None:
        """Of several sensitive columns, the risk of the one that is inferred best."""
        columns = training.schema.secret_names
        if len(columns) == 1:
            return self._run(training, release, control)
        each = (
            self._run(training.focused(column), release.focused(column), control.focused(column)) for column in columns
        )
        return max((risk for risk in each if risk), key=lambda risk: risk.difference, default=None)

    def _run(self, training: Table, release: Release, control: Table) -> Risk | None:
        lines = Lines.of(release)
        known, which = lines.on(range(len(lines.axes) - 1))
        if len(known) < 2:
            return None
        value = np.where(lines.boxes.missing[:, -1], training.values - 1, lines.boxes.lo[:, -1])
        counts = csr_array((lines.weights, (which, value)), shape=(len(known), training.values))
        generator = stream("inference", self.seed)
        members, others = (_right(known, counts, self.draw(table, generator)) for table in (training, control))
        return compare(members.sum(), len(members), others.sum(), len(others))


def _right(known: Lines, counts: csr_array, people: Codes) -> NDArray[np.bool_]:
    """Whose sensitive value the nearest rows give."""
    near = known.near(people[:, :-1]).marked(len(people), len(known))
    guess = (near @ counts).toarray().argmax(axis=1)
    return np.asarray(np.where(people[:, -1] < 0, counts.shape[1] - 1, people[:, -1]) == guess)
