"""Machine code on disk is used while the sources are those it was made of, and no longer."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import numba
import pytest

import sfumato.compiled
from sfumato.compiled import MAX_AGE, cache_folder, compiled, digest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CALLEE = "from sfumato.compiled import compiled\n\n\n@compiled\ndef inner(x):\n    return x + {number}\n"
CALLER = """
from pathlib import Path

import sfumato.compiled

sfumato.compiled.__file__ = str(Path(__file__))
from sfumato.compiled import compiled
from callee import inner


@compiled
def outer(x):
    return inner(x)


print(outer(1), sum(outer.stats.cache_hits.values()))
"""


@pytest.fixture
def package(tmp_path: Path) -> Iterator[Path]:
    """A package with a compiled function that calls one of another file."""
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "callee.py").write_text(CALLEE.format(number=1))
    (folder / "caller.py").write_text(CALLER)
    yield folder
    cache_folder.cache_clear()


def run(package: Path, home: Path) -> str:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")},
        "PYTHONPATH": os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "XDG_CACHE_HOME": str(home),
    }
    done = subprocess.run(
        [sys.executable, str(package / "caller.py")], capture_output=True, text=True, env=environment, check=True
    )
    return done.stdout.strip()


@pytest.mark.parametrize("writable", [True, False])
def test_a_change_in_a_called_file_is_noticed(package: Path, tmp_path: Path, writable: bool) -> None:
    """Where nothing can be written beside the sources, the user's cache serves."""
    if not writable:
        (package / "__pycache__").write_text("in the way")
    assert run(package, tmp_path / "home") == "2 0"
    assert run(package, tmp_path / "home") == "2 1"
    (package / "callee.py").write_text(CALLEE.format(number=2))
    assert run(package, tmp_path / "home") == "3 0"
    assert (tmp_path / "home").exists() is not writable


def test_without_a_place_to_keep_it_machine_code_is_made_each_time(package: Path, tmp_path: Path) -> None:
    (package / "__pycache__").write_text("in the way")
    (tmp_path / "home").write_text("in the way")
    assert run(package, tmp_path / "home") == "2 0"
    assert run(package, tmp_path / "home") == "2 0"


def test_only_files_with_compiled_functions_count(package: Path) -> None:
    before = digest(package)
    (package / "other.py").write_text("x = 1\n")
    assert digest(package) == before
    (package / "callee.py").write_text(CALLEE.format(number=2))
    assert digest(package) != before


def test_machine_code_of_other_versions_goes_once_nobody_has_used_it_for_long(package: Path) -> None:
    first = cache_folder(package)
    assert first is not None
    old, recent = first.with_name("old"), first.with_name("recent")
    for folder, age in ((old, MAX_AGE + 60), (recent, MAX_AGE / 2), (first, MAX_AGE + 60)):
        folder.mkdir(exist_ok=True)
        (folder / "code").touch()
        os.utime(folder, (time.time() - age,) * 2)
    cache_folder.cache_clear()
    assert cache_folder(package) == first
    assert [folder.exists() for folder in (old, recent, first / "code")] == [False, True, True]


def test_the_setting_of_numba_is_left_as_it_was(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sfumato.compiled, "__file__", str(package / "caller.py"))
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(package / "chosen"))
    compiled(lambda x: x)
    assert str(package / "chosen") == numba.config.CACHE_DIR
    assert list((package / "chosen").glob("sfumato-compiled/*"))
