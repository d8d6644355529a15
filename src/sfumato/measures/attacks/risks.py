"""All risks of a release against a control group, as one mapping; and those of a method, on two halves of a table."""

from collections.abc import Sequence
from typing import Any

from sfumato.data import Table
from sfumato.errors import DataError
from sfumato.measures.attacks.control import ControlledAttack, Risk
from sfumato.measures.attacks.inference import Inference
from sfumato.measures.attacks.linkability import Linkability
from sfumato.measures.attacks.membership import Membership
from sfumato.measures.attacks.singling_out import SinglingOut, SinglingOutByOne
from sfumato.measures.base import expect_same_axes
from sfumato.measures.looks import LOOK, note_look
from sfumato.measures.measurement import Measure
from sfumato.measures.workloads.holdout import hold_out
from sfumato.mechanisms.noise import SimulatedSource
from sfumato.methods import Method
from sfumato.notebook import html_table
from sfumato.release import Release

CONTROLLED: tuple[ControlledAttack, ...] = (SinglingOut(), SinglingOutByOne(), Linkability(), Inference(), Membership())
RISKS: dict[str, Measure] = {attack.name: attack.measure for attack in CONTROLLED}
"""What each risk means."""


class Risks(dict[str, Risk]):
    """Risks by name; one that says nothing about the release is not there."""

    def spec(self) -> dict[str, dict[str, Any] | None]:
        """The figures and what they mean, as JSON shows them; null for a risk that is not applicable."""
        return {
            name: {**self[name].spec(), "title": about.title, "sentence": about.sentence} if name in self else None
            for name, about in RISKS.items()
        }

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {_figures(risk)}" for name, risk in self.items())

    def _repr_html_(self) -> str:
        rows = [(about.title, _figures(self[name]) if name in self else "–") for name, about in RISKS.items()]
        return html_table("Measured on the real data: for the publisher's eyes", rows)


def _figures(risk: Risk) -> str:
    low, high = risk.interval
    return f"{risk.difference:+.3f} [{low:+.3f}, {high:+.3f}] ({risk.success:.3f}, control {risk.control:.3f})"


def measure_risks(
    training: Table, release: Release, control: Table, attacks: Sequence[ControlledAttack] = CONTROLLED
) -> Risks:
    """What a release of the training table tells about its people beyond what it tells about the control group.

    The control group are people of the same kind whose rows were not used for the release; as many as there are in the
    training table show most. The figures are computed on the real data and are for the publisher's eyes.

    >>> training, control = sf.hold_out(table, share=0.5)
    >>> risks = sf.measure_risks(training, sf.Original().publish(training), control)
    >>> risks["membership"].shows
    True
    """
    expect_same_axes(training, release, "the release has")
    expect_same_axes(training, control, "the control group has")
    if not training.n or not control.n:
        raise DataError("a table has no rows; there is nobody to guess about")
    note_look(training, LOOK)
    found = ((attack.name, attack.run(training, release, control)) for attack in attacks)
    return Risks({name: risk for name, risk in found if risk is not None})


def risks_of_method(table: Table, method: Method, seed: int = 1) -> Risks:
    """The risks of releases by a method: half of the table is published with simulated noise, half is the control."""
    training, control = hold_out(table, 0.5, seed)
    return measure_risks(training, method.publish(training, SimulatedSource(seed)), control)
