"""Machine code on disk is used while the sources are those it was made of, and no longer."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from sfumato.compiled import stamp

if TYPE_CHECKING:
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


def run(folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, str(folder / "caller.py")], capture_output=True, text=True, env=environment, check=True
    )
    return done.stdout.strip()


def test_a_change_in_a_called_file_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "callee.py").write_text(CALLEE.format(number=1))
    (tmp_path / "caller.py").write_text(CALLER)
    assert run(tmp_path) == "2 0"
    assert run(tmp_path) == "2 1"
    (tmp_path / "callee.py").write_text(CALLEE.format(number=2))
    assert run(tmp_path) == "3 0"


def test_only_files_with_compiled_functions_count(tmp_path: Path) -> None:
    (tmp_path / "loop.py").write_text("from sfumato.compiled import compiled\n")
    before = stamp(tmp_path)
    stamp.cache_clear()
    (tmp_path / "other.py").write_text("x = 1\n")
    assert stamp(tmp_path) == before
    stamp.cache_clear()
    (tmp_path / "loop.py").write_text("from sfumato.compiled import compiled  # changed\n")
    assert stamp(tmp_path) != before
    stamp.cache_clear()
