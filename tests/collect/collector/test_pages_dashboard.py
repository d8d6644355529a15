"""From a thousand browser-side reports over the real collector to the administrator's page that shows them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sfumato.cli.local.estimate import _csv

from ...report.browser import needs_browser
from .client import ADMIN, TOKEN
from .watching import NASTY, address

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .client import Client
    from .watching import WatchingBrowser

pytestmark = needs_browser

PEOPLE = np.tile([76, 10, 15, 12, 12], 8)
"""How many of a thousand people give each of 40 answers; many round them to multiples of five."""
EPSILON = "2"
MOST_MISSED = 8
"""Intervals that may miss the true share, of 40 at 95%. In 15,784 simulated runs 5 was the most (7 times), 4 occurred
73 times and 3 occurred 325 times: falling by a factor of 4 or more each time, 9 has a probability below 1e-5."""
FASTER = 40
"""How much faster than in life the page's clock runs here."""
SEND = """
async (name, values) => {
  const { makeMechanism } = await import("/assets/perturb.js");
  const survey = await (await fetch(`/api/surveys/${name}`)).json();
  const { perturb } = makeMechanism({ size: survey.max - survey.min + 1, epsilon: survey.epsilon });
  const hex = (byte) => byte.toString(16).padStart(2, "0");
  const id = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), hex).join("");
  const reports = values.map((value) => ({ id: id(), value: survey.min + perturb(value - survey.min) }));
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ reports });
  return (await fetch(`/api/surveys/${name}/reports`, { method: "POST", headers, body })).json();
}
"""


@pytest.fixture
def hurried(page: WatchingBrowser) -> Iterator[WatchingBrowser]:
    """A browser whose pages ask that much more often, and start without a token."""
    source = f"const patient = setTimeout; window.setTimeout = (go, wait) => patient(go, wait / {FASTER});"
    added = page.call("Page.addScriptToEvaluateOnNewDocument", source=source)
    yield page
    page.evaluate("location.protocol === 'http:' && sessionStorage.clear()")
    page.call("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])


@pytest.fixture(scope="module")
def thousand(browser: WatchingBrowser, site: Client) -> str:
    """A survey that a thousand people answered in a browser."""
    name = site.add_survey(min=20, max=59, epsilon=EPSILON, smallest_batch=1000)
    browser.goto(address(site, "/assets/page.css"))
    values = np.repeat(np.arange(20, 60), PEOPLE).tolist()
    for batch in (values[:400], values[400:]):
        answer = browser.evaluate(f"({SEND})({json.dumps(name)}, {json.dumps(batch)})")
        assert answer == {"accepted": len(batch), "repeated": 0}
    return name


@pytest.fixture(scope="module")
def results(thousand: str, site: Client) -> dict[str, Any]:
    answer = site.get(f"/api/surveys/{thousand}/results", **ADMIN)
    assert answer.status == 200
    document = answer.document
    assert isinstance(document, dict)
    return document


def missed(results: dict[str, Any], people: np.ndarray) -> int:
    """How many intervals do not hold the true share."""
    shares = people / people.sum()
    cells = zip(results["cells"], shares, strict=True)
    return sum(not cell["low"] - 1e-12 <= share <= cell["high"] + 1e-12 for cell, share in cells)


def holds(interval: dict[str, float], number: float) -> bool:
    return interval["low"] <= number <= interval["high"]


def test_intervals_hold_the_truth_about_a_thousand_people(results: dict[str, Any]) -> None:
    """Off by one, at least 16 intervals would miss in every one of those simulated runs.

    The people are the same each time and the noise moves the mean little, so its 95% interval, made for any choice of
    people, is missed with a probability far below 1e-6: by 39 standard deviations of the noise.
    """
    assert (results["reports"], results["confidence"], results["reached"]) == (1000, 0.95, True)
    assert missed(results, PEOPLE) <= MOST_MISSED
    assert missed(results, np.roll(PEOPLE, 1)) > MOST_MISSED
    mean = float(PEOPLE @ np.arange(20, 60)) / 1000
    assert holds(results["mean"], mean)
    assert not holds(results["mean"], mean + 1)


def test_answers_sent_without_noise_would_be_found(site: Client) -> None:
    name = site.add_survey(min=20, max=59, epsilon=EPSILON)
    site.report(name, *np.repeat(np.arange(20, 60), PEOPLE).tolist())
    assert missed(site.get(f"/api/surveys/{name}/results", **ADMIN).document, PEOPLE) > MOST_MISSED


def shown(page: WatchingBrowser, site: Client, name: str, **how: Any) -> WatchingBrowser:
    page.show(address(site, f"/dashboard/{name}#token={TOKEN}"), **how)
    page.wait("document.querySelector('#cdf svg')")
    return page


def test_the_page_shows_the_results(
    hurried: WatchingBrowser, site: Client, thousand: str, results: dict[str, Any]
) -> None:
    page = shown(hurried, site, thousand)
    assert page.text("question") == "How old are you?"
    assert (page.text("reports"), page.text("state"), page.text("needed")) == ("1,000", "open", "")
    mean, quartiles = results["mean"], results["quantiles"]
    assert float(page.text("mean")) == pytest.approx(mean["value"], abs=0.06)
    assert page.text("mean-interval") == f"{mean['low']:.1f} to {mean['high']:.1f}"
    for i, quartile in enumerate(quartiles, start=1):
        assert page.text(f"quartile-{i}") == str(quartile["value"])
        assert page.text(f"quartile-{i}-interval") == f"{quartile['low']} to {quartile['high']}"
    assert page.text("certificate").startswith("This is the likeliest distribution: its certificate was reached")
    # The largest entry of G⁻¹ is (1 + α²) / (1 − α)² = 1.36 with α = e^(−2).
    assert page.text("forged").startswith("One forged report can weigh as much as 1.4 people")
    assert page.text("promise").startswith("Noise with ε = 2 per step was added before reports left")
    assert page.evaluate("document.getElementById('misfit').hidden")
    assert page.errors == []


def test_charts_and_table_hold_every_cell(
    hurried: WatchingBrowser, site: Client, thousand: str, results: dict[str, Any]
) -> None:
    page = shown(hurried, site, thousand)
    above = sum(cell["share"] > 0 for cell in results["cells"])
    assert page.evaluate("document.querySelector('#shares .bars').getAttribute('d').split('M').length - 1") == above
    assert page.evaluate("document.querySelectorAll('#shares .whiskers, #cdf .band, #cdf .steps').length") == 3
    rows = page.evaluate("[...document.querySelectorAll('#rows tr')].map(r => [...r.cells].map(c => c.textContent))")
    assert rows == [
        [str(cell["value"]), hundredths(cell["share"]), interval(cell), hundredths(up_to["share"]), interval(up_to)]
        for cell, up_to in zip(results["cells"], results["cdf"], strict=True)
    ]


@pytest.mark.parametrize("chart", ["shares", "cdf"])
def test_the_figures_of_the_answer_under_the_mouse_are_told(
    hurried: WatchingBrowser, site: Client, thousand: str, chart: str
) -> None:
    """Pointed at through the whole page: the middle of each bar, and beyond the last one."""
    page = shown(hurried, site, thousand)
    page.evaluate(f"document.getElementById({chart!r}).scrollIntoView()")
    left, top, width = page.evaluate(f"""(({{ x, y, width }}) => [x, y, width])(
      document.querySelector('#{chart} svg').getBoundingClientRect())""")
    labels = page.evaluate(f"""[...document.querySelectorAll('#{chart} text[text-anchor=middle]')]
      .map(label => [label.textContent, label.getAttribute('x')].map(Number))""")
    (first, start), (last, end) = labels[0], labels[-1]
    slot = (end - start) / (last - first)
    for value in (20, 37, 59):
        middle = start + (value - first) * slot
        page.call("Input.dispatchMouseEvent", type="mouseMoved", x=left + middle, y=top + 100)
        page.wait(f"document.getElementById('{chart}-tip').innerText")
        assert re.match(rf"(Up to )?{value}: [0-9.]+% \([0-9.]+% to [0-9.]+%\)$", page.text(f"{chart}-tip"))
        marked = page.evaluate(f"Number(document.querySelector('#{chart} .pointed').getAttribute('x'))")
        assert marked == pytest.approx(middle - slot / 2, abs=0.05)
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=left + width - 2, y=top + 100)
    assert page.text(f"{chart}-tip") == ""


def hundredths(share: float) -> str:
    return f"{100 * share:.2f}"


def interval(row: dict[str, float]) -> str:
    return f"{hundredths(row['low'])} – {hundredths(row['high'])}"


def test_the_file_holds_every_figure(
    hurried: WatchingBrowser, site: Client, thousand: str, results: dict[str, Any]
) -> None:
    page = shown(hurried, site, thousand)
    text, name = page.evaluate("""(async () => {
      let made, name;
      URL.createObjectURL = (blob) => { made = blob; return "blob:none"; };
      HTMLAnchorElement.prototype.click = function () { name = this.download; };
      document.getElementById("download").click();
      return [await made.text(), name];
    })()""")
    head, *rows = text.splitlines()
    assert (name, head) == (f"{thousand}.csv", "value,share,low,high,cumulative,cumulative_low,cumulative_high")
    assert _csv(results).splitlines()[0] == head
    assert [[float(cell) for cell in row.split(",")] for row in rows] == [
        [cell["value"], cell["share"], cell["low"], cell["high"], up_to["share"], up_to["low"], up_to["high"]]
        for cell, up_to in zip(results["cells"], results["cdf"], strict=True)
    ]


def test_the_token_leaves_the_address_and_no_request_shows_it(
    hurried: WatchingBrowser, site: Client, thousand: str
) -> None:
    page = shown(hurried, site, thousand)
    assert page.evaluate("location.href") == address(site, f"/dashboard/{thousand}")
    assert page.evaluate("Object.values(sessionStorage).concat(Object.values(localStorage))") == [TOKEN]
    # The browser notes the fragment of the first request, but does not send it.
    assert [one for one in page.requests if TOKEN in one.partition("#")[0]] == []
    page.goto(address(site, f"/dashboard/{thousand}"))
    page.wait("document.querySelector('#cdf svg')")


QUIET = """(async () => {
  const seen = () => performance.getEntriesByType('resource').length;
  for (let before = -1; before !== seen(); ) {
    before = seen();
    await new Promise((done) => patient(done, 400));
  }
  return 0;
})"""
"""Waits until the page has asked nothing for many times as long as it waits between two questions."""


def test_the_page_is_live_until_it_is_hidden(hurried: WatchingBrowser, site: Client) -> None:
    name = site.add_survey(smallest_batch=5)
    site.report(name, 10, 20, 30)
    hurried.show(address(site, f"/dashboard/{name}#token={TOKEN}"))
    hurried.wait("document.getElementById('reports').innerText === '3'")
    assert hurried.text("needed") == "2 more needed: results appear from 5 on"
    assert hurried.evaluate("document.getElementById('results').hidden && document.querySelector('.result').hidden")
    site.report(name, 40, 50, 60)
    hurried.wait("document.getElementById('reports').innerText === '6' && document.querySelector('#cdf svg')")
    assert hurried.evaluate("document.querySelector('.result').hidden") is False
    hurried.evaluate("Object.defineProperty(document, 'hidden', { value: true, configurable: true }), 0")
    hurried.evaluate(f"{QUIET}()")
    before = len(hurried.requests)
    site.report(name, 70)
    hurried.evaluate(f"{QUIET}()")
    assert (hurried.text("reports"), len(hurried.requests)) == ("6", before)
    hurried.evaluate("delete document.hidden, document.dispatchEvent(new Event('visibilitychange')), 0")
    hurried.wait("document.getElementById('reports').innerText === '7'")


def test_results_are_asked_for_only_when_there_are_new_reports(
    hurried: WatchingBrowser, site: Client, thousand: str
) -> None:
    page = shown(hurried, site, thousand)
    page.wait("performance.getEntriesByType('resource').filter(one => one.name.endsWith('/api/surveys')).length > 2")
    asked = "performance.getEntriesByType('resource').filter(one => one.name.endsWith('/results')).length"
    assert page.evaluate(asked) == 1


def test_what_goes_wrong_is_told_in_sentences(hurried: WatchingBrowser, site: Client, thousand: str) -> None:
    page = hurried
    page.show(address(site, f"/dashboard/{thousand}"))
    page.shows("token-form")
    page.type("#token", "not-the-right-token")
    page.press_enter()
    page.shows("notice")
    assert page.text("notice") == "The collector does not accept this token. Type the right one."
    page.type("#token", "nö token")
    page.press_enter()
    page.wait("document.getElementById('notice').innerText.startsWith('This token cannot be right')")
    page.type("#token", TOKEN)
    page.press_enter()
    page.wait("document.querySelector('#cdf svg')")
    assert page.evaluate("document.getElementById('token-form').hidden && document.getElementById('notice').hidden")
    page.disconnect(True)
    try:
        page.shows("notice")
        assert page.text("notice").startswith("The collector cannot be reached. What is shown is of ")
    finally:
        page.disconnect(False)
    page.wait("document.getElementById('notice').hidden")
    page.show(address(site, "/dashboard/no-such-survey"))
    page.shows("notice")
    assert page.text("notice").startswith("There is no survey called “no-such-survey” here.")


def shown_with(page: WatchingBrowser, site: Client, name: str, **changed: Any) -> WatchingBrowser:
    """The page, with the collector's answer changed on its way."""
    source = f"""const asked = fetch; window.fetch = async (...about) => {{
      const answer = await asked(...about);
      if (!String(about[0]).endsWith("/results")) return answer;
      return new Response(JSON.stringify({{ ...await answer.json(), ...{json.dumps(changed)} }}));
    }}"""
    added = page.call("Page.addScriptToEvaluateOnNewDocument", source=source)
    try:
        return shown(page, site, name)
    finally:
        page.call("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])


def test_reports_that_did_not_get_the_noise_are_a_warning_above_all_figures(
    hurried: WatchingBrowser, site: Client
) -> None:
    name = site.add_survey()
    site.report(name, *[3] * 300)
    page = shown(hurried, site, name)
    assert page.text("misfit").startswith("These reports do not look as if they got this noise")
    assert "should have been added" in page.text("promise")
    places = "['misfit', 'figures'].map(id => document.getElementById(id).getBoundingClientRect())"
    warning, figures = page.evaluate(f"{places}.map(({{ top, bottom }}) => [top, bottom])")
    assert warning[0] < warning[1] < figures[1]
    page = shown_with(hurried, site, name, fits=None)
    assert page.evaluate("document.getElementById('misfit').hidden")


@pytest.mark.parametrize(("gap", "said"), [(0.25, "at most 3e-1"), (None, "an unknown amount")])
def test_an_unfinished_estimate_is_a_warning(
    hurried: WatchingBrowser, site: Client, thousand: str, gap: float | None, said: str
) -> None:
    page = shown_with(hurried, site, thousand, reached=False, gap=gap, one_report_moves=None)
    said = f"The solver stopped before its certificate was reached ({said} of log likelihood"
    assert page.text("certificate").startswith(said)
    assert page.evaluate("document.getElementById('certificate').className") == "warning"
    assert page.evaluate("document.getElementById('forged').hidden")


def test_the_promise_counts_epsilon_as_the_noise_does(hurried: WatchingBrowser, site: Client) -> None:
    """Per step of whatever length on an axis where noise grows with the distance, in all otherwise."""
    for more, said in (
        ({"max": 1000, "step": 500}, "ε = 1/2 per step of 500"),
        ({"max": 2, "mechanism": "randomized-response"}, "ε = 1/2"),
    ):
        name = site.add_survey(**more)
        site.report(name, *[0] * 3)
        assert shown(hurried, site, name).text("promise").startswith(f"Noise with {said} was added before")


@pytest.mark.parametrize("question", NASTY)
def test_a_question_is_shown_as_it_stands(hurried: WatchingBrowser, site: Client, question: str) -> None:
    name = site.add_survey(question=question)
    hurried.show(address(site, f"/dashboard/{name}#token={TOKEN}"), width=360)
    hurried.shows("figures")
    assert hurried.evaluate("document.querySelector('h1').textContent") == question
    assert hurried.evaluate("document.querySelectorAll('h1 *').length + Boolean(window.harmed)") == 0
    assert hurried.evaluate("document.documentElement.scrollWidth") <= 360
    assert hurried.errors == []


@pytest.mark.parametrize(("width", "dark"), [(360, False), (390, True), (1280, True)])
def test_the_page_fits_its_width(hurried: WatchingBrowser, site: Client, thousand: str, width: int, dark: bool) -> None:
    page = shown(hurried, site, thousand, width=width, dark=dark)
    page.evaluate("document.querySelector('details').open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.querySelector('#shares svg').clientWidth") <= width
    assert page.errors == []
