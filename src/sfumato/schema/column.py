"""One column as a schema declares it: its role and, where values matter, its axis."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args

from sfumato.errors import SchemaError
from sfumato.schema.axis import Axis
from sfumato.schema.categorical import CategoricalAxis
from sfumato.schema.hierarchy import read_hierarchy
from sfumato.schema.numeric import GRID_TOLERANCE, NumericAxis, spell_number
from sfumato.schema.taxonomy import Node, as_label, flat_tree, leaves, parse_nested

Role = Literal["identifier", "quasi", "sensitive", "keep", "ignore"]
MEASURED_ROLES = ("quasi", "sensitive")

MAX_NUMBER = 1e300

_KEYS = {"role", "kind", "nullable", "from_data"}
_NUMERIC_KEYS = {"min", "max", "step", "width", "edges", "hierarchy", "taxonomy"}
_CATEGORICAL_KEYS = {"values", "hierarchy", "taxonomy"}


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column's role; `axis` is there for every column that declares a kind.

    `from_data` names the parts of the declaration that were read off the data rather than known beforehand.
    """

    name: str
    role: Role
    axis: Axis | None = None
    from_data: tuple[str, ...] = ()

    def spec(self) -> dict[str, Any]:
        """The column as a schema file spells it."""
        spec: dict[str, Any] = {"role": self.role}
        if self.axis:
            spec |= self.axis.spec()
            if self.axis.nullable:
                spec["nullable"] = True
        if self.from_data:
            spec["from_data"] = list(self.from_data)
        return spec


def parse_column(name: str, spec: object, folder: Path) -> Column:
    """A column from its table in a schema; hierarchy files are found relative to `folder`."""
    where = f"column {name!r}"
    if not isinstance(spec, dict):
        raise SchemaError(f"{where}: expected a table such as [columns.{name}], found {spec!r}")
    role = _role(spec, where)
    from_data = _strings(spec, "from_data", where)
    kind = spec.get("kind")
    nullable = spec.get("nullable", False)
    if not isinstance(nullable, bool):
        raise SchemaError(f"{where}: nullable is {nullable!r}; expected true or false")
    if kind is None and role not in MEASURED_ROLES:
        _refuse_other_keys(spec, set(), where)
        return Column(name=name, role=role, from_data=from_data)
    if kind == "numeric":
        axis: Axis = _numeric_axis(name, spec, nullable, folder, where)
    elif kind == "categorical":
        axis = _categorical_axis(name, spec, nullable, folder, where)
    else:
        raise SchemaError(f"{where}: kind is {kind!r}; expected numeric or categorical")
    return Column(name=name, role=role, axis=axis, from_data=from_data)


def _refuse_together(key: str, others: set[str], spec: Mapping[str, object], where: str) -> None:
    for other in sorted(others & set(spec)):
        raise SchemaError(f"{where}: {key} and {other} are given; expected one of them")


def _role(spec: Mapping[str, object], where: str) -> Role:
    role = spec.get("role")
    if not isinstance(role, str) or role not in get_args(Role):
        raise SchemaError(f"{where}: role is {role!r}; expected one of {', '.join(get_args(Role))}")
    return cast(Role, role)


def _refuse_other_keys(spec: Mapping[str, object], allowed: set[str], where: str) -> None:
    for key in spec:
        if key not in allowed | _KEYS:
            expected = ", ".join(sorted(allowed | _KEYS))
            raise SchemaError(f"{where}: {key!r} has no meaning here; expected {expected}")


def _strings(spec: Mapping[str, object], key: str, where: str) -> tuple[str, ...]:
    value = spec.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise SchemaError(f"{where}: {key} is {value!r}; expected a list of strings")
    return tuple(value)


def _number(spec: Mapping[str, object], key: str, where: str) -> float:
    value = spec.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MAX_NUMBER:
        shown = value if not isinstance(value, int) or abs(value) <= MAX_NUMBER else "a very large number"
        raise SchemaError(f"{where}: {key} is {shown!r}; expected a number")
    return value


def _numeric_axis(name: str, spec: dict[str, Any], nullable: bool, folder: Path, where: str) -> NumericAxis:
    _refuse_other_keys(spec, _NUMERIC_KEYS, where)
    if "edges" in spec:
        values = spec["edges"]
        if not isinstance(values, list):
            raise SchemaError(f"{where}: edges is {values!r}; expected a list of numbers")
        edges = tuple(_number({"edges": value}, "edges", where) for value in values)
        if not edges:
            raise SchemaError(f"{where}: edges is empty; expected at least two numbers")
        _refuse_together("edges", _NUMERIC_KEYS - {"edges"}, spec, where)
        return NumericAxis(name=name, nullable=nullable, edges=edges)
    tree = _tree(spec, folder, where)
    if "width" in spec:
        _refuse_together("width", {"step", "taxonomy", "hierarchy"}, spec, where)
    if tree is not None:
        return _numeric_axis_with_tree(name, spec, nullable, tree, where)
    minimum, maximum = _number(spec, "min", where), _number(spec, "max", where)
    if "width" in spec:
        width = _number(spec, "width", where)
        if width <= 0 or maximum <= minimum or (maximum - minimum) / width > 1e6:
            raise SchemaError(f"{where}: width {spell_number(width)} does not cut min..max into bins")
        bins = math.ceil((maximum - minimum) / width - GRID_TOLERANCE)
        edges = tuple(float(spell_number(minimum + i * width, width * GRID_TOLERANCE)) for i in range(bins + 1))
        return NumericAxis(name=name, nullable=nullable, edges=edges)
    step = _number(spec, "step", where) if "step" in spec else 1
    return NumericAxis(name=name, nullable=nullable, minimum=minimum, maximum=maximum, step=step)


def _numeric_axis_with_tree(name: str, spec: dict[str, Any], nullable: bool, tree: Node, where: str) -> NumericAxis:
    """A grid whose taxonomy was given; leaves outside `min..max` are cut off."""
    try:
        numbers = [float(leaf.label) for leaf in leaves(tree)]
    except ValueError as error:
        raise SchemaError(f"{where}: the hierarchy of a numeric column needs numbers as its leaves") from error
    minimum = _number(spec, "min", where) if "min" in spec else min(numbers)
    maximum = _number(spec, "max", where) if "max" in spec else max(numbers)
    step = _number(spec, "step", where) if "step" in spec else 1
    grid = NumericAxis(name=name, minimum=minimum, maximum=maximum, step=step)
    codes = [int(code) for code in grid.encode(numbers)]
    for number, code in zip(numbers, codes, strict=True):
        if code < 0 and minimum <= number <= maximum:
            raise SchemaError(f"{where}: {spell_number(number)} in the hierarchy is not {grid.expected}")
    inside = [code for code in codes if code >= 0]
    if len(set(inside)) < grid.size:
        absent = next(code for code in range(grid.size) if code not in set(inside))
        raise SchemaError(f"{where}: the hierarchy is incomplete, {spell_number(grid.value(absent))} is not in it")
    if inside != sorted(set(inside)):
        raise SchemaError(f"{where}: the hierarchy does not list its numbers in rising order, once each")
    root = _clip(tree, codes)
    return NumericAxis(name=name, nullable=nullable, minimum=minimum, maximum=maximum, step=step, tree=root)


def _clip(node: Node, codes: list[int]) -> Node | None:
    """The part of a tree whose leaves have codes of their own, renumbered to these."""
    inside = [code for code in codes[node.lo : node.hi + 1] if code >= 0]
    if not inside:
        return None
    below = tuple(child for child in (_clip(child, codes) for child in node.children) if child)
    return Node(node.label, inside[0], inside[-1], below)


def _categorical_axis(name: str, spec: dict[str, Any], nullable: bool, folder: Path, where: str) -> CategoricalAxis:
    _refuse_other_keys(spec, _CATEGORICAL_KEYS, where)
    tree = _tree(spec, folder, where)
    if tree is None:
        values = spec.get("values")
        if not isinstance(values, list) or not values:
            raise SchemaError(
                f"{where}: a categorical column needs values, a taxonomy or a hierarchy; without one its domain "
                "is unknown"
            )
        for value in values:
            if not isinstance(value, str | int | float):
                raise SchemaError(f"{where}: values holds {value!r} where a label was expected")
        tree = flat_tree([as_label(value) for value in values])
    return CategoricalAxis(name=name, nullable=nullable, tree=tree)


def _tree(spec: Mapping[str, Any], folder: Path, where: str) -> Node | None:
    given = [key for key in ("values", "taxonomy", "hierarchy") if key in spec]
    if len(given) > 1:
        raise SchemaError(f"{where}: {' and '.join(given)} are given; expected one of them")
    if "taxonomy" in spec:
        return parse_nested(spec["taxonomy"], where)
    if "hierarchy" in spec:
        if not isinstance(spec["hierarchy"], str):
            raise SchemaError(f"{where}: hierarchy is {spec['hierarchy']!r}; expected the path of a file")
        return read_hierarchy(folder / Path(spec["hierarchy"]))
    return None
