"""One column as a schema declares it: its role and, where values matter, its axis."""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast, get_args

from sfumato.errors import DataError, SchemaError, quote
from sfumato.schema.axis import AS_MISSING, MISSING_LABEL, REFUSE, Axis
from sfumato.schema.categorical import CategoricalAxis
from sfumato.schema.hierarchy import read_hierarchy
from sfumato.schema.numeric import GRID_TOLERANCE, NumericAxis, spell_number
from sfumato.schema.taxonomy import Node, as_label, flat_tree, leaves, parse_nested
from sfumato.schema.weight import KEYS as WEIGHT_KEYS
from sfumato.schema.weight import Weighing

Role = Literal["identifier", "quasi", "sensitive", "weight", "household", "keep", "ignore"]
MEASURED_ROLES = ("quasi", "sensitive")

MAX_NUMBER = 1e300
EXACT = 2**53
"""Whole numbers beyond are floats, which they are compared with."""

_KEYS = {"role", "kind", "nullable", "from_data", "not_sensitive"}
_NUMERIC_KEYS = {"min", "max", "step", "width", "edges", "hierarchy", "taxonomy", "off_schema"}
_CATEGORICAL_KEYS = {"values", "hierarchy", "taxonomy", "off_schema", "coarsen"}


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column's role; `axis` is there for every column that declares a kind.

    `from_data` names the parts of the declaration that were read off the data rather than known beforehand.
    """

    name: str
    role: Role
    axis: Axis | None = None
    from_data: tuple[str, ...] = ()
    weighing: Weighing | None = None
    """What a column with role weight declares."""

    def spec(self) -> dict[str, Any]:
        """The column as a schema file spells it."""
        spec: dict[str, Any] = {"role": self.role}
        if self.axis:
            spec |= self.axis.spec()
            if self.axis.nullable:
                spec["nullable"] = True
            if self.axis.off_schema:
                spec["off_schema"] = self.axis.off_schema
            if self.axis.harmless:
                spec["not_sensitive"] = list(self.axis.harmless)
        if self.weighing:
            spec |= self.weighing.spec()
        if self.from_data:
            spec["from_data"] = list(self.from_data)
        return spec


def parse_column(name: str, spec: object, folder: Path) -> Column:
    """A column from its table in a schema; hierarchy files are found relative to `folder`."""
    if not isinstance(spec, dict):
        raise SchemaError(f"column {name!r}: expected a table such as [columns.{name}], found {quote(spec)}")
    return _Declaration(name, spec, folder).column()


def strings(value: object, what: str) -> tuple[str, ...]:
    """A list of strings in a schema."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise SchemaError(f"{what} is {quote(value)}; expected a list of strings")
    return tuple(value)


@dataclass(frozen=True)
class _Declaration:
    """The table of one column in a schema."""

    name: str
    spec: dict[str, Any]
    folder: Path

    @property
    def where(self) -> str:
        return f"column {self.name!r}"

    def column(self) -> Column:
        role, kind = self.spec.get("role"), self.spec.get("kind")
        if role not in get_args(Role):
            raise SchemaError(f"{self.where}: role is {quote(role)}; expected one of {', '.join(get_args(Role))}")
        from_data = strings(self.spec.get("from_data", []), f"{self.where}: from_data")
        nullable = self.spec.get("nullable", False)
        if not isinstance(nullable, bool):
            raise SchemaError(f"{self.where}: nullable is {quote(nullable)}; expected true or false")
        axis: Axis | None = None
        if role == "weight" and (kind is not None or nullable):
            raise SchemaError(f"{self.where}: a weight has neither kind nor nullable; off_schema may give a number")
        if kind == "numeric":
            axis = replace(self.numeric_axis(), nullable=nullable, off_schema=self.off_schema([]))
        elif kind == "categorical":
            tree = self.categories()
            off_schema = self.off_schema([leaf.label for leaf in leaves(tree)])
            axis = self.coarsened(CategoricalAxis(name=self.name, nullable=nullable, tree=tree), off_schema)
        elif kind is None and role not in MEASURED_ROLES:
            self.refuse_keys_beside(WEIGHT_KEYS if role == "weight" else set())
        else:
            raise SchemaError(f"{self.where}: kind is {quote(kind)}; expected numeric or categorical")
        if "not_sensitive" in self.spec:
            axis = self.with_harmless(axis if role == "sensitive" else None)
        weighing = Weighing.parse(self.spec, self.where) if role == "weight" else None
        return Column(name=self.name, role=cast(Role, role), axis=axis, from_data=from_data, weighing=weighing)

    def coarsened(self, axis: CategoricalAxis, off_schema: str) -> CategoricalAxis:
        """The axis at the level of its taxonomy that is asked for."""
        levels = self.spec.get("coarsen", 0)
        if isinstance(levels, bool) or not isinstance(levels, int) or levels < 0:
            raise SchemaError(f"{self.where}: coarsen is {levels!r}; expected how many levels of the taxonomy to go up")
        return replace(axis.coarsened(levels) if levels else axis, off_schema=off_schema)

    def with_harmless(self, axis: Axis | None) -> Axis:
        """The sensitive axis, with the values that are no secret."""
        if axis is None:
            raise SchemaError(f"{self.where}: not_sensitive has a meaning for the sensitive column alone")
        given = self.spec["not_sensitive"]
        if not isinstance(given, list) or not given or not all(isinstance(label, str | int | float) for label in given):
            raise SchemaError(f"{self.where}: not_sensitive is {quote(given)}; expected a list of values")
        labels = tuple(MISSING_LABEL if label == AS_MISSING else as_label(label) for label in given)
        try:
            found = replace(axis, harmless=labels)
            secrets = found.secret.any()
        except DataError as error:
            raise SchemaError(f"not_sensitive: {error}") from error
        if not secrets:
            raise SchemaError(f"{self.where}: not_sensitive names all values, which leaves no secret")
        return found

    def off_schema(self, labels: list[str]) -> str:
        """What becomes of a value off the schema, empty if it is refused; a value of the column wins over a word."""
        if "off_schema" not in self.spec:
            return ""
        given = self.spec["off_schema"]
        label = as_label(given) if isinstance(given, str | int | float) else ""
        if not label:
            raise SchemaError(f"{self.where}: off_schema is {quote(given)}; expected a word or a value")
        return "" if label == REFUSE and REFUSE not in labels else label

    def refuse_keys_beside(self, allowed: set[str]) -> None:
        for key in self.spec:
            if key not in allowed | _KEYS:
                expected = ", ".join(sorted(allowed | _KEYS))
                raise SchemaError(f"{self.where}: {quote(key)} has no meaning here; expected {expected}")

    def refuse_together(self, key: str, others: set[str]) -> None:
        for other in sorted(others & set(self.spec)) if key in self.spec else ():
            raise SchemaError(f"{self.where}: {key} and {other} are given; expected one of them")

    def number(self, key: str, default: float | None = None) -> float:
        return self.as_number(self.spec.get(key, default), key)

    def as_number(self, value: object, key: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MAX_NUMBER:
            shown = value if not isinstance(value, int) or abs(value) <= MAX_NUMBER else "a very large number"
            raise SchemaError(f"{self.where}: {key} is {quote(shown)}; expected a number")
        return value if abs(value) <= EXACT else float(value)

    def numeric_axis(self) -> NumericAxis:
        self.refuse_keys_beside(_NUMERIC_KEYS)
        if "edges" in self.spec:
            return NumericAxis(name=self.name, edges=self.edges())
        tree = self.tree()
        self.refuse_together("width", {"step", "taxonomy", "hierarchy"})
        if tree is not None:
            return self.grid_with(tree)
        minimum, maximum = self.number("min"), self.number("max")
        if "width" not in self.spec:
            return NumericAxis(name=self.name, minimum=minimum, maximum=maximum, step=self.number("step", 1))
        width = self.number("width")
        if width <= 0 or maximum <= minimum or (maximum - minimum) / width > 1e6:
            raise SchemaError(f"{self.where}: width {spell_number(width)} does not cut min..max into bins")
        bins = math.ceil((maximum - minimum) / width - GRID_TOLERANCE)
        edges = (float(spell_number(minimum + i * width, width * GRID_TOLERANCE)) for i in range(bins + 1))
        return NumericAxis(name=self.name, edges=tuple(edges))

    def edges(self) -> tuple[float, ...]:
        values = self.spec["edges"]
        if not isinstance(values, list):
            raise SchemaError(f"{self.where}: edges is {quote(values)}; expected a list of numbers")
        if not values:
            raise SchemaError(f"{self.where}: edges is empty; expected at least two numbers")
        edges = tuple(self.as_number(value, "edges") for value in values)
        self.refuse_together("edges", _NUMERIC_KEYS - {"edges", "off_schema"})
        return edges

    def grid_with(self, tree: Node) -> NumericAxis:
        """A grid whose taxonomy was given; leaves outside `min..max` are cut off."""
        try:
            numbers = [float(leaf.label) for leaf in leaves(tree)]
        except ValueError as error:
            raise SchemaError(f"{self.where}: the hierarchy of a numeric column needs numbers as its leaves") from error
        minimum, maximum = self.number("min", min(numbers)), self.number("max", max(numbers))
        grid = NumericAxis(name=self.name, minimum=minimum, maximum=maximum, step=self.number("step", 1))
        codes = grid.encode(numbers).tolist()
        for number, code in zip(numbers, codes, strict=True):
            if code < 0 and minimum <= number <= maximum:
                raise SchemaError(f"{self.where}: {spell_number(number)} in the hierarchy is not {grid.expected}")
        inside = [code for code in codes if code >= 0]
        present = set(inside)
        for code in range(grid.size):
            if code not in present:
                absent = spell_number(grid.value(code))
                raise SchemaError(f"{self.where}: the hierarchy is incomplete, {absent} is not in it")
        if inside != sorted(present):
            raise SchemaError(f"{self.where}: the hierarchy does not list its numbers in rising order, once each")
        return replace(grid, tree=_clip(tree, codes))

    def categories(self) -> Node:
        self.refuse_keys_beside(_CATEGORICAL_KEYS)
        if tree := self.tree():
            return tree
        values = self.spec.get("values")
        if not isinstance(values, list) or not values:
            raise SchemaError(
                f"{self.where}: a categorical column needs values, a taxonomy or a hierarchy; without one its domain "
                "is unknown"
            )
        for value in values:
            if not isinstance(value, str | int | float):
                raise SchemaError(f"{self.where}: values holds {quote(value)} where a label was expected")
        return flat_tree([as_label(value) for value in values])

    def tree(self) -> Node | None:
        self.refuse_together("values", {"taxonomy", "hierarchy"})
        self.refuse_together("taxonomy", {"hierarchy"})
        if "taxonomy" in self.spec:
            return parse_nested(self.spec["taxonomy"], self.where)
        if "hierarchy" not in self.spec:
            return None
        path = self.spec["hierarchy"]
        if not isinstance(path, str):
            raise SchemaError(f"{self.where}: hierarchy is {quote(path)}; expected the path of a file")
        return read_hierarchy(self.folder / path)


def _clip(node: Node, codes: list[int]) -> Node | None:
    """The part of a tree whose leaves have codes of their own, renumbered to these."""
    inside = [code for code in codes[node.lo : node.hi + 1] if code >= 0]
    if not inside:
        return None
    below = tuple(child for child in (_clip(child, codes) for child in node.children) if child)
    return Node(node.label, inside[0], inside[-1], below)
