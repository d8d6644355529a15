"""The files of both pages: what they may hold, and that all they ask for is there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from sfumato.collect.collector.service import PAGES
from sfumato.collect.survey import MAX_IN_BROWSER

if TYPE_CHECKING:
    from pathlib import Path

    from .client import Client

SOURCES = sorted(path for path in PAGES.iterdir() if path.suffix in (".js", ".html", ".css"))
SCRIPTS = [path for path in SOURCES if path.suffix == ".js"]
HTML = [path for path in SOURCES if path.suffix == ".html"]
LONGEST_FILE = 250
READABLE = 4.5
"""The least contrast of text that the accessibility guidelines (WCAG 2, AA) ask for."""
SEEABLE = 3.0
"""The least contrast of what is drawn."""


def forbidden(source: str) -> list[str]:
    """What no file of the pages may hold: weak randomness, inline scripts and styles, other sites, code from text."""
    found = re.findall(r"Math\s*(?:\.|\?\.|\[)\s*\W?random|\beval\(|new Function|innerHTML|document\.cookie", source)
    found += re.findall(r"<script(?![^>]*\bsrc=)[^>]*>|<style|\sstyle=|\son[a-z]+=\"", source)
    return found + [one for one in re.findall(r"https?://[^\s\"'`]+", source) if "w3.org" not in one]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_files_are_small_and_hold_nothing_forbidden(path: Path) -> None:
    source = path.read_text(encoding="utf-8").replace("https://collector.example/api/surveys/age/reports", "")
    assert forbidden(source) == []
    assert len(source.splitlines()) <= LONGEST_FILE


@pytest.mark.parametrize(
    "source",
    [
        "Math.random()",
        'Math["random"]()',
        "<script>go()</script>",
        '<p style="color: red">',
        '<a onclick="go()">',
        "fetch('https://elsewhere.example/')",
        "box.innerHTML = text",
    ],
)
def test_what_is_forbidden_would_be_found(source: str) -> None:
    assert forbidden(source) != []


def test_the_noise_needs_no_other_file_and_one_source_of_randomness() -> None:
    source = (PAGES / "perturb.js").read_text(encoding="utf-8")
    code = "\n".join(line for line in source.splitlines() if not line.startswith("//"))
    assert re.findall(r"\bimport\b|\bfetch\b|Storage|document|window|Date|performance", code) == []
    assert code.count("getRandomValues") == 1


def test_whatever_the_pages_ask_for_is_there(site: Client) -> None:
    wanted = {name for path in HTML for name in re.findall(r'\.\./assets/([^"]+)"', path.read_text(encoding="utf-8"))}
    wanted |= {name for path in SCRIPTS for name in re.findall(r'from "\./([^"]+)"', path.read_text(encoding="utf-8"))}
    assert wanted >= {"survey.js", "dashboard.js", "perturb.js", "page.css", "answer.js", "memory.js"}
    assert {name: site.get(f"/assets/{name}").status for name in wanted} == dict.fromkeys(wanted, 200)


def test_the_cap_of_the_pages_is_the_one_that_is_told() -> None:
    found = re.findall(r"^export const CAP = (\d+)n;$", (PAGES / "memory.js").read_text(encoding="utf-8"), re.MULTILINE)
    assert found == [str(MAX_IN_BROWSER)]


def test_an_answer_cannot_reach_an_address() -> None:
    """A field with a name would be sent in the address if the script failed to load and the form was submitted."""
    fields = re.findall(r"<input[^>]*>", (PAGES / "survey.html").read_text(encoding="utf-8"))
    assert len(fields) == 1
    assert " name=" not in fields[0]


@pytest.mark.parametrize("path", HTML, ids=lambda path: path.name)
def test_every_field_has_a_label(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    fields = re.findall(r'<input id="([^"]+)"', source)
    assert len(fields) == source.count("<input")
    assert set(fields) <= set(re.findall(r'<label for="([^"]+)"', source))


def colours() -> list[dict[str, str]]:
    """The named colours of the light and of the dark theme."""
    style = (PAGES / "page.css").read_text(encoding="utf-8")
    themes = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    found = [dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6})", theme)) for theme in themes]
    assert [len(theme) for theme in found] == [12, 12]
    return found


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, as WCAG 2 counts it."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_and_marks_stand_out(theme: int) -> None:
    named = colours()[theme]
    for paper in ("paper", "faint"):
        for ink in ("ink", "quiet", "accent", "mark", "good", "poor"):
            assert contrast(named[ink], named[paper]) >= READABLE, (ink, paper)
    for drawn in ("bar", "edge", "focus"):
        assert contrast(named[drawn], named["paper"]) >= SEEABLE, drawn


def test_contrast_is_counted_as_the_guidelines_do() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
