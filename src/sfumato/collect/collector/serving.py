"""Running the collector: on this machine alone unless told otherwise, until it is interrupted or terminated."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterable
from types import FrameType

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from sfumato.collect.collector.service import make_service
from sfumato.collect.collector.storage import Storage
from sfumato.errors import ParameterError

LOOPBACK = "127.0.0.1"
ANYWHERE = ("0.0.0.0", "::")
PATIENCE = 10
"""Seconds that requests under way have to finish in."""
HEADERS_PATIENCE = 10.0
"""Seconds in which a request has to begin and to say all about itself but its body."""
MOST_CONNECTIONS = 500
"""Beyond it clients are told to come back; well below the number of files that a process may open."""


class Connection(H11Protocol):
    """A connection that is closed if a request does not begin in time, be it silent or half a header."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_watching()

    def _watch(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._stop_watching()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(HEADERS_PATIENCE, self.transport.close)

    def _stop_watching(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class Server(uvicorn.Server):
    """A server that says when it listens, and that a signal lets finish what is under way."""

    def __init__(self, app: FastAPI, listening: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=Connection,
                ws="none",
                loop="asyncio",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                log_level="warning",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=PATIENCE,
                limit_concurrency=MOST_CONNECTIONS,
            )
        )
        self._listening = listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listening()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        # To stop is what was asked for; the signal is not raised once more afterwards.
        self._captured_signals.clear()


def serve(
    storage: Storage,
    token: str,
    host: str = LOOPBACK,
    port: int = 8000,
    *,
    origins: Iterable[str] = (),
    listening: Callable[[str], None] | None = None,
) -> None:
    """Answer requests until SIGINT or SIGTERM; `listening` is told the address once there is somebody to answer.

    Port 0 is any port that is free. The storage stays open.
    """
    app = make_service(storage, token, origins=origins)
    with contextlib.closing(open_socket(host, port)) as opened:
        address = spell(host, opened.getsockname()[1])
        Server(app, lambda: listening(address) if listening else None).run(sockets=[opened])


def open_socket(host: str, port: int) -> socket.socket:
    """A socket bound to an address of this machine."""
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port < 2**16:
        raise ParameterError(f"the port is {port!r}; expected a whole number from 0 to 65535")
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        opened = socket.socket(family, kind)
    except (OSError, UnicodeError) as error:
        raise ParameterError(f"the host {host!r} is not known; expected an address of this machine") from error
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        opened.listen()
    except OSError as error:
        opened.close()
        raise ParameterError(f"port {port} of {host} cannot be listened on ({error.strerror})") from error
    return opened


def spell(host: str, port: int) -> str:
    """The address that browsers reach the server at."""
    name = socket.gethostname() if host in ANYWHERE else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}"
