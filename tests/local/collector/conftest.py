"""The databases that the collector is tested with, each test with an empty one, and a collector for each kind."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from sfumato.local.collector.storage import Storage

from .client import running
from .postgres import Server, unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .client import Client

KINDS = ("sqlite", "postgresql")


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    reason = unavailable()
    if reason:
        pytest.skip(reason)
    with Server() as server:
        yield server


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database, as users write it."""
    if request.param == "sqlite":
        return str(tmp_path / "collected.sqlite")
    server = request.getfixturevalue("postgresql")
    assert isinstance(server, Server)
    return server.new_database()


@pytest.fixture
def storage(database: str) -> Iterator[Storage]:
    with closing(Storage(database)) as opened:
        yield opened


@pytest.fixture(scope="session", params=KINDS)
def collector(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A collector for all tests; each makes a survey of its own."""
    if request.param == "sqlite":
        url = str(tmp_path_factory.mktemp("collector") / "collected.sqlite")
    else:
        url = request.getfixturevalue("postgresql").new_database()
    with closing(Storage(url)) as storage, running(storage, origins=["https://asks.example"]) as client:
        yield client
