"""The page as text: complete, closed to the network, and inert whatever the names in the data are."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from sfumato.report.frontier.page import format_limit, format_range
from sfumato.report.shell import format_moment
from sfumato.trials.document import MeasureEntry

from .conftest import page_of
from .document import NASTY, frontier_document, typed


class Outline(HTMLParser):
    """Elements with their attributes, the text of scripts, and the text people see."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: dict[str, str] = {}
        self.texts: list[str] = []
        self._open = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open = (dict(attrs).get("id") or "code") if tag == "script" else tag

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self.elements and self.elements[-1][0] == "script" and self._open:
            self.scripts[self._open] = self.scripts.get(self._open, "") + data
        elif self._open not in ("style",):
            self.texts.append(data)

    def all(self, tag: str, **attributes: str) -> list[dict[str, str | None]]:
        return [
            found
            for name, found in self.elements
            if name == tag and all(found.get(key) == value for key, value in attributes.items())
        ]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


@pytest.fixture(scope="module")
def page(folder: Any) -> str:
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def outline(page: str) -> Outline:
    return Outline(page)


def remote_references(page: str) -> list[str]:
    """Whatever could make a browser ask for something."""
    markup = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    loads = r"""(?:src|href|action|srcset|poster|data)\s*=\s*["']?[a-z]*:?//[^\s>]*|@import[^;]*|url\([^)]*\)"""
    return re.findall(loads, markup, flags=re.IGNORECASE)


def test_nothing_is_loaded_from_anywhere(page: str, outline: Outline) -> None:
    assert remote_references(page) == []
    assert outline.all("link") == outline.all("iframe") == outline.all("img") == []
    assert [attributes for attributes in outline.all("script") if "src" in attributes] == []
    policy = outline.all("meta", **{"http-equiv": "Content-Security-Policy"})[0]["content"]
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    assert "http" not in policy


@pytest.mark.parametrize(
    "leak",
    [
        '<img src="https://a.b/c.png">',
        "<link href=//a.b/c.css>",
        "<style>@import 'x';</style>",
        '<p style="background:url(x)">',
    ],
)
def test_the_check_for_loading_finds_leaks(page: str, leak: str) -> None:
    assert len(remote_references(page.replace("<main>", f"<main>{leak}"))) == 1


def test_the_banner_comes_first(outline: Outline) -> None:
    body = [tag for tag, _ in outline.elements].index("body")
    assert outline.elements[body + 1][1].get("class") == "banner"
    assert "This report was computed on the real data. Do not publish it" in outline.text


def test_sections_come_in_their_order(outline: Outline) -> None:
    headings = [
        "Which version of",
        "Recommendation",
        "What a recipient gets",
        "All releases by privacy and utility",
        "All releases in figures",
        "Settings that were refused",
        "What the measures mean",
        "Caution:",
        "Made by sfumato 0.1.0 on 15 November 2026, 20:00 UTC",
    ]
    places = [outline.text.index(heading, 100) for heading in headings]
    assert places == sorted(places)


def test_every_trial_has_a_row(outline: Outline) -> None:
    ids = [attributes["data-trial"] for attributes in outline.all("tr") if "data-trial" in attributes]
    wanted = [trial["id"] for trial in frontier_document()["trials"]]
    assert ids[0] == "mondrian-t=0.15,-bucketized"
    assert sorted(filter(None, ids)) == sorted(wanted)
    assert len(outline.all("td", **{"data-measure": "u_loss"})) == len(wanted)


def test_every_measure_can_be_chosen_and_is_explained(outline: Outline) -> None:
    options = [attributes["value"] for attributes in outline.all("option")]
    document = frontier_document()
    assert options == [name for name, measure in document["measures"].items() if measure["family"] != "shape"]
    for measure in document["measures"].values():
        assert measure["sentence"] in outline.text
        assert all(mark["text"] in outline.text for mark in measure["scale"])
    assert "Lower is better. Unit: of at most 0.693. Range: 0 to 0.693." in outline.text
    assert "Higher is better. Unit: share of people. Range: 0% to 100%." in outline.text


def test_the_recommendation_is_told_in_words(outline: Outline) -> None:
    assert "the knee of the frontier, among releases with worst-case belief shift at most 0.2." in outline.text
    recommendation = frontier_document()["recommendation"]
    for sentence in (*recommendation["why"], *recommendation["recipient"], *recommendation["adversary"]):
        assert sentence in outline.text
    assert [attributes["class"] for attributes in outline.all("li") if "card" in (attributes.get("class") or "")] == [
        "card fair",
        "card fair",
        "card good",
        "card good",
        "card poor",
    ]
    assert "Median query error 8.4% poor lower is better" in outline.text


def test_parts_read_off_the_data_are_a_caution(outline: Outline) -> None:
    assert "age : min, max district : values" in outline.text


def test_candidates_are_shown_with_what_the_next_one_gains(outline: Outline) -> None:
    assert "The candidates Safest " in outline.text
    assert "Going on to the other, a typical count is off by 4% instead of 8%." in outline.text


def test_advice_takes_the_place_of_a_release_where_none_is_recommended() -> None:
    document = frontier_document()
    advice = {
        "sentence": "To get a release that is fit, leave out age.",
        "edits": ["leave out age"],
        "toml": '[columns."age"]\nrole = "ignore"',
        "columns": [{"column": "age", "action": "drop", "sentence": "Leave out age: a typical count is off by 9%."}],
        "more": ["With ε = 10, it would not do."],
    }
    changed = {"trial": None, "claim": None, "status": "nothing recommended", "candidates": [], "advice": advice}
    document["recommendation"] |= changed | {"figures": [], "why": ["Nothing is recommended: none is of use."]}
    text = Outline(page_of(document)).text
    for said in ("none is of use", advice["sentence"], 'role = "ignore"', "off by 9%", "it would not do"):
        assert said in text, said


def test_both_documents_can_be_read_back(outline: Outline) -> None:
    assert json.loads(outline.scripts["frontier"]) == frontier_document()
    assert len(json.loads(outline.scripts["chart-parts"])["rows"]) == 41


def test_nasty_text_is_shown_and_does_nothing(nasty_page: str) -> None:
    found = Outline(nasty_page)
    assert len(found.all("script")) == 4
    assert found.all("img") == []
    assert found.text.count("<img src=x onerror=") >= 5
    assert json.loads(found.scripts["frontier"]) == frontier_document(nasty=True)
    assert NASTY not in nasty_page
    assert "{{7*7}}" in found.text.split("Rows")[0]


def test_a_page_that_forgot_to_escape_would_be_noticed(nasty_page: str) -> None:
    broken = Outline(nasty_page.replace("<h1>", f"<h1>{NASTY}"))
    assert broken.all("img", onerror="window.harmed=1")
    assert len(broken.all("script")) != 4


def test_a_document_with_little_in_it_can_be_shown() -> None:
    document = frontier_document()
    document["trials"] = document["trials"][:2]
    for trial in document["trials"]:
        trial.update(seconds=None)
    document["table"].update(from_data={}, sensitive_shares=[], unique_share=None)
    document |= {"recommendation": None, "refused": [], "efficient": {}}
    page = Outline(page_of(document)).text
    assert "Nothing is recommended" in page
    assert "Caution" not in page
    assert "refused" not in page
    assert "repeated runs" not in page


def test_limits_are_worded_with_their_unit() -> None:
    measures = typed(frontier_document()).measures
    assert format_limit(measures["breach"], 0.5) == "breach increase at most 50%"
    assert format_limit(measures["empirical_privacy"], 0.3) == "empirical privacy at most 30%"


def test_ranges_and_moments_in_words() -> None:
    def words(*ends: float | None) -> str:
        return format_range(MeasureEntry("", "lower", "rows", "shape", "", ends, ()))

    assert words(1, None) == "1 or more"
    assert words(-1, 2.5) == "−1 to 2.5"
    assert words(None, 2) == "up to 2"
    assert words(None, None) == "any number"
    assert format_moment("2026-01-05T07:03:00+00:00") == "5 January 2026, 07:03 UTC"
