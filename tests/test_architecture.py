"""The shape of the code: who imports whom, where libraries enter, what stands twice, and how long files get."""

from __future__ import annotations

import ast
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import import_graph
import sfumato
from import_graph import FACE, LAYERS, ROOT, ROOT_MODULES
from repeated_code import repeats, source_files

if TYPE_CHECKING:
    import grimp

SOURCE = Path(sfumato.__path__[0])
MODULES = sorted(SOURCE.rglob("*.py"))
SEAMS = {
    "typer": {"cli"},
    "jinja2": {"report"},
    "altair": {"report"},
    "vl_convert": {"report"},
    "polars": {"audit", "data", "release", "samples", "report", "measures", "trials", "collect", "reproduce"},
    "opendp": set(),
    "sklearn": {"measures"},
    "mbi": {"methods"},
    "fastapi": {"collect"},
    "uvicorn": {"collect"},
    "h11": {"collect"},
    "sqlalchemy": {"collect", "data"},
    "psycopg": {"collect"},
}
ONE_PLACE = {
    "numba": "compiled.py",
    "pyspark": "data/spark",
    "py4j": "data/spark",
    "pyarrow": "data/spark",
    "fastexcel": "data/sheets.py",
    "pyreadstat": "data/labelled.py",
    "duckdb": "data/databases.py",
}
"""Libraries of which one file knows, or one folder."""
MAX_FILE_LINES = 400
MAX_REPEATED_LINES = 7
MAX_HELP_SECONDS = 0.3
UNFINISHED = ("TODO", "FIXME", "XXX")


def name_of(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def libraries(tree: ast.AST) -> set[str]:
    """Every library that a file imports, wherever in the file it does so."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found.add((node.module or "").split(".")[0])
    return found


def is_within(path: Path, place: str) -> bool:
    return path.relative_to(SOURCE).is_relative_to(place)


def smuggled(path: Path, used: set[str]) -> list[str]:
    """The libraries that a file uses outside their seam."""
    package = path.relative_to(SOURCE).parts[0]
    wrong = [library for library, allowed in SEAMS.items() if library in used and package not in allowed]
    return wrong + [library for library, file in ONE_PLACE.items() if library in used and not is_within(path, file)]


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return import_graph.build()


@pytest.fixture(params=MODULES, ids=name_of)
def module(request: pytest.FixtureRequest) -> Path:
    path = request.param
    assert isinstance(path, Path)
    return path


def test_every_folder_is_a_known_layer() -> None:
    folders = {path.relative_to(SOURCE).parts[0] for path in MODULES if path.parent != SOURCE}
    assert folders == set(LAYERS) - {ROOT}
    assert {path.stem for path in SOURCE.glob("*.py")} <= ROOT_MODULES | FACE | {"__init__", "__main__"}


def test_imports_go_down(graph: grimp.ImportGraph) -> None:
    found = import_graph.upward_imports(graph)
    assert not found, "\n".join(["these imports go up:", *found])


def test_no_imports_go_round_in_circles(graph: grimp.ImportGraph) -> None:
    cycles = import_graph.package_cycles(graph) | import_graph.module_cycles(graph)
    found = [statement for cycle in cycles.values() for statement in ["a cycle:", *cycle]]
    assert not found, "\n".join(found)


def test_the_drawing_shows_the_code() -> None:
    page = import_graph.PAGE.read_text(encoding="utf-8")
    assert import_graph.redraw(page) == page, "run: make docs"


def test_libraries_stay_behind_their_seams(module: Path) -> None:
    assert smuggled(module, libraries(ast.parse(module.read_text(encoding="utf-8")))) == []


def test_a_module_says_what_it_is_for_in_few_lines(module: Path) -> None:
    text = module.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text)), "no docstring"
    assert len(text.splitlines()) <= MAX_FILE_LINES
    assert [word for word in UNFINISHED if word in text] == []


def test_no_block_of_code_stands_twice() -> None:
    found = repeats(source_files(), MAX_REPEATED_LINES + 1)
    assert not found, "\n".join(map(str, found))


def test_benchmarks_and_audits_find_what_they_import() -> None:
    """They run for minutes and on their own; that they still start is seen here."""
    code = "import audit.__main__, benchmarks.__main__"
    subprocess.run([sys.executable, "-c", code], cwd=SOURCE.parents[1], check=True, capture_output=True)


def test_help_comes_at_once() -> None:
    """In processor time, the median of several runs, so that other work on the machine does not count."""
    used = []
    for _ in range(5):
        before = os.times()
        subprocess.run([sys.executable, "-m", "sfumato.cli", "--help"], check=True, capture_output=True)
        after = os.times()
        used.append(after.children_user + after.children_system - before.children_user - before.children_system)
    assert statistics.median(used) < MAX_HELP_SECONDS, used


def test_spark_is_loaded_where_it_is_asked_for_alone() -> None:
    code = "import sys, sfumato.cli.publish, sfumato.cli.local.estimate; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert "sfumato.data.table" in loaded
    assert not {"pyspark", "py4j", "pyarrow", "sfumato.data.spark"} & set(loaded)


@pytest.fixture
def tangled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> grimp.ImportGraph:
    """A package with every kind of cycle: inside functions, for type checking, and between packages only."""
    files = {
        "one": "def f():\n    import tangled.two\n",
        "two": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from tangled.one import f\n",
        "north.a": "import tangled.south.a\n",
        "north.b": "",
        "south.a": "",
        "south.b": "import tangled.north.b\n",
    }
    for name, text in files.items():
        path = tmp_path.joinpath("tangled", *name.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        (path.parent / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    return import_graph.build("tangled")


def test_a_cycle_would_be_found_with_file_and_line(tangled: grimp.ImportGraph) -> None:
    assert import_graph.module_cycles(tangled) == {
        frozenset({"tangled.one", "tangled.two"}): [
            "tangled/one.py:2: import tangled.two",
            "tangled/two.py:3: from tangled.one import f",
        ]
    }
    packages = import_graph.package_cycles(tangled)
    assert packages[frozenset({"tangled.north", "tangled.south"})] == [
        "tangled/north/a.py:1: import tangled.south.a",
        "tangled/south/b.py:1: import tangled.north.b",
    ]


@pytest.mark.parametrize(
    ("importer", "imported", "expected"),
    [
        ("schema.axis", "sfumato.data.table", "data is above schema"),
        ("privacy.loss", "sfumato.release", "release is above privacy"),
        ("privacy.loss", "sfumato", "the public face is above everything"),
        ("release.boxes", "sfumato.privacy.claims", None),
        ("release.boxes", "sfumato.release.counts", None),
        ("files", "sfumato.errors", None),
        ("files", "sfumato.schema", f"schema is above {ROOT}"),
        ("cli.main", "sfumato.helpers", "helpers is not a known layer"),
        ("samples.town", "sfumato.methods.base", "samples may not use methods"),
        ("samples.town", "sfumato.data", None),
        ("__init__", "sfumato.cli", None),
    ],
)
def test_a_wrong_import_would_be_found(importer: str, imported: str, expected: str | None) -> None:
    assert import_graph.fault(f"sfumato.{importer}", imported) == expected


def test_a_block_that_stands_twice_would_be_found() -> None:
    lines = [f"    a{number} = f(a{number - 1}) + {'[0]' * number}" for number in range(1, 9)]
    block = "\n".join(["def f(a0):", *lines, "    return a8"])
    other = block.replace("a", "b").replace("0", "7").replace("b4 =", "# why\n\n    b4 =")
    assert [str(repeat) for repeat in repeats({"one.py": block, "two.py": other}, 8)] == [
        "one.py:1 and two.py:1: 10 lines"
    ]
    assert repeats({"one.py": block, "two.py": other}, 11) == []
    assert repeats({"one.py": block, "two.py": other.replace("b4 =", "b4 = -")}, 8) == []


@pytest.mark.parametrize(
    ("path", "code", "expected"),
    [
        ("privacy/noise.py", "import polars as pl", ["polars"]),
        ("methods/cuts.py", "from numba import njit", ["numba"]),
        ("compiled.py", "import numba", []),
        ("data/spark/rows.py", "import pyarrow, pyspark.sql", []),
        ("data/table.py", "from pyspark.sql import DataFrame", ["pyspark"]),
        ("report/chart.py", "import altair, jinja2", []),
        ("cli/main.py", "import typer\nimport altair", ["altair"]),
        ("trials/run.py", "from typer import echo", ["typer"]),
    ],
)
def test_a_library_out_of_place_would_be_found(path: str, code: str, expected: list[str]) -> None:
    assert smuggled(SOURCE / path, libraries(ast.parse(code))) == expected
