"""What holds for every answer: security headers, which other sites may call, and nothing told about failures."""

from __future__ import annotations

import json
import logging
import re
import traceback
from collections.abc import Iterable
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.errors import ParameterError

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {"content-security-policy": POLICY, "x-content-type-options": "nosniff", "referrer-policy": "no-referrer"}
ORIGIN = re.compile(r"https?://[^\s/?#@*,]+")
PUBLIC = {"GET": re.compile(r"/api/surveys/[^/]+"), "POST": re.compile(r"/api/surveys/[^/]+/reports")}
FAILED = "the collector failed; try again later"

log = logging.getLogger("sfumato.collector")


def check_origins(origins: Iterable[str]) -> frozenset[str]:
    """The sites whose pages may send reports, as browsers spell them."""
    found = frozenset(origins)
    for origin in sorted(found):
        if not ORIGIN.fullmatch(origin):
            raise ParameterError(f"the origin {origin!r} is not a site; expected one such as https://example.org")
    return found


class Guard:
    """Stands around the whole service; what fails inside is answered without a word about the data."""

    def __init__(self, app: ASGIApp, origins: frozenset[str]) -> None:
        self.app, self.origins = app, origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        sent = False
        allowed = self._allowed(scope)

        async def send_guarded(message: Message) -> None:
            nonlocal sent
            if message["type"] == "http.response.start":
                sent = True
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("cache-control", "no-store")
                for name, value in allowed.items():
                    headers[name] = value
            await send(message)

        try:
            if allowed and scope["method"] == "OPTIONS":
                await _answer(send_guarded, 204, b"")
            else:
                await self.app(scope, receive, send_guarded)
        except ClientDisconnect:
            pass
        except Exception as error:
            log.error("the collector failed: %s", _place(error))
            if not sent:
                await _answer(send_guarded, 500, json.dumps({"error": FAILED}).encode())

    def _allowed(self, scope: Scope) -> dict[str, str]:
        """The headers that let a page of another site make a public call."""
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        asking = scope["method"] == "OPTIONS"
        method = headers.get("access-control-request-method", "") if asking else scope["method"]
        public = method in PUBLIC and PUBLIC[method].fullmatch(scope["path"])
        if origin not in self.origins or not public:
            return {}
        allowed = {"access-control-allow-origin": str(origin), "vary": "Origin"}
        if asking:
            allowed |= {"access-control-allow-methods": method, "access-control-allow-headers": "content-type"}
        return allowed


async def _answer(send: Send, status: int, body: bytes) -> None:
    headers: list[Any] = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers if body else []})
    await send({"type": "http.response.body", "body": body})


def _place(error: Exception) -> str:
    """The kind of an error and where it arose; not its message, which may repeat what somebody sent."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {last.name}, line {last.lineno} of {last.filename.rpartition('/')[2]}"
