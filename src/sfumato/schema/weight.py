"""How the weights of a survey are declared: how many people of the population a row stands for.

Weights are counted in millionths, so that sums of them do not depend on the order of rows.
"""

from dataclasses import dataclass
from typing import Any, Literal, Self, cast, get_args

from sfumato.errors import SchemaError, quote
from sfumato.schema.axis import REFUSE

Telling = Literal["no", "mean"]
"""What is published of the weights: nothing, or the mean of each class."""
Unit = Literal["rows", "weights", "households"]
"""What the size of a class is counted in: its rows, the people they stand for, the households they come from."""

UNIT = 1_000_000
"""Weights are whole numbers of this part of a person."""
MIN_WEIGHT, MAX_WEIGHT = 1 / UNIT, 1e9
EXPECTED = f"a number from {MIN_WEIGHT:.6f} to {MAX_WEIGHT:,.0f}"
KEYS = {"off_schema", "publish"}


@dataclass(frozen=True, kw_only=True)
class Weighing:
    """What becomes of a weight that is no such number, `None` if it is refused, and what is published of weights."""

    instead: float | None = None
    publish: Telling = "no"

    @classmethod
    def parse(cls, spec: dict[str, Any], where: str) -> Self:
        """What a column with role weight declares."""
        instead, publish = spec.get("off_schema", REFUSE), spec.get("publish", "no")
        if publish not in get_args(Telling):
            raise SchemaError(f"{where}: publish is {quote(publish)}; expected {' or '.join(get_args(Telling))}")
        if instead == REFUSE:
            return cls(publish=cast(Telling, publish))
        number = isinstance(instead, int | float) and not isinstance(instead, bool)
        if not number or not MIN_WEIGHT <= instead <= MAX_WEIGHT:
            raise SchemaError(f"{where}: off_schema is {quote(instead)}; expected {REFUSE!r} or {EXPECTED}")
        return cls(instead=instead, publish=cast(Telling, publish))

    def spec(self) -> dict[str, Any]:
        """The declaration as a schema file spells it."""
        instead = {} if self.instead is None else {"off_schema": self.instead}
        return {**instead, **({} if self.publish == "no" else {"publish": self.publish})}
