"""The HTTP interface: what is answered, to whom, and a sentence for whatever is refused."""

from __future__ import annotations

import json
import logging
import secrets
import socket
import sqlite3
import struct
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from sfumato.errors import ParameterError
from sfumato.local.collector import requests
from sfumato.local.collector.guard import HEADERS
from sfumato.local.collector.service import PAGES, TYPES, make_service
from sfumato.local.collector.storage import Storage

from .client import ADMIN, JSON, TOKEN, Answer, Client, new_id, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SPEC = {"name": "age", "question": "How old are you?", "min": 0, "max": 99, "epsilon": 0.5}
EXPECTED = "expected a whole number from 0 to 99"
SITE = "https://asks.example"


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[tuple[Client, Storage, Path]]:
    """A collector that no other test uses, with its database."""
    path = tmp_path / "collected.sqlite"
    with closing(Storage(path)) as storage, running(storage) as client:
        yield client, storage, path


def test_a_survey_is_added_once(collector: Client) -> None:
    name = f"age-{secrets.token_hex(6)}"
    spec = {**SPEC, "name": name}
    first = collector.post("/api/surveys", spec, **ADMIN)
    whole = {**spec, "epsilon": "1/2", "step": 1, "mechanism": "geometric", "smallest_batch": 100, "ends": None}
    assert (first.status, first.document) == (201, whole)
    again = collector.post("/api/surveys", {**spec, "epsilon": "1/2"}, **ADMIN)
    assert (again.status, again.document) == (200, whole)
    other = collector.post("/api/surveys", {**spec, "max": 98}, **ADMIN)
    assert other.status == 409
    assert other.error == f"there is another survey with the name '{name}'; choose a new name"


def test_everyone_may_read_a_survey(collector: Client) -> None:
    name = collector.add_survey(min=-10, max=10, step=5, mechanism="square-wave", epsilon=1)
    answer = collector.get(f"/api/surveys/{name}")
    assert answer.status == 200
    found = answer.document
    assert found["claim"].startswith("whoever holds the reports, any one person's value changes the probability")
    assert found["lowest_report"] < -10
    assert found["highest_report"] == -found["lowest_report"]
    assert (found["name"], found["epsilon"], found["open"], "reports" in found) == (name, "1", True, False)


def test_the_administrator_sees_all_surveys(collector: Client) -> None:
    name, ended = collector.add_survey(), collector.add_survey(ends="2020-01-01")
    collector.report(name, 1, 2)
    surveys = {each["name"]: each for each in collector.get_as_admin("/api/surveys").document["surveys"]}
    assert (surveys[name]["reports"], surveys[name]["open"]) == (2, True)
    assert (surveys[ended]["reports"], surveys[ended]["open"]) == (0, False)
    assert surveys[name]["question"] == "How old are you?"


def test_reports_are_acknowledged_and_counted_once(collector: Client) -> None:
    name = collector.add_survey()
    one = {"id": new_id(), "value": 43}
    path = f"/api/surveys/{name}/reports"
    assert collector.post(path, one).document == {"accepted": 1, "repeated": 0}
    assert collector.post(path, one).document == {"accepted": 0, "repeated": 1}
    batch = [one, {"id": new_id(), "value": 0}, {"id": new_id(), "value": 99}]
    assert collector.post(path, {"reports": batch}).document == {"accepted": 2, "repeated": 1}
    counts = collector.get_as_admin(f"/api/surveys/{name}/counts").document
    assert (counts["reports"], counts["survey"]["name"], len(counts["counts"])) == (3, name, 100)
    assert {value: count for value, count in enumerate(counts["counts"]) if count} == {0: 1, 43: 1, 99: 1}


def test_counts_start_at_the_lowest_report_in_steps(collector: Client) -> None:
    name = collector.add_survey(min=-20, max=20, step=10)
    collector.report(name, -20, -20, 0, 20)
    assert collector.get_as_admin(f"/api/surveys/{name}/counts").document["counts"] == [2, 0, 1, 0, 1]


def test_an_id_with_another_value_is_a_conflict_and_nothing_is_kept(collector: Client) -> None:
    name = collector.add_survey()
    known, *_ = collector.report(name, 1, 2, 3)
    batch = [{"id": new_id(), "value": 9}, {**known, "value": 8}]
    answer = collector.post(f"/api/surveys/{name}/reports", {"reports": batch})
    assert answer.status == 409
    assert answer.error == f"the id '{known['id']}' came before with another value; expected a new id for each report"
    assert sum(collector.get_as_admin(f"/api/surveys/{name}/counts").document["counts"]) == 3


@pytest.mark.parametrize("what", ["counts", "results"])
def test_nothing_is_shown_of_too_few_reports(collector: Client, what: str) -> None:
    name = collector.add_survey(smallest_batch=4)
    collector.report(name, 1, 2, 3)
    answer = collector.get_as_admin(f"/api/surveys/{name}/{what}")
    assert answer.status == 409
    assert answer.error == f"the survey '{name}' has 3 reports; expected at least 4 before anything is shown"


@pytest.mark.parametrize(
    ("report", "sentence"),
    [
        ({"id": "x" * 16, "value": True}, f"the value is true or false; {EXPECTED}"),
        ({"id": "x" * 16, "value": 4.0}, f"the value is not a whole number; {EXPECTED}"),
        ({"id": "x" * 16, "value": "4"}, f"the value is a text; {EXPECTED}"),
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
def test_a_report_that_does_not_fit_is_refused_with_its_place(collector: Client, report: Any, sentence: str) -> None:
    name = collector.add_survey()
    path = f"/api/surveys/{name}/reports"
    single = collector.post(path, report)
    assert single.status == 400
    assert single.error.startswith(f"the report: {sentence}")
    batch = collector.post(path, {"reports": [{"id": new_id(), "value": 4}, report]})
    assert batch.status == 400
    assert batch.error.startswith(f"report 2: {sentence}")
    assert "0 reports" in collector.get_as_admin(f"/api/surveys/{name}/counts").error


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
def test_a_body_of_another_shape_is_refused(collector: Client, document: Any, sentence: str) -> None:
    answer = collector.post(f"/api/surveys/{collector.add_survey()}/reports", document)
    assert answer.status == 400
    assert answer.error.startswith(sentence)


def test_values_off_the_grid_are_refused(collector: Client) -> None:
    name = collector.add_survey(min=10, max=50, step=10)
    answer = collector.post(f"/api/surveys/{name}/reports", {"id": new_id(), "value": 15})
    assert answer.status == 400
    assert answer.error == "the report: the value is 15; expected a whole number from 10 to 50 in steps of 10"


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff\xfe\xfa", b"NaN", b'{"id": Infinity}', b"[" * 200_000, b'{"value": 1' + b"0" * 5000 + b"}"],
    ids=["empty", "unfinished", "no text", "NaN", "infinity", "deep", "long number"],
)
def test_a_body_that_is_no_json_is_refused(collector: Client, body: bytes) -> None:
    for path, headers in ((f"/api/surveys/{collector.add_survey()}/reports", {}), ("/api/surveys", ADMIN)):
        answer = collector.ask("POST", path, body, {**JSON, **headers})
        assert (answer.status, answer.error) == (400, "the request cannot be read as JSON")


@pytest.mark.parametrize("kind", [{}, {"Content-Type": "text/plain"}, {"Content-Type": "application/jsonx"}])
def test_a_body_of_another_type_is_refused(collector: Client, kind: dict[str, str]) -> None:
    """A page of another site may send plain text without being asked for its origin."""
    path = f"/api/surveys/{collector.add_survey()}/reports"
    body = json.dumps({"id": new_id(), "value": 4}).encode()
    answer = collector.ask("POST", path, body, kind)
    assert (answer.status, answer.error.split(";")[1]) == (415, " expected application/json")
    assert collector.ask("POST", path, body, {"Content-Type": "Application/JSON; charset=utf-8"}).status == 200


def test_large_bodies_are_refused(collector: Client) -> None:
    path = f"/api/surveys/{collector.add_survey()}/reports"
    report = json.dumps({"id": new_id(), "value": 4}).encode()
    sentence = "the request is too large; expected at most 1,048,576 bytes"
    announced = collector.ask("POST", path, report + b" " * 2**20, JSON)
    assert (announced.status, announced.error) == (413, sentence)
    streamed = collector.ask("POST", path, iter([report] + [b" " * 2**16] * 17), JSON)
    assert (streamed.status, streamed.error) == (413, sentence)
    largest = collector.ask("POST", path, iter([report.ljust(2**19), b" " * 2**19]), JSON)
    assert (largest.status, largest.document) == (200, {"accepted": 1, "repeated": 0})


def test_a_body_that_never_ends_is_not_waited_for(
    alone: tuple[Client, Storage, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, _, _ = alone
    name = client.add_survey()
    monkeypatch.setattr(requests, "PATIENCE", 0.1)
    head = f"POST /api/surveys/{name}/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    with closing(socket.create_connection(("127.0.0.1", client.port), timeout=10)) as connection:
        connection.sendall(f"{head}Content-Length: 50\r\n\r\n{{".encode())
        assert connection.recv(12) == b"HTTP/1.1 408"
    with closing(socket.create_connection(("127.0.0.1", client.port), timeout=10)) as connection:
        connection.sendall(f"{head}Content-Length: 50\r\n\r\n{{".encode())
    assert client.get(f"/api/surveys/{name}").status == 200


def test_a_closed_survey_takes_no_reports(collector: Client) -> None:
    name = collector.add_survey(ends="2020-01-01")
    answer = collector.post(f"/api/surveys/{name}/reports", {"id": new_id(), "value": 4})
    assert (answer.status, answer.error) == (403, f"the survey '{name}' is closed; it takes no more reports")
    assert collector.get(f"/api/surveys/{name}").document["open"] is False


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"max": -1}, "max is -1; expected a whole number of steps"),
        ({"epsilon": 0}, "epsilon"),
        ({"name": "Age!"}, "the name of a survey is 'Age!'"),
        ({"colour": "red"}, "'colour' is not part of a survey"),
        ({"mechanism": ["geometric"]}, '"mechanism" is a list; expected a text or a number'),
        ({"question": "\ud800"}, "the survey holds text that is not Unicode"),
    ],
)
def test_a_survey_that_cannot_be_is_refused(collector: Client, more: dict[str, Any], sentence: str) -> None:
    answer = collector.post("/api/surveys", {**SPEC, **more}, **ADMIN)
    assert answer.status == 400
    assert sentence in answer.error
    assert collector.post("/api/surveys", [], **ADMIN).error == "a survey is a table of keys and values"


ADMIN_CALLS = [
    ("GET", "/api/surveys"), ("POST", "/api/surveys"),
    ("GET", "/api/surveys/x/counts"), ("GET", "/api/surveys/x/results"),
]


@pytest.mark.parametrize(("method", "path"), ADMIN_CALLS)
@pytest.mark.parametrize(
    "header",
    [None, TOKEN, f"Basic {TOKEN}", "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", "Bearer ä"],
)
def test_what_is_the_administrators_needs_the_token(
    collector: Client, method: str, path: str, header: str | None
) -> None:
    given = {} if header is None else {"Authorization": header}
    answer = collector.ask(method, path, b"{}" if method == "POST" else None, {**JSON, **given})
    assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert answer.error.startswith("this needs the administrator's token")
    assert collector.ask(method, path, b"{}", {**JSON, **ADMIN}).status != 401


@pytest.mark.parametrize("token", ["", "short", "fifteen-letters", "with a space in the middle", "ä" * 20, "x" * 201])
def test_a_weak_token_is_refused(token: str) -> None:
    with pytest.raises(ParameterError, match="expected 16 to 200 ASCII characters, no spaces"):
        make_service(None, token)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("method", "path", "status", "sentence"),
    [
        ("GET", "/", 404, "there is nothing at this address"),
        ("GET", "/docs", 404, "there is nothing at this address"),
        ("GET", "/openapi.json", 404, "there is nothing at this address"),
        ("GET", "/api/surveys/", 404, "there is nothing at this address"),
        ("GET", "/api/surveys/nobody", 404, "there is no survey with this name"),
        ("GET", "/api/surveys/No%00body", 404, "there is no survey with this name"),
        ("GET", "/api/surveys/nobody/counts", 404, "there is no survey with this name"),
        ("GET", "/api/surveys/nobody/results", 404, "there is no survey with this name"),
        ("POST", "/api/surveys/nobody/reports", 404, "there is no survey with this name"),
        ("DELETE", "/api/surveys/nobody", 405, "this address does not take DELETE"),
        ("PUT", "/api/surveys", 405, "this address does not take PUT"),
        ("GET", "/api/surveys/nobody/reports", 405, "this address does not take GET"),
        ("POST", "/s/age", 405, "this address does not take POST"),
        ("GET", "/s/No!", 404, "there is no survey with this name"),
        ("GET", "/assets/none.js", 404, "there is no such file"),
        ("GET", "/assets/..%2fservice.py", 404, "there is nothing at this address"),
        ("GET", "/assets/%2e%2e", 404, "there is no such file"),
        ("GET", "/assets/service.py", 404, "there is no such file"),
    ],
)
def test_wrong_addresses_and_methods_get_a_sentence(
    collector: Client, method: str, path: str, status: int, sentence: str
) -> None:
    answer = collector.ask(method, path, b"{}" if method == "POST" else None, {**JSON, **ADMIN})
    assert (answer.status, answer.error) == (status, sentence)
    guarded(answer)


def guarded(answer: Answer, cache: str = "no-store") -> None:
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert answer.headers["cache-control"] == cache
    assert answer.headers["server"] is None
    assert answer.headers["set-cookie"] is None


def test_the_policy_allows_scripts_of_this_site_alone() -> None:
    policy = dict(part.strip().split(" ", 1) for part in HEADERS["content-security-policy"].split(";"))
    assert policy == {
        "default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "connect-src": "'self'",
        "img-src": "'self' data:", "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'",
    }
    assert (HEADERS["x-content-type-options"], HEADERS["referrer-policy"]) == ("nosniff", "no-referrer")


def test_pages_and_their_files_are_served(collector: Client) -> None:
    for path in sorted(PAGES.glob("*")):
        if path.suffix in TYPES:
            answer = collector.get(f"/assets/{path.name}")
            assert (answer.status, answer.body) == (200, path.read_bytes())
            assert answer.headers["content-type"] == TYPES[path.suffix]
            guarded(answer, "no-cache")
    for place, page in (("s", "survey.html"), ("dashboard", "dashboard.html")):
        answer = collector.get(f"/{place}/age")
        assert (answer.status, answer.body) == (200, (PAGES / page).read_bytes())
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        guarded(answer, "no-cache")


def test_answers_are_json_with_all_headers(collector: Client) -> None:
    name = collector.add_survey()
    for answer in (collector.get(f"/api/surveys/{name}"), collector.get_as_admin("/api/surveys")):
        assert answer.headers["content-type"] == "application/json"
        guarded(answer)
        assert answer.headers["access-control-allow-origin"] is None


def test_other_sites_may_make_public_calls_if_they_are_listed(collector: Client) -> None:
    name = collector.add_survey()
    path = f"/api/surveys/{name}/reports"
    asked = {"Origin": SITE, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    before = collector.ask("OPTIONS", path, headers=asked)
    assert (before.status, before.headers["access-control-allow-origin"]) == (204, SITE)
    assert before.headers["access-control-allow-methods"] == "POST"
    assert before.headers["access-control-allow-headers"] == "content-type"
    guarded(before)
    sent = collector.post(path, {"id": new_id(), "value": 4}, Origin=SITE)
    assert (sent.status, sent.headers["access-control-allow-origin"], sent.headers["vary"]) == (200, SITE, "Origin")
    read = collector.get(f"/api/surveys/{name}", Origin=SITE)
    assert (read.status, read.headers["access-control-allow-origin"]) == (200, SITE)
    assert read.headers["access-control-allow-credentials"] is None


@pytest.mark.parametrize(
    ("path", "origin"),
    [
        ("/api/surveys/age/reports", "https://other.example"),
        ("/api/surveys/age/reports", "https://asks.example.evil.example"),
        ("/api/surveys/age/reports", "null"),
        ("/api/surveys/age/counts", SITE),
        ("/api/surveys/age/results", SITE),
        ("/api/surveys", SITE),
    ],
)
def test_no_other_call_is_open_to_other_sites(collector: Client, path: str, origin: str) -> None:
    for method in ("GET", "POST"):
        asked = collector.ask("OPTIONS", path, headers={"Origin": origin, "Access-Control-Request-Method": method})
        assert (asked.status, asked.headers["access-control-allow-origin"]) == (405, None)
        answer = collector.ask(method, path, b"{}", {**JSON, **ADMIN, "Origin": origin})
        assert answer.headers["access-control-allow-origin"] is None


@pytest.mark.parametrize("origin", ["*", "asks.example", "https://asks.example/", "https://a@b", "ftp://asks.example"])
def test_an_origin_that_is_no_site_is_refused(origin: str) -> None:
    with pytest.raises(ParameterError, match="is not a site; expected one such as https"):
        make_service(None, TOKEN, origins=[origin])  # type: ignore[arg-type]


def test_threads_that_send_the_same_reports_count_them_once(collector: Client) -> None:
    name = collector.add_survey()
    reports = [{"id": new_id(), "value": number} for number in range(40)]
    accepted: list[int] = []

    def send(number: int) -> None:
        own = reports[number * 5 :] + reports[: number * 5]
        for start in range(0, 40, 8):
            answer = collector.post(f"/api/surveys/{name}/reports", {"reports": own[start : start + 8]})
            accepted.append(answer.document["accepted"])

    threads = [threading.Thread(target=send, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(accepted), sum(accepted)) == (30, 40)
    counts = collector.get_as_admin(f"/api/surveys/{name}/counts").document["counts"]
    assert counts == [1] * 40 + [0] * 60


def test_failures_are_answered_without_a_word_about_the_data(
    alone: tuple[Client, Storage, Path], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    client, storage, path = alone
    name = client.add_survey()
    report = {"id": new_id(), "value": 43}

    def fail(*given: Any) -> None:
        raise KeyError(f"unforeseen: {given}")

    with monkeypatch.context() as patch, caplog.at_level(logging.DEBUG):
        patch.setattr(storage, "add_reports", fail)
        answer = client.post(f"/api/surveys/{name}/reports", report)
    assert (answer.status, answer.error) == (500, "the collector failed; try again later")
    guarded(answer)
    assert report["id"] not in caplog.text
    assert "KeyError in fail, line" in caplog.text

    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE reports RENAME TO elsewhere")
        connection.commit()
    answer = client.post(f"/api/surveys/{name}/reports", report)
    assert (answer.status, answer.error) == (503, "the collector cannot use its database; try again later")
    assert "no such table" in caplog.text
    assert report["id"] not in caplog.text


def test_nothing_about_a_sender_reaches_the_database_or_the_log(
    alone: tuple[Client, Storage, Path], caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    client, _, path = alone
    name = client.add_survey()
    started = int(time.time())
    sender = {"User-Agent": "traceable", "X-Forwarded-For": "10.9.8.7"}
    with caplog.at_level(logging.DEBUG):
        reports = client.report(name, 1, 2, 3)
        client.post(f"/api/surveys/{name}/reports", reports[0], **sender)
    seconds = [struct.pack(">I", second) for second in range(started, int(time.time()) + 1)]
    stored = b"".join(file.read_bytes() for file in path.parent.glob("collected.sqlite*"))
    assert reports[0]["id"].encode() in stored
    addresses = (b"127.0.0.1", b"10.9.8.7", b"traceable", b"\x7f\x00\x00\x01")
    for trace in (*addresses, *seconds, time.strftime("%Y-").encode()):
        assert trace not in stored
    heard = "".join((caplog.text, *capfd.readouterr()))
    for trace in ("127.0.0.1", "10.9.8.7", "traceable", reports[0]["id"], "/reports"):
        assert trace not in heard


class Estimated:
    def __init__(self, reports: int) -> None:
        self.reports = reports

    def document(self) -> dict[str, Any]:
        return {"reports": self.reports, "estimate": "likelihood"}


def test_results_are_computed_once_for_each_number_of_reports(
    alone: tuple[Client, Storage, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, _, _ = alone
    calls: list[Any] = []

    def estimate(counts: Any, channel: Any, *, values: Any) -> Estimated:
        calls.append((counts.tolist(), channel.size, values.tolist()))
        return Estimated(int(counts.sum()))

    estimates = pytest.importorskip("sfumato.local.reconstruct.estimate")
    monkeypatch.setattr(estimates, "estimate", estimate)
    name = client.add_survey(min=10, max=30, step=10)
    client.report(name, 10, 10, 30)
    for _ in range(3):
        answer = client.get_as_admin(f"/api/surveys/{name}/results")
        assert answer.document["survey"]["name"] == name
        assert (answer.document["reports"], answer.document["open"]) == (3, True)
    assert calls == [([2, 0, 1], 3, [10, 20, 30])]
    client.report(name, 20)
    assert client.get_as_admin(f"/api/surveys/{name}/results").document["reports"] == 4
    assert calls[1:] == [([2, 1, 1], 3, [10, 20, 30])]


def test_results_are_the_estimate_of_the_counts(collector: Client) -> None:
    pytest.importorskip("sfumato.local.reconstruct.estimate")
    name = collector.add_survey(min=0, max=4, epsilon=3)
    collector.report(name, *[1] * 30, *[3] * 70)
    results = collector.get_as_admin(f"/api/surveys/{name}/results").document
    assert (results["reports"], [cell["value"] for cell in results["cells"]]) == (100, [0, 1, 2, 3, 4])
    assert abs(results["cells"][3]["share"] - 0.7) < 0.1
