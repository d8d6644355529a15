"""The schema: what is public knowledge about a table before anyone looks at its rows.

It names the columns, their roles and their axes, and is the only part of the program that knows labels.
"""

import tomllib
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import SchemaError, quote
from sfumato.files import read_text
from sfumato.notebook import html_table
from sfumato.schema.axis import Axis
from sfumato.schema.column import MODELLED_ROLES, Column, Role, parse_column, strings
from sfumato.schema.conditions import read_conditions
from sfumato.schema.impossible import Combination, find_possible, parse_combinations
from sfumato.schema.joint import JointAxis

MAX_SENSITIVE_VALUES = 1_000
MAX_COMBINED_VALUES = 20_000
"""Combinations of the values of several sensitive columns."""
MAX_ROWS_PER_PERSON = 1_000_000_000
DEFAULT_MISSING = ("",)
KEYS = ("name", "missing", "person", "rows_per_person", "protect", "rows_per_household", "impossible", "columns")
Protected = Literal["person", "household"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Schema:
    """A declared table: its name, its columns, and the spellings that mean a missing value.

    >>> schema = sf.Schema.load("town.toml")
    >>> [axis.name for axis in schema.quasi][:2], schema.sensitive.size
    (['age', 'sex'], 12)
    """

    columns: tuple[Column, ...]
    name: str = "table"
    missing: tuple[str, ...] = DEFAULT_MISSING
    person: str | None = None
    """The identifier that tells whose a row is; it must be named where there are several."""
    rows_per_person: int = 1
    """How many rows are used of a person at most, or of a household where these are protected."""
    protect: Protected = "person"
    """Whose rows a promise is about; where it is a household, that takes the place of a person everywhere."""
    impossible: tuple[str, ...] = ()
    """Conditions that no row satisfies."""

    def __post_init__(self) -> None:
        if not self.quasi:
            raise SchemaError('the schema has no column with role = "quasi"; there is nothing to generalize')
        if not self.secrets:
            raise SchemaError('the schema has no column with role = "sensitive"; there is nothing to protect')
        self._check_people()
        for axis in self.secrets:
            if axis.positions < 2:
                raise SchemaError(f"the sensitive column {axis.name!r} has one value; there is nothing to protect")
            if axis.size > MAX_SENSITIVE_VALUES:
                raise SchemaError(
                    f"the sensitive column {axis.name!r} has {axis.size} values, more than {MAX_SENSITIVE_VALUES}; "
                    "declare edges or a larger step"
                )
        if len(self.secrets) > 1 and self.sensitive.size > MAX_COMBINED_VALUES:
            raise SchemaError(
                f"the sensitive columns {self.sensitive.name} have {self.sensitive.size:,} combinations of values, more"
                f" than {MAX_COMBINED_VALUES:,}; declare edges, go up levels of a taxonomy (coarsen), or leave one out"
            )
        if self.impossible:
            find_possible(self.axes, self.combinations)

    def _check_people(self) -> None:
        """Refuse a schema that leaves open whose a row is, or for how many people it stands."""
        for role in ("weight", "household"):
            if len(several := self._named(role)) > 1:
                raise SchemaError(f'at most one column can have role = "{role}"; {" and ".join(several[:3])} do')
        if self.protect not in get_args(Protected):
            raise SchemaError(f"protect is {quote(self.protect)}; expected {' or '.join(get_args(Protected))}")
        identifiers, of_person = self._named("identifier"), self.protect == "person"
        if not of_person and identifiers and self.person is not None:
            raise SchemaError("person is given, but households are protected, whoever lives in them; leave one out")
        if self.person is not None and identifiers and self.person not in identifiers:
            raise SchemaError(f'person is {quote(self.person)}; expected a column with role = "identifier"')
        if of_person and self.person is None and len(identifiers) > 1:
            shown = " and ".join(map(repr, identifiers[:3]))
            raise SchemaError(
                f"{shown} are identifiers; name the one that says whose a row is, such as person = {identifiers[0]!r}"
            )
        most, key = self.rows_per_person, f"rows_per_{self.protect}"
        if isinstance(most, bool) or not isinstance(most, int) or most < 1:
            raise SchemaError(f"{key} is {quote(most)}; expected a whole number of at least 1")
        if most > MAX_ROWS_PER_PERSON:
            raise SchemaError(f"{key} is {quote(most)}; expected at most {MAX_ROWS_PER_PERSON:,}")
        if not of_person and self.person_column is None:
            raise SchemaError('households are to be protected; give one column role = "household"')
        if most > 1 and self.person_column is None:
            raise SchemaError(f'{key} is {most}, but nothing says whose a row is; give one column role = "identifier"')

    def _named(self, role: Role) -> list[str]:
        """The columns with a role."""
        return [column.name for column in self.columns if column.role == role]

    @property
    def account(self) -> str | None:
        """The name under which a ledger knows its people; tables that declare none have nothing in common."""
        return None if self.name == Schema.name else self.name

    @cached_property
    def quasi(self) -> tuple[Axis, ...]:
        """The axes of the quasi-identifiers, in schema order."""
        return tuple(column.axis for column in self.columns if column.role == "quasi" and column.axis)

    @cached_property
    def secrets(self) -> tuple[Axis, ...]:
        """The axes of the sensitive columns, in schema order."""
        return tuple(column.axis for column in self.columns if column.role == "sensitive" and column.axis)

    @property
    def secret_names(self) -> list[str]:
        """The names of the sensitive columns."""
        return [axis.name for axis in self.secrets]

    @cached_property
    def sensitive(self) -> Axis:
        """The axis that histograms are over: that of the sensitive column, or of the combinations of several."""
        return JointAxis.of(self.secrets)

    @cached_property
    def others(self) -> tuple[Axis, ...]:
        """The axes of columns that nobody knows and that are no secret, in schema order."""
        return tuple(column.axis for column in self.columns if column.role == "other" and column.axis)

    @property
    def modelled(self) -> tuple[Axis, ...]:
        """The axes of all columns whose values a model of the rows has to know, the other ones last."""
        return (*self.axes, *self.others)

    @property
    def unread(self) -> tuple[str, ...]:
        """Columns published as the file spells them."""
        return tuple(column.name for column in self.columns if column.role == "keep")

    @property
    def keep(self) -> tuple[str, ...]:
        """Columns published unchanged beside generalized rows, as the file or as the schema spells them."""
        return tuple(column.name for column in self.columns if column.role in ("keep", "other"))

    @property
    def person_column(self) -> str | None:
        """The column that tells whose a row is: the one named, or the only identifier, or that of households."""
        found = self._named("household" if self.protect == "household" else "identifier")
        return self.person or (found[0] if len(found) == 1 else None)

    @property
    def household_column(self) -> str | None:
        """The column that tells in which household the person of a row lives."""
        return next(iter(self._named("household")), None)

    @property
    def weight(self) -> Column | None:
        """The column that tells how many people of the population a row stands for."""
        return next((column for column in self.columns if column.role == "weight"), None)

    @property
    def tells_weights(self) -> bool:
        """Whether a release of classes carries the mean weight of each."""
        return self.weight is not None and self.weight.weighing is not None and self.weight.weighing.publish == "mean"

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The quasi-identifiers and, last, the sensitive columns."""
        return (*self.quasi, *self.secrets)

    @property
    def without_others(self) -> Self:
        """The schema of rows of which nothing is known in columns with role other."""
        if not self.others:
            return self
        return self.with_columns(tuple(column for column in self.columns if column.role != "other"))

    def focused(self, column: str) -> Self:
        """The schema with this sensitive column alone."""
        return self.with_columns(tuple(one for one in self.columns if one.role != "sensitive" or one.name == column))

    @cached_property
    def combinations(self) -> tuple[Combination, ...]:
        """What is declared impossible, over the axes."""
        return tuple(one for text in self.impossible for one in parse_combinations(text, self.axes))

    @property
    def possible_row(self) -> tuple[int, ...]:
        """The codes of a row that is not declared impossible."""
        return find_possible(self.axes, self.combinations)

    def cannot_be(self, codes: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which rows of codes (rows, axes), −1 for a missing value, are declared impossible."""
        found = np.zeros(len(codes), dtype=np.bool_)
        for combination in self.combinations:
            found |= combination.holds(codes)
        return found

    def with_columns(self, columns: tuple[Column, ...]) -> Self:
        """The schema with other columns, and what is declared impossible of those that stayed as they were."""
        kept = {column.name for column in columns if column.axis and column.axis in self.axes}
        left = tuple(text for text in self.impossible if kept.issuperset(read_conditions(text, self.axes).axes))
        return replace(self, columns=columns, impossible=left)

    @property
    def from_data(self) -> dict[str, tuple[str, ...]]:
        """Per column whose values matter, what was read off the data."""
        modelled = [column for column in self.columns if column.role in MODELLED_ROLES]
        return {column.name: column.from_data for column in modelled if column.from_data}

    @property
    def refusing(self) -> tuple[str, ...]:
        """The columns in which some values off the schema are refused."""
        return tuple(axis.name for axis in self.modelled if axis.refuses)

    @property
    def outline(self) -> list[tuple[str, str, str]]:
        """The name, the role and the kind of each column, without its values."""
        return [
            (column.name, column.role, f"{column.axis.positions:,} {column.axis.kind} values" if column.axis else "")
            for column in self.columns
        ]

    def __repr__(self) -> str:
        columns = (f"{name} ({', '.join(filter(None, more))})" for name, *more in self.outline)
        return f"Schema {self.name!r} of {', '.join(columns)}"

    def _repr_html_(self) -> str:
        return html_table(f"Schema {self.name}", self.outline, ("column", "role", "values"))

    def caveats(self, *, noise: bool = False) -> tuple[str, ...]:
        """What a claim about a release of such a table takes for granted because of its schema.

        Where there is noise on whole rows, no column is published as it is.
        """
        found = []
        if self.from_data:
            names = ", ".join(self.from_data)
            found.append(f"the declared bounds and values of {names} were read off the rows and tell about them")
        if self.keep and not noise:
            names = ", ".join(self.keep)
            found.append(f"nobody knows the {names} of a person; these columns are published as they are")
        for axis in self.secrets:
            if axis.harmless:
                labels = ", ".join(axis.harmless)
                found.append(f"it harms nobody if it is known that their {axis.name} is {labels}")
        return tuple(found)

    def spec(self) -> dict[str, Any]:
        """The schema as its file spells it, complete in itself."""
        return {
            "name": self.name,
            "missing": list(self.missing),
            **({"person": self.person} if self.person else {}),
            **({"protect": self.protect} if self.protect != "person" else {}),
            **({f"rows_per_{self.protect}": self.rows_per_person} if self.rows_per_person > 1 else {}),
            **({"impossible": list(self.impossible)} if self.impossible else {}),
            "columns": {column.name: column.spec() for column in self.columns},
        }

    def public(self, *, weights: bool = False) -> Self:
        """The schema of what is published: only the columns that appear in a release, where a missing value has a
        spelling of its own. Mean weights appear in releases that have them, if these may be told."""
        dropped = {"identifier", "household", "ignore", *(() if weights and self.tells_weights else ("weight",))}
        published = tuple(column.published for column in self.columns if column.role not in dropped)
        return replace(self, columns=published, person=self.person_column, missing=DEFAULT_MISSING)

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """The schema in a TOML file."""
        path = Path(path)
        text = read_text(path, "the schema file", SchemaError)
        try:
            return cls.parse(tomllib.loads(text), path.parent)
        except (ValueError, RecursionError) as error:
            raise SchemaError(f"{path}: not valid TOML, {error}") from error
        except SchemaError as error:
            raise SchemaError(f"{path}: {error}") from error

    @classmethod
    def parse(cls, spec: object, folder: Path | None = None) -> Self:
        """The schema that a nested mapping spells, as TOML or JSON delivers it."""
        if not isinstance(spec, dict):
            raise SchemaError("expected a table with [columns.NAME] entries")
        for key in spec:
            if key not in KEYS:
                raise SchemaError(
                    f"{quote(key)} has no meaning here; expected {', '.join(KEYS[:-1])} or [columns.NAME]"
                )
        columns = spec.get("columns")
        if not isinstance(columns, dict) or not columns:
            raise SchemaError("there are no [columns.NAME] entries")
        name, missing = spec.get("name", "table"), spec.get("missing", list(DEFAULT_MISSING))
        if not isinstance(name, str) or not name:
            raise SchemaError(f"name is {quote(name)}; expected a word for this data set")
        missing = strings(missing, "missing")
        person = spec.get("person")
        if person is not None and (not isinstance(person, str) or not person):
            raise SchemaError(f"person is {quote(person)}; expected the name of a column")
        for column in columns:
            if column in ("", "*") or (column.startswith("^") and column.endswith("$")):
                raise SchemaError(f"{quote(column)} cannot be the name of a column; rename it")
        parsed = tuple(parse_column(column, column_spec, folder or Path()) for column, column_spec in columns.items())
        protect = spec.get("protect", "person")
        for unit in get_args(Protected):
            if f"rows_per_{unit}" in spec and unit != protect:
                raise SchemaError(f"rows_per_{unit} means nothing unless protect is {unit}")
        impossible = strings(spec.get("impossible", []), "impossible")
        return cls(
            columns=parsed,
            name=name,
            missing=missing,
            person=person,
            rows_per_person=spec.get(f"rows_per_{protect}", 1),
            protect=protect,
            impossible=impossible,
        )
