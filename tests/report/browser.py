"""Real Chromium, driven over its DevTools protocol: enough to open a page, ask it things and look at it."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Self
from urllib.request import ProxyHandler, build_opener

import pytest
import websocket

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    # One process draws all pages; otherwise every visit starts another.
    "--disable-features=IsolateOrigins,site-per-process,BackForwardCache,ProactivelySwapBrowsingInstance",
    "--renderer-process-limit=1",
    "--remote-debugging-port=0",
)
PATIENCE = 60.0


def chromium() -> str | None:
    """The path of the first browser found."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


needs_browser = [
    pytest.mark.browser,
    pytest.mark.skipif(chromium() is None, reason=f"none of {', '.join(NAMES)} is installed"),
]


class Browser:
    """One tab. `errors` holds console errors and exceptions, `requests` the addresses that were asked for."""

    def __init__(self, executable: str | None = None) -> None:
        executable = executable or chromium()
        assert executable is not None
        self._profile = tempfile.mkdtemp(prefix="sfumato-browser-")
        command = [executable, *FLAGS, f"--user-data-dir={self._profile}", "about:blank"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(command, start_new_session=True, **quiet)
        self._number = 0
        self.errors: list[str] = []
        self.requests: list[str] = []
        try:
            self._socket = websocket.create_connection(self._tab(), suppress_origin=True, timeout=PATIENCE)
            for domain in ("Page", "Runtime", "Network", "Log"):
                self.call(f"{domain}.enable")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if hasattr(self, "_socket"):
            self._socket.close()
        for ending in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(self._process.pid, ending)
                self._process.wait(5)
        shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its answer, noting what happens meanwhile."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == self._number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self._note(message)

    def goto(self, address: str) -> None:
        self.errors.clear()
        self.requests.clear()
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete'")

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression; a promise is awaited."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def wait(self, condition: str) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.evaluate(f"Boolean({condition})"):
                return
            time.sleep(0.03)
        raise TimeoutError(f"never became true: {condition}; errors: {self.errors}")

    def resize(self, width: int, height: int) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def media(self, kind: str) -> None:
        """Emulate `print` or `screen`."""
        self.call("Emulation.setEmulatedMedia", media=kind)

    def screenshot(self, path: Path | str, *, whole: bool = True) -> None:
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **self._clip(whole))
        Path(path).write_bytes(base64.b64decode(shot["data"]))

    def _clip(self, whole: bool) -> dict[str, Any]:
        if not whole:
            return {}
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}}

    def _tab(self) -> str:
        ready = Path(self._profile) / "DevToolsActivePort"
        direct = build_opener(ProxyHandler({}))
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if ready.exists() and (lines := ready.read_text().splitlines()):
                with direct.open(f"http://127.0.0.1:{lines[0]}/json/list") as answer:
                    pages = [one for one in json.load(answer) if one["type"] == "page"]
                if pages:
                    return str(pages[0]["webSocketDebuggerUrl"])
            time.sleep(0.03)
        raise TimeoutError(f"the browser did not start (exit code {self._process.poll()})")

    def _note(self, message: dict[str, Any]) -> None:
        about = message.get("params", {})
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(about["request"]["url"])
            case "Runtime.exceptionThrown":
                self.errors.append(json.dumps(about["exceptionDetails"])[:2000])
            case "Runtime.consoleAPICalled" if about["type"] in ("error", "warning", "assert"):
                self.errors.append(json.dumps(about["args"])[:2000])
            case "Log.entryAdded" if about["entry"]["level"] in ("error", "warning"):
                self.errors.append(about["entry"]["text"])
