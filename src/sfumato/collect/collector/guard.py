"""What holds for every answer: security headers, which other sites may call, and nothing told about failures."""

import logging
import re
import traceback
from collections.abc import Iterable

from starlette.datastructures import MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.errors import ParameterError

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {"content-security-policy": POLICY, "x-content-type-options": "nosniff", "referrer-policy": "no-referrer"}
ORIGIN = re.compile(r"https?://[^\s/?#@*,]+")
PUBLIC = {"GET": re.compile(r"/api/surveys/[^/]+"), "POST": re.compile(r"/api/surveys/[^/]+/reports")}

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

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sent = False

        async def send_guarded(message: Message) -> None:
            nonlocal sent
            if message["type"] == "http.response.start":
                sent = True
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        try:
            await self.app(scope, receive, send_guarded)
        except ClientDisconnect:
            pass
        except Exception as error:
            # Where it arose, and not its message, which may repeat what somebody sent.
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{last.name}, line {last.lineno} of {last.filename.rpartition('/')[2]}"
            log.error("the collector failed: %s in %s", type(error).__name__, place)
            if not sent:
                answer = JSONResponse({"error": "the collector failed; try again later"}, 500)
                await answer(scope, receive, send_guarded)


class PublicCalls:
    """Lets pages of other sites make the calls that need no token, and no others."""

    def __init__(self, app: ASGIApp, origins: frozenset[str]) -> None:
        self.app = app
        self.public = [
            (path, CORSMiddleware(app, allow_origins=origins, allow_methods=[method]))
            for method, path in PUBLIC.items()
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        open_to_others = (cors for path, cors in self.public if path.fullmatch(scope["path"]))
        await next(open_to_others, self.app)(scope, receive, send)
