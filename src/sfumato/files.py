"""Files that are never half there: written under another name, then renamed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def place(path: Path, content: str | bytes) -> Path:
    """Write a file whole or not at all, text as UTF-8."""
    unfinished = path.with_name(f".{path.name}.partial")
    try:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path
