"""What a method is: a frozen set of parameters that turns a table into a release."""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.data import Table
from sfumato.data.large import LargeTable
from sfumato.data.survey import MOST_PEOPLE
from sfumato.errors import DataError, ParameterError, UnsatisfiableError
from sfumato.mechanisms.budget import Budget
from sfumato.mechanisms.noise import Source, SystemSource
from sfumato.parameters import check_parameters, declarations, label_of, parameter
from sfumato.privacy.claims import ApproximateDP, Claim, Conditional, Differential, PureDP, Syntactic
from sfumato.privacy.claims.differential import ONE_ROW, WELL_FORMED, WHO
from sfumato.privacy.loss import MAX_AMOUNT, Approximate, Concentrated, Loss, Pure, exact, spell_up
from sfumato.privacy.requirements import Requirement
from sfumato.release import Boxes, Provenance, Release
from sfumato.schema import Schema

Endpoint = Literal["original", "suppressed"]
EPSILON_GRID = (0.1, 0.3, 1.0, 3.0)
"""The settings at which a differentially private method is tried, unless a table asks for others."""
FEW_ROWS, MANY_ROWS = 2_000, 100_000
TOLD_DELTA = 1e-9
"""The δ at which the ε of a ρ is told, unless another is asked for."""
MIN_EPSILON = 1e-12
"""Below this there is nothing but noise, more of it than numbers can hold."""
MIN_NOISE_EPSILON = 1e-15
"""The same for one row, by the Laplace noise that is as large as any budget's."""
CLOSED = (
    "in a file of text, a cell that begins with a quotation mark ends with one, and those inside it are doubled, as "
    "programs that write CSV see to"
)
"""Where no cell can stop a release, what keeps a cell from reaching into the lines after it."""
UTF_8 = (
    "in a Parquet file or an Arrow table, columns of text hold UTF-8, and a workbook, a statistics program's file or a "
    "database can be read as a whole, and text in UTF-16 or UTF-32 is made of whole characters, as programs that write "
    "these see to; one in which a cell is otherwise is refused or read otherwise, which tells about somebody"
)
UNWEIGHTED = "weights are not used: what is counted are rows, not people of the population"
WEIGHED = "the weights of rows add up to the people of the population who are like them"
WEIGHTS_FIT = "every weight in the file is one; a file in which one is not is refused, which tells about somebody"
WEIGHTS_ADD = (
    f"all weights together are at most {MOST_PEOPLE:,} people; a file with more is refused, which tells about somebody"
)
UNPUBLISHED = (UNWEIGHTED, WEIGHTS_FIT, WEIGHTS_ADD)
"""What claims say of a column that is not in the schema that is published."""


def epsilon_grid(rows: int) -> tuple[float, ...]:
    """The ε to begin with on so many rows: few rows drown in noise at a small ε, many need no large one."""
    if rows < FEW_ROWS:
        return (0.5, 1.0, 3.0)
    return (0.3, 1.0, 3.0) if rows < MANY_ROWS else (0.1, 0.5, 2.0)


@dataclass(frozen=True, kw_only=True)
class Method(ABC):
    """A way to publish a table.

    `publish` draws whatever randomness it needs from the operating system. With a simulated source, for trials
    and tests, the release promises nothing.
    """

    name: ClassVar[str]
    title: ClassVar[str] = ""
    """The name as a label shows it, where it differs."""
    randomized: ClassVar[bool] = False
    by_default: ClassVar[bool] = True
    """Whether a frontier tries the method without being asked to."""
    endpoint: ClassVar[Endpoint | None] = None
    """Which end of every frontier the method is, if either."""
    shares: ClassVar[bool] = True
    """Whether people may have several rows, which share an ε or of which one is published."""
    instead_of_rows: ClassVar[bool] = False
    """Whether it publishes tables from which no rows are made."""
    models_others: ClassVar[bool] = False
    """Whether it makes up values of columns with role other along with the rest."""
    takes_several: ClassVar[bool] = True
    """Whether there may be several sensitive columns."""
    takes_requirements: ClassVar[bool] = False
    """Whether its classes can be held to any requirement."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def publish(self, table: Table, source: Source | None = None) -> Release:
        """The release of the table, re-checked against its claim."""
        self.refuse(table)
        if not isinstance(self, PrivateMethod):
            table = table.people
        if not table.n and not isinstance(self, PrivateMethod):
            raise UnsatisfiableError(f"the table has no rows; {self.name} has nothing to publish")
        source = source or SystemSource()
        release = self._promising(table, self._publish(table, source))
        if self.endpoint and not source.protects and release.violations():
            return release.without_guarantee("made to compare others with")
        release = self._telling_of_values(table, release).verified()
        if self.randomized and not source.protects and release.claim.promises:
            return release.without_guarantee("seeded")
        return release

    def _telling_of_values(self, table: Table, release: Release) -> Release:
        """The release with how many values were replaced; a count read off the rows has no place beside noise."""
        if self.randomized or not table.placed:
            return release
        provenance = dataclasses.replace(release.provenance, off_schema=dict(sorted(table.placed.items())))
        return dataclasses.replace(release, provenance=provenance)

    def _promising(self, table: Table, release: Release) -> Release:
        """The release under the claim that its schema leaves, and what was seen of the rows."""
        claim = qualify(release.claim, table.schema)
        if claim.noise and table.looked:
            claim = Conditional(given=claim, looked=table.looked)
        return dataclasses.replace(release, claim=claim)

    def refuse(self, table: Table) -> None:
        """Refuse a table whose schema the method cannot do justice to, or that is too large; rows are not looked at."""
        if isinstance(table, LargeTable) and not self.takes_large:
            raise DataError(table.refusal)
        if len(table.schema.secrets) > 1 and not self.takes_several:
            raise ParameterError(
                f"{self.name} protects one sensitive column, and {table.schema.sensitive.name} are several; give all "
                "but one another role, or use another method"
            )
        if table.schema.rows_per_person > 1 and not self.shares:
            raise ParameterError(
                f"rows_per_{table.schema.protect} is {table.schema.rows_per_person}, but {self.name} protects one "
                f"sensitive value of each {table.schema.protect}; set it to 1"
            )

    @property
    def takes_large(self) -> bool:
        """Whether a table may have more cells than fit into memory."""
        return False

    @abstractmethod
    def _publish(self, table: Table, source: Source) -> Release:
        """The release, before its claim is re-checked."""

    @property
    @abstractmethod
    def claim(self) -> Claim:
        """What a release of this method promises; it follows from the parameters alone."""

    @classmethod
    def under(cls, requirements: Sequence[Requirement], **parameters: Any) -> Self:
        """The setting with some parameters, under requirements where the method takes any."""
        return cls(**parameters)

    @property
    def series(self) -> str:
        """The family of settings this one belongs to on a chart."""
        return self.name

    @property
    def label(self) -> str:
        """A short name for this setting."""
        return f"{self.title or self.name}{label_of(self)}"

    @classmethod
    def grid(cls, table: Table, epsilons: Sequence[float] = EPSILON_GRID) -> Iterator[Self]:
        """Sensible settings to try on a table, at some ε where there is one; without parameters there is one."""
        yield cls()

    def parameters(self) -> dict[str, Any]:
        """The parameters that differ from their defaults, as a release file and a chart show them."""
        return {
            item.name: getattr(self, item.name)
            for item in dataclasses.fields(self)
            if getattr(self, item.name) != item.default
        }

    def provenance(self, **made: int) -> Provenance:
        """How a release of this method came about, and how many of what it made."""
        return Provenance(method=self.name, parameters=self.parameters(), made=made)

    def make_release(self, table: Table, boxes: Boxes, histograms: NDArray[np.float64], **more: Any) -> Release:
        """A release under the method's claim; every group is one box with all its rows unless `more` says otherwise."""
        usual = {
            "weights": histograms.sum(axis=1),
            "group_of": np.arange(len(histograms)),
            "claim": self.claim,
            "provenance": self.provenance(),
        }
        told = {**usual, **more}
        weights = "weights" in told.get("units", {}) and told.get("layout", "rows") == "rows"
        return Release(schema=table.schema.public(weights=weights), boxes=boxes, histograms=histograms, **told)


@dataclass(frozen=True, kw_only=True)
class PrivateMethod(Method):
    """A method whose noise keeps a promise of ε, whatever the rows are."""

    randomized: ClassVar[bool] = True
    shares: ClassVar[bool] = False
    variants: ClassVar[tuple[dict[str, Any], ...]] = ({},)
    """Which settings are tried at every ε; what these leave out and the method needs has its example."""
    epsilon: float = parameter(
        help="what the release may cost", minimum=MIN_EPSILON, maximum=MAX_AMOUNT, example=1, label=" ε={:g}"
    )

    def _promising(self, table: Table, release: Release) -> Release:
        """The release, under no claim if its schema or its rows were made by looking at all rows without noise."""
        if table.derived:
            return release.without_guarantee(f"{table.derived}, so that one person more could change many of its rows")
        if not table.schema.from_data:
            return super()._promising(table, release)
        names = ", ".join(table.schema.from_data)
        return release.without_guarantee(
            f"the bounds or values of {names} were read off the rows; if they are public knowledge, delete from_data "
            "in the schema"
        )

    def refuse(self, table: Table) -> None:
        super().refuse(table)
        if self.models_others and not table.schema.unread:
            return
        refuse_kept_columns(table, f"{self.name} publishes no row as it is; {self._instead(table.schema)}")

    def _instead(self, schema: Schema) -> str:
        """What to do about columns that would be kept."""
        if schema.unread:
            return "give the column another role"
        return "methods that make up rows, such as synthesis, take it, or give it another role"

    @classmethod
    def grid(cls, table: Table, epsilons: Sequence[float] = EPSILON_GRID) -> Iterator[Self]:
        """Every variant at every ε that the method takes; nothing for a table that it refuses."""
        declared = {item.name: item for item in declarations(cls)}
        needed = {name: item.example for name, item in declared.items() if item.required}
        kept = table.schema.unread if cls.models_others else table.schema.keep
        if not kept and (cls.shares or table.schema.rows_per_person == 1):
            for epsilon in filter(declared["epsilon"].accepts, epsilons):
                more = cls.variants_at(table, epsilon) if len(epsilons) == 1 else ()
                yield from (cls(**{**needed, "epsilon": epsilon, **variant}) for variant in (*cls.variants, *more))

    @classmethod
    def variants_at(cls, table: Table, epsilon: float) -> Iterator[dict[str, Any]]:
        """More settings that suit a table, tried where ε is settled and other parameters are all there is to choose."""
        yield from ()


@dataclass(frozen=True, kw_only=True)
class DPMethod(PrivateMethod):
    """A method under differential privacy, pure unless it says otherwise: it sees the rows only through a budget.

    A person more or less in the table is the neighbour it protects against; exchanging one person's row for
    another is two such steps and costs twice epsilon. A person with up to m rows is a group of m rows, so each row may
    cost what m of them can bear. The budget is ε, or (ε, δ), or ρ, of which (ε, δ) is told; proof in base.proof.md.
    """

    shares: ClassVar[bool] = True
    epsilon: float = parameter(
        default=None,
        help="what the release may cost",
        minimum=MIN_EPSILON,
        maximum=MAX_AMOUNT,
        example=1,
        label=" ε={:g}",
        unless="rho",
    )
    delta: float | None = parameter(
        default=None,
        help="how likely the promise may fail; with it noise is Gaussian, which many counts share better",
        above=0,
        below=1,
        label=" δ={:g}",
    )
    rho: float | None = parameter(
        default=None,
        help="what the release may cost in concentrated differential privacy (zCDP), in place of epsilon",
        minimum=MIN_EPSILON,
        maximum=MAX_AMOUNT // 2,
        label=" ρ={:g}",
    )

    def __post_init__(self) -> None:
        if self.rho is not None:
            check_parameters(self, "rho", "delta")
            self._tell_rho(exact(self.rho, "rho"))
        elif self.epsilon is None:
            raise ParameterError(f"{self.name} needs epsilon, such as 1, or rho")
        super().__post_init__()

    def _tell_rho(self, rho: Fraction) -> None:
        """Fill in the (ε, δ) that ρ implies; refuse another."""
        delta = TOLD_DELTA if self.delta is None else self.delta
        epsilon = spell_up(Concentrated(rho).approximate(exact(delta, "delta")).epsilon)
        if self.epsilon is not None and self.epsilon != epsilon:
            raise ParameterError(
                f"epsilon is {self.epsilon!r}, but rho {self.rho:g} and delta {delta:g} mean {epsilon:g}; give rho or "
                "epsilon, not both"
            )
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "delta", delta)

    def parameters(self) -> dict[str, Any]:
        found = super().parameters()
        if self.rho is not None:
            del found["epsilon"]
        return found

    def refuse(self, table: Table) -> None:
        super().refuse(table)
        most = table.schema.rows_per_person
        noise_alone = Budget(self.total.per_row(most), SystemSource()).as_epsilon
        if noise_alone < MIN_NOISE_EPSILON:
            raise ParameterError(
                f"epsilon is {self.epsilon:g}, of which one of {most:,} rows of a person has too little; that is "
                "nothing but noise, and more than numbers hold"
            )

    def _publish(self, table: Table, source: Source) -> Release:
        per_row = self.total.per_row(table.schema.rows_per_person)  # proof: share
        return self._release(table, Budget(per_row, source))

    @property
    def total(self) -> Loss:
        """What a release may cost in all: ρ, the largest ρ that implies (ε, δ), or ε."""
        if self.rho is not None:
            return Concentrated(exact(self.rho, "rho"))
        if self.delta is not None:
            return Approximate(exact(self.epsilon), exact(self.delta, "delta")).concentrated()
        return Pure(exact(self.epsilon))

    @abstractmethod
    def _release(self, table: Table, budget: Budget) -> Release:
        """The release, every look at the rows paid for."""

    @property
    def claim(self) -> Differential:
        total = self.total
        if self.delta is None or isinstance(total, Pure):
            return PureDP(epsilon=self.epsilon)
        return ApproximateDP(epsilon=self.epsilon, failing=self.delta, rho=spell_up(total.rho))


def qualify(claim: Claim, schema: Schema) -> Claim:
    """The claim about a release of a table with this schema, with what it takes for granted because of that."""
    caveats = schema.caveats(noise=claim.noise is not None)
    claim = _counting_people(claim, schema).assuming(*caveats, *_resting_on_survey(claim, schema))
    if claim.noise and schema.refusing:
        names = ", ".join(schema.refusing)
        claim = claim.assuming(f"every value of {names} in the file fits the schema{WELL_FORMED}")
    elif claim.noise:
        claim = claim.assuming(CLOSED, UTF_8)
    return claim


def _counting_people(claim: Claim, schema: Schema) -> Claim:
    """The claim, saying who is a person where the schema does."""
    if schema.person_column is None:
        return claim.assuming(ONE_ROW) if claim.verifiable else claim
    claim, who = claim.protecting(schema.protect), f"{WHO[schema.protect]}{schema.person_column}"
    if not claim.noise:
        return claim.assuming(f"{who}; one row of each is published")
    most = "one row of each is" if schema.rows_per_person == 1 else f"{schema.rows_per_person} rows of each are"
    said = tuple(line.replace(ONE_ROW, f"{who}; at most {most} used") for line in claim.assumptions)
    if said == claim.assumptions:
        return claim.assuming(f"{who}; at most {most} used")
    return claim.under(said)


def _resting_on_survey(claim: Claim, schema: Schema) -> list[str]:
    """What a claim takes for granted of weights and households; only mean weights of classes can be published."""
    if claim.noise:
        refused = schema.weight and schema.weight.weighing and schema.weight.weighing.instead is None
        return [*([UNWEIGHTED, WEIGHTS_ADD] if schema.weight else []), *([WEIGHTS_FIT] if refused else [])]
    found, told = [], schema.tells_weights and not claim.shows_presence
    if schema.weight and told:
        found.append(f"nobody knows the {schema.weight.name} of a person; its mean over each class is published")
    for requirement in claim.requirements if isinstance(claim, Syntactic) else ():
        if requirement.unit == "weights":
            found.append(WEIGHED)
        if requirement.unit == "households" or (requirement.unit == "weights" and not told):
            what = requirement.title(buckets=claim.shows_presence)
            found.append(f"{what} rests on {requirement.unit} that are not published: nobody can recompute it")
    return found


def refuse_kept_columns(table: Table, why: str) -> None:
    """Kept columns would link rows that the method takes apart."""
    if table.schema.keep:
        name = (table.schema.unread or table.schema.keep)[0]
        role = "keep" if name in table.schema.unread else "other"
        raise ParameterError(f"the column {name!r} has role {role}, but {why}")
