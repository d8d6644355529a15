"""What methods share whose classes are held to any requirements: how these are asked for, named and stored."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

from sfumato.data import Table
from sfumato.errors import ParameterError
from sfumato.methods.base import Method
from sfumato.parameters import declarations
from sfumato.privacy.requirements import DeltaDisclosure, KAnonymity, LDiversity, Requirement, TCloseness

DISTANCE_NAMES = {"jensen-shannon": "JS", "equal": "EMD equal", "ordered": "EMD ordered", "hierarchical": "EMD tree"}
SHORTHANDS: tuple[type[Requirement], ...] = (KAnonymity, LDiversity, TCloseness, DeltaDisclosure)


@dataclass(frozen=True, kw_only=True)
class RequiringMethod(Method):
    """A method whose classes satisfy any requirements.

    `k`, `l` (probabilistic ℓ-diversity), `t` (with `distance`) and `delta` are short for the requirements of these
    names; `requirements` takes any others.
    """

    takes_requirements: ClassVar[bool] = True
    k: int | None = None
    l: float | None = None
    t: float | None = None
    distance: Literal["jensen-shannon", "equal", "ordered", "hierarchical"] = "equal"
    delta: float | None = None
    requirements: tuple[Requirement, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.all_requirements:
            raise ParameterError(f"{self.name} needs at least one requirement, such as k=10")

    @cached_property
    def all_requirements(self) -> tuple[Requirement, ...]:
        """The shorthands and `requirements` together."""
        short = [
            kind(**{item.name: getattr(self, item.name) for item in declarations(kind)})
            for kind in SHORTHANDS
            if getattr(self, declarations(kind)[0].name) is not None
        ]
        return (*short, *self.requirements)

    @classmethod
    def under(cls, requirements: Sequence[Requirement], **parameters: Any) -> Self:
        """The setting under some requirements, each by its shorthand where it has one."""
        short = [requirement for requirement in requirements if type(requirement) in SHORTHANDS]
        others = tuple(requirement for requirement in requirements if requirement not in short)
        return cls(
            **{key: value for one in short for key, value in asdict(one).items()}, requirements=others, **parameters
        )

    def _named(self) -> list[str]:
        """The requirements in short."""
        named = [f"{key}={getattr(self, key)}" for key in ("k", "l", "t", "delta") if getattr(self, key) is not None]
        if self.t is not None:
            named.append(DISTANCE_NAMES[self.distance])
        return named + [str(requirement) for requirement in self.requirements]

    def parameters(self) -> dict[str, Any]:
        given = super().parameters()
        if self.requirements:
            given["requirements"] = [requirement.spec() for requirement in self.requirements]
        return given


def smallest_class(requirements: Sequence[Requirement]) -> int:
    """No class with fewer rows can satisfy the requirements."""
    return max((requirement.smallest_class for requirement in requirements), default=1)


def sizes_for(table: Table, grid: Sequence[int]) -> Iterator[int]:
    """The class sizes of which a table has room for two."""
    return (k for k in grid if 2 * k <= table.n)
