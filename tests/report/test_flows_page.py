"""The page of an evaluation: complete, closed to the network, inert whatever the labels, and drawn in a browser."""

from __future__ import annotations

import copy
import json
import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

from sfumato.data.flows import Flows
from sfumato.data.places import Places
from sfumato.errors import ReleaseError
from sfumato.measures.flows.evaluation import Evaluation, evaluate
from sfumato.release.envelope import DESCRIPTION
from sfumato.report.charts import draw_svg
from sfumato.report.flows.charts import RUN_COLOURS, bins_chart, figure_chart, run_colours
from sfumato.report.flows.page import charts, page, write
from sfumato.report.flows.sweep import format_delta, option_colours, sweep_chart
from sfumato.trials.document import to_json
from sfumato.trials.flows.comparison import FlowsDocument, Run, flows_document

from .browser import NAMES, Browser, chromium
from .document import NASTY
from .test_page import Outline, remote_references

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OPTIONS = {"whole state": 0.9, "radius 20 miles": 0.5}


def evaluation(share: float, seed: int, **more: Any) -> Evaluation:
    """A hundred places, sixty destinations, and a copy in which a share of the people come from anywhere."""
    random = np.random.default_rng(3)
    places = Places(
        pl.Series([f"{NASTY if more.get('nasty') else 'block '}{i}" for i in range(100)]),
        41.5 + random.uniform(0, 0.4, 100),
        -71.5 + random.uniform(0, 0.4, 100),
        pl.DataFrame({"tract": [str(i // 10) for i in range(100)]}),
    )
    people = np.repeat(np.arange(60), np.geomspace(1, 300, 60).astype(int))
    homes = np.minimum(random.geometric(0.06, len(people)), 101) - 1
    moved = np.random.default_rng(seed)
    synthetic = np.where(moved.random(len(people)) < share, moved.integers(0, 101, len(people)), homes)
    ones = np.ones(len(people), dtype=np.int64)
    return evaluate(*(Flows.of_pairs(places, people, origins, ones) for origins in (homes, synthetic)), regions="tract")


def made(nasty: bool = False) -> FlowsDocument:
    label = NASTY if nasty else ""
    runs = [
        Run(
            label=f"{options}, ε = {epsilon:g}{label}",
            epsilon=epsilon,
            delta=1e-5,
            options=options + label,
            evaluations=[evaluation(share / epsilon, seed, nasty=nasty) for seed in range(repeats)],
            paper=options.startswith("radius") and epsilon == 4.6,
        )
        for options, share in OPTIONS.items()
        for epsilon, repeats in ((1, 1), (2, 3), (4.6, 1))
    ]
    figures = [runs[2].label, runs[5].label]
    return flows_document(
        title=f"Town{label}", claim=f"(4.6, 1e−5)-differential privacy{label}", runs=runs, figures=figures
    )


def page_of(document: FlowsDocument) -> str:
    drawn = charts(document)
    return page(document, drawn, {name: draw_svg(chart) for name, chart in drawn.items()})


@pytest.fixture(scope="module")
def full() -> FlowsDocument:
    return made()


@pytest.fixture(scope="module")
def text(full: FlowsDocument) -> str:
    return page_of(full)


@pytest.fixture(scope="module")
def outline(text: str) -> Outline:
    return Outline(text)


@pytest.fixture(scope="module")
def folder(full: FlowsDocument, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("evaluation") / "new"
    write(full, path, evaluation(0.5, 1).csv())
    return path


def rows_of(spec: dict[str, Any], name: str) -> list[dict[str, Any]]:
    layer = next(one for one in spec["layer"] if one.get("name") == name)
    rows: list[dict[str, Any]] = spec["datasets"][layer["data"]["name"]]
    return rows


def test_nothing_is_loaded_from_anywhere(text: str, outline: Outline) -> None:
    assert remote_references(text) == []
    assert all((image["src"] or "").startswith("data:image/svg+xml;base64,") for image in outline.all("img"))
    policy = outline.all("meta", **{"http-equiv": "Content-Security-Policy"})[0]["content"]
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy


def test_the_banner_comes_first(outline: Outline) -> None:
    body = [tag for tag, _ in outline.elements].index("body")
    assert outline.elements[body + 1][1].get("class") == "banner"
    assert "This report was computed on the real data. Do not publish it" in outline.text


def test_sections_come_in_their_order(outline: Outline) -> None:
    headings = [
        "Town : synthetic against original",
        "What is promised:",
        "Average distance of each destination",
        "Error by number of workers",
        "How far people travel",
        "What more ε buys",
        "What each option buys at the same ε and δ",
        "All measures",
        "Made by sfumato",
    ]
    places = [outline.text.index(heading, 50) for heading in headings]
    assert places == sorted(places)


def test_there_is_a_place_a_chart_and_a_drawing_for_each(full: FlowsDocument, outline: Outline) -> None:
    places = [found["data-chart"] for found in outline.all("div", **{"class": "chart"})]
    assert places == list(json.loads(outline.scripts["charts"])) == list(charts(full))
    assert places[:4] == ["figure-1", "figure-2", "figure-3", "figure-4"]
    assert places[-4:] == [f"sweep-{name}" for name in full.sweep]
    assert len(outline.all("img")) == len(places) == 11


def test_figures_are_told_in_words(full: FlowsDocument, outline: Outline) -> None:
    counts = full.runs[5].evaluation.counts
    assert "Figure 4. radius 20 miles, ε = 4.6, short commutes" in outline.text
    assert f"{counts.compared['short']} destinations; the lines join the means of all of them" in outline.text
    assert counts.left_out["short"] > 1
    assert f"{counts.left_out['short']} more are left out: no short commute in the original or" in outline.text


def test_the_best_option_of_each_promise_is_marked(full: FlowsDocument, outline: Outline, text: str) -> None:
    table = text.split('id="options"')[1].split("</table>")[0]
    assert table.count("the paper’s setting") == 1
    groups = table.split("rowgroup")[1:]
    titles = [group.split(">")[1].split("<")[0] for group in groups]
    assert titles == ["ε = 1, δ = 1e−5", "ε = 2, δ = 1e−5", "ε = 4.6, δ = 1e−5"]
    for group, pair in zip(groups, zip(full.runs[:3], full.runs[3:], strict=True), strict=True):
        whole, radius = (row.count('class="number best"') for row in group.split("<tr>")[1:3])
        measures = ["distance_error", *full.sweep]
        better = [max if full.measures[name].direction == "higher" else min for name in measures]
        best = [pick(run.measures[name] for run in pair) for name, pick in zip(measures, better, strict=True)]
        wins = [sum(run.measures[name] == top for name, top in zip(measures, best, strict=True)) for run in pair]
        assert [whole, radius] == wins
        assert sum(wins) == len(measures)


def test_every_measure_is_explained_with_its_values(full: FlowsDocument, outline: Outline) -> None:
    for measure in full.measures.values():
        assert " ".join(measure.sentence.split()) in outline.text
    part = full.runs[5].measures["common_part_tract"]
    assert f"{part:.1%}" in outline.text.split("All measures")[-1]


def test_figure_charts_hold_both_sides_of_every_destination(full: FlowsDocument) -> None:
    figure = full.figures[2]
    spec = figure_chart(full, figure).to_dict()
    rows = rows_of(spec, "destinations")
    assert [row["original"] for row in rows] == figure.points["original"]
    assert [row["synthetic"] for row in rows] == figure.points["synthetic"]
    layer = spec["layer"][0]
    assert layer["encoding"]["x"]["scale"]["type"] == "log"
    assert layer["encoding"]["color"]["scale"]["range"][1] == run_colours(full)[figure.run] == RUN_COLOURS[1]
    first = figure_chart(full, full.figures[0]).to_dict()["layer"][0]["encoding"]
    assert first["y"]["scale"] == layer["encoding"]["y"]["scale"]
    assert first["y"]["scale"]["domain"][1] >= max(figure.points["synthetic"])


def test_bars_have_the_area_of_their_share(full: FlowsDocument) -> None:
    rows = rows_of(bins_chart(full).to_dict(), "bins")
    assert sum(row["height"] * (row["end"] - row["start"]) for row in rows) == pytest.approx(1)
    original = full.runs[0].evaluation.bins["original"]
    assert rows[3]["height"] == pytest.approx(original[3] / sum(original))
    assert rows[7]["height"] == pytest.approx(original[7] / sum(original) / 2)
    assert (rows[7]["bin"], rows[7]["share_0"]) == ("8–10", f"{original[7] / sum(original):.2%}")


def test_a_distance_beyond_the_last_bin_is_drawn(full: FlowsDocument) -> None:
    far = copy.deepcopy(full)
    far.runs[2].evaluation.bins["synthetic"][-1] = 1
    assert [rows_of(bins_chart(far).to_dict(), "bins")[-1][name] for name in ("bin", "end")] == ["200 or more", 300]


def test_sweeps_join_runs_over_epsilon(full: FlowsDocument) -> None:
    spec = sweep_chart(full, "short_error").to_dict()
    rows = rows_of(spec, "runs")
    for field in ("label", "epsilon", "options"):
        assert [row[field] for row in rows] == [getattr(run, field) for run in full.runs]
    assert [row["paper"] for row in rows].count(True) == 1
    low, high = full.runs[1].intervals["short_error"]
    assert (rows[1]["low"], rows[1]["high"], rows[0]["low"]) == (low, high, None)
    assert option_colours(full) == {"whole state": RUN_COLOURS[0], "radius 20 miles": RUN_COLOURS[1]}


def test_options_that_are_not_drawn_get_other_colours(full: FlowsDocument) -> None:
    third = replace(full.runs[0], label="third", options="third")
    more = replace(full, runs=[third, *full.runs])
    colours = option_colours(more)
    assert len(set(colours.values())) == 3
    assert colours["radius 20 miles"] == RUN_COLOURS[1]


def test_probabilities_are_written_as_people_do() -> None:
    assert [format_delta(value) for value in (1e-5, 1e-12, 0.01, 0, None)] == [
        "δ = 1e−5",
        "δ = 1e−12",
        "δ = 0.01",
        "δ = 0",
        "no δ",
    ]


def test_one_run_without_a_promise_can_be_shown() -> None:
    alone = flows_document(title="Town", claim="", runs=[Run(label="synthetic", evaluations=[evaluation(0.5, 1)])])
    found = Outline(page_of(alone))
    assert [one["data-chart"] for one in found.all("div", **{"class": "chart"})] == [
        "figure-1",
        "figure-2",
        "sizes-all",
        "sizes-short",
        "bins",
    ]
    for absent in ("What is promised", "What more ε buys", "What each option buys", "repetitions", "paper’s"):
        assert absent not in found.text


def test_a_document_without_figures_still_has_its_measures(full: FlowsDocument) -> None:
    bare = replace(full, drawn=[], figures=[])
    found = Outline(page_of(bare))
    assert "Average distance of each destination" not in found.text
    assert "whole state, ε = 1" in found.text.split("All measures")[-1]


def test_nothing_in_common_can_be_shown() -> None:
    """Averages, correlations and recall that are not defined are dashes, not errors."""
    places = Places(pl.Series(["a", "b"]), np.array([41.0, 41.1]), np.array([-71.0, -71.0]))
    one, other = (Flows.of_pairs(places, *(np.array([value]) for value in row)) for row in ((0, 2, 3), (1, 0, 1)))
    empty = flows_document(title="Nothing", claim="", runs=[Run(label="lost", evaluations=[evaluate(one, other)])])
    found = Outline(page_of(empty))
    assert "–" in found.text.split("All measures")[-1]
    assert "0 destinations; the lines join" in found.text


@pytest.fixture(scope="module")
def nasty() -> str:
    return page_of(made(nasty=True))


def test_nasty_labels_are_shown_and_do_nothing(nasty: str) -> None:
    found = Outline(nasty)
    assert len(found.all("script")) == 3
    assert len(found.all("img")) == 11
    assert not any("onerror" in image for image in found.all("img"))
    assert NASTY not in nasty
    assert "{{7*7}}" in found.text.split("People")[0]
    assert found.all("img", onerror="window.harmed=1") == []


def test_a_folder_holds_the_report_and_nothing_else(folder: Path, full: FlowsDocument) -> None:
    pictures = {f"figure-{n}.{kind}" for n in range(1, 5) for kind in ("png", "svg")}
    assert {path.name for path in folder.iterdir()} == {"report.html", "evaluation.json", "evaluation.csv"} | pictures
    assert json.loads((folder / "evaluation.json").read_text(encoding="utf-8")) == json.loads(to_json(full))
    table = pl.read_csv(folder / "evaluation.csv")
    assert (table.height, table.columns[:3]) == (60, ["destination", "people", "people_synthetic"])
    for number in range(1, 5):
        head = (folder / f"figure-{number}.png").read_bytes()[:24]
        assert head[:8] == b"\x89PNG\r\n\x1a\n"
        assert struct.unpack(">II", head[16:24]) > (1000, 700)
        drawing = ElementTree.parse(folder / f"figure-{number}.svg")
        written = " | ".join("".join(one.itertext()) for one in drawing.iter("{http://www.w3.org/2000/svg}text"))
        assert "Computed on the real data: for the publisher only, not to be published." in written
        assert f"Figure {number}." in written


def test_figures_of_an_earlier_evaluation_do_not_stay(tmp_path: Path, full: FlowsDocument) -> None:
    for name in ("figure-3.png", "figure-4.svg", "notes.txt"):
        (tmp_path / name).write_text("mine")
    write(replace(full, drawn=[], figures=[]), tmp_path, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "evaluation.csv",
        "evaluation.json",
        "notes.txt",
        "report.html",
    ]


def test_a_release_folder_is_refused(tmp_path: Path, full: FlowsDocument) -> None:
    (tmp_path / DESCRIPTION).write_text("{}")
    with pytest.raises(ReleaseError, match="for the publisher's eyes only"):
        write(full, tmp_path / "out", "")
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    executable = chromium()
    if executable is None:
        pytest.skip(f"none of {', '.join(NAMES)} is installed")
    with Browser(executable) as running:
        yield running


def opened(browser: Browser, path: Path, width: int = 1400) -> Browser:
    browser.resize(width, 1000)
    browser.media("screen")
    browser.goto(path.as_uri())
    browser.wait("[...document.querySelectorAll('[data-chart]')].every(one => one.dataset.drawn)")
    return browser


@pytest.mark.browser
@pytest.mark.parametrize("width", [380, 800, 1600])
def test_charts_are_drawn_within_the_page(browser: Browser, folder: Path, width: int) -> None:
    shown = opened(browser, folder / "report.html", width)
    assert shown.errors == []
    assert shown.requests == [(folder / "report.html").as_uri()]
    assert shown.evaluate("document.querySelectorAll('.chart svg').length") == 11
    assert shown.evaluate("document.documentElement.scrollWidth") == width
    edges = shown.evaluate(
        "[...document.querySelectorAll('.chart')].map(one => [one, one.querySelector('svg')]"
        ".map(item => item.getBoundingClientRect().right))"
    )
    assert all(inner <= outer + 1 for outer, inner in edges)
    marks = "document.querySelectorAll('[data-chart=figure-1] .destinations_marks path').length"
    assert shown.evaluate(marks) == 2 * 60


@pytest.mark.browser
def test_paper_keeps_the_banner_and_cuts_nothing_off(browser: Browser, folder: Path) -> None:
    shown = opened(browser, folder / "report.html")
    shown.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    shown.media("print")
    shown.resize(690, 1000)
    assert shown.evaluate("document.querySelector('.banner').checkVisibility()")
    assert shown.evaluate("document.documentElement.scrollWidth") == 690


@pytest.mark.browser
def test_a_destination_tells_its_figures(browser: Browser, folder: Path, full: FlowsDocument) -> None:
    shown = opened(browser, folder / "report.html")
    x, y = shown.evaluate("""(() => {
        const item = document.querySelector('[data-chart=figure-1] .destinations_marks path:last-child');
        item.scrollIntoView({block: "center"});
        const box = item.getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];
    })()""")
    for step in (1, 0):
        shown.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + step, y=y)
    shown.wait("document.querySelector('#vg-tooltip-element.visible')")
    told = shown.evaluate("document.querySelector('#vg-tooltip-element').textContent")
    points = full.figures[0].points
    assert points["destination"][-1] in told
    assert f"Workers{points['people'][-1]:,}" in told
    assert f"Original, miles{points['original'][-1]:.2f}" in told


@pytest.mark.browser
def test_without_scripts_the_charts_are_drawings(browser: Browser, folder: Path) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.resize(1400, 1000)
        browser.goto((folder / "report.html").as_uri())
        widths = browser.evaluate("[...document.querySelectorAll('.chart img')].map(one => one.naturalWidth)")
        assert len(widths) == 11
        assert min(widths) > 500
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


@pytest.mark.browser
def test_nasty_labels_do_nothing_in_a_browser(browser: Browser, nasty: str, tmp_path: Path) -> None:
    path = tmp_path / "nasty.html"
    path.write_text(nasty, encoding="utf-8")
    shown = opened(browser, path, 380)
    assert shown.evaluate("window.harmed") is None
    assert shown.evaluate("document.documentElement.scrollWidth") == 380
    assert shown.errors == []
    assert shown.requests == [path.as_uri()]
