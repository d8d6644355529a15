"""`commute evaluate` and `commute map`: what they write and say, and that a published map knows nothing original."""

from __future__ import annotations

import base64
import csv
import json
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sfumato.privacy.ledger import Ledger

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run

PLANTED = "9876543"
"""A place that nobody comes from in the synthetic flows."""


@pytest.fixture
def town(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Places in two towns, original flows, synthetic ones in a file and as a release; commands run there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SFUMATO_LEDGER", str(tmp_path / "ledger.sqlite"))
    places = [f"{i:04d},{41 + 0.01 * i:.2f},-71,{'ab'[i // 5]}" for i in range(10)]
    write(tmp_path / "places.csv", "id,latitude,longitude,town", *places, f"{PLANTED},41.2,-71.1,b")
    header = "origin,destination,count"
    write(tmp_path / "flows.csv", header, "0001,0002,3007", "0008,0002,3", f"{PLANTED},0002,5", "0003,0007,9")
    write(tmp_path / "drawn.csv", header, "0001,0002,3010", "0009,0002,5", "0003,0007,9")
    words = ("commute", "synthesize", "flows.csv", "--places", "places.csv", "--name", "town", "-o", "release")
    assert run(*words, "--epsilon", "4").code == 0
    return tmp_path


def write(path: Path, *lines: str) -> None:
    path.write_text("\n".join(lines) + "\n")


EVALUATE = ("commute", "evaluate", "flows.csv", "--places", "places.csv", "--name", "town")


def test_releases_and_files_are_compared_with_the_original(run: Run, town: Path) -> None:
    told = run(*EVALUATE, "--release", "release", "--release", "drawn.csv", "--regions", "town", "-o", "out")
    assert (told.code, told.err) == (0, "")
    title, first, second, written = told.out.splitlines()
    assert (first.split()[0], second.split()[0]) == ("release", "drawn.csv")
    assert "distance" in title
    assert written.startswith("Written to out: report.html, evaluation.json, evaluation.csv")
    document = json.loads((town / "out" / "evaluation.json").read_text())
    assert [(run["label"], run["epsilon"], run["delta"]) for run in document["runs"]] == [
        ("release", 4, 1e-5),
        ("drawn.csv", None, None),
    ]
    with (town / "out" / "evaluation.csv").open() as file:
        assert [row["destination"] for row in csv.DictReader(file)] == ["0002", "0007"]
    assert "<html" in (town / "out" / "report.html").read_text()


def test_figures_as_json(run: Run, town: Path) -> None:
    told = run(*EVALUATE, "--release", "drawn.csv", "-o", "out", "--json", "--short", "2km")
    assert (told.code, told.err) == (0, "")
    (one,) = told.json["runs"]
    assert told.json["report"] == "out/report.html"
    # Of 3,015 people 3,010 come from 0001 to 0002, and 3,007 in truth; the 9 to 0007 agree.
    assert one["measures"]["common_part"] == pytest.approx((3007 + 9) / 3024)
    assert one["evaluation"]["short"] == 2


def test_usual_settings_are_tried_and_nothing_is_spent(run: Run, town: Path) -> None:
    before = Ledger().account("town").entries
    told = run(*EVALUATE, "--radius", "5km", "--regions", "town", "-o", "out", "--json")
    assert told.code == 0
    labels = [one["label"] for one in told.json["runs"]]
    assert "every place alike, ε = 4.6, δ = 1e-05" in labels
    assert "within 5 km, town beyond, ε = 8.6, δ = 1e-05" in labels
    assert len(labels) + len(told.err.splitlines()) == 30
    assert all("no prior keeps epsilon" in line for line in told.err.splitlines())
    assert Ledger().account("town").entries == before


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--release", "none"), "none: the file does not exist"),
        (("--release", "release", "-o", "release/out"), "release/out: this lies in the release"),
        (("--regions", "twon"), "places.csv: there are no regions 'twon'; those in the file: town"),
        (("--short", "soon"), "--short is 'soon'; expected a distance above 0"),
        (("--radius", "far"), "--radius is 'far'; expected a distance above 0"),
        (("--seeds", "0"), "invalid value for '--seeds'"),
        (("--release", "places.csv"), "places.csv: no column for the origin"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_evaluate_refuses_in_one_sentence(run: Run, town: Path, options: tuple[str, ...], sentence: str) -> None:
    told = run(*EVALUATE, *(() if "-o" in options else ("-o", "out")), *options)
    assert (told.code, told.out, len(told.err.splitlines())) == (2, "", 1)
    assert told.err.startswith(f"sfumato: {sentence}")
    assert not (town / "out").exists()


def test_own_settings_are_tried_and_nothing_is_spent(run: Run, town: Path) -> None:
    spent = run("budget", "--json").json
    own = ["--epsilon 4 --radius 3km --beyond town", "--epsilon 2 --delta 1e-4 --coarse 20:town --prior distance"]
    told = run(*EVALUATE, "--try", own[0], "--try", own[1], "--try", own[0], "-o", "own", "--json")
    assert (told.code, told.err) == (0, "")
    found = [(one["label"], one["epsilon"], one["delta"]) for one in told.json["runs"]]
    assert found == [(own[0], 4, 1e-5), (own[1], 2, 1e-4)]
    assert run("budget", "--json").json == spent


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--epsilon", "--try '--epsilon': Option '--epsilon' requires an argument"),
        ("--radius 3km", "--try '--radius 3km': Missing option '--epsilon'"),
        ("--epsilon '3", '--try "--epsilon \'3": No closing quotation'),
        ("--epsilon 3 --beyond town", "--beyond without --radius would change nothing"),
        ("--epsilon 3 --beyond twon --radius 3km", "there are no regions 'twon'"),
    ],
)
def test_wrong_settings_of_ones_own_are_one_sentence(run: Run, town: Path, options: str, sentence: str) -> None:
    told = run(*EVALUATE, "--try", options, "-o", "own")
    assert (told.code, told.out) == (2, "")
    assert sentence in told.err
    assert told.err.count("\n") == 1
    assert not (town / "own").exists()


def map_of(run: Run, source: str, *options: str) -> tuple[str, str]:
    """The page and what was said on standard error."""
    told = run("commute", "map", source, "--places", "places.csv", "-o", "map.html", *options)
    assert told.code == 0
    assert told.out == "Written to map.html: 3,024 people.\n"
    with open("map.html", encoding="utf-8") as file:
        return file.read(), told.err


def packed_numbers(page: str) -> set[int]:
    """Every whole number in the arrays that a page carries."""
    arrays = re.findall(r'\["(uint\d+)","([A-Za-z0-9+/=]*)"\]', page)
    return {number for kind, text in arrays for number in np.frombuffer(base64.b64decode(text), dtype=kind).tolist()}


def test_a_published_map_holds_nothing_of_the_original(run: Run, town: Path) -> None:
    published, said = map_of(run, "drawn.csv")
    assert (PLANTED in published, "0009" in published) == (False, True)
    assert said == "No claim is known for drawn.csv: publish the page only if these are synthetic flows.\n"
    assert {3010, 3007} & packed_numbers(published) == {3010}
    assert "No claim is known for these flows" in published
    own, warning = map_of(run, "drawn.csv", "--original", "flows.csv", "--name", "town")
    assert warning.endswith("map.html holds original data: it is for the publisher's eyes only.\n")
    assert PLANTED in own, "the check above could not fail"
    assert {3010, 3007} & packed_numbers(own) == {3010, 3007}


def test_the_map_of_a_release_tells_its_claim(run: Run, town: Path) -> None:
    page, said = map_of(run, "release", "--title", "Who comes <here>", "--by", "town", "--unit", "mi")
    assert said == ""
    assert "Claim: (4, 1e-05)-differential privacy, for where any one person comes from" in page
    assert re.search(r"drawn, about \d+% from data and the rest from public knowledge", page)
    assert "Who comes &lt;here&gt;" in page
    assert "Who comes <here>" not in page


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("none",), "none: the file does not exist"),
        (("release", "--by", "twon"), "places.csv: there are no regions 'twon'; those in the file: town"),
        (("release", "--outlines", "none.json"), "none.json: "),
        (("release", "--original", "none.csv", "--name", "town"), "none.csv: the file does not exist"),
        (("release", "--original", "flows.csv"), "the ledger notes who saw original flows; say with --name whose"),
        (("release", "--name", "town"), "--name without --original would change nothing"),
        (
            ("release", "--original", "flows.csv", "--name", "town", "-o", "release/map.html"),
            "release: this lies in the release",
        ),
        (("release", "-o", "places.csv/map.html"), "places.csv"),
        (("release", "-o", "release"), "release: this is a folder; expected the name of a file"),
        (("release", "--place-id", "x"), "places.csv: there is no column 'x'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_map_refuses_in_one_sentence(run: Run, town: Path, options: tuple[str, ...], sentence: str) -> None:
    output = () if "-o" in options else ("-o", "map.html")
    told = run("commute", "map", *options, "--places", "places.csv", *output)
    assert (told.code, told.out, len(told.err.splitlines())) == (2, "", 1)
    assert told.err.startswith(f"sfumato: {sentence}")
    assert sorted(path.name for path in (town / "release").iterdir()) == ["codebook.md", "flows.csv", "release.json"]
    assert not (town / "map.html").exists()
