"""Hierarchy files: read as written, and refused with the row where they contradict themselves."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import SchemaError
from sfumato.schema import Node, Schema
from sfumato.schema.hierarchy import read_hierarchy
from sfumato.schema.taxonomy import to_nested

JOBS = "nurse;care;*\nmedic;care;*\nclerk;office;*\njudge;court;*\n"


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "jobs.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal(folder: Path, content: str | bytes) -> str:
    path = written(folder, content)
    with pytest.raises(SchemaError) as caught:
        read_hierarchy(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message.removeprefix(str(path))


def schema_with(folder: Path, content: str, **spec: Any) -> Schema:
    written(folder, content)
    columns = {
        "x": {"role": "quasi", "hierarchy": "jobs.csv", **spec},
        "s": {"role": "sensitive", "kind": "categorical", "values": ["a", "b"]},
    }
    return Schema.parse({"columns": columns}, folder)


def test_leaves_stand_in_tree_order(tmp_path: Path) -> None:
    shuffled = "nurse;care;*\nclerk;office;*\nmedic;care;*\njudge;court;*\n"
    axis = schema_with(tmp_path, shuffled, kind="categorical").quasi[0]
    assert axis.labels == ["nurse", "medic", "clerk", "judge"]
    assert to_nested(axis.taxonomy) == {"care": ["nurse", "medic"], "office": ["clerk"], "court": ["judge"]}


@st.composite
def hierarchy_rows(draw: st.DrawFn) -> tuple[list[list[str]], Any]:
    """Rows of a file with three levels in random order, and the tree they spell."""
    sizes = draw(st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=3), min_size=1, max_size=3))
    rows = [
        [f"leaf {a}{b}{c}", f"low {a}{b}", f"high {a}", "*"]
        for a, middle in enumerate(sizes)
        for b, count in enumerate(middle)
        for c in range(count)
    ]
    rows = draw(st.permutations(rows))
    tree: dict[str, dict[str, list[str]]] = {}
    for leaf, low, high, _ in rows:
        tree.setdefault(high, {}).setdefault(low, []).append(leaf)
    return rows, tree


@given(hierarchy_rows(), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans(), st.booleans())
def test_random_files_read_as_written(
    tmp_path_factory: pytest.TempPathFactory, case: Any, newline: str, bom: bool, last: bool, quoted: bool
) -> None:
    rows, tree = case
    field = '"{}"' if quoted else "{}"
    text = newline.join(";".join(field.format(label) for label in row) for row in rows) + newline * last
    path = tmp_path_factory.getbasetemp() / "random.csv"
    path.write_bytes(b"\xef\xbb\xbf" * bom + text.encode())
    root = read_hierarchy(path)
    assert to_nested(root) == tree
    assert list(map(str, to_nested(root))) == list(tree)
    assert (root.label, root.height) == ("*", 3)


def test_a_file_of_leaves_only_and_one_without_common_root(tmp_path: Path) -> None:
    assert to_nested(read_hierarchy(written(tmp_path, "a\nb\n"))) == ["a", "b"]
    assert to_nested(read_hierarchy(written(tmp_path, "a;A\nb;B\n"))) == {"A": ["a"], "B": ["b"]}
    assert read_hierarchy(written(tmp_path, "a;A;All\nb;B;All\n")).label == "All"


def test_numbers_in_a_file_have_one_spelling(tmp_path: Path) -> None:
    axis = schema_with(tmp_path, "1.0;low;*\n2;low;*\n3.00;high;*\n", kind="categorical").quasi[0]
    assert axis.labels == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a;A;*\nb;*\n", ", row 2: 2 levels where row 1 has 3"),
        ("a;A;*\nb;A;B;*\n", ", row 2: 4 levels where row 1 has 3"),
        ("a;A;*\n\nb;A;*\n", ", row 2: 0 levels"),
        ("a;A;X;*\nb;B;X;*\nc;A;Y;*\n", ", row 3: 'A' lies under 'Y' here but under 'X' in row 1"),
        ("a;A;*\nb;A;*\na;B;*\n", ", row 3: the value 'a' is a duplicate of row 1"),
        ("2;A;*\n2.0;A;*\n", ", row 2: the value '2' is a duplicate of row 1"),
        ("a;A;*\nb;;*\n", ", row 2: level 2 is empty"),
        (";A;*\n", ", row 1: level 1 is empty"),
        ("", ": the hierarchy file is empty"),
        ("\n\n", ": the hierarchy file is empty"),
        (b"\xef\xbb\xbf", ": the hierarchy file is empty"),
        (b"caf\xe9;A;*\n", ": the hierarchy file cannot be read as UTF-8 text"),
        ('a;"A;*\n', ": the hierarchy file is not ;-separated text"),
    ],
)
def test_unusable_files_are_refused_with_the_row(tmp_path: Path, content: str | bytes, expected: str) -> None:
    assert refusal(tmp_path, content).startswith(expected)


def test_a_file_that_is_not_there_or_is_a_folder(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match=r"nowhere.csv: the hierarchy file does not exist"):
        read_hierarchy(tmp_path / "nowhere.csv")
    with pytest.raises(SchemaError, match="cannot be read"):
        read_hierarchy(tmp_path)


@pytest.mark.parametrize(
    "content", ["a;b;*\nb;b;*\n", "a;X;*\nb;Y;*\nX;Z;*\n", "a;A;*;*\nb;B;B;*\n", "a;A;B;*\nb;B;C;*\n"]
)
def test_a_label_for_two_different_sets_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(SchemaError, match=r"column 'x': the label '.' stands for two different sets"):
        schema_with(tmp_path, content, kind="categorical")


def test_a_label_repeated_for_the_same_set_is_fine(tmp_path: Path) -> None:
    axis = schema_with(tmp_path, "a;a;*\nb;B;*\nc;B;*\n", kind="categorical").quasi[0]
    assert [axis.parse(label).lo for label in ("a", "b", "c")] == [0, 1, 2]


AGES = "".join(f"{age};{age // 5 * 5}-{age // 5 * 5 + 4};*\n" for age in range(100))


def test_a_numeric_hierarchy_is_cut_to_the_bounds(tmp_path: Path) -> None:
    axis = schema_with(tmp_path, AGES, kind="numeric", min=17, max=29).quasi[0]
    assert axis.size == 13
    assert [(node.label, node.lo, node.hi) for node in axis.taxonomy.children] == [
        ("15-19", 0, 2),
        ("20-24", 3, 7),
        ("25-29", 8, 12),
    ]
    assert axis.parse("15-19") == (0, 2, False)


def test_without_bounds_a_numeric_hierarchy_gives_them(tmp_path: Path) -> None:
    axis = schema_with(tmp_path, AGES, kind="numeric").quasi[0]
    assert (axis.size, axis.label(axis.parse("20-24"))) == (100, "[20, 24]")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("1;A;*\n2;A;*\n4;A;*\n", "column 'x': the hierarchy is incomplete, 3 is not in it"),
        ("1;A;*\n3;A;*\n2;B;*\n", "column 'x': the hierarchy does not list its numbers in rising order"),
        ("1;A;*\ntwo;A;*\n", "column 'x': the hierarchy of a numeric column needs numbers as its leaves"),
    ],
)
def test_unusable_numeric_hierarchies(tmp_path: Path, content: str, expected: str) -> None:
    with pytest.raises(SchemaError) as caught:
        schema_with(tmp_path, content, kind="numeric")
    assert expected in str(caught.value)


def test_a_numeric_hierarchy_must_reach_the_bounds(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="incomplete, 100 is not in it"):
        schema_with(tmp_path, AGES, kind="numeric", min=17, max=100)


@pytest.mark.parametrize(
    "content",
    ["0;x;*\n1;x;*\n2;y;*\n3;1;*\n", "0;x;a;*\n1;y;a;*\n2;a;b;*\n", "1;A;*\n2;A;*\n02;A;*\n3;A;*\n"],
    ids=["a group named as a number", "two groups of one name", "a number twice"],
)
def test_a_numeric_label_for_two_different_sets_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(SchemaError):
        schema_with(tmp_path, content, kind="numeric")


def test_a_number_off_the_grid_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SchemaError):
        schema_with(tmp_path, "1;A;*\n1.5;A;*\n2;A;*\n", kind="numeric", min=1, max=2)


def test_the_tree_is_a_value(tmp_path: Path) -> None:
    first, second = read_hierarchy(written(tmp_path, JOBS)), read_hierarchy(written(tmp_path, JOBS))
    assert first == second
    assert isinstance(first, Node)
    assert first != read_hierarchy(written(tmp_path, JOBS.replace("court", "bench")))
