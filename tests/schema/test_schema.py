"""Schemas: what their files spell, what they spell again, and one sentence for everything they get wrong."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from sfumato.errors import SchemaError
from sfumato.schema import Schema, Span
from strategies import SchemaCase, schemas

SENSITIVE = '[columns.job]\nrole = "sensitive"\nkind = "categorical"\nvalues = ["nurse", "clerk"]\n'
AGE = '[columns.age]\nrole = "quasi"\nkind = "numeric"\nmin = 0\nmax = 9\n'


def loaded(folder: Path, text: str | bytes) -> Schema:
    path = folder / "schema.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Schema.load(path)


def refusal(folder: Path, text: str | bytes) -> str:
    """The one sentence by which a schema file is refused, without the file's name."""
    with pytest.raises(SchemaError) as caught:
        loaded(folder, text)
    message = str(caught.value)
    place = f"{folder / 'schema.toml'}: "
    assert message.startswith(place)
    assert "\n" not in message.strip()
    return message.removeprefix(place)


def column(**spec: Any) -> str:
    """A schema file whose quasi-identifier is declared so."""
    lines = [f"{key} = {value if isinstance(value, str) else json.dumps(value)}" for key, value in spec.items()]
    return "[columns.x]\n" + "\n".join(lines) + "\n" + SENSITIVE


def quasi(kind: str, **spec: Any) -> str:
    return column(role='"quasi"', kind=f'"{kind}"', **spec)


@given(schemas())
def test_a_schema_spells_itself_completely(case: SchemaCase) -> None:
    schema = case.schema
    again = Schema.parse(json.loads(json.dumps(schema.spec())))
    assert again == schema
    assert again.spec() == schema.spec()
    assert [axis.labels for axis in again.axes] == [axis.labels for axis in schema.axes]
    assert [axis.name for axis in schema.quasi] == [axis.name for axis in case.quasi]
    assert [axis.positions for axis in schema.axes] == [axis.positions for axis in case.axes]


def test_spec_does_not_refer_to_other_files(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("a;A;*\nb;A;*\nc;B;*\n")
    schema = loaded(tmp_path, quasi("categorical", hierarchy='"jobs.csv"'))
    (tmp_path / "jobs.csv").unlink()
    again = Schema.parse(json.loads(json.dumps(schema.spec())))
    assert again == schema
    assert again.quasi[0].label(Span(0, 1, False)) == "A"


def test_roles(tmp_path: Path) -> None:
    text = (
        AGE
        + SENSITIVE
        + "".join(
            f'[columns.{name}]\nrole = "{role}"\n'
            for name, role in [("id", "identifier"), ("wage", "keep"), ("note", "ignore"), ("town", "keep")]
        )
    )
    schema = loaded(tmp_path, 'name = "people"\nmissing = ["?"]\n' + text)
    assert (schema.name, schema.missing, schema.keep) == ("people", ("?",), ("wage", "town"))
    assert [axis.name for axis in schema.axes] == ["age", "job"]
    assert [column.name for column in schema.public().columns] == ["age", "job", "wage", "town"]
    assert Schema.parse(schema.spec()) == schema


def test_what_was_read_off_the_data_is_listed(tmp_path: Path) -> None:
    text = AGE + 'from_data = ["min", "max"]\n' + SENSITIVE + '[columns.id]\nrole = "keep"\nfrom_data = ["x"]\n'
    schema = loaded(tmp_path, text)
    assert schema.from_data == {"age": ("min", "max")}
    assert Schema.parse(schema.spec()).from_data == schema.from_data


def test_a_byte_order_mark_and_windows_lines_are_fine(tmp_path: Path) -> None:
    text = (AGE + SENSITIVE).replace("\n", "\r\n").encode()
    assert loaded(tmp_path, b"\xef\xbb\xbf" + text) == loaded(tmp_path, AGE + SENSITIVE)


WRONG_FILES = {
    "not valid TOML": "columns = [",
    "cannot be read as UTF-8": b'name = "caf\xe9"\n',
    "there are no [columns.NAME] entries": "",
    "'colums' has no meaning here": "[colums.age]\n",
    'no column with role = "quasi"': SENSITIVE,
    'no column with role = "sensitive"; there is nothing to protect': AGE,
    "the sensitive column 'job' has one value": AGE + SENSITIVE.replace(', "clerk"', ""),
    "has 1001 values, more than 1000": AGE + '[columns.job]\nrole="sensitive"\nkind="numeric"\nmin=0\nmax=1000\n',
    "name is ''": 'name = ""\n' + AGE + SENSITIVE,
    "name is 3": "name = 3\n" + AGE + SENSITIVE,
    "missing is '?'": 'missing = "?"\n' + AGE + SENSITIVE,
    "missing is [1]": "missing = [1]\n" + AGE + SENSITIVE,
    "expected a table such as [columns.x]": "[columns]\nx = 3\n",
    "role is None": column(kind='"numeric"', min=0, max=1),
    "role is 'secret'": column(role='"secret"'),
    "kind is None": column(role='"quasi"'),
    "kind is 'text'": column(role='"quasi"', kind='"text"'),
    "nullable is 'yes'": quasi("numeric", min=0, max=1, nullable='"yes"'),
    "from_data is 'min'": quasi("numeric", min=0, max=1, from_data='"min"'),
    "'minimum' has no meaning here": quasi("numeric", minimum=0, max=1),
    "'min' has no meaning here": quasi("categorical", min=0),
    "'values' has no meaning here": quasi("numeric", values=["1", "2"]),
    "'kindd' has no meaning here": column(role='"keep"', kindd='"numeric"') + AGE,
    "min is None; expected a number": quasi("numeric", max=1),
    "max is 'ten'": quasi("numeric", min=0, max='"ten"'),
    "min is True": quasi("numeric", min=True, max=3),
    "max 1 lies below min 5": quasi("numeric", min=5, max=1),
    "step is 0; it must be above 0": quasi("numeric", min=0, max=1, step=0),
    "step is -1": quasi("numeric", min=0, max=1, step=-1),
    "not a whole number of steps": quasi("numeric", min=0, max=10, step=3),
    "grid points are too many": quasi("numeric", min=0, max=1, step=1e-12),
    "min is nan; expected a number": quasi("numeric", min="nan", max=1),
    "max is inf; expected a number": quasi("numeric", min=0, max="inf"),
    "edges is 5": quasi("numeric", edges=5),
    "edges is empty": quasi("numeric", edges=[]),
    "edges is 'a'": quasi("numeric", edges=["a", "b"]),
    "edges must be at least two numbers that rise": quasi("numeric", edges=[0, 5, 5]),
    "at least two numbers that rise": quasi("numeric", edges=[0]),
    "edges is inf; expected a number": quasi("numeric", edges="[0, inf]"),
    "width 0 does not cut": quasi("numeric", min=0, max=9, width=0),
    "width 1e-09 does not cut": quasi("numeric", min=0, max=9, width=1e-9),
    "a categorical column needs values": quasi("categorical"),
    "needs values, a taxonomy or a hierarchy": quasi("categorical", values=[]),
    "values and taxonomy are given": quasi("categorical", values=["a"], taxonomy=["b"]),
    "taxonomy and hierarchy are given": quasi("categorical", taxonomy=["b"], hierarchy='"x.csv"'),
    "hierarchy is 3": quasi("categorical", hierarchy=3),
    "the hierarchy file does not exist": quasi("categorical", hierarchy='"nowhere.csv"'),
    "the taxonomy is empty": quasi("categorical", taxonomy=[]),
    "where a list or a table was expected": quasi("categorical", taxonomy='"a"'),
    "the taxonomy holds ['b'] where a label": quasi("categorical", taxonomy=["a", ["b"]]),
    "the label 'a' stands for two different sets": quasi("categorical", values=["a", "a"]),
    "the label '1' stands for two": quasi("categorical", values='[1, "1.0"]'),
    "'' cannot be the label of a value": quasi("categorical", values=["a", ""]),
    "'(missing)' cannot be the label": quasi("categorical", values=["a", "(missing)"]),
    "'(present)' cannot be the label": quasi("categorical", values=["a", "(present)"]),
    "'a or (missing)' cannot be": quasi("categorical", values=["a or (missing)"]),
    "needs numbers as its leaves": quasi("numeric", taxonomy=["1", "x"]),
}


@pytest.mark.parametrize(("expected", "text"), WRONG_FILES.items(), ids=list(WRONG_FILES))
def test_wrong_files_are_refused_with_one_sentence(tmp_path: Path, expected: str, text: str | bytes) -> None:
    assert expected in refusal(tmp_path, text)


def test_messages_name_the_column(tmp_path: Path) -> None:
    for expected, text in WRONG_FILES.items():
        if isinstance(text, str) and text.startswith("[columns.x]") and "hierarchy file" not in expected:
            assert refusal(tmp_path, text).startswith("column 'x': "), expected


def test_the_star_cannot_be_a_value(tmp_path: Path) -> None:
    refusal(tmp_path, quasi("categorical", values=["*", "a"]))
    refusal(tmp_path, quasi("categorical", values=["*"]))


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match=r"nowhere.toml: the schema file does not exist"):
        Schema.load(tmp_path / "nowhere.toml")
    with pytest.raises(SchemaError, match="cannot be read"):
        Schema.load(tmp_path)


@pytest.mark.parametrize("spec", [None, 3, [], "columns", {"columns": []}, {"columns": {}}])
def test_what_is_not_a_table_is_refused(spec: object) -> None:
    with pytest.raises(SchemaError):
        Schema.parse(spec)


@pytest.mark.parametrize(
    "spec",
    [
        {"edges": [0, 1, 2], "min": 5, "max": 9},
        {"edges": [0, 1, 2], "hierarchy": '"nowhere.csv"'},
        {"taxonomy": ["1", "2"], "width": 3},
        {"min": 0, "max": 8, "width": 4, "step": 3},
    ],
)
def test_contradicting_keys_are_refused(tmp_path: Path, spec: dict[str, Any]) -> None:
    refusal(tmp_path, quasi("numeric", **spec))


def test_the_maximum_belongs_to_the_bins_or_not_whatever_their_number(tmp_path: Path) -> None:
    last = {
        bins: loaded(tmp_path, quasi("numeric", min=0, max=10 * bins, width=10)).quasi[0].size - bins
        for bins in range(1, 8)
    }
    assert len(set(last.values())) == 1


@pytest.mark.parametrize(
    "spec",
    [{"min": 0, "max": 9, "width": "nan"}, {"min": "nan", "max": 9, "width": 2}, {"min": 0, "max": "1" + "0" * 400}],
    ids=["width", "min", "max"],
)
def test_numbers_that_are_none_are_refused(tmp_path: Path, spec: dict[str, Any]) -> None:
    refusal(tmp_path, quasi("numeric", **spec))


@pytest.mark.parametrize("label", ["(missing)", "(present)", "few or (missing)"])
def test_inner_labels_cannot_be_reserved_words(tmp_path: Path, label: str) -> None:
    refusal(tmp_path, quasi("categorical", taxonomy=f'{{ "{label}" = ["a", "b"], c = [] }}'))


def test_a_label_cannot_look_like_a_set_of_others(tmp_path: Path) -> None:
    refusal(tmp_path, quasi("categorical", values=["a", "b", "{a, b}"]))


def test_a_list_is_not_a_value(tmp_path: Path) -> None:
    refusal(tmp_path, quasi("categorical", values=["a", ["b"]]))
