"""What holds for every answer: its headers, which other sites may call, and that nothing is told about anyone."""

from __future__ import annotations

import logging
import sqlite3
import struct
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from sfumato.collect.collector.guard import HEADERS
from sfumato.collect.collector.service import make_service
from sfumato.errors import ParameterError

from .client import ADMIN, JSON, SITE, TOKEN, Client, guarded, new_id

if TYPE_CHECKING:
    from pathlib import Path

    from sfumato.collect.collector.storage import Storage


def test_the_policy_allows_scripts_of_this_site_alone() -> None:
    policy = dict(part.strip().split(" ", 1) for part in HEADERS["content-security-policy"].split(";"))
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "connect-src": "'self'",
        "img-src": "'self' data:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    assert (HEADERS["x-content-type-options"], HEADERS["referrer-policy"]) == ("nosniff", "no-referrer")


def test_answers_are_json_with_all_headers(site: Client) -> None:
    name = site.add_survey()
    for answer in (site.get(f"/api/surveys/{name}"), site.get_as_admin("/api/surveys")):
        assert answer.headers["content-type"] == "application/json"
        guarded(answer)
        assert answer.headers["access-control-allow-origin"] is None


def test_other_sites_may_make_public_calls_if_they_are_listed(site: Client) -> None:
    name = site.add_survey()
    path = f"/api/surveys/{name}/reports"
    asked = {"Origin": SITE, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    before = site.ask("OPTIONS", path, headers=asked)
    assert (before.status, before.headers["access-control-allow-origin"]) == (200, SITE)
    assert before.headers["access-control-allow-methods"] == "POST"
    assert "Content-Type" in before.headers["access-control-allow-headers"].split(", ")
    assert before.headers["access-control-allow-credentials"] is None
    guarded(before)
    sent = site.post(path, {"id": new_id(), "value": 4}, Origin=SITE)
    assert (sent.status, sent.headers["access-control-allow-origin"], sent.headers["vary"]) == (200, SITE, "Origin")
    read = site.get(f"/api/surveys/{name}", Origin=SITE)
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
def test_no_other_call_is_open_to_other_sites(site: Client, path: str, origin: str) -> None:
    for method in ("GET", "POST"):
        asked = site.ask("OPTIONS", path, headers={"Origin": origin, "Access-Control-Request-Method": method})
        assert asked.status in (400, 405)
        assert asked.headers["access-control-allow-origin"] is None
        answer = site.ask(method, path, b"{}", {**JSON, **ADMIN, "Origin": origin})
        assert answer.headers["access-control-allow-origin"] is None


@pytest.mark.parametrize("origin", ["*", "asks.example", "https://asks.example/", "https://a@b", "ftp://asks.example"])
def test_an_origin_that_is_no_site_is_refused(origin: str) -> None:
    with pytest.raises(ParameterError, match="is not a site; expected one such as https"):
        make_service(None, TOKEN, origins=[origin])  # type: ignore[arg-type]


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
