"""The browser's memory under attack: surveys that come back changed, under new names, in two tabs, or to no memory.

Twenty fresh reports at ε = 1/2 give an answer away, so whoever asks must not get them, however they ask.
"""

from __future__ import annotations

import json
import time
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import pytest

from sfumato.collect.collector.service import make_service
from sfumato.collect.collector.storage import Storage

from ...report.browser import needs_browser
from .client import SPEC, TOKEN, Client, eventually, serving
from .watching import address, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from starlette.types import Receive, Scope, Send

    from .watching import WatchingBrowser

pytestmark = needs_browser

ISSUES = 20
NAME = "age"
DRAWS = "localStorage.length"
COUNTING = """(() => {
  const secure = crypto.getRandomValues.bind(crypto);
  window.drawn = 0;
  crypto.getRandomValues = (array) => { window.drawn += 1; return secure(array); };
})()"""


class Reissuing:
    """A collector that is given up and set up anew at the same address, each time with an empty database."""

    def __init__(self, folder: Path, open_databases: ExitStack) -> None:
        self._folder, self._open, self._issues = folder, open_databases, 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    def issue(self, site: Client, **changed: Any) -> str:
        """Ask a survey on an empty database; its name."""
        self._issues += 1
        storage = self._open.enter_context(closing(Storage(self._folder / f"{self._issues}.sqlite")))
        self._app = make_service(storage, TOKEN)
        return site.add_survey(**{"name": NAME, **changed})


@pytest.fixture
def attacker(tmp_path: Path) -> Iterator[tuple[Client, Reissuing]]:
    with ExitStack() as databases:
        app = Reissuing(tmp_path, databases)
        with serving(app) as site:
            yield site, app


def visit(page: WatchingBrowser, site: Client, name: str, value: str = "40") -> str:
    """Open a survey and answer if the page lets one; the sentence of the refusal, or nothing if a report was sent."""
    before = len(page.posted)
    page.show(address(site, f"/s/{name}"))
    page.wait("document.querySelector('#picture svg') || document.getElementById('notice').innerText")
    if page.evaluate("document.getElementById('form').hidden"):
        assert len(page.posted) == before
        return page.text("notice")
    page.evaluate(COUNTING)
    page.type("#value", value)
    page.press_enter()
    page.wait("document.getElementById('problem').innerText || !document.getElementById('sent').hidden")
    if problem := page.text("problem"):
        assert page.evaluate("window.drawn") == 0
        return problem
    assert eventually(lambda: page.evaluate("!document.getElementById('send').disabled") and len(page.posted) > before)
    return ""


CHANGES: list[dict[str, Any]] = [
    *({"epsilon": f"{500 + number}/1000"} for number in range(1, 11)),
    {"epsilon": "1/4"},
    {"max": 98},
    {"max": 120},
    {"min": 1},
    {"min": -1},
    {"max": 98, "step": 2},
    {"question": "How old were you on your last birthday?"},
    {"question": "how old are you?"},
    {"question": "How old are you? ", "epsilon": "1/3"},
    {"min": 10, "max": 90, "epsilon": "3/7"},
]


def test_a_survey_that_comes_back_changed_gets_no_second_report(
    page: WatchingBrowser, attacker: tuple[Client, Reissuing]
) -> None:
    """As it was found: the same name, a slightly different ε, twenty times. Unchanged, it gets the same report."""
    site, app = attacker
    assert len(CHANGES) == ISSUES
    assert visit(page, site, app.issue(site)) == ""
    [report] = page.posted
    for changed in CHANGES:
        refused = visit(page, site, app.issue(site, **changed))
        assert refused.startswith("This browser has answered a survey of this name, which had another "), changed
        assert refused.endswith("would weaken your protection. Nothing was sent.")
    assert page.posted == [report]
    assert visit(page, site, app.issue(site)) == ""
    assert page.posted == [report, report]
    assert page.evaluate(DRAWS) == 1
    assert page.errors == []


def test_the_refusal_names_what_has_changed(page: WatchingBrowser, attacker: tuple[Client, Reissuing]) -> None:
    site, app = attacker
    visit(page, site, app.issue(site))
    said = visit(page, site, app.issue(site, question="How tall are you?", epsilon="1/3"))
    assert "which had another question and another ε." in said


def test_new_names_stop_at_the_cap(page: WatchingBrowser, attacker: tuple[Client, Reissuing]) -> None:
    """Eight reports at ε = 1/2 make 4; the other twelve surveys get none, and those answered before the same again."""
    site, app = attacker
    refused = [visit(page, site, app.issue(site, name=f"age-{number}")) for number in range(ISSUES)]
    assert [bool(said) for said in refused] == [False] * 8 + [True] * 12
    assert "more than ε = 4, the most that this page sends" in refused[-1]
    assert len({one["id"] for one in page.posted}) == page.evaluate(DRAWS) == 8
    assert page.text("spent") == "ε = 4 in all; so far they are worth ε = 4"
    assert visit(page, site, app.issue(site, name="age-3"), "77") == ""
    assert page.posted[-1] == page.posted[3]
    assert page.evaluate(DRAWS) == 8


@pytest.mark.parametrize(
    ("epsilons", "sent"),
    [(["4"], 1), (["4001/1000"], 0), (["7/3", "5/3"], 2), (["7/3", "1667/1000", "1/1000000"], 1 + 1)],
)
def test_the_cap_is_reached_exactly(
    page: WatchingBrowser, attacker: tuple[Client, Reissuing], epsilons: list[str], sent: int
) -> None:
    """7/3 + 5/3 is 4; 7/3 + 1.667 is more, by less than a thousandth, and a millionth still fits after it."""
    site, app = attacker
    for number, epsilon in enumerate(epsilons):
        visit(page, site, app.issue(site, name=f"age-{number}", epsilon=epsilon))
    assert len(page.posted) == sent


def test_a_report_of_an_earlier_version_is_known_and_counts(
    page: WatchingBrowser, attacker: tuple[Client, Reissuing]
) -> None:
    """It has the same key and no question."""
    site, app = attacker
    page.show(address(site, f"/s/{app.issue(site)}"))
    old = {"id": "0123456789abcdef", "value": 17, "delivered": True}
    page.evaluate(f"localStorage.setItem('sfumato:age:0:99:1:geometric:1/2', {json.dumps(json.dumps(old))})")
    assert visit(page, site, NAME) == ""
    assert page.posted == [{"id": old["id"], "value": 17}]
    assert "another ε" in visit(page, site, app.issue(site, epsilon="51/100"))
    assert "more than ε = 4" in visit(page, site, app.issue(site, name="other", epsilon="36/10"))


@pytest.mark.parametrize(
    ("changed", "sent"),
    [
        ({"max": 99_000}, 0),
        ({"max": 99_000, "epsilon": "1/2000"}, 1),
        ({"max": 799}, 1),
        ({"max": 800}, 0),
        ({"min": -1000, "max": 98_000, "step": 1000}, 1),
        ({"max": 9, "epsilon": "4"}, 1),
    ],
)
def test_a_finer_unit_makes_a_report_worth_no_less(
    page: WatchingBrowser, attacker: tuple[Client, Reissuing], changed: dict[str, Any], sent: int
) -> None:
    """As it was found: one report of "your age times 1000" at ε = 1/2 gave the age away, and counted 1/2."""
    site, app = attacker
    said = visit(page, site, app.issue(site, name="fine", **changed), "8000" if "step" in changed else "7")
    assert len(page.posted) == sent
    assert "more than ε = 4" in said or sent


def test_a_fine_report_of_an_earlier_version_counts_for_what_it_told(
    page: WatchingBrowser, attacker: tuple[Client, Reissuing]
) -> None:
    """It was sent when it counted less: it is kept, sent again as it is, and no other is drawn."""
    site, app = attacker
    page.show(address(site, f"/s/{app.issue(site, name='fine', max=99_000)}"))
    old = {"id": "0123456789abcdef", "value": 37_001, "delivered": True, "question": SPEC["question"]}
    page.evaluate(f"localStorage.setItem('sfumato:fine:0:99000:1:geometric:1/2', {json.dumps(json.dumps(old))})")
    assert visit(page, site, "fine") == ""
    assert page.posted == [{"id": old["id"], "value": 37_001}]
    assert "more than ε = 4" in visit(page, site, app.issue(site, name="other"))
    assert page.text("spent") == "ε = 4 in all; so far they are worth ε = 495.005"


RACE = """(async () => {
  const { answer } = await import("/assets/answer.js");
  const survey = SURVEY;
  if (!LOCKS) Object.defineProperty(navigator, "locks", { value: undefined, configurable: true });
  await new Promise((done) => setTimeout(done, MOMENT - Date.now()));
  window.report = await answer(survey, 40).then(({ id }) => id, ({ message }) => message);
})(); window.report = null"""


@pytest.mark.parametrize("locks", [True, False])
@pytest.mark.parametrize(
    ("one", "other"),
    [({}, {"epsilon": "51/100"}), ({"name": "age-1", "epsilon": "3"}, {"name": "age-2", "epsilon": "3"})],
    ids=["changed", "beyond the cap"],
)
def test_two_tabs_at_once_get_one_report_between_them(
    page: WatchingBrowser, attacker: tuple[Client, Reissuing], one: Any, other: Any, locks: bool
) -> None:
    """With locks exactly one; without, each tab may find the other's report first, and then nobody sends."""
    site, app = attacker
    app.issue(site)
    page.goto(address(site, "/assets/page.css"))
    spec = {**SPEC, "step": 1, "mechanism": "geometric", "epsilon": "1/2"}
    with page.second_tab(address(site, "/assets/page.css")) as second:
        for tab in (page, second):
            tab.wait("location.pathname.endsWith('page.css') && document.readyState === 'complete'")
        moment = int(time.time() * 1000) + 500
        for tab, changed in ((page, one), (second, other)):
            go = RACE.replace("SURVEY", json.dumps({**spec, **changed})).replace("LOCKS", json.dumps(locks))
            tab.evaluate(go.replace("MOMENT", str(moment)))
        for tab in (page, second):
            tab.wait("window.report")
        found = [tab.evaluate("window.report") for tab in (page, second)]
        posted = len(page.posted) + len(second.posted)
    refused = [said for said in found if said.endswith("Nothing was sent.")]
    assert posted == 2 - len(refused)
    assert posted == 1 if locks else posted <= 1


@pytest.mark.parametrize(
    "spoiled",
    [
        "sfumato:age-2:0:99:1:geometric:0/1",
        "sfumato:age-2",
        "sfumato:age-2:0:99:1:geometric:1/2:more",
        "sfumato:age-2:0:x:1:geometric:1/2",
    ],
)
def test_what_cannot_be_read_counts_as_too_much(
    page: WatchingBrowser, attacker: tuple[Client, Reissuing], spoiled: str
) -> None:
    site, app = attacker
    opened(page, site, app.issue(site))
    page.evaluate(f"localStorage.setItem({spoiled!r}, '{{}}')")
    assert visit(page, site, NAME).startswith("What this browser remembers of your reports cannot be read")
    assert page.posted == []


def test_a_page_that_cannot_remember_says_so_and_asks_nothing(
    page: WatchingBrowser, attacker: tuple[Client, Reissuing]
) -> None:
    site, app = attacker
    broken = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('denied'); } })"
    script = page.call("Page.addScriptToEvaluateOnNewDocument", source=broken)["identifier"]
    try:
        said = visit(page, site, app.issue(site))
    finally:
        page.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script)
    assert said.startswith("This browser does not let the page remember your report")
    assert page.posted == []


def test_a_private_window_forgets_and_the_page_says_so(
    page: WatchingBrowser, attacker: tuple[Client, Reissuing]
) -> None:
    """What the page cannot hold: stored data that were deleted, as at the end of a private window, allow a second."""
    site, app = attacker
    name = app.issue(site)
    visit(page, site, name)
    page.evaluate("localStorage.clear()")
    visit(page, site, name)
    assert len({one["id"] for one in page.posted}) == 2
    assert "A private window, another browser or device" in page.text("about")
