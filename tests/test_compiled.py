"""Machine code on disk is used while the sources are those it was made of, and no longer."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import numba
import numpy as np
import pytest

import sfumato.compiled
from sfumato.compiled import FEW, MAX_AGE, Loop, cache_folder, compiled, compiled_if_many, compiling, digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
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
WAITING = """
import sys
from pathlib import Path

import sfumato.compiled

sfumato.compiled.__file__ = str(Path(__file__))
from sfumato.compiled import compiled


@compiled
def wanted(x):
    return x + 1


print("ready", flush=True)
print(wanted(1), sum(wanted.stats.cache_hits.values()), flush=True)
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


def environment(package: Path, home: Path) -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")},
        "PYTHONPATH": os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "XDG_CACHE_HOME": str(home),
    }


def run(package: Path, home: Path) -> str:
    command, given = [sys.executable, str(package / "caller.py")], environment(package, home)
    return subprocess.run(command, capture_output=True, text=True, env=given, check=True).stdout.strip()


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


@compiled_if_many
def inner(numbers):
    return len(numbers)


@compiled_if_many
def outer(numbers):
    return inner(numbers)


@pytest.fixture
def fresh(package: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Loop], Loop]:
    """A loop of which there is no machine code yet."""
    monkeypatch.setattr(sfumato.compiled, "__file__", str(package / "caller.py"))
    return lambda loop: compiled_if_many(loop.py_func)


def test_few_elements_need_no_machine_code(fresh: Callable[[Loop], Loop]) -> None:
    loop = fresh(outer)
    assert loop(np.zeros(FEW)) == FEW
    assert not loop.overloads
    assert not inner.overloads
    assert loop(np.zeros(FEW + 1)) == FEW + 1
    assert loop.overloads


def test_machine_code_on_disk_is_used_for_few_elements_too(fresh: Callable[[Loop], Loop]) -> None:
    fresh(inner)(np.zeros(FEW + 1))
    again = fresh(inner)
    again(np.zeros(1))
    assert sum(again.stats.cache_hits.values()) == 1
    again(np.zeros(1, dtype=np.int32))
    assert len(again.overloads) == 1, "for these types there is none"


def test_what_took_long_is_compiled(fresh: Callable[[Loop], Loop], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sfumato.compiled, "PATIENCE", 0.0)
    loop = fresh(inner)
    loop(np.zeros(1))
    assert loop.overloads


def test_everything_is_compiled_where_that_is_wanted(fresh: Callable[[Loop], Loop]) -> None:
    loop = fresh(inner)
    with compiling():
        loop(np.zeros(1))
    assert loop.overloads


def test_of_several_processes_one_compiles_and_the_others_wait(package: Path, tmp_path: Path) -> None:
    """The lock is held here until all are ready to compile."""
    fcntl = pytest.importorskip("fcntl")
    (package / "caller.py").write_text(WAITING)
    folder = cache_folder(package)
    assert folder is not None
    command, given = [sys.executable, str(package / "caller.py")], environment(package, tmp_path / "home")
    with open(folder / "__main__.wanted.lock", "a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=given) for _ in range(3)]
        assert [process.stdout.readline().strip() for process in processes if process.stdout] == ["ready"] * 3
        time.sleep(1)
        assert not list(folder.rglob("*.nbi")), "nothing is compiled while another process does"
    told = sorted(process.communicate(timeout=120)[0].strip() for process in processes)
    assert told == ["2 0", "2 1", "2 1"]


@pytest.mark.parametrize("end", [".nbi", ".nbc"])
@pytest.mark.parametrize("contents", [b"", b"garbled"])
def test_machine_code_that_cannot_be_read_is_made_anew(
    package: Path, tmp_path: Path, end: str, contents: bytes
) -> None:
    assert run(package, tmp_path / "home") == "2 0"
    spoiled = list(package.rglob(f"*{end}"))
    assert spoiled
    for path in spoiled:
        path.write_bytes(contents)
    assert run(package, tmp_path / "home").split()[0] == "2"
