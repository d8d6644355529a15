"""A throwaway PostgreSQL server: its own folder, a Unix socket in it, no port, gone afterwards."""

from __future__ import annotations

import contextlib
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg

USER = "sfumato"
UNPRIVILEGED = ("postgres", "nobody")
PATIENCE = 60.0
# Collectors are killed here, the database is not: it need not wait for the disk.
SETTINGS = ("fsync=off", "listen_addresses=", "logging_collector=off", "shared_buffers=32MB")


def programs() -> Path | None:
    """The folder with the newest `initdb` and `postgres`."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    named = [Path(path).resolve() for path in [shutil.which("initdb")] if path]
    return next((path.parent for path in [*found[::-1], *named] if (path.parent / "postgres").exists()), None)


def unavailable() -> str | None:
    """Why there can be no server, if there can be none."""
    if programs() is None:
        return "PostgreSQL is not installed; scripts/install-for-tests does that"
    if os.geteuid() == 0 and account() is None:
        return f"PostgreSQL does not run as root, and there is no user named {' or '.join(UNPRIVILEGED)}"
    return None


def account() -> pwd.struct_passwd | None:
    """Who the server runs as where root may not."""
    for name in UNPRIVILEGED:
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    return None


class Server:
    """A running server. Databases are made by `new_database`."""

    def __init__(self) -> None:
        found = programs()
        assert found is not None
        self._numbers = itertools.count(1)
        self._process: subprocess.Popen[bytes] | None = None
        self.folder = Path(tempfile.mkdtemp(prefix="sfumato-pg-"))
        try:
            self._start(found)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self, found: Path) -> None:
        identity = {}
        if os.geteuid() == 0:
            owner = account()
            assert owner is not None
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)
            identity = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
        data = str(self.folder / "data")
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "cwd": self.folder, **identity}
        made = subprocess.run(
            [str(found / "initdb"), "-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
            stderr=subprocess.PIPE,
            timeout=PATIENCE,
            check=False,
            **quiet,
        )
        assert made.returncode == 0, made.stderr.decode()
        options = [word for setting in SETTINGS for word in ("-c", setting)]
        self._process = subprocess.Popen(
            [str(found / "postgres"), "-D", data, "-k", str(self.folder), *options],
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            **quiet,
        )
        self._wait()

    def _wait(self) -> None:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                self.connect("postgres").close()
                return
            except psycopg.OperationalError:
                assert self._process is not None
                if self._process.poll() is not None or time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def connect(self, database: str) -> psycopg.Connection:
        return psycopg.connect(host=str(self.folder), user=USER, dbname=database, autocommit=True)

    def new_database(self) -> str:
        """The URL of an empty database."""
        name = f"collected_{next(self._numbers)}"
        with contextlib.closing(self.connect("postgres")) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"postgresql://{USER}@/{name}?host={self.folder}"

    def close(self) -> None:
        """Stop the server at once, and remove its folder."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.send_signal(signal.SIGQUIT)
                self._process.wait(PATIENCE)
        shutil.rmtree(self.folder, ignore_errors=True)
