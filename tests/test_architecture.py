"""The shape of the code: who imports whom, where libraries enter, and how long files get."""

import ast
from pathlib import Path

import pytest

import sfumato

SOURCE = Path(sfumato.__path__[0])
MODULES = sorted(SOURCE.rglob("*.py"))

ROOT = "root modules"
ROOT_MODULES = {"files", "errors", "version", "compiled"}
LAYERS = [
    ROOT,
    "schema",
    "data",
    "privacy",
    "mechanisms",
    "estimation",
    "release",
    "methods",
    "measures",
    "publish",
    "trials",
    "report",
    "collect",
    "samples",
    "cli",
]
SAMPLES_MAY_IMPORT = {"samples", "schema", "data", ROOT}
SEAMS = {
    "typer": {"cli"},
    "jinja2": {"report"},
    "altair": {"report"},
    "vl_convert": {"report"},
    "polars": {"data", "release", "samples", "report", "measures", "trials", "methods", "collect"},
    "opendp": {"mechanisms"},
    "sklearn": {"measures"},
    "mbi": {"methods"},
    "fastapi": {"collect"},
    "uvicorn": {"collect"},
    "h11": {"collect"},
    "sqlalchemy": {"collect"},
    "psycopg": {"collect"},
}
LONGEST_FILE = 400
UNFINISHED = ("TODO", "FIXME", "XXX")


def name_of(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def layer_of(path: Path) -> str | None:
    """The layer of a file; `None` for the package itself, which only lists public names."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    if len(parts) > 1:
        return parts[0]
    return None if parts[0] in ("__init__", "__main__") else ROOT


def imports(tree: ast.AST) -> set[str]:
    """Every module that a file imports by its full name, wherever in the file it does so."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            module = node.module or ""
            found |= {f"{module}.{alias.name}" for alias in node.names} if module == "sfumato" else {module}
    return found


def layer_imported(module: str) -> str | None:
    """The layer that an import reaches; `None` for other libraries."""
    parts = module.split(".")
    if parts[0] != "sfumato" or len(parts) < 2 or parts[1].startswith("__"):
        return None
    return ROOT if parts[1] in ROOT_MODULES else parts[1]


def misplaced(layer: str | None, modules: set[str]) -> list[str]:
    """The imports that a file of a layer should not have."""
    if layer is None:
        return []
    wrong = []
    for module in sorted(modules):
        reached = layer_imported(module)
        if reached is None:
            continue
        if reached not in LAYERS:
            wrong.append(f"{module}: not a known layer")
        elif LAYERS.index(reached) > LAYERS.index(layer):
            wrong.append(f"{module}: above {layer}")
        elif layer == "samples" and reached not in SAMPLES_MAY_IMPORT:
            wrong.append(f"{module}: samples may not use it")
    return wrong


def smuggled(path: Path, modules: set[str]) -> list[str]:
    """The libraries that a file uses outside their seam."""
    used = {module.split(".")[0] for module in modules}
    wrong = [library for library, layers in SEAMS.items() if library in used and layer_of(path) not in layers]
    return [*wrong, "numba"] if "numba" in used and name_of(path) != "compiled.py" else wrong


@pytest.fixture(params=MODULES, ids=name_of)
def module(request: pytest.FixtureRequest) -> Path:
    path = request.param
    assert isinstance(path, Path)
    return path


def test_every_folder_is_a_known_layer() -> None:
    folders = {path.relative_to(SOURCE).parts[0] for path in MODULES if path.parent != SOURCE}
    assert folders <= set(LAYERS)
    assert {path.stem for path in SOURCE.glob("*.py")} <= ROOT_MODULES | {"__init__", "__main__"}
    assert {"schema", "data", "privacy", "release", "methods"} <= folders


def test_imports_go_down(module: Path) -> None:
    assert misplaced(layer_of(module), imports(ast.parse(module.read_text(encoding="utf-8")))) == []


def test_libraries_stay_behind_their_seams(module: Path) -> None:
    assert smuggled(module, imports(ast.parse(module.read_text(encoding="utf-8")))) == []


def test_a_module_says_what_it_is_for_in_few_lines(module: Path) -> None:
    text = module.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text)), "no docstring"
    assert len(text.splitlines()) <= LONGEST_FILE
    assert [word for word in UNFINISHED if word in text] == []


@pytest.mark.parametrize(
    ("layer", "code", "expected"),
    [
        ("schema", "from sfumato.data import read", ["sfumato.data: above schema"]),
        ("schema", "def f():\n    import sfumato.cli.main", ["sfumato.cli.main: above schema"]),
        ("privacy", "from sfumato import release", ["sfumato.release: above privacy"]),
        ("release", "from sfumato.privacy.claims import Claim", []),
        ("release", "from sfumato.release.boxes import Boxes", []),
        (ROOT, "from sfumato.errors import SfumatoError", []),
        (ROOT, "from sfumato.schema import Axis", [f"sfumato.schema: above {ROOT}"]),
        ("cli", "from sfumato.helpers import x", ["sfumato.helpers: not a known layer"]),
        ("samples", "from sfumato.methods import Mondrian", ["sfumato.methods: samples may not use it"]),
        ("samples", "from sfumato.data import read", []),
        (None, "from sfumato.cli import main", []),
    ],
)
def test_a_wrong_import_would_be_found(layer: str | None, code: str, expected: list[str]) -> None:
    assert misplaced(layer, imports(ast.parse(code))) == expected


@pytest.mark.parametrize(
    ("path", "code", "expected"),
    [
        ("privacy/noise.py", "import polars as pl", ["polars"]),
        ("methods/cuts.py", "from numba import njit", ["numba"]),
        ("compiled.py", "import numba", []),
        ("report/chart.py", "import altair, jinja2", []),
        ("cli/main.py", "import typer\nimport altair", ["altair"]),
        ("trials/run.py", "from typer import echo", ["typer"]),
    ],
)
def test_a_library_out_of_place_would_be_found(path: str, code: str, expected: list[str]) -> None:
    assert smuggled(SOURCE / path, imports(ast.parse(code))) == expected
