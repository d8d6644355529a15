"""The map in a real browser: what clicks, keys, fingers and the wheel do, and that the numbers shown are the flows'."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from sfumato.data.flows import Flows
from sfumato.data.places import Places
from sfumato.report.map.page import draw_map
from sfumato.report.map.points import REACHES

from .browser import Browser, needs_browser
from .test_map import NASTY, counts_by, figures_by, grid, grid_flows, reshuffled, rhode_island, squares

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["rhode_island"]

pytestmark = needs_browser

SETTLED = "window.sfumatoMap && sfumatoMap.isSettled()"
MILE = 1.609344
LEFT_BUTTON = {"button": "left", "buttons": 1, "clickCount": 1}
KEY_CODES = {
    "Tab": 9,
    "Enter": 13,
    "Escape": 27,
    "End": 35,
    "Home": 36,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
}
ROWS = "[...document.querySelectorAll('.ranked tbody tr')].map(row => [row.dataset.id, row.cells[1].innerText.trim()])"
STILL = {"name": "prefers-reduced-motion", "value": "reduce"}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as running:
        yield running


@pytest.fixture(scope="module")
def original() -> Flows:
    return grid_flows(1, grid())


@pytest.fixture(scope="module")
def synthetic(original: Flows) -> Flows:
    return reshuffled(original)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, synthetic: Flows, original: Flows) -> Path:
    """The grid as a published map by region and by place, and as the publisher's copy."""
    path = tmp_path_factory.mktemp("maps")
    kinds: dict[str, Any] = {"regions": {"by": "region"}, "places": {}}
    kinds["publisher"] = {"by": "region", "original": original}
    for name, parts in kinds.items():
        page = draw_map(synthetic, outlines=squares(), title="The grid", claim="Claim: made up for tests.", **parts)
        (path / f"{name}.html").write_text(page, encoding="utf-8")
    return path


def opened(
    browser: Browser,
    path: Path,
    hash_: str = "",
    size: tuple[int, int] = (1440, 900),
    dark: bool = False,
    still: bool = True,
) -> Browser:
    theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.call("Emulation.setEmulatedMedia", features=[theme, *([STILL] if still else [])])
    browser.resize(*size)
    # Away from the map, or what lies under the mouse would be marked.
    mouse(browser, "mouseMoved", 300, 5)
    # Only another hash would not load the page anew.
    browser.goto("about:blank")
    browser.goto(path.as_uri() + hash_)
    browser.wait(SETTLED)
    return browser


@pytest.fixture
def regions(browser: Browser, folder: Path) -> Browser:
    return opened(browser, folder / "regions.html")


@pytest.fixture
def places(browser: Browser, folder: Path) -> Browser:
    return opened(browser, folder / "places.html")


@pytest.fixture
def publisher(browser: Browser, folder: Path) -> Browser:
    return opened(browser, folder / "publisher.html")


def spot(page: Browser, name: str) -> tuple[float, float]:
    found = page.evaluate(f"sfumatoMap.project({name!r})")
    return found["x"], found["y"]


def mouse(page: Browser, kind: str, x: float, y: float, **more: Any) -> None:
    page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)


def click(page: Browser, x: float, y: float) -> None:
    for kind in ("mousePressed", "mouseReleased"):
        mouse(page, kind, x, y, **LEFT_BUTTON)
    page.wait(SETTLED)


def press(page: Browser, key: str, times: int = 1, text: str = "") -> None:
    code = KEY_CODES.get(key, ord(key[0].upper()))
    for _ in range(times):
        text_of = {"text": text} if text else {}
        page.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, **text_of)
        page.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)
    page.wait(SETTLED)


def chosen(page: Browser) -> str | None:
    name: str | None = page.evaluate("sfumatoMap.chosen()")
    assert page.evaluate("document.querySelector('#panel').dataset.chosen") == (name or "")
    return name


def text(page: Browser, selector: str) -> str:
    found: str = page.evaluate(f"document.querySelector({selector!r}).innerText.trim()")
    return found


def top_origins(flows: Flows, by: str | None, destination: str, count: int = 10) -> list[list[str]]:
    """The largest origins with their people, equal ones in the order of points, "outside" last of these."""
    names = [*(sorted(set(flows.places.regions[by])) if by else flows.places.ids), "outside"]
    number = {name: place for place, name in enumerate(names)}
    pairs = {origin: people for (to, origin), people in counts_by(flows, by).items() if to == destination}
    order = sorted(pairs, key=lambda origin: (-pairs[origin], number[origin]))
    return [[origin, f"{pairs[origin]:,}"] for origin in order[:count]]


def pixels(page: Browser, spots: list[tuple[float, float]]) -> list[tuple[int, int, int]]:
    """Red, green and blue of the map at spots of the window."""
    found = page.evaluate(f"""(() => {{
        const canvas = document.querySelector("#map"), box = canvas.getBoundingClientRect();
        const all = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return {[list(one) for one in spots]}.map(([x, y]) => {{
            const first = 4 * (Math.round(y - box.top) * canvas.width + Math.round(x - box.left));
            return [...all.data.slice(first, first + 3)];
        }});
    }})()""")
    return [tuple(one) for one in found]


def brightness(page: Browser, name: str) -> int:
    return sum(pixels(page, [spot(page, name)])[0])


def picture(page: Browser) -> str:
    found: str = page.evaluate("document.querySelector('#map').toDataURL()")
    return found


def test_the_page_is_drawn_without_complaint_or_network(regions: Browser, folder: Path, synthetic: Flows) -> None:
    assert regions.errors == []
    assert regions.requests == [(folder / "regions.html").as_uri()]
    assert text(regions, "h1") == "The grid"
    assert text(regions, ".claim") == "Claim: made up for tests."
    assert text(regions, "[data-figure=people-synthetic]") == f"{synthetic.total:,}"
    assert not regions.evaluate("Boolean(document.querySelector('.banner, .modes input'))")
    by_size = sorted(figures_by(synthetic, "region", MILE).items(), key=lambda pair: (-pair[1]["people"], pair[0]))
    assert regions.evaluate(ROWS) == [[name, f"{figures['people']:,}"] for name, figures in by_size[:10]]
    assert len(set(pixels(regions, [(x, 400) for x in range(200, 900, 5)]))) > 10


@pytest.mark.parametrize(("page", "by", "name"), [("regions", "region", "r22"), ("places", None, "p0002")])
def test_a_click_shows_where_people_come_from(
    browser: Browser, folder: Path, synthetic: Flows, page: str, by: str | None, name: str
) -> None:
    shown = opened(browser, folder / f"{page}.html")
    click(shown, *spot(shown, name))
    assert chosen(shown) == name
    assert shown.evaluate(ROWS) == top_origins(synthetic, by, name)
    figures = figures_by(synthetic, by, MILE)[name]
    assert text(shown, "[data-figure=people-synthetic]") == f"{figures['people']:,}"
    assert text(shown, "[data-figure=mean-synthetic]") == f"{figures['sum'] / figures['known']:.1f} mi"
    for number, reach in enumerate(REACHES[:4]):
        select = "document.querySelector('#reach')"
        shown.evaluate(f"{select}.value = {number}; {select}.dispatchEvent(new Event('change'))")
        share = figures["near"][number] / figures["known"]
        assert text(shown, "[data-figure=share-synthetic]") == f"{100 * share:.1f}%"
        assert shown.evaluate(f"{select}.selectedOptions[0].text") == f"{reach} mi"
    assert shown.errors == []


def test_all_origins_can_be_listed_and_outside_is_among_them(places: Browser, synthetic: Flows) -> None:
    places.evaluate("location.hash = 'to=p0002'")
    places.wait("sfumatoMap.chosen()")
    expected = top_origins(synthetic, None, "p0002", 10_000)
    assert "outside" in [origin for origin, _ in expected]
    assert text(places, ".extend") == f"Show 100 more of {len(expected)}"
    while places.evaluate("document.querySelector('.extend').checkVisibility()"):
        places.evaluate("document.querySelector('.extend').click()")
    assert places.evaluate(ROWS) == expected
    assert "Distances leave out people from outside" in text(places, "#panel")


def test_a_click_inside_an_outline_chooses_its_region(regions: Browser) -> None:
    (x0, y0), (x1, y1) = spot(regions, "r11"), spot(regions, "r22")
    click(regions, x0 + 0.42 * (x1 - x0), y0 + 0.42 * (y1 - y0))
    assert chosen(regions) == "r11"
    click(regions, x0 + 0.58 * (x1 - x0), y0 + 0.58 * (y1 - y0))
    assert chosen(regions) == "r22"
    # The southernmost row has no outlines: only near its point does a click count.
    bottom = spot(regions, "r01")
    click(regions, bottom[0] + 30, bottom[1])
    assert chosen(regions) == "r22"
    click(regions, bottom[0] + 6, bottom[1])
    assert chosen(regions) == "r01"


def test_the_keyboard_alone_is_enough(publisher: Browser, synthetic: Flows) -> None:
    seen = []
    for _ in range(40):
        press(publisher, "Tab")
        seen.append(publisher.evaluate("document.activeElement.id || document.activeElement.value"))
        outline = publisher.evaluate("""(() => {
            const one = document.activeElement, isClear = getComputedStyle(one).opacity === "0";
            return getComputedStyle(isClear ? one.nextElementSibling : one).outlineStyle;
        })()""")
        assert outline == "solid", seen
        if seen[-1] == "reach":
            break
    assert seen == ["search", "synthetic", "map", "zoom-in", "zoom-out", "fit", "least-people", "least-flow", "reach"]
    publisher.evaluate("document.querySelector('#search').focus()")
    publisher.call("Input.insertText", text="Area 2")
    found = "[...document.querySelectorAll('#found [role=option]')].map(one => one.dataset.id)"
    people = {name: figures["people"] for name, figures in figures_by(synthetic, "region", MILE).items()}
    expected = sorted((name for name in people if name[1] == "2"), key=lambda name: -people[name])
    assert publisher.evaluate(found) == expected
    press(publisher, "ArrowDown", 2)
    active = publisher.evaluate("document.querySelector('#search').getAttribute('aria-activedescendant')")
    assert publisher.evaluate(f"document.getElementById({active!r}).dataset.id") == expected[1]
    press(publisher, "Enter")
    assert chosen(publisher) == expected[1]
    assert publisher.evaluate(ROWS) == top_origins(synthetic, "region", expected[1])
    assert expected[1] in text(publisher, "#status")
    publisher.call("Input.insertText", text="no such place")
    assert publisher.evaluate(found) == []
    press(publisher, "Escape")
    assert chosen(publisher) == expected[1]
    press(publisher, "Escape")
    assert chosen(publisher) is None
    publisher.evaluate("document.querySelector('.link').focus()")
    press(publisher, "Enter", text="\r")
    assert chosen(publisher) == max(people, key=lambda name: people[name])
    assert publisher.evaluate("document.activeElement.tagName") == "H2"
    assert publisher.errors == []


def test_the_search_finds_parts_of_names_by_the_mouse_too(places: Browser) -> None:
    places.evaluate("document.querySelector('#search').focus()")
    places.call("Input.insertText", text="0204")
    box = places.evaluate("document.querySelector('#found li').getBoundingClientRect().toJSON()")
    assert places.evaluate("document.querySelector('#search').getAttribute('aria-expanded')") == "true"
    click(places, box["x"] + 20, box["y"] + 10)
    assert chosen(places) == "p0204"
    assert places.evaluate("document.querySelector('#search').getAttribute('aria-expanded')") == "false"


def test_the_publisher_compares_the_copies(publisher: Browser, synthetic: Flows, original: Flows) -> None:
    assert text(publisher, ".banner") == "Contains original data: for the publisher’s eyes only; do not publish."
    click(publisher, *spot(publisher, "r22"))
    seen = {picture(publisher)}
    publisher.evaluate("document.querySelector('input[value=synthetic]').focus()")
    press(publisher, "ArrowRight")
    assert publisher.evaluate("sfumatoMap.mode()") == "original"
    assert publisher.evaluate(ROWS) == top_origins(original, "region", "r22")
    seen.add(picture(publisher))
    press(publisher, "ArrowRight")
    assert publisher.evaluate("sfumatoMap.mode()") == "difference"
    assert publisher.evaluate("location.hash") == "#to=r22&show=difference"
    seen.add(picture(publisher))
    assert len(seen) == 3
    ours, truth = counts_by(synthetic, "region"), counts_by(original, "region")
    rows = publisher.evaluate("""[...document.querySelectorAll('.ranked tbody tr')].map(
        row => [row.dataset.id, ...[...row.cells].slice(1).map(one => one.innerText.trim())])""")
    gaps = []
    for origin, a, b, gap in rows:
        counts = ours.get(("r22", origin), 0), truth.get(("r22", origin), 0)
        assert (a, b) == tuple(f"{count:,}" for count in counts)
        assert gap == f"{counts[0] - counts[1]:+,}".replace("-", "−").replace("+0", "0")
        gaps.append(abs(counts[0] - counts[1]))
    pairs = [pair for pair in ours | truth if pair[0] == "r22"]
    assert gaps == sorted((abs(ours.get(pair, 0) - truth.get(pair, 0)) for pair in pairs), reverse=True)[:10]
    one, other = (figures_by(flows, "region", MILE)["r22"] for flows in (synthetic, original))
    gap = one["sum"] / one["known"] - other["sum"] / other["known"]
    assert text(publisher, "[data-figure=mean-difference]") == f"{gap:+.1f} mi".replace("-", "−")
    assert publisher.errors == []


@pytest.fixture
def contrast(browser: Browser, tmp_path: Path) -> Browser:
    """Two origins east and west of one destination: 90 people too many from one, 90 too few from the other."""
    frame = pl.DataFrame({"id": ["more", "to", "fewer"], "latitude": [41.0] * 3, "longitude": [-71.2, -71.1, -71.0]})
    places = Places.read(frame)
    ours = Flows.of_pairs(places, np.array([1, 1]), np.array([0, 2]), np.array([100, 10]))
    truth = Flows.of_pairs(places, np.array([1, 1]), np.array([0, 2]), np.array([10, 100]))
    (tmp_path / "contrast.html").write_text(draw_map(ours, original=truth), encoding="utf-8")
    return opened(browser, tmp_path / "contrast.html", "#show=difference")


def darkness_along(page: Browser, start: str, end: str) -> list[int]:
    """How dark the line between two points is, at its darkest within three pixels, step by step."""
    (x0, y0), (x1, _) = spot(page, start), spot(page, end)
    spots = [(x0 + (x1 - x0) * part / 100, y0 + dy) for part in range(20, 80) for dy in (-1, 0, 1)]
    dark = [765 - sum(colour) for colour in pixels(page, spots)]
    return [max(dark[first : first + 3]) for first in range(0, len(dark), 3)]


def test_more_and_fewer_differ_in_more_than_colour(contrast: Browser) -> None:
    more, fewer = darkness_along(contrast, "more", "to"), darkness_along(contrast, "to", "fewer")
    assert statistics.pstdev(more) < 5 < 30 < statistics.pstdev(fewer)
    assert "striped" in text(contrast, "#legend")
    contrast.evaluate("location.hash = 'to=to&show=difference'")
    contrast.wait(f"sfumatoMap.chosen() && {SETTLED}")
    assert brightness(contrast, "more") + 200 < brightness(contrast, "fewer")
    assert "hollow" in text(contrast, "#legend")
    bars = contrast.evaluate("[...document.querySelectorAll('.bar')].map(one => one.innerText.trim())")
    assert bars == ["+90", "−90"]


def test_small_destinations_and_flows_can_be_hidden(regions: Browser, synthetic: Flows) -> None:
    people = {name: figures["people"] for name, figures in figures_by(synthetic, "region", MILE).items()}
    smallest = min(people, key=lambda name: people[name])
    pairs = {pair: count for pair, count in counts_by(synthetic, "region").items() if pair[1] != "outside"}
    assert text(regions, "#least-people-count") == f"{len(people)} of {len(people)} destinations"
    assert text(regions, "#least-flow-count") == f"{len(pairs)} of {len(pairs)} flows"
    before = brightness(regions, smallest)
    regions.evaluate("document.querySelector('#least-people').focus()")
    while int(text(regions, "#least-people-text").replace(",", "")) <= people[smallest]:
        press(regions, "ArrowRight")
    least = int(text(regions, "#least-people-text").replace(",", ""))
    left = [name for name in people if people[name] >= least]
    assert 0 < len(left) < len(people)
    assert text(regions, "#least-people-count") == f"{len(left)} of {len(people)} destinations"
    assert brightness(regions, smallest) > before + 80
    click(regions, *spot(regions, smallest))
    assert chosen(regions) is None
    mouse(regions, "mouseMoved", 300, 20)
    regions.evaluate("document.querySelector('#least-people').focus()")
    press(regions, "Home")
    assert brightness(regions, smallest) == pytest.approx(before, abs=20)
    all_lines = picture(regions)
    regions.evaluate("document.querySelector('#least-flow').focus()")
    press(regions, "ArrowRight", 7)
    assert text(regions, "#least-flow-text") == "50"
    kept = sum(count >= 50 for count in pairs.values())
    assert 0 < kept < len(pairs)
    assert text(regions, "#least-flow-count") == f"{kept} of {len(pairs)} flows"
    assert picture(regions) != all_lines
    assert regions.evaluate("document.activeElement.getAttribute('aria-valuetext')") == "at least 50 people"


def span(page: Browser) -> float:
    return spot(page, "r33")[0] - spot(page, "r30")[0]


def test_mouse_wheel_and_keys_move_the_map(regions: Browser) -> None:
    start = spot(regions, "r22")
    mouse(regions, "mousePressed", 500, 500, **LEFT_BUTTON)
    for step in range(1, 6):
        mouse(regions, "mouseMoved", 500 + 20 * step, 500 - 8 * step, button="left", buttons=1)
    mouse(regions, "mouseReleased", 600, 460, **LEFT_BUTTON)
    regions.wait(SETTLED)
    assert spot(regions, "r22") == pytest.approx((start[0] + 100, start[1] - 40))
    assert chosen(regions) is None
    width, (x, y) = span(regions), spot(regions, "r22")
    mouse(regions, "mouseWheel", 300, 350, deltaX=0, deltaY=-240)
    regions.wait(SETTLED)
    grown = span(regions) / width
    assert grown == pytest.approx(1.54, abs=0.01)
    assert spot(regions, "r22") == pytest.approx((300 + grown * (x - 300), 350 + grown * (y - 350)))
    regions.evaluate("document.querySelector('#fit').click()")
    regions.wait(SETTLED)
    assert spot(regions, "r22") == pytest.approx(start)
    width = span(regions)
    regions.evaluate("document.querySelector('#map').focus()")
    press(regions, "+", text="+")
    assert span(regions) == pytest.approx(2 * width)
    before = spot(regions, "r22")
    press(regions, "ArrowLeft")
    assert spot(regions, "r22") == pytest.approx((before[0] + 80, before[1]))
    press(regions, "-", 2, text="-")
    assert span(regions) == pytest.approx(width / 2)
    press(regions, "0", text="0")
    assert spot(regions, "r22") == pytest.approx(start)


def touch(page: Browser, kind: str, *spots: tuple[float, float]) -> None:
    page.call(
        "Input.dispatchTouchEvent",
        type=kind,
        touchPoints=[{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(spots)],
    )


def test_fingers_pan_pinch_and_choose(browser: Browser, folder: Path) -> None:
    page = opened(browser, folder / "regions.html", size=(390, 844))
    start, width = spot(page, "r22"), span(page)
    touch(page, "touchStart", (150, 400))
    touch(page, "touchMove", (160, 410))
    touch(page, "touchMove", (180, 430))
    touch(page, "touchEnd")
    page.wait(SETTLED)
    assert spot(page, "r22") == pytest.approx((start[0] + 30, start[1] + 30))
    touch(page, "touchStart", (150, 400), (200, 400))
    touch(page, "touchMove", (125, 400), (225, 400))
    touch(page, "touchEnd")
    page.wait(SETTLED)
    assert span(page) == pytest.approx(2 * width, rel=0.01)
    assert chosen(page) is None
    target = spot(page, "r22")
    touch(page, "touchStart", target)
    touch(page, "touchEnd")
    page.wait("sfumatoMap.chosen()")
    assert chosen(page) == "r22"


def test_motion_is_shown_only_to_those_who_want_it(browser: Browser, folder: Path) -> None:
    jump = "(document.querySelector('#zoom-in').click(), sfumatoMap.project('r33').x - sfumatoMap.project('r30').x)"
    page = opened(browser, folder / "regions.html", still=True)
    width = span(page)
    assert page.evaluate(jump) == pytest.approx(2 * width)
    page = opened(browser, folder / "regions.html", still=False)
    assert page.evaluate(jump) < 1.9 * width
    page.wait(SETTLED)
    assert span(page) == pytest.approx(2 * width)


def test_the_address_holds_the_choice(browser: Browser, folder: Path, synthetic: Flows) -> None:
    page = opened(browser, folder / "publisher.html", "#to=r13&show=original")
    assert (chosen(page), page.evaluate("sfumatoMap.mode()")) == ("r13", "original")
    click(page, *spot(page, "r22"))
    assert page.evaluate("location.hash") == "#to=r22&show=original"
    page.evaluate("history.back()")
    page.wait("sfumatoMap.chosen() === 'r13'")
    page = opened(browser, folder / "regions.html", "#to=r13&show=original")
    assert (chosen(page), page.evaluate("sfumatoMap.mode()")) == ("r13", "synthetic")
    page = opened(browser, folder / "regions.html", "#to=nowhere")
    assert chosen(page) is None


def test_dark_and_light(browser: Browser, folder: Path) -> None:
    light = sum(pixels(opened(browser, folder / "regions.html"), [(20, 500)])[0])
    dark = sum(pixels(opened(browser, folder / "regions.html", dark=True), [(20, 500)])[0])
    assert dark < 150 < 600 < light


@pytest.mark.parametrize(
    ("size", "hash_"),
    [
        ((390, 844), ""),
        ((390, 844), "#to=r22&show=difference"),
        ((820, 1180), ""),
        ((1024, 620), "#to=r22"),
        ((1440, 900), "#to=r22&show=difference"),
    ],
)
def test_nothing_sticks_out_and_the_map_is_in_sight(
    browser: Browser, folder: Path, size: tuple[int, int], hash_: str
) -> None:
    page = opened(browser, folder / "publisher.html", hash_, size)
    assert page.evaluate("[document.documentElement.scrollWidth, document.body.scrollWidth]") == [size[0]] * 2
    box = page.evaluate("document.querySelector('#map').getBoundingClientRect().toJSON()")
    assert box["width"] > 0.5 * size[0]
    assert min(box["bottom"], size[1]) - box["top"] > 0.5 * size[1]
    right = "Math.max(...[...document.querySelectorAll('#panel *')].map(one => one.getBoundingClientRect().right))"
    assert page.evaluate(right) <= size[0]
    assert page.errors == []


def test_nasty_names_do_nothing(browser: Browser, tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": [NASTY, "b"], "latitude": [1.0, 2.0], "longitude": [3.0, 4.0], "town": [NASTY, "x"]})
    flows = Flows.of_pairs(Places.read(frame), np.array([0, 1]), np.array([1, 0]), np.array([5, 2]))
    (tmp_path / "nasty.html").write_text(draw_map(flows, title=NASTY, claim=NASTY), encoding="utf-8")
    page = opened(browser, tmp_path / "nasty.html")
    assert text(page, "h1") == text(page, ".claim") == NASTY
    click(page, *spot(page, NASTY))
    assert chosen(page) == NASTY
    page.evaluate("document.querySelector('#search').focus()")
    page.call("Input.insertText", text="script")
    assert NASTY in text(page, "#found")
    assert page.evaluate("window.harmed") is None
    assert page.errors == []


def test_almost_nothing_is_still_a_map(browser: Browser, tmp_path: Path) -> None:
    places = grid()
    for people in ([], [3]):
        one = np.array(people, dtype=np.int64)
        page = draw_map(Flows.of_pairs(places, one, one, one), by="region", outlines=squares(), original=None)
        (tmp_path / "little.html").write_text(page, encoding="utf-8")
        shown = opened(browser, tmp_path / "little.html")
        assert text(shown, "[data-figure=people-synthetic]") == str(sum(people))
        assert text(shown, "[data-figure=mean-synthetic]") == ("0.0 mi" if people else "–")
        press(shown, "Escape")
        assert shown.errors == []


def milliseconds_per_frame(page: Browser, steps: int = 30) -> float:
    """The processor time that the page needs for a frame while the map is dragged."""
    page.evaluate("""window.frames_drawn = 0, window.watching = true, requestAnimationFrame(function tick() {
        frames_drawn += 1;
        if (watching) requestAnimationFrame(tick);
    }), 0""")
    before = busy_seconds(page)
    mouse(page, "mousePressed", 400, 500, **LEFT_BUTTON)
    for step in range(1, steps + 1):
        mouse(page, "mouseMoved", 400 + 6 * step, 500 - 3 * step, button="left", buttons=1)
    mouse(page, "mouseReleased", 400 + 6 * steps, 500 - 3 * steps, **LEFT_BUTTON)
    page.wait(f"frames_drawn >= {steps}")
    frames = page.evaluate("(watching = false, frames_drawn)")
    return 1000 * (busy_seconds(page) - before) / frames


def busy_seconds(page: Browser) -> float:
    """The processor time that the page's main thread has used."""
    page.call("Performance.enable", timeDomain="threadTicks")
    metrics = page.call("Performance.getMetrics")["metrics"]
    return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")


def test_rhode_island_moves_smoothly_and_tells_the_truth(
    browser: Browser, rhode_island: tuple[Flows, dict[str, Any]], tmp_path: Path
) -> None:
    flows, outlines = rhode_island
    path = tmp_path / "tracts.html"
    path.write_text(draw_map(flows, outlines=outlines, by="tract"), encoding="utf-8")
    page = opened(browser, path)
    assert text(page, "#least-flow-count") == "41,636 of 41,636 flows"
    start = spot(page, "44007000800")
    quick = milliseconds_per_frame(page)
    page.wait(SETTLED)
    assert spot(page, "44007000800") == pytest.approx((start[0] + 180, start[1] - 90))
    assert quick < 50
    page.evaluate("(function slow() { for (let i = 0; i < 5e8; i++); requestAnimationFrame(slow); })()")
    assert milliseconds_per_frame(page, 6) > 50
    page = opened(browser, path)
    click(page, *spot(page, "44007000800"))
    assert chosen(page) == "44007000800"
    assert page.evaluate(ROWS) == top_origins(flows, "tract", "44007000800")
    assert page.errors == []


def test_rhode_island_by_block_is_drawn(
    browser: Browser, rhode_island: tuple[Flows, dict[str, Any]], tmp_path: Path
) -> None:
    flows, outlines = rhode_island
    path = tmp_path / "blocks.html"
    path.write_text(draw_map(flows, outlines=outlines), encoding="utf-8")
    page = opened(browser, path)
    assert text(page, "#least-people-count") == "8,358 of 8,358 destinations"
    largest = str(flows.places.ids[int(flows.destinations[flows.people.argmax()])])
    click(page, *spot(page, largest))
    assert chosen(page) == largest
    assert text(page, "[data-figure=people-synthetic]") == "5,765"
    assert page.evaluate(ROWS) == top_origins(flows, None, largest)
    assert page.errors == []
