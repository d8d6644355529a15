"""Requirements: what every class of a syntactic release must satisfy, checked for many classes at once."""

import math
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ReleaseError
from sfumato.parameters import check_parameters, parameter
from sfumato.privacy.distances import Distance, distance, shares
from sfumato.schema import Axis

Booleans = NDArray[np.bool_]
Counts = NDArray[np.int64] | NDArray[np.float64]

ROUNDING = 1e-9
"""Slack for comparisons of real numbers, far below what one row can change."""


@dataclass(frozen=True, eq=False)
class Population:
    """The whole published table, against which some requirements compare each class."""

    counts: Counts
    axis: Axis

    @property
    def shares(self) -> NDArray[np.float64]:
        """The overall distribution of the sensitive attribute."""
        return shares(self.counts)


@dataclass(frozen=True, kw_only=True)
class Requirement(ABC):
    """A condition on the histogram of the sensitive attribute in a class.

    On the command line it is asked for by the option of its first field. Requirements with the same first field are
    told apart by their `form`; the first one registered is meant unless another is named.
    """

    name: ClassVar[str]
    form: ClassVar[str] = ""

    def __post_init__(self) -> None:
        check_parameters(self)

    @abstractmethod
    def holds(self, counts: Counts, population: Population) -> Booleans:
        """Whether each class satisfies the requirement: (classes, values) to (classes,)."""

    @abstractmethod
    def sentence(self) -> str:
        """What it promises, in words for a non-expert."""

    @property
    def smallest_class(self) -> int:
        """No class with fewer rows can satisfy the requirement."""
        return 1

    def spec(self) -> dict[str, Any]:
        """The requirement as `release.json` spells it."""
        return {"requirement": self.name, **asdict(self)}

    def __str__(self) -> str:
        values = ", ".join(f"{key}={value}" for key, value in asdict(self).items())
        return f"{self.name} ({values})"


@dataclass(frozen=True, kw_only=True)
class KAnonymity(Requirement):
    """Every class has at least `k` rows: k-anonymity (Samarati and Sweeney, 1998).

    >>> release = sf.Mondrian(requirements=(sf.KAnonymity(k=5),)).publish(table)
    """

    name: ClassVar[str] = "k-anonymity"
    k: int = parameter(help="at least this many people in a class", minimum=1, example=10)

    @property
    def smallest_class(self) -> int:
        return self.k

    def holds(self, counts: Counts, population: Population) -> Booleans:
        return np.asarray(counts.sum(-1) >= self.k - ROUNDING)

    def sentence(self) -> str:
        return f"each person is in a class of at least {self.k}"


@dataclass(frozen=True, kw_only=True)
class AlphaK(Requirement):
    """At least `k` rows, of which no sensitive value takes more than a share `alpha` (Wong et al., 2006).

    >>> release = sf.Mondrian(requirements=(sf.AlphaK(alpha=0.8, k=5),)).publish(table)
    """

    name: ClassVar[str] = "(alpha,k)-anonymity"
    alpha: float = parameter(help="the largest share of a sensitive value in a class", above=0, maximum=1, example=0.5)
    k: int = parameter(help="at least this many people in a class", minimum=1, example=10)

    @property
    def smallest_class(self) -> int:
        return self.k

    def holds(self, counts: Counts, population: Population) -> Booleans:
        total = counts.sum(-1)
        return np.asarray((total >= self.k - ROUNDING) & (counts.max(-1) <= self.alpha * total * (1 + ROUNDING)))

    def sentence(self) -> str:
        return (
            f"each person is in a class of at least {self.k}, and at most a share of {self.alpha:g} of a class "
            "have the same sensitive value"
        )


@dataclass(frozen=True, kw_only=True)
class LDiversity(Requirement):
    """The most frequent sensitive value has a share of at most 1/`l`, where `l` may be a fraction.

    ℓ-diversity (Machanavajjhala et al., 2006) has four forms. This one bounds the adversary's confidence directly and
    is what `l=` means elsewhere.

    >>> release = sf.Mondrian(requirements=(sf.LDiversity(l=1.5),)).publish(table)
    """

    name: ClassVar[str] = "l-diversity"
    form: ClassVar[str] = "probabilistic"
    l: float = parameter(help="how diverse the sensitive values of a class are", minimum=1, example=3)

    @property
    def smallest_class(self) -> int:
        return math.ceil(self.l - ROUNDING)

    def holds(self, counts: Counts, population: Population) -> Booleans:
        return np.asarray(counts.max(-1) <= counts.sum(-1) / self.l * (1 + ROUNDING))

    def sentence(self) -> str:
        return f"no sensitive value has more than 1/{self.l:g} of a class"


@dataclass(frozen=True, kw_only=True)
class DistinctLDiversity(LDiversity):
    """At least `l` different sensitive values in every class.

    >>> release = sf.Mondrian(requirements=(sf.DistinctLDiversity(l=3),)).publish(table)
    """

    name: ClassVar[str] = "distinct l-diversity"
    form: ClassVar[str] = "distinct"

    def holds(self, counts: Counts, population: Population) -> Booleans:
        return np.asarray(np.count_nonzero(counts, axis=-1) >= self.l)

    def sentence(self) -> str:
        return f"every class has at least {self.l:g} different sensitive values"


@dataclass(frozen=True, kw_only=True)
class EntropyLDiversity(LDiversity):
    """The entropy of the sensitive attribute in every class is at least ln `l`.

    >>> release = sf.Mondrian(requirements=(sf.EntropyLDiversity(l=1.5),)).publish(table)
    """

    name: ClassVar[str] = "entropy l-diversity"
    form: ClassVar[str] = "entropy"

    def holds(self, counts: Counts, population: Population) -> Booleans:
        p = shares(counts)
        entropy = -np.sum(p * np.log(p, out=np.zeros_like(p), where=p > 0), axis=-1)
        return np.asarray(entropy >= math.log(self.l) - ROUNDING)

    def sentence(self) -> str:
        return f"the sensitive values of a class are as mixed as {self.l:g} equally frequent ones"


@dataclass(frozen=True, kw_only=True)
class RecursiveLDiversity(LDiversity):
    """The commonest value has fewer than `c` times the rows of all values but the `l` − 1 commonest.

    (c, ℓ)-diversity: r₁ < c (r_ℓ + … + r_m) with the counts in falling order.

    >>> release = sf.Mondrian(requirements=(sf.RecursiveLDiversity(c=4, l=2),)).publish(table)
    """

    name: ClassVar[str] = "recursive (c,l)-diversity"
    form: ClassVar[str] = "recursive"
    l: int = parameter(help="how diverse the sensitive values of a class are", minimum=1, example=3)
    c: float = parameter(help="the factor by which the commonest value may outnumber the rest", above=0, example=2)

    def holds(self, counts: Counts, population: Population) -> Booleans:
        falling = -np.sort(-counts, axis=-1)
        return np.asarray(falling[..., 0] < self.c * falling[..., self.l - 1 :].sum(-1) * (1 - ROUNDING))

    def sentence(self) -> str:
        return (
            f"the commonest sensitive value of a class has fewer than {self.c:g} times the rows of all values but "
            f"the {self.l - 1} commonest"
        )


@dataclass(frozen=True, kw_only=True)
class TCloseness(Requirement):
    """The distance between the sensitive attribute in a class and in the table is at most `t` (Li et al., 2007).

    `distance` is the earth mover's distance with the named ground distance between values (`equal`: 1,
    `ordered`: steps apart, `hierarchical`: height of the common ancestor), or `jensen-shannon`.

    >>> release = sf.Mondrian(requirements=(sf.TCloseness(t=0.3),)).publish(table)
    """

    name: ClassVar[str] = "t-closeness"
    t: float = parameter(help="how far the sensitive values of a class may be from the table's", minimum=0, example=0.2)
    distance: Distance = parameter(
        default="equal", help="earth mover's with this ground distance, or Jensen-Shannon; equal by default"
    )

    def holds(self, counts: Counts, population: Population) -> Booleans:
        apart = distance(shares(counts), population.shares, population.axis, self.distance)
        return apart <= self.t + ROUNDING

    def sentence(self) -> str:
        return (
            f"the sensitive attribute of every class is within {self.t:g} ({self.distance} distance) of the whole "
            "table's"
        )


@dataclass(frozen=True, kw_only=True)
class DeltaDisclosure(Requirement):
    """|ln(p_s / q_s)| ≤ `delta` for every sensitive value s of the table; a value absent from a class fails.

    δ-disclosure or semantic privacy (Brickell and Shmatikov, 2008).

    >>> release = sf.Mondrian(requirements=(sf.DeltaDisclosure(delta=3),)).publish(table)
    """

    name: ClassVar[str] = "delta-disclosure"
    delta: float = parameter(help="the largest log ratio of a share to that in the table", minimum=0, example=1)

    def holds(self, counts: Counts, population: Population) -> Booleans:
        occurring = population.counts > 0
        with np.errstate(divide="ignore"):
            ratio = np.log(shares(counts[..., occurring])) - np.log(population.shares[occurring])
        return np.asarray((np.abs(ratio) <= self.delta + ROUNDING).all(-1))

    def sentence(self) -> str:
        return (
            f"no sensitive value is more than e^{self.delta:g} times as frequent or as rare in a class as in the whole "
            "table"
        )


@dataclass(frozen=True, kw_only=True)
class BetaLikeness(Requirement):
    """(p_s − q_s)/q_s ≤ `beta` for every sensitive value s; if `enhanced`, also ≤ −ln q_s.

    β-likeness (Cao and Karras, 2012).

    >>> release = sf.Mondrian(requirements=(sf.BetaLikeness(beta=3),)).publish(table)
    """

    name: ClassVar[str] = "beta-likeness"
    beta: float = parameter(help="how much more frequent a value may be than in the table", above=0, example=2)
    enhanced: bool = parameter(default=False, help="bound the gain of frequent values more tightly")

    def holds(self, counts: Counts, population: Population) -> Booleans:
        occurring = population.counts > 0
        q = population.shares[occurring]
        limit = np.minimum(self.beta, -np.log(q)) if self.enhanced else np.full_like(q, self.beta)
        return np.asarray((shares(counts[..., occurring]) <= q * (1 + limit) + ROUNDING).all(-1))

    def sentence(self) -> str:
        return f"no sensitive value is more than 1 + {self.beta:g} times as frequent in a class as in the whole table"


REQUIREMENTS: dict[str, type[Requirement]] = {
    kind.name: kind
    for kind in (
        KAnonymity,
        AlphaK,
        LDiversity,
        DistinctLDiversity,
        EntropyLDiversity,
        RecursiveLDiversity,
        TCloseness,
        DeltaDisclosure,
        BetaLikeness,
    )
}


def parse_requirement(spec: dict[str, Any]) -> Requirement:
    """The requirement that a release file spells."""
    if not isinstance(spec, dict):
        raise ReleaseError(f"{spec!r} is not a requirement with its parameters")
    parameters = dict(spec)
    kind = REQUIREMENTS.get(parameters.pop("requirement", ""))
    if kind is None:
        raise ReleaseError(f"{spec!r} is not a known requirement; expected one of {', '.join(REQUIREMENTS)}")
    try:
        return kind(**parameters)
    except TypeError as error:
        raise ReleaseError(f"{spec!r} lacks parameters of {kind.name}, or has others") from error
