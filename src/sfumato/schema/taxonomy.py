"""Taxonomies over an integer axis: every node is an interval of leaves, numbered in tree order.

A `Node` covers `lo..hi`. Numeric axes without a taxonomy of their own get one by halving, dates that of the
calendar and codes that of their beginnings; these are made only as far down as somebody looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sfumato.errors import SchemaError, quote

ANY = "*"


@dataclass(frozen=True)
class Node:
    """The leaves `lo..hi` under one label, with the nodes directly below."""

    label: str
    lo: int
    hi: int
    below: tuple[Node, ...] = field(default=(), repr=False)

    @property
    def children(self) -> tuple[Node, ...]:
        return self.below

    @property
    def is_leaf(self) -> bool:
        return not self.children

    @cached_property
    def height(self) -> int:
        """Edges on the longest way down to a leaf."""
        return 1 + max(child.height for child in self.children) if self.children else 0

    def walk(self) -> Iterator[Node]:
        """This node and all below it, parents first, in tree order."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True)
class HalvedNode(Node):
    """A node of an axis that has no taxonomy: its children are its two halves."""

    @property
    def children(self) -> tuple[Node, ...]:
        if self.lo == self.hi:
            return ()
        middle = (self.lo + self.hi) // 2
        return (HalvedNode(self.label, self.lo, middle), HalvedNode(self.label, middle + 1, self.hi))

    @cached_property
    def height(self) -> int:
        """⌈log₂ leaves⌉, without a look at any of them."""
        return (self.hi - self.lo).bit_length()


Part = Callable[[int, int, int], Iterable[tuple[str, int, int]]]
"""What lies below the leaves `lo..hi` of a node at a level: the label, the first and the last leaf of each child."""


@dataclass(frozen=True)
class LazyNode(Node):
    """A node of a tree of so many `levels` below the root, whose children are made when somebody looks."""

    level: int = 0
    levels: int = 0
    part: Part | None = field(default=None, repr=False, compare=False)

    @property
    def children(self) -> tuple[Node, ...]:
        if self.part is None or self.level == self.levels:
            return ()
        below = self.part(self.lo, self.hi, self.level + 1)
        return tuple(LazyNode(label, lo, hi, (), self.level + 1, self.levels, self.part) for label, lo, hi in below)

    @cached_property
    def height(self) -> int:
        return self.levels - self.level


def flat_tree(labels: Sequence[str], start: int = 0) -> Node:
    """A root with every label directly below it, numbered from `start`."""
    return Node(ANY, start, start + len(labels) - 1, tuple(Node(label, i, i) for i, label in enumerate(labels, start)))


def parse_nested(tree: Mapping[str, object] | Sequence[object], where: str) -> Node:
    """A taxonomy from nested tables, as a schema holds it.

    A table maps a label to the list of leaves or the table below it; an empty list makes the label a leaf.
    """
    below = _nodes_below(tree, 0, where)
    if not below:
        raise SchemaError(f"{where}: the taxonomy is empty")
    return Node(ANY, 0, below[-1].hi, below)


def _nodes_below(tree: object, start: int, where: str) -> tuple[Node, ...]:
    if isinstance(tree, list | tuple):
        for leaf in tree:
            if isinstance(leaf, dict | list | tuple | bool) or leaf is None:
                raise SchemaError(f"{where}: the taxonomy holds {quote(leaf)} where a label was expected")
        return flat_tree([as_label(leaf) for leaf in tree], start).below
    if not isinstance(tree, dict):
        raise SchemaError(f"{where}: the taxonomy holds {quote(tree)} where a list or a table was expected")
    nodes = []
    for label, subtree in tree.items():
        below = _nodes_below(subtree, start, where)
        nodes.append(Node(as_label(label), start, below[-1].hi if below else start, below))
        start = nodes[-1].hi + 1
    return tuple(nodes)


def to_nested(root: Node) -> dict[str, object] | list[str]:
    """The inverse of `parse_nested`."""
    if all(child.is_leaf for child in root.children):
        return [child.label for child in root.children]
    return {child.label: to_nested(child) if child.children else [] for child in root.children}


def leaves(root: Node) -> list[Node]:
    """The leaves in tree order."""
    return [node for node in root.walk() if node.is_leaf]


def cut_below(root: Node, height: int, start: int = 0) -> Node:
    """The tree in which every node of at most this height is a leaf, numbered from `start`."""
    if root.height <= height:
        return Node(root.label, start, start)
    below: list[Node] = []
    for child in root.children:
        below.append(cut_below(child, height, below[-1].hi + 1 if below else start))
    return Node(root.label, start, below[-1].hi, tuple(below))


def leaf_above(finer: Node, tree: Node) -> list[int]:
    """For every leaf of a tree, the leaf that it became where the tree was cut."""
    if tree.is_leaf:
        return [tree.lo] * (finer.hi - finer.lo + 1)
    pairs = zip(finer.children, tree.children, strict=True)
    return [leaf for child, cut in pairs for leaf in leaf_above(child, cut)]


def check_labels(root: Node, where: str) -> dict[str, tuple[int, int]]:
    """The interval of every label; refuses a label that stands for two different sets of leaves."""
    intervals: dict[str, tuple[int, int]] = {}
    for node in root.walk():
        interval = intervals.setdefault(node.label, (node.lo, node.hi))
        if interval != (node.lo, node.hi):
            raise SchemaError(
                f"{where}: the label {quote(node.label)} stands for two different sets of values in the taxonomy"
            )
    return intervals


def as_label(value: object) -> str:
    """The one spelling of a value: numbers lose a trailing `.0`, so that 2, 2.0 and "2.0" are alike."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return format(value, ".15g")
    text = str(value).strip()
    head, point, tail = text.partition(".")
    if point and not tail.strip("0") and head.removeprefix("-").isdigit():
        return head
    return text
