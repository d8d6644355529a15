"""What requests may hold: bodies of limited size, JSON, and reports that fit their survey, all else refused."""

import asyncio
import json
import re
from typing import Any

from fastapi import Request
from starlette.exceptions import HTTPException

from sfumato.collect.collector.storage import Report
from sfumato.collect.survey import Survey, describe_range
from sfumato.errors import ParameterError

MAX_BODY = 2**20
MAX_BATCH = 10_000
BODY_TIMEOUT = 30.0
"""Seconds in which a body has to arrive."""
ID = re.compile(r"[A-Za-z0-9_-]{16,64}")
SHAPE = 'expected {"id": …, "value": …} or {"reports": [{"id": …, "value": …}, …]}'
MAX_SHOWN = 40
KINDS = {bool: "true or false", float: "not a whole number", str: "a string", list: "a list", dict: "an object"}


class RefusedError(HTTPException):
    """A request that is answered with an error status and one sentence."""


async def read_json(request: Request) -> Any:
    """The body of a request."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        # Pages of other sites may send anything else without asking whether they are allowed to.
        raise RefusedError(415, "the content type of the request is not JSON; expected application/json")
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_TIMEOUT):
            async for part in request.stream():
                body += part
                if len(body) > MAX_BODY:
                    raise RefusedError(413, f"the request is too large; expected at most {MAX_BODY:,} bytes")
    except TimeoutError as error:
        raise RefusedError(408, f"the request did not arrive within {BODY_TIMEOUT:.0f} seconds") from error
    try:
        return json.loads(body, parse_constant=_refuse_constant, object_pairs_hook=_refuse_duplicates)
    except (ValueError, RecursionError) as error:
        raise RefusedError(400, "the request is not valid JSON") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not valid JSON")


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Which of two values counts would depend on who reads them."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("duplicate key")
    return found


def parse_survey(document: Any) -> Survey:
    """The survey that a request describes."""
    try:
        return Survey.parse(document)
    except ParameterError as error:
        raise RefusedError(400, str(error)) from error


def parse_reports(document: Any, survey: Survey) -> list[Report]:
    """The reports of a request, one or a batch, each checked against the survey."""
    if not isinstance(document, dict) or set(document) != {"reports"}:
        return [_parse_report("the report", document, survey)]
    batch = document["reports"]
    if not isinstance(batch, list):
        raise RefusedError(400, f"the reports are {KINDS.get(type(batch), 'a number')}; {SHAPE}")
    if not 0 < len(batch) <= MAX_BATCH:
        raise RefusedError(400, f"the request holds {len(batch):,} reports; expected from 1 to {MAX_BATCH:,}")
    return [_parse_report(f"report {number}", report, survey) for number, report in enumerate(batch, start=1)]


def _parse_report(which: str, report: Any, survey: Survey) -> Report:
    if not isinstance(report, dict):
        raise RefusedError(400, f"{which} is not an object; {SHAPE}")
    for key in report:
        if key not in ("id", "value"):
            raise RefusedError(400, f"{which}: {quote(key)} is not part of a report; expected id and value alone")
    for key in ("id", "value"):
        if key not in report:
            raise RefusedError(400, f"{which} has no {key}; {SHAPE}")
    key, value = report["id"], report["value"]
    if not isinstance(key, str) or not ID.fullmatch(key):
        expected = "16 to 64 letters, digits, hyphens and underscores"
        raise RefusedError(400, f"{which}: the id is {quote(key)}; expected {expected}")
    if type(value) is not int or value not in survey.reports:
        shown = "missing" if value is None else KINDS.get(type(value)) or quote(value)
        raise RefusedError(400, f"{which}: the value is {shown}; expected {describe_range(survey.reports)}")
    return Report(key, value)


def quote(value: Any) -> str:
    """A value as it was sent, in ASCII and not at any length."""
    text = json.dumps(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
