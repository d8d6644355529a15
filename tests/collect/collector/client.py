"""A collector that runs in a thread of the tests, and a client that talks to it."""

from __future__ import annotations

import http.client
import json
import secrets
import threading
import time
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from sfumato.collect.collector.database import REPORTS
from sfumato.collect.collector.guard import HEADERS
from sfumato.collect.collector.service import make_service
from sfumato.collect.collector.serving import listen, make_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import ASGIApp

    from sfumato.collect.collector.storage import Storage

TOKEN = "an-administrators-token"
ADMIN = {"Authorization": f"Bearer {TOKEN}"}
JSON = {"Content-Type": "application/json"}
SITE = "https://asks.example"
"""Another site that may send reports."""
SPEC = {"name": "age", "question": "How old are you?", "min": 0, "max": 99, "epsilon": 0.5}
PATIENCE = 60.0


@dataclass(frozen=True)
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        """The sentence of a refusal, which holds nothing else."""
        document = self.document
        assert list(document) == ["error"]
        return str(document["error"])


class Client:
    """Asks a server; every request has a connection of its own."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, headers=headers)

    def get_as_admin(self, path: str) -> Answer:
        return self.ask("GET", path, headers=ADMIN)

    def post(self, path: str, document: Any, **headers: str) -> Answer:
        return self.ask("POST", path, json.dumps(document).encode(), {**JSON, **headers})

    def add_survey(self, **more: Any) -> str:
        """The name of a new survey, 0 to 99, with results from three reports on."""
        spec = {**SPEC, "name": f"age-{secrets.token_hex(6)}", "smallest_batch": 3, **more}
        answer = self.post("/api/surveys", spec, **ADMIN)
        assert answer.status == 201, answer.body
        return str(spec["name"])

    def report(self, survey: str, *values: int) -> list[dict[str, Any]]:
        """Send a batch of new reports; the reports that were sent."""
        reports = [{"id": new_id(), "value": value} for value in values]
        answer = self.post(f"/api/surveys/{survey}/reports", {"reports": reports})
        assert (answer.status, answer.document) == (200, {"accepted": len(values), "repeated": 0})
        return reports


def new_id() -> str:
    return secrets.token_urlsafe(16)


def running(storage: Storage, **options: Any) -> AbstractContextManager[Client]:
    """A collector that listens while this lasts."""
    return serving(make_service(storage, TOKEN, **options))


@contextmanager
def serving(app: ASGIApp) -> Iterator[Client]:
    """An application that listens while this lasts."""
    with closing(listen("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        server = make_server(app, listener)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield Client(port)
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


def guarded(answer: Answer, cache: str = "no-store") -> None:
    """Every answer has these headers, and none that says more about the server or the reader."""
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert answer.headers["cache-control"] == cache
    assert answer.headers["server"] is None
    assert answer.headers["set-cookie"] is None


def recounted(storage: Storage, survey: str) -> dict[int, int]:
    """The counts, found anew from the reports."""
    query = select(REPORTS.c.value, func.count()).where(REPORTS.c.survey == survey).group_by(REPORTS.c.value)
    with storage._engine.begin() as connection:
        return dict(sorted(tuple(row) for row in connection.execute(query)))


def eventually(condition: Any) -> bool:
    """Whether something comes true in good time."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False
