"""The public face: every name, what importing it costs, and the script of the design running as it is."""

from __future__ import annotations

import ast
import doctest
import inspect
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato
from sfumato import claims, commute, local
from sfumato.mechanisms.channels import Channel
from sfumato.methods import METHODS
from sfumato.privacy.claims import Claim
from sfumato.privacy.requirements import REQUIREMENTS
from sfumato.samples.town import SCHEMA_PATH, residents
from sfumato.trials.frontier import default_methods
from sfumato.trials.runner import WORTH_PROCESSES

FACADES = {"claims": claims, "commute": commute, "local": local}
PUBLIC: dict[str, Any] = {name: getattr(sfumato, name) for name in sfumato.__all__ if name not in FACADES} | {
    f"{facade}.{name}": getattr(module, name)
    for facade, module in FACADES.items()
    for name in vars(module)
    if not name.startswith("_")
}
NAMES = sorted(PUBLIC)
WITHOUT_EXAMPLE = {name for name in NAMES if name.startswith("claims.")} | {"MEASURES", "SfumatoError", "__version__"}
"""What is not made by hand, and what other examples show."""
SCRIPT = """
import json
import sfumato as sf

table = sf.read("town.csv", schema="town.toml")
release = sf.Mondrian(k=10, l=1.5).publish(table)
measured = sf.measure(table, release)
front = sf.frontier(table{methods})
saved = front.recommend(max_p_loss={limit}, max_query_error=float("inf")).save("release/")
print(json.dumps([measured["u_loss"].value, len(front.trials), sorted(path.name for path in saved.iterdir())]))
"""


def run(code: str, folder: Path) -> str:
    """What a plain script prints; it must end well and say nothing else."""
    script = folder / "script.py"
    script.write_text(code, encoding="utf-8")
    source = str(Path(sfumato.__file__).resolve().parent.parent)
    environment = {**os.environ, "PYTHONPATH": source, "PYTHONWARNINGS": "error"}
    command = [sys.executable, str(script)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_can_be_imported(name: str) -> None:
    value = PUBLIC[name]
    assert name.split(".")[-1] in dir(sfumato if "." not in name else getattr(sfumato, name.split(".")[0]))
    if inspect.isclass(value) or inspect.isfunction(value):
        assert value.__name__ == name.split(".")[-1]
        assert value.__doc__


def concrete(kind: type) -> list[type]:
    """The kinds below this one that have none below them."""
    below = [found for child in kind.__subclasses__() for found in concrete(child)]
    return below or [kind]


def test_nothing_public_is_missing_from_the_list() -> None:
    """Every method and requirement at the top, every claim and channel in its module, and about forty names in all."""
    assert len(set(NAMES)) == len(NAMES)
    kinds = {kind.__name__ for kind in (*METHODS.values(), *REQUIREMENTS.values())}
    assert kinds <= set(sfumato.__all__)
    assert {kind.__name__ for kind in concrete(Claim) if kind.__module__.startswith("sfumato.")} <= set(dir(claims))
    assert {kind.__name__ for kind in concrete(Channel) if kind.__module__.startswith("sfumato.")} <= set(dir(local))
    assert len(set(sfumato.__all__) - kinds) <= 29
    for name in ("Flows", "Survey", "PureDP"):
        assert not hasattr(sfumato, name), "names of flows, surveys and claims are in their modules"


def test_type_checkers_see_the_names_that_are_there() -> None:
    root = Path(sfumato.__file__).parent
    assert (root / "py.typed").is_file()
    stub = ast.parse((root / "__init__.pyi").read_text(encoding="utf-8"))
    listed = [(alias.name, alias.asname) for node in stub.body for alias in node.names]  # type: ignore[attr-defined]
    assert all(name == shown for name, shown in listed), "without an alias a stub exports nothing"
    assert sorted(name for name, _ in listed) == sorted(sfumato.__all__)
    for facade in (claims, commute, local):
        tree = ast.parse(Path(facade.__file__).read_text(encoding="utf-8"))
        shown = [alias for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names]
        assert all(alias.name == alias.asname for alias in shown)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="No sfumato attribute Datafly"):
        sfumato.Datafly  # type: ignore[attr-defined]  # noqa: B018
    assert not hasattr(sfumato, "pl")


@pytest.fixture(scope="module")
def example_names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What every example may use, besides the files of the town in its folder."""
    folder = tmp_path_factory.mktemp("examples")
    town(folder, 400)
    places, flows = commute.commuters(places=40, people=400, destinations=10)
    places = commute.Places.read(places)
    table = sfumato.read(folder / "town.csv", schema=folder / "town.toml")
    return {"sf": sfumato, "table": table, "places": places, "flows": commute.Flows.read(flows, places)}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name not in WITHOUT_EXAMPLE])
def test_the_example_of_every_public_name_runs(
    name: str, example_names: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    town(tmp_path, 400)
    monkeypatch.chdir(tmp_path)
    found = [case for case in doctest.DocTestFinder().find(PUBLIC[name], name) if case.examples]
    assert found, "its docstring has no example"
    for case in found:
        case.globs = dict(example_names)
        told = io.StringIO()
        result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(case, out=told.write)
        assert result.failed == 0, told.getvalue()


def test_importing_the_package_loads_no_library(tmp_path: Path) -> None:
    code = """
import json, sys
import sfumato
heavy = ("numpy", "polars", "scipy", "numba", "altair", "rich", "typer", "jinja2", "sklearn", "sfumato.commute")
before = [name for name in heavy if name in sys.modules]
sfumato.Mondrian
after = [name for name in heavy if name in sys.modules]
print(json.dumps([before, after]))
"""
    before, after = json.loads(run(code, tmp_path))
    assert before == []
    assert "numpy" in after, "the check cannot tell loaded from not loaded"


def town(folder: Path, rows: int) -> None:
    residents(rows).write_csv(folder / "town.csv")
    (folder / "town.toml").write_bytes(SCHEMA_PATH.read_bytes())


@pytest.mark.parametrize(
    ("methods", "rows", "limit", "least"),
    [(", methods=[sf.Mondrian(k=5), sf.Mondrian(k=20)]", 400, 0.5, 4), ("", 600, 0.2, 30)],
    ids=["given methods", "every method"],
)
def test_the_script_of_the_design_runs_without_a_main_guard(
    tmp_path: Path, methods: str, rows: int, limit: float, least: int
) -> None:
    """A few trials run in the script itself, many in processes of their own."""
    town(tmp_path, rows)
    table = sfumato.read(tmp_path / "town.csv", schema=tmp_path / "town.toml")
    tried = 2 if methods else len(default_methods(table))
    assert (not methods) == (table.n * tried >= WORTH_PROCESSES)
    u_loss, trials, files = json.loads(run(SCRIPT.format(methods=methods, limit=limit), tmp_path))
    assert 0 < u_loss < 0.2
    assert trials >= least
    assert "release.json" in files
    assert not (tmp_path / "trials.jsonl").exists()


def test_the_package_can_be_used_with_a_data_frame() -> None:
    table = sfumato.read(residents(60), schema=SCHEMA_PATH)
    assert isinstance(table, sfumato.Table)
    release = sfumato.FullSuppression().publish(table)
    assert isinstance(release, sfumato.Release)
    assert sfumato.measure(table, release)["p_loss"].value == pytest.approx(0, abs=1e-12)


@pytest.fixture(scope="module")
def shown() -> dict[str, Any]:
    """Objects that a notebook shows, of a table with odd labels."""
    people = residents(200)
    spec = sfumato.Schema.load(SCHEMA_PATH).spec()
    spec["columns"]["<b>sex"] = spec["columns"].pop("sex")
    table = sfumato.read(people.rename({"sex": "<b>sex"}), schema=spec)
    release = sfumato.Mondrian(k=5).publish(table)
    front = sfumato.frontier(table, [sfumato.Mondrian(k=5), sfumato.Mondrian(k=20)])
    measured = sfumato.measure(table, release)
    return {"table": table, "schema": table.schema, "measured": measured, "front": front, "release": release}


@pytest.mark.parametrize("name", ["table", "schema", "measured", "front", "release"])
def test_notebooks_show_a_small_table_with_its_text_escaped(shown: dict[str, Any], name: str) -> None:
    html = shown[name]._repr_html_()
    assert html.startswith("<table><caption>")
    assert html.count("<tr>") == html.count("</tr>") > 1
    assert "<b>" not in html
    assert len(repr(shown[name])) < 2_000


def test_a_release_is_a_frame(shown: dict[str, Any], tmp_path: Path) -> None:
    table, release = shown["table"], shown["release"]
    saved = pl.read_csv(release.save(tmp_path / "rows") / "data.csv", infer_schema=False)
    assert release.to_polars().equals(saved)
    assert release.to_pandas().to_dict("list") == saved.to_dict(as_series=False)
    buckets = sfumato.Mondrian(k=5, recoding="bucketize").publish(table)
    assert buckets.to_polars().height == 200
    assert buckets.to_polars("sensitive")["count"].sum() == 200
    with pytest.raises(sfumato.SfumatoError, match="the release has no table 'data'; expected quasi or sensitive"):
        buckets.to_polars("data")
    counts = sfumato.QuadTree(epsilon=1).publish(table)
    assert {"count", "condition"} < set(counts.to_polars().columns)


def test_measurements_are_a_mapping(shown: dict[str, Any]) -> None:
    measured = shown["measured"]
    assert isinstance(measured, dict)
    assert set(measured) >= {"p_loss", "u_loss"}
    assert f"u_loss: {measured['u_loss']}" in repr(measured)


def test_a_frontier_is_a_frame_and_a_chart(shown: dict[str, Any]) -> None:
    front = shown["front"]
    frame = front.to_polars()
    assert frame["label"].to_list() == [trial.method.label for trial in front.trials]
    assert frame["p_loss"].to_list() == [trial.measures["p_loss"] for trial in front.trials]
    assert frame["efficient"].sum() == len(front.efficient())
    assert set(sfumato.MEASURES) < set(frame.columns)
    spec = front.chart(privacy="breach", utility="query_error").to_dict()
    assert len(spec["datasets"]["trials"]) == len(front.trials)
    best = front.recommend(max_p_loss=float("inf"), max_query_error=float("inf"))
    assert front.chart(recommendation=best).to_dict() != front.chart().to_dict()
