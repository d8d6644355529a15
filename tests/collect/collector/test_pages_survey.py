"""The participant's page in a real browser: what is typed stays there, and what leaves is always the same report."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from ...report.browser import needs_browser
from .client import eventually
from .watching import NASTY, address, opened

if TYPE_CHECKING:
    from .client import Client
    from .watching import WatchingBrowser

pytestmark = needs_browser

WIDE = {"min": 0, "max": 99_999, "epsilon": "1/100000"}
"""With so much noise a report is the true value with probability 5e-6: how often a search for it fails wrongly."""
STORED = "JSON.stringify(Object.entries(localStorage)) + JSON.stringify(Object.entries(sessionStorage))"


def answered(page: WatchingBrowser, value: str) -> None:
    before = len(page.posted)
    page.type("#value", value)
    page.press_enter()
    page.wait("!document.getElementById('send').disabled && !document.getElementById('sent').hidden")
    assert eventually(lambda: page.evaluate("1") == 1 and len(page.posted) > before)


def reports(site: Client, name: str) -> int:
    surveys = site.get_as_admin("/api/surveys").document["surveys"]
    return int(next(survey["reports"] for survey in surveys if survey["name"] == name))


def remembered(page: WatchingBrowser, name: str) -> dict[str, Any]:
    """What this browser stores for a survey."""
    found = page.evaluate(f"Object.entries(localStorage).filter(([key]) => key.split(':')[1] === {name!r})")
    assert len(found) == 1
    stored = json.loads(found[0][1])
    assert isinstance(stored, dict)
    return stored


def test_the_answer_stays_and_the_same_report_is_sent_twice(page: WatchingBrowser, site: Client) -> None:
    name = site.add_survey(**WIDE)
    opened(page, site, name)
    answered(page, "73519")
    page.wait("document.getElementById('sent-text').innerText.includes('was sent')")
    [first] = page.posted
    assert set(first) == {"id", "value"}
    assert page.text("sent-text") == f"Your answer stays here; {first['value']} was sent. Thank you."
    page.goto(address(site, f"/s/{name}"))
    page.shows("form")
    assert page.text("sent-text") == f"Your answer stays here; {first['value']} was sent from this browser before."
    assert page.evaluate("document.getElementById('value').value") == ""
    answered(page, "26480")
    assert page.posted == [first, first]
    assert reports(site, name) == 1
    assert remembered(page, name) == {**first, "delivered": True, "question": "How old are you?"}
    assert page.errors == []
    anywhere = json.dumps(page.wire) + str(page.evaluate(STORED)) + str(page.evaluate("location.href"))
    assert str(first["value"]) in anywhere
    for secret in ("73519", "26480"):
        assert secret not in anywhere.replace(first["id"], "")


def test_the_keys_of_a_report_in_storage_do_not_depend_on_how_epsilon_is_spelled(
    page: WatchingBrowser, site: Client
) -> None:
    opened(page, site, site.add_survey())
    keys = page.evaluate("""import("/assets/memory.js").then(({ keyOf }) => {
      const survey = { name: "age", min: 0, max: 99, step: 1, mechanism: "geometric" };
      return ["1/2", "0.5", "1/3"].map((epsilon) => keyOf({ ...survey, epsilon })).concat(
        keyOf({ ...survey, max: 98, epsilon: "1/2" }), keyOf({ ...survey, name: "ages", epsilon: "1/2" }));
    })""")
    assert keys[0] == keys[1] == "sfumato:age:0:99:1:geometric:1/2"
    assert len(set(keys)) == 4


def test_a_report_that_could_not_be_sent_is_sent_later_with_its_id(page: WatchingBrowser, site: Client) -> None:
    name = site.add_survey(**WIDE)
    opened(page, site, name)
    page.disconnect(True)
    try:
        answered(page, "73519")
        said = page.text("sent-text"), page.text("sent-more")
    finally:
        page.disconnect(False)
    kept = remembered(page, name)
    assert said[0] == f"Your answer stays here; {kept['value']} has not reached the collector yet."
    assert said[1].startswith("The collector could not be reached. The same number will be sent next time")
    assert (kept["delivered"], reports(site, name)) == (False, 0)
    page.goto(address(site, f"/s/{name}"))
    page.shows("again")
    page.evaluate("document.getElementById('again').click()")
    page.wait("document.getElementById('again').hidden")
    assert remembered(page, name) == {**kept, "delivered": True}
    assert page.posted[-1] == {"id": kept["id"], "value": kept["value"]}
    assert reports(site, name) == 1


def test_two_tabs_at_once_send_one_report(page: WatchingBrowser, site: Client) -> None:
    """Both begin at the same moment, each with a value of its own."""
    name = site.add_survey(**WIDE)
    opened(page, site, name)
    go = """(async () => {
      const { answer } = await import("/assets/answer.js");
      const survey = await (await fetch("/api/surveys/NAME")).json();
      await new Promise((done) => setTimeout(done, MOMENT - Date.now()));
      window.report = await answer(survey, VALUE);
    })(); window.report = null"""
    moment = str(int(time.time() * 1000) + 400)
    with page.second_tab(address(site, "/assets/page.css")) as other:
        for tab, value in ((page, "73519"), (other, "26480")):
            tab.evaluate(go.replace("NAME", name).replace("MOMENT", moment).replace("VALUE", value))
        found = []
        for tab in (page, other):
            tab.wait("window.report")
            found.append(tab.evaluate("[report.id, report.value, report.delivered]"))
    assert found[0] == found[1]
    assert found[0][2] is True
    assert reports(site, name) == 1


@pytest.mark.parametrize(
    ("locks", "delay", "ids"),
    [(True, 60, 1), (False, 60, 1), (False, 400, 2)],
    ids=["locks", "no locks", "no locks and far too slow"],
)
def test_tabs_that_see_writes_of_others_late_agree(
    page: WatchingBrowser, site: Client, locks: bool, delay: int, ids: int
) -> None:
    """Two views of one storage: each sees its own writes at once and those of the other when they are committed.

    The last case is a twin that waiting a moment cannot help: it must be found out.
    """
    name = site.add_survey(**WIDE)
    opened(page, site, name)
    found = page.evaluate(
        """(async (locks, delay, name) => {
      if (!locks) Object.defineProperty(navigator, "locks", { value: undefined, configurable: true });
      const { answer } = await import("/assets/answer.js");
      const survey = await (await fetch("/api/surveys/" + name)).json();
      const committed = new Map();
      const view = () => {
        const own = new Map();
        return {
          get length() { return new Set([...own.keys(), ...committed.keys()]).size; },
          key: (place) => [...new Set([...own.keys(), ...committed.keys()])][place] ?? null,
          getItem: (key) => own.get(key) ?? committed.get(key) ?? null,
          setItem: (key, text) => {
            own.set(key, text);
            setTimeout(() => { committed.set(key, text); own.delete(key); }, delay);
          },
        };
      };
      const tab = (value) => answer(survey, value, { storage: view() });
      const both = await Promise.all([tab(73519), tab(26480)]);
      return both.map(({ id }) => id);
    })(LOCKS, DELAY, NAME)""".replace("LOCKS, DELAY, NAME", f"{json.dumps(locks)}, {delay}, {name!r}")
    )
    assert len(set(found)) == ids
    assert reports(site, name) == ids


@pytest.mark.parametrize(
    "broken",
    [
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('denied'); } }); 0",
        "Storage.prototype.setItem = () => { throw new DOMException('full'); }",
        "Storage.prototype.setItem = () => {}",
        "Storage.prototype.getItem = () => 'not a report'",
    ],
)
def test_without_a_memory_nothing_is_sent(page: WatchingBrowser, site: Client, broken: str) -> None:
    name = site.add_survey()
    opened(page, site, name)
    page.evaluate(broken)
    page.type("#value", "40")
    page.press_enter()
    page.wait("document.getElementById('problem').innerText")
    assert page.text("problem").endswith("weaken your protection. Nothing was sent.")
    assert (page.posted, reports(site, name)) == ([], 0)


@pytest.mark.parametrize(
    ("typed", "rounded"),
    [("", ""), ("-1", ""), ("99", ""), ("1e9", ""), ("41", "40 or 42"), ("1.5", "2"), ("96.5", "96")],
)
def test_what_is_not_on_the_axis_is_refused_with_the_range_and_the_nearest(
    page: WatchingBrowser, site: Client, typed: str, rounded: str
) -> None:
    name = site.add_survey(min=0, max=98, step=2)
    opened(page, site, name)
    assert page.text("range") == "A whole number from 0 to 98 in steps of 2; round to the nearest."
    page.type("#value", typed)
    page.press_enter()
    page.wait("document.getElementById('problem').innerText")
    hint = f": round {typed} to {rounded}" if rounded else ""
    assert page.text("problem") == f"Please enter a whole number from 0 to 98 in steps of 2{hint}."
    assert page.evaluate("document.activeElement.id + document.activeElement.ariaInvalid") == "valuetrue"
    assert (page.posted, page.evaluate("localStorage.getItem('sfumato:' + 1)")) == ([], None)


def test_reports_are_on_the_axis_of_the_survey(page: WatchingBrowser, site: Client) -> None:
    """Negative numbers in steps: with little noise the report is near the answer, but for a probability of 1e-9."""
    name = site.add_survey(min=-50, max=50, step=5, epsilon="4")
    opened(page, site, name)
    answered(page, "-20")
    [report] = page.posted
    assert report["value"] in range(-45, 6, 5)
    assert page.text("protection").startswith("Hardly at all: with a chance of up to 98% the number sent is the answer")


@pytest.mark.parametrize(
    ("epsilon", "said"),
    [("1", "with a chance of up to 73% the number sent is exactly the answer"), ("2", "with a chance of up to 88%")],
)
def test_a_yes_or_no_is_not_promised_what_holds_inside_a_range(
    page: WatchingBrowser, site: Client, epsilon: str, said: str
) -> None:
    """At an end of the range 1 / (1 + e^(−ε)) are sent as they are, and a yes or no has ends only."""
    opened(page, site, site.add_survey(min=0, max=1, epsilon=epsilon))
    assert said in page.text("protection")
    assert "The number sent may be any that can be answered." in page.text("protection")


def test_a_survey_with_one_answer_says_that_it_asks_nothing(page: WatchingBrowser, site: Client) -> None:
    name = site.add_survey(min=5, max=5)
    page.show(address(site, f"/s/{name}"))
    page.shows("form")
    assert page.text("range").startswith("Only 5 can be answered")
    assert page.text("protection") == "Only one answer is possible, so there is nothing to protect."
    assert page.evaluate("document.getElementById('picture-holder').hidden")
    page.type("#value", "6")
    page.press_enter()
    page.wait("document.getElementById('problem').innerText")
    assert page.text("problem") == "Please enter the number 5."
    answered(page, "5")
    assert [one["value"] for one in page.posted] == [5]
    assert page.errors == []


@pytest.mark.parametrize(("step", "said"), [(1, "ε = 1/2 per step;"), (500, "ε = 1/2 per step of 500;")])
def test_the_promise_names_the_step(page: WatchingBrowser, site: Client, step: int, said: str) -> None:
    opened(page, site, site.add_survey(max=20 * step, step=step))
    assert said in page.evaluate("document.querySelector('details').textContent")


def test_closed_unknown_and_unreachable_surveys_are_told_in_sentences(page: WatchingBrowser, site: Client) -> None:
    page.show(address(site, f"/s/{site.add_survey(ends='2020-01-01')}"))
    page.shows("notice")
    assert page.text("notice").startswith("This survey is closed.")
    assert page.evaluate("document.getElementById('form').hidden")
    page.show(address(site, "/s/nothing-of-this-name"))
    page.shows("notice")
    assert page.text("notice").startswith("There is no survey called “nothing-of-this-name” here.")
    page.show(address(site, f"/s/{site.add_survey(mechanism='square-wave', epsilon=1)}"))
    page.shows("notice")
    assert page.text("notice").startswith("This survey cannot be answered in a browser")
    page.call("Network.setBlockedURLs", urls=["*/api/*"])
    try:
        page.show(address(site, f"/s/{site.add_survey()}"))
        page.shows("notice")
        assert page.text("notice").startswith("The collector cannot be reached.")
    finally:
        page.call("Network.setBlockedURLs", urls=[])


def test_a_survey_that_closes_meanwhile_says_so(page: WatchingBrowser, site: Client) -> None:
    name = site.add_survey()
    opened(page, site, name)
    page.evaluate('fetch = async () => new Response(\'{"error": "the survey is closed"}\', { status: 403 })')
    page.type("#value", "40")
    page.press_enter()
    page.shows("sent")
    assert page.text("sent-more").startswith("The survey is closed. The same number will be sent next time")


@pytest.mark.parametrize("question", NASTY)
def test_a_question_is_shown_as_it_stands(page: WatchingBrowser, site: Client, question: str) -> None:
    opened(page, site, site.add_survey(question=question), width=360)
    assert page.evaluate("document.querySelector('h1').textContent") == question
    assert page.evaluate("document.title") == " ".join(question.split())
    assert page.evaluate("document.querySelectorAll('h1 *').length + Boolean(window.harmed)") == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.errors == []


@pytest.mark.parametrize(("width", "dark"), [(360, True), (1200, False)])
def test_the_page_fits_its_width_and_obeys_its_policy(
    page: WatchingBrowser, site: Client, width: int, dark: bool
) -> None:
    question = "How many kilometres is it from your home to the place where you work, by the way you usually take?"
    opened(page, site, site.add_survey(question=question), width=width, dark=dark)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.title + document.querySelector('h1').innerText") == question * 2
    assert page.errors == []
    assert all(one.startswith((address(site, "/"), "data:")) for one in page.requests)
