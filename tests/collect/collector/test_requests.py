"""What requests may hold: whatever else is sent is refused with a sentence that says what was expected."""

from __future__ import annotations

import json
import socket
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from sfumato.collect.collector import requests

from .client import ADMIN, JSON, SPEC, Client, new_id

if TYPE_CHECKING:
    from pathlib import Path

    from sfumato.collect.collector.storage import Storage

EXPECTED = "expected a whole number from 0 to 99"


@pytest.mark.parametrize(
    ("report", "sentence"),
    [
        ({"id": "x" * 16, "value": True}, f"the value is true or false; {EXPECTED}"),
        ({"id": "x" * 16, "value": 4.0}, f"the value is not a whole number; {EXPECTED}"),
        ({"id": "x" * 16, "value": "4"}, f"the value is a string; {EXPECTED}"),
        ({"id": "x" * 16, "value": [4]}, f"the value is a list; {EXPECTED}"),
        ({"id": "x" * 16, "value": None}, f"the value is missing; {EXPECTED}"),
        ({"id": "x" * 16, "value": 100}, f"the value is 100; {EXPECTED}"),
        ({"id": "x" * 16, "value": -1}, f"the value is -1; {EXPECTED}"),
        ({"id": "x" * 16, "value": 10**60}, f"the value is 1{'0' * 39}…; {EXPECTED}"),
        ({"id": "x" * 15, "value": 4}, f'the id is "{"x" * 15}"; expected 16 to 64 letters, digits, hyphens'),
        ({"id": "x" * 65, "value": 4}, f'the id is "{"x" * 39}…; expected 16 to 64 letters'),
        ({"id": "x" * 16 + "\n", "value": 4}, f'the id is "{"x" * 16}\\n"; expected 16 to 64 letters'),
        ({"id": "ä" * 16, "value": 4}, "the id is "),
        ({"id": 12345678901234567, "value": 4}, "the id is 12345678901234567; expected 16 to 64 letters"),
        ({"id": "x" * 16, "value": 4, "answer": 5}, '"answer" is not part of a report; expected id and value alone'),
    ],
)
def test_a_report_that_does_not_fit_is_refused_with_its_place(site: Client, report: Any, sentence: str) -> None:
    name = site.add_survey()
    path = f"/api/surveys/{name}/reports"
    single = site.post(path, report)
    assert single.status == 400
    assert single.error.startswith(f"the report: {sentence}")
    batch = site.post(path, {"reports": [{"id": new_id(), "value": 4}, report]})
    assert batch.status == 400
    assert batch.error.startswith(f"report 2: {sentence}")
    assert "0 reports" in site.get_as_admin(f"/api/surveys/{name}/counts").error


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ([], "the report is not an object; expected {"),
        (5, "the report is not an object; expected {"),
        ({}, "the report has no id; expected {"),
        ({"id": "x" * 16}, "the report has no value; expected {"),
        ({"reports": {}}, "the reports are an object; expected {"),
        ({"reports": 5}, "the reports are a number; expected {"),
        ({"reports": []}, "the request holds 0 reports; expected from 1 to 10,000"),
        ({"reports": [0] * 10_001}, "the request holds 10,001 reports; expected from 1 to 10,000"),
        ({"reports": [[]]}, "report 1 is not an object; expected {"),
        ({"reports": [], "site": "x"}, 'the report: "reports" is not part of a report'),
    ],
)
def test_a_body_of_another_shape_is_refused(site: Client, document: Any, sentence: str) -> None:
    answer = site.post(f"/api/surveys/{site.add_survey()}/reports", document)
    assert answer.status == 400
    assert answer.error.startswith(sentence)


def test_values_off_the_grid_are_refused(site: Client) -> None:
    name = site.add_survey(min=10, max=50, step=10)
    answer = site.post(f"/api/surveys/{name}/reports", {"id": new_id(), "value": 15})
    assert answer.status == 400
    assert answer.error == "the report: the value is 15; expected a whole number from 10 to 50 in steps of 10"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe\xfa",
        b"NaN",
        b'{"id": Infinity}',
        b'{"value": 1, "value": 2}',
        b"[" * 200_000,
        b'{"value": 1' + b"0" * 5000 + b"}",
    ],
    ids=["empty", "unfinished", "no text", "NaN", "infinity", "duplicate key", "deep", "long number"],
)
def test_a_body_that_is_not_valid_json_is_refused(site: Client, body: bytes) -> None:
    for path, headers in ((f"/api/surveys/{site.add_survey()}/reports", {}), ("/api/surveys", ADMIN)):
        answer = site.ask("POST", path, body, {**JSON, **headers})
        assert (answer.status, answer.error) == (400, "the request is not valid JSON")


@pytest.mark.parametrize("kind", [{}, {"Content-Type": "text/plain"}, {"Content-Type": "application/jsonx"}])
def test_a_body_of_another_type_is_refused(site: Client, kind: dict[str, str]) -> None:
    """A page of another site may send plain text without being asked for its origin."""
    path = f"/api/surveys/{site.add_survey()}/reports"
    body = json.dumps({"id": new_id(), "value": 4}).encode()
    answer = site.ask("POST", path, body, kind)
    assert (answer.status, answer.error.split(";")[1]) == (415, " expected application/json")
    assert site.ask("POST", path, body, {"Content-Type": "Application/JSON; charset=utf-8"}).status == 200


def test_large_bodies_are_refused(site: Client) -> None:
    path = f"/api/surveys/{site.add_survey()}/reports"
    report = json.dumps({"id": new_id(), "value": 4}).encode()
    sentence = "the request is too large; expected at most 1,048,576 bytes"
    announced = site.ask("POST", path, report + b" " * 2**20, JSON)
    assert (announced.status, announced.error) == (413, sentence)
    streamed = site.ask("POST", path, iter([report] + [b" " * 2**16] * 17), JSON)
    assert (streamed.status, streamed.error) == (413, sentence)
    largest = site.ask("POST", path, iter([report.ljust(2**19), b" " * 2**19]), JSON)
    assert (largest.status, largest.document) == (200, {"accepted": 1, "repeated": 0})


def test_a_body_that_never_ends_is_not_waited_for(
    alone: tuple[Client, Storage, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, _, _ = alone
    name = client.add_survey()
    monkeypatch.setattr(requests, "BODY_TIMEOUT", 0.1)
    head = f"POST /api/surveys/{name}/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    with closing(socket.create_connection(("127.0.0.1", client.port), timeout=60)) as connection:
        connection.sendall(f"{head}Content-Length: 50\r\n\r\n{{".encode())
        assert connection.recv(12) == b"HTTP/1.1 408"
    with closing(socket.create_connection(("127.0.0.1", client.port), timeout=60)) as connection:
        connection.sendall(f"{head}Content-Length: 50\r\n\r\n{{".encode())
    assert client.get(f"/api/surveys/{name}").status == 200


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"max": -1}, "max is -1; expected a whole number of steps"),
        ({"epsilon": 0}, "epsilon"),
        ({"name": "Age!"}, "the name of a survey is 'Age!'"),
        ({"colour": "red"}, "'colour' is not part of a survey"),
        ({"mechanism": ["geometric"]}, "['geometric'] is not a known mechanism; expected one of"),
        ({"question": "\ud800"}, "must be Unicode text of 1 to 500 characters"),
    ],
)
def test_a_survey_that_cannot_be_is_refused(site: Client, more: dict[str, Any], sentence: str) -> None:
    answer = site.post("/api/surveys", {**SPEC, **more}, **ADMIN)
    assert answer.status == 400
    assert sentence in answer.error
    assert site.post("/api/surveys", [], **ADMIN).error == "a survey is a table of keys and values"
