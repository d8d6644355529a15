"""Local noise: every row as it is, but for a sensitive value that got noise of its own before anyone saw it.

What a table looks like whose sensitive column was collected by `sfumato.collect`; paper kacem2018 for the geometric
mechanism. The release names the channel, and every estimate undoes it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from sfumato.data import Table
from sfumato.errors import ParameterError
from sfumato.mechanisms.channels import CHANNELS, Channel, make_channel
from sfumato.mechanisms.channels.kernel import Kernel
from sfumato.mechanisms.noise import Source
from sfumato.methods.base import EPSILON_GRID, PrivateMethod
from sfumato.parameters import parameter
from sfumato.privacy.claims import LocalDP
from sfumato.privacy.loss import exact
from sfumato.release.boxes import Boxes
from sfumato.release.release import Release
from sfumato.schema import Axis

MECHANISMS = tuple(name for name, kind in CHANNELS.items() if kind.invertible)
PER_STEP = tuple(name for name, kind in CHANNELS.items() if issubclass(kind, Kernel))
"""Mechanisms that protect near values better than far ones."""


@dataclass(frozen=True, kw_only=True)
class LocalNoise(PrivateMethod):
    """Exact quasi-identifiers with sensitive values that each got noise of their own.

    `epsilon` protects any value from any other; geometric and Laplace noise spread it evenly over the axis, so that
    neighbouring values are told apart by a factor of e^(epsilon / (values − 1)) only.

    Claim: ε-local differential privacy of every sensitive value.
    Assumes: quasi-identifiers are public; so is the list of sensitive values.
    Cost: O(rows) to draw, O(points × values²) to estimate.
    Reference: paper kacem2018 section 3; proof in mechanisms/channels/channels.proof.md.

    >>> release = sf.LocalNoise(epsilon=2).publish(table)
    """

    name: ClassVar[str] = "local"
    title: ClassVar[str] = "Local"
    takes_several: ClassVar[bool] = False
    mechanism: str = parameter(
        default="randomized-response",
        choices=MECHANISMS,
        help="the noise: randomized-response by default, or one that keeps near values near",
    )

    def refuse(self, table: Table) -> None:
        super().refuse(table)
        self.channel(table.schema.sensitive)

    def _publish(self, table: Table, source: Source) -> Release:
        channel = self.channel(table.schema.sensitive)
        values = np.repeat(table.cell_value.astype(np.int64), table.cell_weight)
        point = np.repeat(table.cell_point.astype(np.int64), table.cell_weight)
        cells = point * channel.size + channel.perturb(values, source)
        counts = np.bincount(cells, minlength=len(table.points) * channel.size).reshape(-1, channel.size)
        claim = replace(self.claim, per_step=channel.claim.per_step)
        boxes, histograms = Boxes.of_points(table.points), counts.astype(np.float64)
        return self.make_release(table, boxes, histograms, claim=claim, exact_people=True, channel=channel)

    def channel(self, sensitive: Axis) -> Channel:
        """The noise that a value of the sensitive column gets."""
        if self.mechanism not in PER_STEP:
            return make_channel(self.mechanism, sensitive.positions, self.epsilon)
        if not sensitive.spaced:
            raise ParameterError(
                f"{self.mechanism} noise keeps near values near, but {sensitive.name!r} has no numbers or dates; use "
                "randomized-response"
            )
        if sensitive.nullable:
            raise ParameterError(
                f"{self.mechanism} noise needs a number for everybody, but {sensitive.name!r} may be missing; use "
                "randomized-response, or give the column values for all"
            )
        return make_channel(self.mechanism, sensitive.size, exact(self.epsilon) / max(sensitive.size - 1, 1))

    @property
    def claim(self) -> LocalDP:
        return LocalDP(epsilon=self.epsilon)

    @property
    def series(self) -> str:
        return f"{self.name} {self.mechanism}"

    @property
    def label(self) -> str:
        return f"Local {self.mechanism} ε={self.epsilon:g}"

    @classmethod
    def grid(cls, table: Table, epsilons: Sequence[float] = EPSILON_GRID) -> Iterator[Self]:
        yield from super().grid(table, epsilons)
        sensitive, spaced = table.schema.sensitive, not table.schema.keep
        if spaced and sensitive.spaced and not sensitive.nullable and sensitive.size > 1:
            steps = sensitive.size - 1
            yield from (cls(epsilon=float(exact(unit) * steps), mechanism="geometric") for unit in epsilons)
