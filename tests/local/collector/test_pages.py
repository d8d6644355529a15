"""The files of both pages: what they may hold, that all they ask for is there, and a browser that watches the wire."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import websocket

from sfumato.local.collector.service import PAGES
from sfumato.local.collector.storage import Storage

from ...report.browser import NAMES, PATIENCE, Browser, chromium
from .client import running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .client import Client

needs_browser = [
    pytest.mark.browser,
    pytest.mark.skipif(chromium() is None, reason=f"none of {', '.join(NAMES)} is installed"),
]
SOURCES = sorted(path for path in PAGES.iterdir() if path.suffix in (".js", ".html", ".css"))
SCRIPTS = [path for path in SOURCES if path.suffix == ".js"]
HTML = [path for path in SOURCES if path.suffix == ".html"]
LONGEST_FILE = 250
READABLE = 4.5
"""The least contrast of text that the accessibility guidelines (WCAG 2, AA) ask for."""
SEEABLE = 3.0
"""The least contrast of what is drawn."""


class WatchingBrowser(Browser):
    """Notes every request with its headers and body, and types like a person."""

    def __init__(self, executable: str) -> None:
        self.wire: list[dict[str, Any]] = []
        super().__init__(executable)

    def _note(self, message: dict[str, Any]) -> None:
        super()._note(message)
        if message.get("method") in ("Network.requestWillBeSent", "Network.requestWillBeSentExtraInfo"):
            self.wire.append(message["params"])

    @property
    def posted(self) -> list[Any]:
        """The bodies that were sent, in order."""
        requests = [one["request"] for one in self.wire if "request" in one]
        return [json.loads(one["postData"]) for one in requests if one["method"] == "POST"]

    def show(self, address: str, *, width: int = 1200, height: int = 900, dark: bool = False) -> None:
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[theme])
        self.resize(width, height)
        # Only another fragment would not load the page anew.
        self.goto("about:blank")
        self.goto(address)

    def type(self, selector: str, text: str) -> None:
        self.evaluate(f"(field => {{ field.focus(); field.select(); }})(document.querySelector({selector!r}))")
        self.call("Input.insertText", text=text)

    def press_enter(self) -> None:
        key = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13}
        self.call("Input.dispatchKeyEvent", type="keyDown", text="\r", **key)
        self.call("Input.dispatchKeyEvent", type="keyUp", **key)

    def text(self, element: str) -> str:
        return str(self.evaluate(f"document.getElementById({element!r}).innerText"))

    def shows(self, element: str) -> None:
        """Wait until an element is to be seen."""
        self.wait(f"!document.getElementById({element!r}).hidden")

    def disconnect(self, offline: bool) -> None:
        self.call("Network.emulateNetworkConditions", offline=offline, latency=0, downloadThroughput=-1,
                  uploadThroughput=-1)  # fmt: skip

    def second_tab(self, address: str) -> WatchingBrowser:
        """Another tab of this browser."""
        target = self.call("Target.createTarget", url=address)["targetId"]
        port = (Path(self._profile) / "DevToolsActivePort").read_text().splitlines()[0]
        return _Tab(f"ws://127.0.0.1:{port}/devtools/page/{target}")


class _Tab(WatchingBrowser):
    def __init__(self, address: str) -> None:
        self.wire, self.errors, self.requests, self._number = [], [], [], 0
        self._socket = websocket.create_connection(address, suppress_origin=True, timeout=PATIENCE)
        for domain in ("Page", "Runtime", "Network"):
            self.call(f"{domain}.enable")
        self.wait("document.readyState === 'complete'")

    def close(self) -> None:
        self.call("Page.close")
        self._socket.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[WatchingBrowser]:
    executable = chromium()
    assert executable is not None
    with WatchingBrowser(executable) as opened:
        yield opened


@pytest.fixture
def page(browser: WatchingBrowser) -> WatchingBrowser:
    """The browser, having seen nothing."""
    browser.goto("about:blank")
    browser.wire.clear()
    return browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A collector; each test makes a survey of its own."""
    place = tmp_path_factory.mktemp("pages") / "collected.sqlite"
    with closing(Storage(place)) as storage, running(storage) as client:
        yield client


def address(site: Client, path: str) -> str:
    return f"http://127.0.0.1:{site.port}{path}"


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
    ["Math.random()", 'Math["random"]()', "<script>go()</script>", '<p style="color: red">', '<a onclick="go()">',
     "fetch('https://elsewhere.example/')", "box.innerHTML = text"],
)  # fmt: skip
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
    assert wanted >= {"survey.js", "dashboard.js", "perturb.js", "page.css", "answer.js"}
    assert {name: site.get(f"/assets/{name}").status for name in wanted} == dict.fromkeys(wanted, 200)


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
