"""Yes or no, however files spell it: `true`, `yes`, `1`, `J`, `oui` are one value, and one spelling is published."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import SchemaError, quote
from sfumato.schema.axis import UNKNOWN
from sfumato.schema.categorical import CategoricalAxis
from sfumato.schema.taxonomy import as_label, flat_tree

KEYS = {"values", "off_schema"}
PUBLISHED = ("false", "true")
SPELLINGS = {
    0: "0 f false n no off nein non nee nej nie falsch faux falso",
    1: "1 t true y yes on j ja o oui s si sí sì sim tak wahr vrai vero verdadero",
}
CODE_OF = {word: code for code, words in SPELLINGS.items() for word in words.split()}


@dataclass(frozen=True, kw_only=True)
class BooleanAxis(CategoricalAxis):
    """False and true under the labels by which they are published."""

    kind: ClassVar[str] = "boolean"

    @classmethod
    def declared(cls, name: str, spec: dict[str, Any]) -> Self:
        """The axis of a column in a schema."""
        given = spec.get("values", list(PUBLISHED))
        if not isinstance(given, list) or len(given) != 2 or not all(isinstance(v, str | int | float) for v in given):
            expected = "how false and true are published, such as ['no', 'yes']"
            raise SchemaError(f"column {name!r}: values is {quote(given)}; expected {expected}")
        labels = [as_label(value) for value in given]
        if any(truth_of(label) == 1 - code for code, label in enumerate(labels)):
            raise SchemaError(f"column {name!r}: values is {quote(given)}; expected the spelling of false first")
        return cls(name=name, tree=flat_tree(labels))

    def spec(self) -> dict[str, Any]:
        shown = {} if self.leaf_labels == list(PUBLISHED) else {"values": self.leaf_labels}
        return {"kind": self.kind, **shown}

    def encode(self, values: Sequence[object] | NDArray[np.float64]) -> NDArray[np.int32]:
        own = {label: code for code, label in enumerate(self.leaf_labels)}
        codes = (own.get(label, truth_of(label)) for label in map(as_label, values))
        return np.fromiter((UNKNOWN if code is None else code for code in codes), dtype=np.int32, count=len(values))

    def _interval(self, label: str) -> tuple[int, int] | None:
        code = truth_of(as_label(label))
        return super()._interval(label) or (None if code is None else (code, code))


def truth_of(label: str) -> int | None:
    """0 for a word that means no, 1 for one that means yes."""
    return CODE_OF.get(label.strip().casefold())
