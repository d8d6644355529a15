"""The files of a report: complete, readable by other programs, and never half written."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sfumato.report.frontier.page import trial_table, write

from .document import frontier_document, typed

NAMES = {"report.html", "frontier.json", "frontier.csv", "frontier.png", "frontier.svg"}


def test_a_new_folder_holds_the_report_and_nothing_else(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == NAMES
    assert all(path.stat().st_size > 1000 for path in folder.iterdir())


def test_the_document_comes_back_from_json(folder: Path) -> None:
    assert json.loads((folder / "frontier.json").read_text(encoding="utf-8")) == frontier_document()


def test_the_table_has_a_line_for_each_trial(folder: Path) -> None:
    document = frontier_document()
    with (folder / "frontier.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert list(lines[0]) == [
        "id",
        "label",
        "method",
        "series",
        "recoding",
        "claim",
        "endpoint",
        "efficient",
        "recommended",
        "seconds",
        "parameters",
        *document["measures"],
    ]
    assert [line["id"] for line in lines] == [trial["id"] for trial in document["trials"]]
    first, chosen = lines[0], next(line for line in lines if line["recommended"] == "true")
    assert (first["endpoint"], first["efficient"], first["recommended"], first["recoding"]) == (
        "true",
        "true",
        "false",
        "",
    )
    assert chosen["id"] == "mondrian-t=0.15,-bucketized"
    assert json.loads(chosen["parameters"]) == {"t": 0.15, "recoding": "bucketize"}
    assert float(chosen["p_loss"]) == 0.16272
    assert lines[6]["p_loss"] == ""
    assert sum(line["efficient"] == "true" for line in lines) == len(document["efficient"]["p_loss|u_loss"]) == 10


def test_awkward_text_survives_the_table() -> None:
    document = frontier_document(nasty=True)
    document["trials"][3]["label"] = 'a, "quoted"\nlabel'
    lines = list(csv.DictReader(trial_table(typed(document)).splitlines(keepends=True)))
    assert lines[3]["label"] == 'a, "quoted"\nlabel'
    assert [line["claim"] for line in lines] == [trial["claim"] for trial in document["trials"]]


def test_nothing_is_written_when_something_cannot_be_drawn(tmp_path: Path, document: dict[str, Any]) -> None:
    document["trials"][0]["measures"]["p_loss"] = float("inf")
    with pytest.raises(ValueError, match="JSON"):
        write(typed(document), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_failed_rename_leaves_the_old_file_and_no_rest(
    tmp_path: Path, document: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato import files as placing
    from sfumato.report.frontier import page

    (tmp_path / "report.html").write_text("old")
    monkeypatch.setattr(page, "page", lambda *_: "new")
    monkeypatch.setattr(page, "draw_png", lambda chart: b"picture")
    monkeypatch.setattr(page, "draw_svg", lambda chart: "drawing")
    monkeypatch.setattr(placing.os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write(typed(document), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert (tmp_path / "report.html").read_text() == "old"


def test_importing_the_package_loads_no_drawing_library() -> None:
    source = Path(__file__).resolve().parents[2] / "src"
    program = (
        f"import sys; sys.path.insert(0, {str(source)!r}); import sfumato.report.files; "
        "print([name for name in ('altair', 'vl_convert', 'jinja2') if name in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
