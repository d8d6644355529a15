"""The HTTP interface of the collector: surveys and results for whoever holds the token, reports from everyone.

Errors are answered as {"error": sentence}. A report is acknowledged once it is stored; results appear from the
survey's smallest batch on. Addresses of senders and times are neither stored nor logged.
"""

import hmac
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI, Request, Response
from numpy.typing import NDArray
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import JSONResponse

from sfumato.collect.collector.database import UnavailableError
from sfumato.collect.collector.guard import Guard, PublicCalls, check_origins, log
from sfumato.collect.collector.requests import RefusedError, parse_reports, parse_survey, read_json
from sfumato.collect.collector.storage import Storage
from sfumato.collect.survey import NAME, Survey
from sfumato.errors import ParameterError, SfumatoError

PAGES = Path(__file__).with_name("pages")
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
TOKEN = re.compile(r"[!-~]{16,200}")
WRONG_TOKEN = "this needs the administrator's token; expected the header Authorization: Bearer TOKEN"


def check_token(token: str) -> None:
    """Refuse a token that is too easy to guess, or that no header can carry."""
    if not TOKEN.fullmatch(token):
        raise ParameterError("the administrator's token is not usable; expected 16 to 200 ASCII characters, no spaces")


def make_service(storage: Storage, token: str, *, origins: Iterable[str] = ()) -> FastAPI:
    """The collector as an application; pages of `origins` may send reports from other sites."""
    check_token(token)
    around = [Middleware(Guard), Middleware(PublicCalls, origins=check_origins(origins))]
    handlers: dict[int | type[Exception], Any] = {SfumatoError: refuse, HTTPException: refuse}
    app = FastAPI(openapi_url=None, redirect_slashes=False, middleware=around, exception_handlers=handlers)
    collector = Collector(storage, token)
    for method, path, endpoint in (
        ("POST", "/api/surveys", collector.add_survey),
        ("GET", "/api/surveys", collector.list_surveys),
        ("GET", "/api/surveys/{name}", collector.show_survey),
        ("POST", "/api/surveys/{name}/reports", collector.add_reports),
        ("GET", "/api/surveys/{name}/counts", collector.show_counts),
        ("GET", "/api/surveys/{name}/results", collector.show_results),
        ("GET", "/s/{name}", collector.page),
        ("GET", "/dashboard/{name}", collector.page),
        ("GET", "/assets/{name}", collector.asset),
    ):
        app.add_api_route(path, endpoint, methods=[method], response_model=None)
    return app


class Collector:
    """The answers to all requests. Surveys never change, so those once seen are kept."""

    def __init__(self, storage: Storage, token: str) -> None:
        self._storage, self._token = storage, token.encode()
        self._surveys: dict[str, Survey] = {}
        self._results: dict[str, tuple[int, dict[str, Any]]] = {}
        # Whoever waits for an estimate waits here, and not in a thread that reports need.
        self._one_at_a_time = CapacityLimiter(1)
        self._files = {path.name: path.read_bytes() for path in PAGES.glob("*") if path.suffix in TYPES}

    async def add_survey(self, request: Request) -> Response:
        self._admit(request)
        survey = parse_survey(await read_json(request))
        new = await to_thread.run_sync(self._storage.add_survey, survey)
        return JSONResponse(survey.spec(), 201 if new else 200)

    async def list_surveys(self, request: Request) -> Response:
        self._admit(request)
        found = await to_thread.run_sync(self._storage.surveys)
        surveys = [{**survey.spec(), "reports": reports, "open": survey.is_open()} for survey, reports in found]
        return JSONResponse({"surveys": surveys})

    async def show_survey(self, name: str) -> Response:
        survey = await self._survey(name)
        promise = {"open": survey.is_open(), "claim": survey.channel.claim.sentence()}
        ends = {"lowest_report": survey.lowest_report, "highest_report": survey.highest_report}
        return JSONResponse({**survey.spec(), **promise, **ends})

    async def add_reports(self, request: Request, name: str) -> Response:
        survey = await self._survey(name)
        reports = parse_reports(await read_json(request), survey)
        # Asked last: the survey may end while a body arrives.
        if not survey.is_open():
            raise RefusedError(403, f"the survey {name!r} is closed; it takes no more reports")
        receipt = await to_thread.run_sync(self._storage.add_reports, name, reports)
        return JSONResponse(receipt._asdict())

    async def show_counts(self, request: Request, name: str) -> Response:
        self._admit(request)
        survey = await self._survey(name)
        counts = await to_thread.run_sync(self._counts, survey)
        return JSONResponse({"survey": survey.spec(), "reports": int(counts.sum()), "counts": counts.tolist()})

    async def show_results(self, request: Request, name: str) -> Response:
        self._admit(request)
        survey = await self._survey(name)
        results = await to_thread.run_sync(self._estimate, survey, limiter=self._one_at_a_time)
        return JSONResponse({**results, "survey": survey.spec(), "open": survey.is_open()})

    async def page(self, request: Request, name: str) -> Response:
        if not NAME.fullmatch(name):
            raise RefusedError(404, "there is no survey with this name")
        return await self.asset("survey.html" if request.url.path.startswith("/s/") else "dashboard.html")

    async def asset(self, name: str) -> Response:
        """One of the files that were there when the service started, by its plain name."""
        if name not in self._files:
            raise RefusedError(404, "the file does not exist")
        return Response(self._files[name], headers={"cache-control": "no-cache"}, media_type=TYPES[Path(name).suffix])

    def _admit(self, request: Request) -> None:
        """Refuse whoever does not hold the token."""
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), self._token):
            raise RefusedError(401, WRONG_TOKEN, {"www-authenticate": "Bearer"})

    async def _survey(self, name: str) -> Survey:
        if name not in self._surveys:
            stored = await to_thread.run_sync(self._storage.survey, name) if NAME.fullmatch(name) else None
            if stored is None:
                raise RefusedError(404, "there is no survey with this name")
            self._surveys[name] = stored
        return self._surveys[name]

    def _counts(self, survey: Survey) -> NDArray[np.int64]:
        """How often each possible report was sent, lowest first; refused while there are too few."""
        counts = self._storage.histogram(survey)
        survey.refuse_few(int(counts.sum()))
        return counts

    def _estimate(self, survey: Survey) -> dict[str, Any]:
        """The results, computed once for each number of reports."""
        from sfumato.estimation.estimate import estimate

        counts = self._counts(survey)
        reports, document = self._results.get(survey.name, (0, {}))
        if reports != counts.sum():
            document = estimate(counts, survey.channel, values=survey.answers()).document()
            self._results[survey.name] = int(counts.sum()), document
        return document


async def refuse(request: Request, error: Exception) -> Response:
    """The answer to whatever was raised on purpose."""
    if isinstance(error, UnavailableError):
        log.error("%s", error)
        return JSONResponse({"error": "the collector cannot use its database; try again later"}, 503)
    if not isinstance(error, HTTPException):
        # What is left are conflicts with what is stored, and counts that are too few to show or to estimate from.
        return JSONResponse({"error": str(error)}, 409)
    sentence = error.detail
    if not isinstance(error, RefusedError):
        wrong_method = error.status_code == 405
        sentence = (
            f"this address does not take {request.method}" if wrong_method else "there is nothing at this address"
        )
    return JSONResponse({"error": sentence}, error.status_code, error.headers)
