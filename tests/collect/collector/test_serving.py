"""The collector as a process: it says where it listens, keeps to itself, and stops when told to."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING

import pytest

from sfumato.collect.collector import serving
from sfumato.collect.collector.serving import format_address, listen
from sfumato.collect.collector.storage import Storage
from sfumato.errors import ParameterError

from .client import JSON, TOKEN, Client, eventually, new_id, recounted, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATIENCE = 60.0
SCRIPT = f"""
import sys
from sfumato.collect.collector.service import make_service
from sfumato.collect.collector.serving import serve
from sfumato.collect.collector.storage import Storage

storage = Storage(sys.argv[1])
serve(make_service(storage, {TOKEN!r}), "127.0.0.1", 0, lambda address: print(address, flush=True))
storage.close()
print("stopped", flush=True)
"""
IMPORTS = """
import sys
import sfumato.collect.survey
print([name for name in ("fastapi", "uvicorn", "sqlalchemy", "psycopg", "polars", "pydantic") if name in sys.modules])
"""


def connection(site: Client) -> socket.socket:
    return socket.create_connection(("127.0.0.1", site.port), timeout=PATIENCE)


@contextmanager
def process(database: Path) -> Iterator[tuple[subprocess.Popen[str], Client]]:
    command = [sys.executable, "-c", SCRIPT, str(database)]
    quiet = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert quiet.stdout is not None
        address = quiet.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        yield quiet, Client(int(address.rpartition(":")[2]))
    finally:
        if quiet.poll() is None:
            quiet.kill()
        quiet.communicate()


def test_a_connection_that_asks_nothing_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Silent, or with half a header, also after a request that was answered."""
    monkeypatch.setattr(serving, "HEADERS_TIMEOUT", 1.0)
    parts = (b"", b"GET / HTTP/1.1\r\nHost: x", b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HT")
    with closing(Storage(tmp_path / "r.db")) as storage, running(storage) as site, ExitStack() as stack:
        clients = [stack.enter_context(connection(site)) for _ in parts]
        for client, sent in zip(clients, parts, strict=True):
            client.sendall(sent)
        for client, sent in zip(clients, parts, strict=True):
            answer = b"".join(iter(partial(client.recv, 4096), b""))
            assert answer.count(b"HTTP/1.1 404") == sent.count(b"\r\n\r\n")


def test_a_slow_request_is_answered_and_its_connection_stays_open(site: Client) -> None:
    with connection(site) as client:
        for _ in range(2):
            for part in (b"GET / HTTP/1.1\r\n", b"Host: x\r\n\r\n"):
                time.sleep(0.05)
                client.sendall(part)
            answer = b""
            while not answer.endswith(b"}"):
                part = client.recv(4096)
                assert part, "the connection was closed"
                answer += part
            assert answer.startswith(b"HTTP/1.1 404")


def test_clients_beyond_the_limit_are_told_to_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "MAX_CONNECTIONS", 3)
    with closing(Storage(tmp_path / "r.db")) as storage, running(storage) as site, ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(connection(site)).sendall(b"GET /")
        # The two may not have been seen yet when the third asks.
        assert eventually(lambda: site.get("/nothing").status == 503)
        stack.close()
        assert eventually(lambda: site.get("/nothing").status == 404)


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_the_server_finish_what_is_under_way(tmp_path: Path, sign: signal.Signals) -> None:
    """The body of a report is half sent when the signal comes; the other half is still taken and acknowledged.

    Meanwhile the server listens on this machine alone and says nothing.
    """
    database = tmp_path / "collected.sqlite"
    with process(database) as (server, client):
        with pytest.raises(OSError), closing(socket.create_connection(("127.0.0.2", client.port), timeout=5)):
            pass
        assert client.get_as_admin("/api/surveys").document == {"surveys": []}
        assert client.get("/nothing").status == 404
        name = client.add_survey()
        body = json.dumps({"id": new_id(), "value": 4}).encode()
        with closing(http.client.HTTPConnection("127.0.0.1", client.port, timeout=PATIENCE)) as connection:
            connection.putrequest("POST", f"/api/surveys/{name}/reports")
            for key, value in {**JSON, "Content-Length": str(len(body))}.items():
                connection.putheader(key, value)
            connection.endheaders(body[:10])
            # Another request is answered after the server has seen the first one begin.
            assert client.get(f"/api/surveys/{name}").status == 200
            server.send_signal(sign)
            with pytest.raises(subprocess.TimeoutExpired):
                server.wait(0.3)
            connection.send(body[10:])
            answer = connection.getresponse()
            assert (answer.status, json.loads(answer.read())) == (200, {"accepted": 1, "repeated": 0})
        told, complaints = server.communicate(timeout=PATIENCE)
        assert (server.returncode, told, complaints) == (0, "stopped\n", "")
    assert [path.name for path in tmp_path.iterdir()] == ["collected.sqlite"]
    with closing(Storage(database)) as storage:
        assert storage.counts(name) == recounted(storage, name) == {4: 1}


def test_a_port_that_is_taken_is_named() -> None:
    with closing(listen("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ParameterError, match=rf"^port {port} of 127\.0\.0\.1 cannot be listened on \("):
            listen("127.0.0.1", port)


@pytest.mark.parametrize("port", [-1, 65536, True, "80", 80.0])
def test_a_port_out_of_range_is_refused(port: int) -> None:
    with pytest.raises(ParameterError, match="expected a whole number from 0 to 65535"):
        listen("127.0.0.1", port)


@pytest.mark.parametrize("host", ["nowhere.invalid", "a" * 70, "192.0.2.1"])
def test_a_host_that_is_not_this_machine_is_refused(host: str) -> None:
    with pytest.raises(ParameterError, match=rf"(^the host '{host}' is not known|^port 0 of {host} cannot be)"):
        listen(host, 0)


def test_addresses_are_spelled_for_browsers() -> None:
    assert format_address("127.0.0.1", 80) == "http://127.0.0.1:80"
    assert format_address("::1", 80) == "http://[::1]:80"
    assert format_address("0.0.0.0", 80) == f"http://{socket.gethostname()}:80"


def test_a_survey_is_read_without_the_libraries_of_the_collector() -> None:
    ran = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert ran.stdout == "[]\n"
