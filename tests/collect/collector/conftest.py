"""Empty databases, collectors that tests share, each making a survey of its own, and a browser to look at them."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from sfumato.collect.collector.storage import Storage

from .client import SITE, running
from .postgres import Server, unavailable
from .watching import WatchingBrowser

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
def collector(request: pytest.FixtureRequest) -> Iterator[Client]:
    """A collector on each kind of database."""
    if request.param == "sqlite":
        yield request.getfixturevalue("site")
        return
    url = request.getfixturevalue("postgresql").new_database()
    with closing(Storage(url)) as storage, running(storage) as client:
        yield client


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A collector for what does not depend on the database."""
    place = tmp_path_factory.mktemp("collector") / "collected.sqlite"
    with closing(Storage(place)) as storage, running(storage, origins=[SITE]) as client:
        yield client


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[tuple[Client, Storage, Path]]:
    """A collector that no other test uses, with its database."""
    path = tmp_path / "collected.sqlite"
    with closing(Storage(path)) as storage, running(storage) as client:
        yield client, storage, path


@pytest.fixture(scope="session")
def browser() -> Iterator[WatchingBrowser]:
    with WatchingBrowser() as opened:
        yield opened


@pytest.fixture
def page(browser: WatchingBrowser) -> WatchingBrowser:
    """The browser, having seen and stored nothing."""
    browser.goto("about:blank")
    browser.call("Storage.clearDataForOrigin", origin="*", storageTypes="local_storage")
    browser.wire.clear()
    return browser
