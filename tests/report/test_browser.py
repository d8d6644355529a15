"""The page in a real browser: drawn, answering to clicks, silent on the network and harmless."""

from __future__ import annotations

import json
import time
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest

from sfumato.report.frontier.chart import HEIGHT, frontier_chart
from sfumato.report.frontier.labels import curve_labels
from sfumato.report.frontier.points import axes, pair_rows

from .browser import PATIENCE, Browser, needs_browser
from .conftest import page_of
from .document import frontier_document, typed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = needs_browser

LEGEND_AND_AXIS = 260
DRAWN = "document.querySelector('#chart').dataset.drawn"
POINTS = "document.querySelectorAll('#chart .trials_marks path').length"
VISIBLE = "[...document.querySelectorAll('#trials tbody tr')].filter(row => row.checkVisibility())"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as running:
        yield running


def opened(browser: Browser, path: Path, width: int = 1400) -> Browser:
    browser.resize(width, 1000)
    browser.media("screen")
    browser.goto(path.as_uri())
    browser.wait(DRAWN)
    return browser


@pytest.fixture
def page(browser: Browser, folder: Path) -> Browser:
    return opened(browser, folder / "report.html")


def choose(page: Browser, privacy: str, utility: str) -> None:
    page.evaluate(f"""(() => {{
        for (const [id, value] of [["privacy", {privacy!r}], ["utility", {utility!r}]]) {{
            const select = document.getElementById(id);
            select.value = value;
            select.dispatchEvent(new Event("change"));
        }}
    }})()""")
    page.wait(f"{DRAWN} === '{privacy}|{utility}'")


def click(page: Browser, identifier: str) -> None:
    page.evaluate(f"document.getElementById({identifier!r}).click()")


def axis_titles(page: Browser) -> list[str]:
    found: list[str] = page.evaluate(
        "[...document.querySelectorAll('#chart .role-axis-title text')].map(one => one.textContent)"
    )
    return found


def efficient_vertices(page: Browser) -> int:
    line: str = page.evaluate("document.querySelector('#chart .efficient_marks path').getAttribute('d')")
    return line.count("L") + line.count("M")


def column(page: Browser, name: str) -> list[str]:
    values: list[str] = page.evaluate(f"{VISIBLE}.map(row => row.querySelector(`[data-measure={name}]`).dataset.value)")
    return values


def hover(page: Browser, selector: str) -> None:
    x, y = page.evaluate(f"""(() => {{
        const item = document.querySelector({selector!r});
        item.scrollIntoView({{block: "center"}});
        const box = item.getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];
    }})()""")
    for step in (1, 0):
        page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + step, y=y)


def told(page: Browser, selector: str) -> str:
    """What hovering over a mark tells; while the page is laid out anew the mark moves, and is aimed at again."""
    end = time.monotonic() + PATIENCE
    while not page.evaluate("Boolean(document.querySelector('#vg-tooltip-element.visible'))"):
        assert time.monotonic() < end, f"nothing is told of {selector}; errors: {page.errors}"
        hover(page, selector)
        time.sleep(0.03)
    text: str = page.evaluate("document.querySelector('#vg-tooltip-element').textContent")
    return text


def test_the_page_is_drawn_without_complaint_or_network(page: Browser, folder: Path) -> None:
    assert page.errors == []
    assert page.requests == [(folder / "report.html").as_uri()]
    assert page.evaluate(POINTS) == 40
    assert page.evaluate("document.querySelectorAll('#chart .recommended_marks path').length") == 1
    notes = page.evaluate("document.querySelector('#chart svg').textContent")
    assert all(note in notes for note in ("Original table", "Everything suppressed", "Recommended:"))


def test_complaints_and_requests_would_be_noticed(page: Browser) -> None:
    page.evaluate("console.error('a complaint'); setTimeout(() => { throw Error('an exception') })")
    page.evaluate("new Promise(done => setTimeout(done, 50))")
    assert "a complaint" in page.errors[0]
    assert "an exception" in page.errors[1]


def test_the_browser_itself_refuses_to_load_or_run_anything_else(page: Browser) -> None:
    page.evaluate("""(() => {
        document.body.insertAdjacentHTML("beforeend", `<img src="http://127.0.0.1:9/x.png" onerror="harmed = 3">`);
        const script = document.createElement("script");
        script.text = "harmed = 4";
        document.body.append(script);
        fetch("http://127.0.0.1:9/").catch(() => {});
    })()""")
    page.evaluate("new Promise(done => setTimeout(done, 50))")
    assert page.evaluate("window.harmed") is None
    refused = [error for error in page.errors if "Content Security Policy" in error]
    for attempt in ("inline event handler", "Loading the image", "inline script", "Connecting to"):
        assert any(attempt in error for error in refused), (attempt, refused)


def test_other_measures_move_the_points_the_titles_and_the_line(page: Browser) -> None:
    document = frontier_document()
    about = axes(typed(document))
    assert axis_titles(page) == [about["p_loss"]["title"], about["u_loss"]["title"]]
    assert efficient_vertices(page) == len(document["efficient"]["p_loss|u_loss"]) == 10
    before = page.evaluate("document.querySelector('#chart .efficient_marks path').getAttribute('d')")
    choose(page, "empirical_privacy", "query_error")
    assert axis_titles(page) == [about["empirical_privacy"]["title"], about["query_error"]["title"]]
    assert efficient_vertices(page) == len(document["efficient"]["empirical_privacy|query_error"]) == 8
    assert page.evaluate("document.querySelector('#chart .efficient_marks path').getAttribute('d')") != before
    assert page.evaluate("document.querySelectorAll('#trials tr.efficient').length") == 8
    assert page.evaluate("document.querySelector('[data-fill=efficient]').textContent") == "8"
    assert "Empirical privacy 0.0%, Median query error 0.0%" in page.evaluate(
        "document.querySelector('.landmarks').textContent"
    )
    choose(page, "smallest_class", "ncp")
    assert page.evaluate(POINTS) == 40
    assert page.evaluate("document.querySelector('td[data-measure=smallest_class]').checkVisibility()")
    assert page.evaluate("document.querySelectorAll('#chart svg').length") == 1
    assert page.errors == []


@pytest.mark.parametrize("pair", [("p_loss", "u_loss"), ("empirical_privacy", "query_error")])
def test_browser_and_files_draw_the_same_chart(page: Browser, pair: tuple[str, str]) -> None:
    document = frontier_document()
    choose(page, *pair)
    spec = page.evaluate("document.querySelector('#chart').drawnSpec")
    ours = json.loads(json.dumps(frontier_chart(typed(document), *pair).to_dict()))
    rows = pair_rows(typed(document), *pair)
    assert spec["datasets"]["trials"] == json.loads(json.dumps(rows))
    width = page.evaluate("document.querySelector('#chart').clientWidth") - LEGEND_AND_AXIS
    marks = {axis: spec["datasets"][f"{axis}_marks"] for axis in "xy"}
    lower = {axis: axes(typed(document))[name]["lower"] for axis, name in zip("xy", pair, strict=True)}
    assert spec["datasets"] == ours["datasets"] | {"labels": curve_labels(rows, (width, HEIGHT), marks, lower)}
    assert spec["layer"] == ours["layer"]
    assert spec["params"] == ours["params"]


def test_a_log_scale_keeps_every_point(page: Browser) -> None:
    choose(page, "breach", "query_error")

    def heights() -> dict[str, float]:
        found: list[list[float]] = page.evaluate(
            "[...document.querySelectorAll('#chart .trials_marks path')]"
            ".map(one => one.getAttribute('transform').match(/[-\\d.]+/g).map(Number))"
        )
        return sorted(y for _, y in found)

    assert page.evaluate("document.getElementById('log-y').checked")
    logarithmic = heights()
    click(page, "log-y")
    page.evaluate("new Promise(done => setTimeout(done, 300))")
    linear = heights()
    assert len(logarithmic) == len(linear) == 40
    assert logarithmic[20] < linear[20] - 50
    assert page.errors == []


def test_names_of_curves_do_not_cover_each_other(page: Browser) -> None:
    for pair in (("p_loss", "u_loss"), ("empirical_privacy", "query_error")):
        choose(page, *pair)
        boxes = page.evaluate("""[...document.querySelectorAll("#chart [class*='_name_marks'] text")]
            .map(one => one.getBoundingClientRect()).map(box => [box.left, box.top, box.right, box.bottom])""")
        assert len(boxes) >= 5
        covered = [
            (one, other)
            for one, other in combinations(boxes, 2)
            if one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
        ]
        # The box of a text is a little higher than its letters.
        assert all(min(one[3], other[3]) - max(one[1], other[1]) <= 4 for one, other in covered)


def test_a_click_on_a_mark_opens_its_row(page: Browser) -> None:
    hover(page, "#chart .trials_marks path:nth-child(3)")
    x, y = page.evaluate("""(() => {
        const box = document.querySelector("#chart .trials_marks path:nth-child(3)").getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];
    })()""")
    for kind in ("mousePressed", "mouseReleased"):
        page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    page.wait("document.querySelector('#trials tr.opened')")
    assert page.evaluate("document.querySelector('#trials tr.opened').dataset.trial") == "kd-tree-1"
    command = "document.querySelector('#trials tr.opened .command')"
    assert page.evaluate(f"{command}.checkVisibility()")
    assert page.evaluate(f"{command}.textContent") == "sfumato publish town.csv --method kd-tree --epsilon 1 -o release"
    assert page.evaluate("document.querySelectorAll('#trials .command').length") > 1
    assert (
        page.evaluate("[...document.querySelectorAll('#trials .command')].filter(one => one.checkVisibility()).length")
        == 1
    )


def test_every_family_has_a_small_chart_of_its_own(page: Browser) -> None:
    families = ["partition", "trees"]
    page.wait("document.querySelectorAll('[data-family][data-drawn]').length === 2")
    assert page.evaluate("[...document.querySelectorAll('[data-family]')].map(one => one.dataset.family)") == families
    own = {
        family: page.evaluate(f"document.querySelector('[data-family={family}]').drawnSpec.datasets.own.length")
        for family in families
    }
    trials = [row for row in pair_rows(typed(frontier_document()), "p_loss", "u_loss") if not row["endpoint"]]
    assert own == {family: sum(row["family"] == family for row in trials) for family in families}
    names = "[...document.querySelectorAll('[data-family=trees] text')].map(one => one.textContent)"
    assert "differential privacy" in page.evaluate(names)
    page.media("print")
    assert page.evaluate("document.querySelector('[data-family=trees] svg').checkVisibility()")
    assert page.errors == []


def test_by_night_the_chart_is_light_on_dark(browser: Browser, folder: Path) -> None:
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    try:
        browser.goto((folder / "report.html").as_uri())
        browser.wait(DRAWN)
        paper = browser.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == "rgb(22, 29, 35)"
        titles = "[...document.querySelectorAll('#chart .role-axis-title text')].map(one => one.getAttribute('fill'))"
        assert set(browser.evaluate(titles)) == {"#e3e9ed"}
        assert browser.errors == []
    finally:
        browser.call("Emulation.setEmulatedMedia", features=[])


def test_a_point_tells_its_figures(page: Browser) -> None:
    text = told(page, "#chart .trials_marks path:nth-child(3)")
    assert "kd-tree ε=1" in text
    assert "epsilon = 1, height = 8" in text
    assert "Worst-case belief shift0.142 (0.121 to 0.171)" in text


def test_the_ring_does_not_hide_the_recommended_point(page: Browser) -> None:
    assert "t=0.15, bucketized" in told(page, "#chart .recommended_marks path")


def test_a_click_in_the_legend_leaves_one_series(page: Browser) -> None:
    marks = "[...document.querySelectorAll('#chart .trials_marks path')]"
    faint = f"{marks}.filter(one => one.getAttribute('opacity') < 0.1).length"
    assert page.evaluate(faint) == 0
    box = page.evaluate("""(() => {
        const label = [...document.querySelectorAll('#chart .role-legend-label text')]
            .find(one => one.textContent === 't-closeness');
        label.scrollIntoView({block: "center"});
        const box = label.getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];
    })()""")
    for kind in ("mousePressed", "mouseReleased"):
        page.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)
    page.wait(f"{faint} > 0")
    assert page.evaluate(faint) == 40 - 10


def test_headings_sort_and_say_so(page: Browser) -> None:
    button = "document.querySelector('th[data-measure=p_loss] button')"
    state = "document.querySelector('th[data-measure=p_loss]').getAttribute('aria-sort')"
    assert page.evaluate(state) == "none"
    page.evaluate(f"{button}.focus()")
    page.call("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", text="\r", windowsVirtualKeyCode=13)
    page.call("Input.dispatchKeyEvent", type="keyUp", key="Enter", code="Enter", windowsVirtualKeyCode=13)
    rising = column(page, "p_loss")
    assert page.evaluate(state) == "ascending"
    assert [float(value) for value in rising[:-1]] == sorted(float(value) for value in rising[:-1])
    assert rising[-1] == ""
    page.evaluate(f"{button}.click()")
    falling = column(page, "p_loss")
    assert page.evaluate(state) == "descending"
    assert falling == [*rising[-2::-1], ""]
    page.evaluate("document.querySelector('#trials thead button').click()")
    names = page.evaluate(f"{VISIBLE}.map(row => row.cells[0].dataset.value)")
    assert names.index("Mondrian k=5") < names.index("Mondrian k=20") < names.index("Mondrian k=100")
    assert page.evaluate(state) == "none"


def test_the_table_can_be_narrowed_down(page: Browser) -> None:
    def search(words: str) -> None:
        box = "document.querySelector('#find')"
        page.evaluate(f"{box}.value = {words!r}; {box}.dispatchEvent(new Event('input'))")

    assert page.evaluate(f"{VISIBLE}.length") == 41
    click(page, "only-efficient")
    assert page.evaluate(f"{VISIBLE}.length") == 10
    choose(page, "empirical_privacy", "query_error")
    assert page.evaluate(f"{VISIBLE}.length") == 8
    click(page, "only-efficient")
    search("t-CLOSE bucket")
    assert page.evaluate(f"{VISIBLE}.length") == 5
    assert page.evaluate("document.querySelector('#count').textContent") == "5 of 41 releases"
    search("no such thing")
    assert page.evaluate(f"{VISIBLE}.length") == 0
    assert not page.evaluate("document.querySelector('td[data-measure=ncp]').checkVisibility()")
    search("")
    click(page, "all-measures")
    assert page.evaluate("document.querySelector('td[data-measure=ncp]').checkVisibility()")


def test_paper_keeps_the_banner_and_the_chart_and_drops_the_controls(page: Browser) -> None:
    shown = "[...document.querySelectorAll({})].some(one => one.checkVisibility())"
    parts = ("'.banner'", "'#chart .trials_marks path'", "'form.controls'")
    assert [page.evaluate(shown.format(part)) for part in parts] == [True, True, True]
    page.media("print")
    assert [page.evaluate(shown.format(part)) for part in parts] == [True, True, False]
    assert page.evaluate(
        "document.querySelector('.scroll').scrollHeight <= document.querySelector('.scroll').clientHeight"
    )


@pytest.mark.parametrize("width", [380, 800, 1600])
def test_nothing_sticks_out_sideways(browser: Browser, folder: Path, width: int) -> None:
    page = opened(browser, folder / "report.html", width)
    assert page.evaluate("[document.documentElement.scrollWidth, document.body.scrollWidth]") == [width, width]
    chart: dict[str, Any] = page.evaluate("document.querySelector('#chart svg').getBoundingClientRect().toJSON()")
    assert chart["right"] <= width
    assert chart["width"] > width * 0.65
    assert page.evaluate(POINTS) == 40


def test_nasty_names_do_nothing(browser: Browser, nasty_page: str, tmp_path: Path) -> None:
    path = tmp_path / "nasty.html"
    path.write_text(nasty_page, encoding="utf-8")
    page = opened(browser, path, 380)
    assert page.evaluate("document.documentElement.scrollWidth") == 380
    page.resize(1400, 1000)
    assert "</script><b>" in told(page, "#chart .trials_marks path:nth-child(7)")
    choose(page, "breach", "query_error")
    assert page.evaluate("window.harmed") is None
    assert page.evaluate("document.querySelectorAll('img').length") == 0
    assert page.errors == []
    assert page.requests == [path.as_uri()]


def test_without_scripts_the_chart_is_a_drawing(browser: Browser, folder: Path) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.goto((folder / "report.html").as_uri())
        assert browser.evaluate(POINTS) == 40
        assert not browser.evaluate("document.querySelector('form.controls').checkVisibility()")
        assert browser.evaluate(f"{VISIBLE}.length") == 41
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


def test_three_hundred_releases_are_drawn(browser: Browser, tmp_path: Path) -> None:
    document = frontier_document(refine=8)
    path = tmp_path / "many.html"
    path.write_text(page_of(document), encoding="utf-8")
    page = opened(browser, path)
    assert page.evaluate(POINTS) == len(document["trials"]) - 1 == 306
    assert page.errors == []
