"""One column as a schema declares it: its role and, where values matter, its axis."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self, cast, get_args

from sfumato.errors import DataError, SchemaError, quote
from sfumato.schema.axis import AS_MISSING, MISSING_LABEL, REFUSE, Axis
from sfumato.schema.bins import MAX_BINS, MAX_PER_DECADE, even_edges, log_edges, with_open_ends
from sfumato.schema.boolean import KEYS as BOOLEAN_KEYS
from sfumato.schema.boolean import BooleanAxis
from sfumato.schema.categorical import CategoricalAxis
from sfumato.schema.code import KEYS as CODE_KEYS
from sfumato.schema.code import CodeAxis
from sfumato.schema.dates import KEYS as DATE_KEYS
from sfumato.schema.dates import DateAxis
from sfumato.schema.hierarchy import read_hierarchy
from sfumato.schema.numeric import COMMA, POINT, NumericAxis, spell_number
from sfumato.schema.taxonomy import Node, as_label, flat_tree, leaves, parse_nested
from sfumato.schema.weight import KEYS as WEIGHT_KEYS
from sfumato.schema.weight import Weighing

Role = Literal["identifier", "quasi", "sensitive", "other", "weight", "household", "keep", "ignore"]
MEASURED_ROLES = ("quasi", "sensitive")
MODELLED_ROLES = (*MEASURED_ROLES, "other")
"""Roles of columns whose values matter, so that they must be declared."""

MAX_NUMBER = 1e300
EXACT = 2**53
"""Whole numbers beyond are floats, which they are compared with."""

_KEYS = {"role", "kind", "nullable", "from_data", "not_sensitive"}
_RANGE_KEYS = {"min", "max", "top", "bottom"}
_BIN_KEYS = {"width", "edges", "bins", "per_decade"}
_NUMERIC_KEYS = {"step", "hierarchy", "taxonomy", "off_schema", "decimal"} | _RANGE_KEYS | _BIN_KEYS
_CATEGORICAL_KEYS = {"values", "hierarchy", "taxonomy", "off_schema", "coarsen", "ordered"}
_DECLARED = {
    DateAxis.kind: (DateAxis.declared, DATE_KEYS),
    CodeAxis.kind: (CodeAxis.declared, CODE_KEYS),
    BooleanAxis.kind: (BooleanAxis.declared, BOOLEAN_KEYS),
}
KINDS = (NumericAxis.kind, CategoricalAxis.kind, *_DECLARED)


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

    @property
    def published(self) -> Self:
        """The column of a release, in which numbers have a decimal point."""
        if not isinstance(self.axis, NumericAxis) or self.axis.decimal == POINT:
            return self
        return replace(self, axis=replace(self.axis, decimal=POINT))

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
        nullable = self.truth("nullable")
        axis: Axis | None = None
        if role == "weight" and (kind is not None or nullable):
            raise SchemaError(f"{self.where}: a weight has neither kind nor nullable; off_schema may give a number")
        if kind == "numeric":
            off_schema, decimal = self.off_schema([]), self.decimal()
            axis = replace(self.numeric_axis(), nullable=nullable, off_schema=off_schema, decimal=decimal)
        elif kind == "categorical":
            tree = self.categories()
            off_schema = self.off_schema([leaf.label for leaf in leaves(tree)])
            one = CategoricalAxis(name=self.name, nullable=nullable, tree=tree, ordered=self.truth("ordered"))
            axis = self.coarsened(one, off_schema)
        elif isinstance(kind, str) and kind in _DECLARED:
            declared, keys = _DECLARED[kind]
            self.refuse_keys_beside(keys)
            axis = replace(declared(self.name, self.spec), nullable=nullable)
            axis = replace(axis, off_schema=self.off_schema([]))
        elif kind is None and role not in MODELLED_ROLES:
            self.refuse_keys_beside(WEIGHT_KEYS if role == "weight" else set())
        else:
            raise SchemaError(f"{self.where}: kind is {quote(kind)}; expected {', '.join(KINDS[:-1])} or {KINDS[-1]}")
        if "not_sensitive" in self.spec:
            axis = self.with_harmless(axis if role == "sensitive" else None)
        weighing = Weighing.parse(self.spec, self.where) if role == "weight" else None
        return Column(name=self.name, role=cast(Role, role), axis=axis, from_data=from_data, weighing=weighing)

    def truth(self, key: str) -> bool:
        value = self.spec.get(key, False)
        if not isinstance(value, bool):
            raise SchemaError(f"{self.where}: {key} is {quote(value)}; expected true or false")
        return value

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

    def decimal(self) -> str:
        """What stands before the fraction of a number in files of text."""
        given = self.spec.get("decimal", POINT)
        if given not in (POINT, COMMA):
            raise SchemaError(f'{self.where}: decimal is {quote(given)}; expected "." or ","')
        return str(given)

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
        for bound, limit in (("top", "max"), ("bottom", "min")):
            self.refuse_together(bound, {limit, "taxonomy", "hierarchy"})
        if "edges" in self.spec:
            return NumericAxis(name=self.name, edges=self.with_open_ends(self.edges()))
        tree = self.tree()
        self.refuse_together("width", {"step", "taxonomy", "hierarchy"})
        if tree is not None:
            return self.grid_with(tree)
        top, bottom = "top" in self.spec, "bottom" in self.spec
        minimum, maximum = self.number("bottom" if bottom else "min"), self.number("top" if top else "max")
        if "per_decade" in self.spec and "bins" not in self.spec:
            raise SchemaError(f"{self.where}: per_decade has a meaning beside bins alone")
        if "bins" in self.spec or "width" in self.spec:
            return NumericAxis(name=self.name, edges=self.with_open_ends(self.bins(minimum, maximum)))
        step = self.number("step", 1)
        return NumericAxis(name=self.name, minimum=minimum, maximum=maximum, step=step, top=top, bottom=bottom)

    def bins(self, minimum: float, maximum: float) -> tuple[float, ...]:
        """Edges of bins of one width, or at so many round numbers in each power of ten."""
        if "bins" not in self.spec:
            width = self.number("width")
            if width <= 0 or maximum <= minimum or (maximum - minimum) / width > MAX_BINS:
                raise SchemaError(f"{self.where}: width {spell_number(width)} does not cut min..max into bins")
            edges = even_edges(minimum, maximum, width)
            return (*(edge for edge in edges if edge < maximum), maximum) if "top" in self.spec else edges
        self.refuse_together("bins", {"step", "width", "taxonomy", "hierarchy"})
        per_decade = self.spec.get("per_decade", 3)
        if self.spec["bins"] != "log":
            raise SchemaError(f'{self.where}: bins is {quote(self.spec["bins"])}; expected "log"')
        if isinstance(per_decade, bool) or not isinstance(per_decade, int) or not 0 < per_decade <= MAX_PER_DECADE:
            expected = f"a whole number from 1 to {MAX_PER_DECADE}"
            raise SchemaError(f"{self.where}: per_decade is {quote(per_decade)}; expected {expected}")
        if not 0 < minimum < maximum:
            low = "bottom" if "bottom" in self.spec else "min"
            raise SchemaError(f"{self.where}: bins on a log scale begin above 0, but {low} is {spell_number(minimum)}")
        return log_edges(minimum, maximum, per_decade)

    def with_open_ends(self, edges: tuple[float, ...]) -> tuple[float, ...]:
        """The edges with bins for what lies beyond `top` and `bottom`."""
        bottom, top = (self.number(key) if key in self.spec else None for key in ("bottom", "top"))
        if (bottom is not None and edges[0] < bottom) or (top is not None and edges[-1] > top):
            raise SchemaError(f"{self.where}: edges lie below bottom or above top; expected them between")
        return with_open_ends(edges, bottom, top)

    def edges(self) -> tuple[float, ...]:
        values = self.spec["edges"]
        if not isinstance(values, list):
            raise SchemaError(f"{self.where}: edges is {quote(values)}; expected a list of numbers")
        if not values:
            raise SchemaError(f"{self.where}: edges is empty; expected at least two numbers")
        edges = tuple(self.as_number(value, "edges") for value in values)
        self.refuse_together("edges", _NUMERIC_KEYS - {"edges", "top", "bottom", "off_schema", "decimal"})
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
