"""Running the collector: on this machine alone unless told otherwise, until it is interrupted or terminated."""

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from sfumato.errors import ParameterError

SHUTDOWN_TIMEOUT = 10
"""Seconds that requests under way have to finish in."""
HEADERS_TIMEOUT = 10.0
"""Seconds in which a request has to begin and to say all about itself but its body."""
MAX_CONNECTIONS = 500
"""Beyond it clients are told to come back; well below the number of files that a process may open."""


class Listener(socket.socket):
    """Hangs up on a client whose next request does not begin in time, be the client silent or half way in a header.

    A request has begun when the application is called; the client is then known by its address.
    """

    def __init__(self, family: int, kind: int) -> None:
        super().__init__(family, kind)
        self._clients: dict[Any, socket.socket] = {}
        self._timers: dict[Any, asyncio.TimerHandle] = {}

    def accept(self) -> tuple[socket.socket, Any]:
        client, address = super().accept()
        self._stop_timer(address[:2])
        self._clients[address[:2]] = client
        self._start_timer(address[:2])
        return client, address

    def watch(self, app: ASGIApp) -> ASGIApp:
        """The application, which says when requests begin and end."""

        async def watched(scope: Scope, receive: Receive, send: Send) -> None:
            address = tuple(scope["client"])
            self._stop_timer(address)
            try:
                await app(scope, receive, send)
            finally:
                self._start_timer(address)

        return watched

    def _start_timer(self, address: Any) -> None:
        if address in self._clients:
            loop = asyncio.get_running_loop()
            self._timers[address] = loop.call_later(HEADERS_TIMEOUT, self._hang_up, address)

    def _stop_timer(self, address: Any) -> None:
        if address in self._timers:
            self._timers.pop(address).cancel()

    def _hang_up(self, address: Any) -> None:
        del self._timers[address]
        # What was answered is still sent. A client that has left in the meantime has nothing to close.
        with suppress(OSError):
            self._clients.pop(address).shutdown(socket.SHUT_RD)


def make_server(app: ASGIApp, listener: Listener) -> uvicorn.Server:
    """What answers at the listener; its `run` takes the listener as its only socket."""
    return uvicorn.Server(
        uvicorn.Config(
            listener.watch(app),
            http="h11",
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=SHUTDOWN_TIMEOUT,
            limit_concurrency=MAX_CONNECTIONS,
        )
    )


def serve(app: ASGIApp, host: str, port: int, listening: Callable[[str], None]) -> None:
    """Answer requests until SIGINT or SIGTERM; `listening` is told the address once connections are taken."""
    with closing(listen(host, port)) as listener:
        server = make_server(app, listener)
        with stop_at_signals(server):
            listening(format_address(host, listener.getsockname()[1]))
            server.run(sockets=[listener])


@contextmanager
def stop_at_signals(server: uvicorn.Server) -> Iterator[None]:
    """Let signals end the server and not the program: uvicorn raises them again once it has shut down."""

    def stop(*_: object) -> None:
        server.should_exit = True

    before = {sign: signal.signal(sign, stop) for sign in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)


def listen(host: str, port: int) -> Listener:
    """A socket that listens at an address of this machine; port 0 is any port that is free."""
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port < 2**16:
        raise ParameterError(f"the port is {port!r}; expected a whole number from 0 to 65535")
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = Listener(family, kind)
    except (OSError, UnicodeError) as error:
        raise ParameterError(f"the host {host!r} is not known; expected an address of this machine") from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()
    except OSError as error:
        listener.close()
        raise ParameterError(f"port {port} of {host} cannot be listened on ({error.strerror})") from error
    return listener


def format_address(host: str, port: int) -> str:
    """The address that browsers reach the server at."""
    name = socket.gethostname() if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}"
