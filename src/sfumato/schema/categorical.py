"""Categories, numbered in the tree order of their taxonomy.

A group of categories is published under the label of the node that covers exactly it, else as a set
`{a, b, c}`; labels with punctuation of their own are quoted inside a set.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import SchemaError, quote
from sfumato.schema.axis import AS_MISSING, MISSING, OR_MISSING, REFUSE, RESERVED_LABELS, UNKNOWN, Axis
from sfumato.schema.taxonomy import ANY, Node, as_label, check_labels, cut_below, leaf_above, leaves, to_nested

_SET_PUNCTUATION = frozenset(',;{}"')
_SET_PART = re.compile(r' *"(?:[^"\\]|\\.)*"|[^,;]+')


@dataclass(frozen=True, kw_only=True)
class CategoricalAxis(Axis):
    """The leaves of `tree`, in its order; leaves of a `finer` tree are read as what they became in `tree`."""

    kind: ClassVar[str] = "categorical"
    tree: Node
    finer: Node | None = None
    coarsen: int = 0
    ordered: bool = False

    def __post_init__(self) -> None:
        where = f"column {self.name!r}"
        check_labels(self.tree, where)
        for node in self.tree.walk():
            reserved = node.label in RESERVED_LABELS and (node.label != ANY or node is not self.tree)
            looks_like_a_set = node.label.startswith("{") and node.label.endswith("}")
            if reserved or looks_like_a_set or node.label.endswith(OR_MISSING) or not node.label:
                raise SchemaError(f"{where}: {quote(node.label)} cannot be the label of a value or a group")
        known = self.off_schema in ("", *self.leaf_labels) or (self.off_schema == AS_MISSING and self.nullable)
        if not known:
            expected = f"{REFUSE}, {AS_MISSING} (with nullable = true) or one of the values"
            raise SchemaError(f"{where}: off_schema is {quote(self.off_schema)}; expected {expected}")

    @property
    def size(self) -> int:
        return self.tree.hi + 1

    @property
    def taxonomy(self) -> Node:
        return self.tree

    @cached_property
    def leaf_labels(self) -> list[str]:
        """The label of each code."""
        return [leaf.label for leaf in leaves(self.tree)]

    @cached_property
    def _intervals(self) -> dict[str, tuple[int, int]]:
        return {label: interval for label, interval in check_labels(self.tree, "").items() if label != ANY}

    @cached_property
    def _node_labels(self) -> dict[tuple[int, int], str]:
        """The label nearest the leaves for every interval that a node covers exactly."""
        return {(node.lo, node.hi): node.label for node in self.tree.walk()}

    @property
    def expected(self) -> str:
        shown = ", ".join(repr(label) for label in self.leaf_labels[:6])
        more = self.size - 6
        return f"one of {shown}" + (f" and {more} more" if more > 0 else "")

    def spec(self) -> dict[str, Any]:
        tree = to_nested(self.finer or self.tree)
        coarsen = {"coarsen": self.coarsen} if self.coarsen else {}
        more = coarsen | ({"ordered": True} if self.ordered else {})
        return {"kind": self.kind, "values" if isinstance(tree, list) else "taxonomy": tree, **more}

    @property
    def comparable(self) -> bool:
        return self.ordered

    @property
    def levels_above(self) -> int:
        return (self.finer or self.tree).height - self.coarsen - 1

    def coarsened(self, levels: int) -> Self:
        """The axis whose values are the nodes at most so many levels above the leaves of the taxonomy."""
        finer = self.finer or self.tree
        coarsen = self.coarsen + levels
        if not 0 < coarsen < finer.height:
            raise SchemaError(
                f"column {self.name!r}: coarsen is {coarsen}; its taxonomy leaves 1 to {finer.height - 1}"
            )
        coarser = replace(self, tree=cut_below(finer, coarsen), finer=finer, coarsen=coarsen, off_schema="")
        if self.off_schema not in self.leaf_labels:
            return replace(coarser, off_schema=self.off_schema)
        stand_in = self.codes_in(coarser)[self.leaf_labels.index(self.off_schema)]
        return replace(coarser, off_schema=coarser.leaf_labels[stand_in])

    def codes_in(self, coarser: Self) -> NDArray[np.int64]:
        finer = coarser.finer or coarser.tree
        first = {node.label: node.lo for node in finer.walk()}
        above = leaf_above(finer, coarser.tree)
        return np.array([above[first[label]] for label in self.leaf_labels], dtype=np.int64)

    def encode(self, values: Sequence[object] | NDArray[np.float64]) -> NDArray[np.int32]:
        code_of = {label: code for code, label in enumerate(self.leaf_labels)}
        if self.finer:
            above = leaf_above(self.finer, self.tree)
            code_of = {leaf.label: above[leaf.lo] for leaf in leaves(self.finer)} | code_of
        codes = (code_of.get(str(value), code_of.get(as_label(value), UNKNOWN)) for value in values)
        return np.fromiter(codes, dtype=np.int32, count=len(values))

    def _stand_ins(self, codes: NDArray[np.int32], values: Sequence[object] | NDArray[np.float64]) -> int:
        return self.leaf_labels.index(self.off_schema) if self.off_schema in self.leaf_labels else MISSING

    def _spell(self, lo: int, hi: int) -> str:
        if (lo, hi) in self._node_labels:
            return self._node_labels[lo, hi]
        return "{" + ", ".join(_quote(label) for label in self.leaf_labels[lo : hi + 1]) + "}"

    def _parse_values(self, text: str) -> tuple[int, int] | None:
        interval = self._interval(text)
        if interval or not (text.startswith("{") and text.endswith("}")):
            return interval
        parts = [self._interval(part) for part in _split_set(text)]
        found = [part for part in parts if part]
        if not found or len(found) < len(parts):
            return None
        return min(lo for lo, _ in found), max(hi for _, hi in found)

    def _interval(self, label: str) -> tuple[int, int] | None:
        return self._intervals.get(label) or self._intervals.get(as_label(label))


def _quote(label: str) -> str:
    return json.dumps(label, ensure_ascii=False) if _SET_PUNCTUATION & set(label) else label


def _split_set(text: str) -> list[str]:
    """The labels inside `{…}`, separated by commas or semicolons outside quotes; none if a quote is not closed."""
    parts = [match.group().strip() for match in _SET_PART.finditer(text[1:-1])]
    try:
        return [json.loads(part) if part.startswith('"') else part for part in parts if part]
    except json.JSONDecodeError:
        return []
