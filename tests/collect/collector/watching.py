"""A browser that watches what is sent, and types like a person."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import websocket

from ...report.browser import PATIENCE, Browser

if TYPE_CHECKING:
    from .client import Client


NASTY = (
    """Is "that's" <b>\\bold\\</b> “true”? </title><script>harmed = 1</script><img src=x onerror="harmed = 1">""",
    "W" * 500,
    "כמה ק״מ (בערך) from home to work, ו־12 יותר? \u202egnorw\u202c",
    "line\none\ttab  ${harmed = 1} {{7 * 7}} %s &lt;b&gt;",
)
"""Questions that a careless page would run, cut, or be torn apart by."""


def address(site: Client, path: str) -> str:
    return f"http://127.0.0.1:{site.port}{path}"


class WatchingBrowser(Browser):
    """Notes every request with its headers and body, and types like a person."""

    def __init__(self) -> None:
        self.wire: list[dict[str, Any]] = []
        super().__init__()

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
        self.call(
            "Network.emulateNetworkConditions", offline=offline, latency=0, downloadThroughput=-1, uploadThroughput=-1
        )

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


def opened(page: WatchingBrowser, site: Client, name: str, **how: Any) -> WatchingBrowser:
    """The participant's page of a survey, drawn."""
    page.show(address(site, f"/s/{name}"), **how)
    page.wait("document.querySelector('#picture svg')")
    return page
